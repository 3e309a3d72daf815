"""The walk along the meetings of threshold lines: the tables of the compiled loop, and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba.aum._lines import Segment, ThresholdLines

# Slopes and areas are sums of up to millions of rounded terms; smaller changes count as none.
FLAT = 1e-12

# Rows of a walk: the step, AUM and area at it, slope and area after it, pairs that crossed so far.
STEP, AUM, SLOPE, AREA_AT, AREA_AFTER, CROSSED = range(6)

# Rows are written to tables of this size, then twice that, up to the second number.
_FIRST_ROOM, _LAST_ROOM = 1 << 10, 1 << 16

STOPS = ("first_min", "first_max_auc", "linear", "all")
"""Names of the places where a walk may end; see `aucuba.aum.line_search_path`."""


@dataclass(frozen=True)
class WalkEnd:
    """Where a walk ends, and the sizes below which a change on the way is rounding."""

    flat_aum: float
    flat_slope: float
    flat_area: float
    stop: str | int
    n_lines: int
    max_step: float

    @property
    def max_rows(self) -> float:
        if isinstance(self.stop, str):
            return self.n_lines if self.stop == "linear" else np.inf
        return self.stop

    def limits(self) -> tuple[float, float, float, float]:
        """Return the greatest step, AUM, slope and fall of the area to stop at; infinite for none."""
        # Times 1 + tol, it must not overflow.
        step = min(self.max_step, float(np.finfo(np.float64).max) / 2)
        aum, slope, fall = -np.inf, np.inf, np.inf
        if self.stop == "first_min":
            aum, slope = self.flat_aum, self.flat_slope
        elif self.stop == "first_max_auc":
            fall = self.flat_area
        return step, aum, slope, fall

    def best_rows(self, rows: FloatArray) -> FloatArray:
        """Select at most four rows: the first, that of least AUM, and the ends of the greatest AUC."""
        aum, area = rows[:, AUM], rows[:, AREA_AFTER]
        least = int(np.argmax(aum <= aum.min() + self.flat_aum))
        best = area >= area.max() - self.flat_area
        first = int(np.argmax(best))
        after = first + int(np.argmin(best[first:]))
        return rows[sorted({0, least, first, after})]


@dataclass(frozen=True)
class Walk:
    """The rows of a walk as columns, and the step of the next one.

    Areas are in units of one; the next step is infinite when no lines meet any more.
    """

    columns: FloatArray
    next_step: float
    n_crossings: int


def walk(
    segment: Segment,
    lines: ThresholdLines,
    stop: str | int,
    start: float,
    max_step: float,
    tol: float,
    record: bool,
) -> Walk:
    """Walk from ``start`` on; without ``record`` only the best rows are kept."""
    from aucuba.aum import _loops

    fp, fn = lines.errors_between()
    minimum = np.minimum(fp, fn)[1:-1]
    unit = float(fp[-1] * fn[0])
    area = float((fp[1:] - fp[:-1]) @ (fn[0] - (fn[1:] + fn[:-1]) / 2))
    aum = float(np.diff(lines.at(start)) @ minimum)
    slope = float(np.diff(lines.slope) @ minimum)
    here = np.array([start, aum, slope, segment.at(start).auc * unit, area, 0.0])
    steepest = float(np.abs(lines.slope).max()) * min(fp[-1], fn[0])
    end = WalkEnd(FLAT * aum, FLAT * steepest, FLAT * unit, stop, lines.n_lines, max_step)
    table = _line_table(lines, fp, fn)
    queue = _meeting_queue(table, start)
    last_step, flat_aum, flat_slope, fall = end.limits()
    kept, n_walked, room = [here[None]], 1, _FIRST_ROOM
    while n_walked < end.max_rows:
        rows = np.empty((int(min(room, end.max_rows - n_walked + 1)), here.size))
        rows[0] = here
        n_rows = _loops.follow_path(
            table, queue, rows, 1, last_step, tol, flat_aum, flat_slope, fall
        )
        kept.append(rows[1:n_rows])
        if not record:
            kept = [end.best_rows(np.concatenate(kept))]
        here = rows[n_rows - 1]
        n_walked += n_rows - 1
        if n_rows < len(rows) or here[AREA_AFTER] - rows[-2, AREA_AFTER] < -fall:
            break
        room = min(2 * room, _LAST_ROOM)
    columns = np.concatenate([rows[:, :CROSSED].T for rows in kept], axis=1)
    columns[AREA_AT:] /= unit
    return Walk(columns, float(queue[1]), int(here[CROSSED]))


def _line_table(lines: ThresholdLines, fp: FloatArray, fn: FloatArray) -> FloatArray:
    """Tabulate the lines with the errors below them, between two rows that no line meets."""
    from aucuba.aum import _loops

    table = np.zeros((lines.n_lines + 2, 6))
    columns = (lines.intercept, lines.slope, lines.fp_diff, lines.fn_diff)
    for column, values in enumerate(columns):
        table[1:-1, column] = values
    table[0, _loops.SLOPE], table[-1, _loops.SLOPE] = lines.slope.min(), lines.slope.max()
    table[1:, _loops.FP], table[1:, _loops.FN] = fp, fn
    return table


def _meeting_queue(table: FloatArray, start: float) -> FloatArray:
    """Build a tournament tree of the meetings of neighbours; leaf ``g`` is the pair ``(g, g + 1)``.

    A leaf always holds the meeting of the two lines that are neighbours now, so no stale entry can be
    popped, as happens in a heap with lazy deletion. The root is entry 1.
    """
    intercept, slope = table[:, :2].T
    closing = -np.diff(slope)
    leaves = 1 << (closing.size - 1).bit_length()
    queue = np.full(2 * leaves, np.inf)
    meet = closing > 0
    steps = np.diff(intercept)[meet] / closing[meet]
    queue[leaves : leaves + closing.size][meet] = np.maximum(start, steps)
    while leaves > 1:
        below = queue[leaves : 2 * leaves]
        leaves //= 2
        np.minimum(below[::2], below[1::2], out=queue[leaves : 2 * leaves])
    return queue


def check_stop(stop: Any) -> str | int:
    """Check one of `STOPS`, or a number of rows."""
    if isinstance(stop, str) and stop in STOPS:
        return stop
    if isinstance(stop, int | np.integer) and not isinstance(stop, bool) and stop >= 1:
        return int(stop)
    options = ", ".join(repr(name) for name in STOPS)
    raise ValueError(f"stop must be one of {options} or a number of rows from 1 on, got {stop!r}.")
