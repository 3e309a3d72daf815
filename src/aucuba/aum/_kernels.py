"""Compiled loops of the line searches. Imported when a search first runs, never before.

Lines are thresholds ``T(s) = intercept + s * slope`` in the order of their values just after the
current step. Row ``g`` of ``lines`` is ``(intercept, slope, fp_diff, fn_diff)``; ``fp[g]``,
``fn[g]`` and ``minimum[g]`` are the errors between lines ``g - 1`` and ``g``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

INTERCEPT, SLOPE, FP, FN = 0, 1, 2, 3
STOP_ROWS, STOP_FIRST_MIN, STOP_FIRST_MAX_AUC = 0, 1, 2


@njit(cache=True, nogil=True)
def _meeting(lines: Any, g: int, now: float) -> float:
    """Step at which lines ``g`` and ``g + 1`` meet; infinity when they do not converge."""
    closing = lines[g, SLOPE] - lines[g + 1, SLOPE]
    if closing <= 0.0:
        return np.inf
    return max(now, (lines[g + 1, INTERCEPT] - lines[g, INTERCEPT]) / closing)


@njit(cache=True, nogil=True)
def _refresh(queue: Any, first: int, last: int) -> None:
    """Restore the minima above leaves ``first..last`` of the tournament tree ``queue``."""
    half = queue.shape[0] // 2
    low, high = (half + first) >> 1, (half + last) >> 1
    while low >= 1:
        changed = False
        for node in range(low, high + 1):
            winner = min(queue[2 * node], queue[2 * node + 1])
            if winner != queue[node]:
                queue[node] = winner
                changed = True
        if not changed:
            return
        low >>= 1
        high >>= 1


@njit(cache=True, nogil=True)
def _fill_queue(lines: Any) -> Any:
    """Tournament tree of the meetings of all adjacent pairs: leaf ``g`` is pair ``(g, g + 1)``.

    A leaf always holds the meeting of the two lines that are adjacent now, so that nothing stale
    can be popped, which a heap with lazy deletion must check.
    """
    pairs = lines.shape[0] - 1
    half = 1
    while half < pairs:
        half *= 2
    queue = np.full(2 * half, np.inf)
    for g in range(pairs):
        queue[half + g] = _meeting(lines, g, 0.0)
    for node in range(half - 1, 0, -1):
        queue[node] = min(queue[2 * node], queue[2 * node + 1])
    return queue


@njit(cache=True, nogil=True)
def _local_slope(lines: Any, minimum: Any, low: int, high: int) -> float:
    """The terms of the AUM slope (paper, equation 6) that lines ``low..high`` take part in."""
    total = 0.0
    for g in range(max(low, 1), min(high + 2, lines.shape[0])):
        total += (lines[g, SLOPE] - lines[g - 1, SLOPE]) * minimum[g]
    return total


@njit(cache=True, nogil=True)
def _local_area(lines: Any, low: int, high: int) -> float:
    """Part of the area under (FP, TP) that depends on the order of lines ``low..high``."""
    total, tp = 0.0, 0.0
    for g in range(low, high + 1):
        total += lines[g, FP] * tp
        tp -= lines[g, FN]
    return total


@njit(cache=True, nogil=True)
def _reverse_run(lines: Any, fp: Any, fn: Any, minimum: Any, low: int, high: int) -> Any:
    """Reverse lines ``low..high``, which meet in one point; changes of AUM slope and of area."""
    slope, area = -_local_slope(lines, minimum, low, high), -_local_area(lines, low, high)
    i, j = low, high
    while i < j:
        for column in range(4):
            lines[i, column], lines[j, column] = lines[j, column], lines[i, column]
        i += 1
        j -= 1
    for g in range(low, high):
        fp[g + 1] = fp[g] + lines[g, FP]
        fn[g + 1] = fn[g] + lines[g, FN]
        minimum[g + 1] = min(fp[g + 1], fn[g + 1])
    return (
        slope + _local_slope(lines, minimum, low, high),
        area + _local_area(lines, low, high),
    )


@njit(cache=True, nogil=True)
def _pass_meetings(
    lines: Any, fp: Any, fn: Any, minimum: Any, queue: Any, now: float, latest: float
) -> Any:
    """Handle every meeting up to ``latest``; changes of slope and area, and pairs that crossed.

    Adjacent pairs that meet now and share a line form one run. Each pair of it converges, so slopes
    fall along the run, and its order after the meeting is the reverse. A pair that has crossed
    never converges again, which ends the loop.
    """
    half = queue.shape[0] // 2
    last_pair = lines.shape[0] - 2
    slope, area, crossed = 0.0, 0.0, 0
    while queue[1] <= latest:
        node = 1
        while node < half:
            node *= 2
            if queue[node] > queue[node + 1]:
                node += 1
        low = node - half
        high = low + 1
        while low > 0 and queue[half + low - 1] <= latest:
            low -= 1
        while high <= last_pair and queue[half + high] <= latest:
            high += 1
        slope_change, area_change = _reverse_run(lines, fp, fn, minimum, low, high)
        slope += slope_change
        area += area_change
        crossed += (high - low + 1) * (high - low) // 2
        for g in range(low, high):
            queue[half + g] = np.inf
        if low > 0:
            queue[half + low - 1] = _meeting(lines, low - 1, now)
        if high <= last_pair:
            queue[half + high] = _meeting(lines, high, now)
        _refresh(queue, max(low - 1, 0), min(high, last_pair))
    return slope, area, crossed


@njit(cache=True, nogil=True)
def _grown(rows: Any, size: int) -> Any:
    larger = np.empty((size, rows.shape[1]))
    larger[: rows.shape[0]] = rows
    return larger


@njit(cache=True, nogil=True)
def follow_path(
    lines: Any,
    fp: Any,
    fn: Any,
    start: Any,
    stop: int,
    max_rows: int,
    max_step: float,
    tol: float,
    flat: Any,
    record: bool,
) -> Any:
    """Rows ``(step, AUM, slope after, area after)`` of the path, from ``start`` (row 0) on.

    ``flat = (aum, slope, area)`` are the sizes below which a change is rounding. With ``record``
    off only the last row where AUM stopped falling is kept. Also returned: where the next row would
    be (infinity when no lines converge any more) and the number of pairs that crossed.
    """
    minimum = np.minimum(fp, fn)
    minimum[0] = 0.0
    minimum[-1] = 0.0
    queue = _fill_queue(lines)
    rows = np.empty((1024 if record else 1, 4))
    rows[0] = start
    step, aum, slope, area = start
    count, kept, crossed = 1, 1, 0
    while count < max_rows and queue[1] <= max_step and queue[1] < np.inf:
        if stop == STOP_FIRST_MIN and (slope > flat[1] or (aum <= flat[0] and slope >= -flat[1])):
            break
        aum += slope * (queue[1] - step)
        step = queue[1]
        was_falling = slope < -flat[1]
        changes = _pass_meetings(lines, fp, fn, minimum, queue, step, step * (1.0 + tol))
        slope += changes[0]
        area += changes[1]
        crossed += changes[2]
        count += 1
        if record:
            if kept == rows.shape[0]:
                rows = _grown(rows, 2 * kept)
            kept += 1
        if record or (was_falling and slope >= -flat[1]):
            rows[kept - 1, 0] = step
            rows[kept - 1, 1] = aum
            rows[kept - 1, 2] = slope
            rows[kept - 1, 3] = area
        if stop == STOP_FIRST_MAX_AUC and changes[1] < -flat[2]:
            break
    return rows[:kept], queue[1], crossed
