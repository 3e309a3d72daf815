"""The whole path of AUM and AUC along a line of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._core._validation import check_positive_number
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import PRODUCT_ROUNDING, Segment, ThresholdLines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Slopes and areas are sums of up to millions of rounded terms; smaller changes are no changes.
_FLAT = 1e-12
# Room for the rows of a path; doubled whenever it is full.
_FIRST_ROWS = 1024


@dataclass(frozen=True)
class PathPoint:
    """AUM and AUC at one step."""

    step: float
    aum: float
    auc: float


@dataclass(frozen=True)
class LineSearchPath:
    """AUM and AUC of ``predictions + step * direction`` as functions of the step.

    AUM is linear and AUC constant between two entries of ``step``; the last entry holds up to
    ``valid_to``. A path that was not recorded has only the rows that its two best points need.

    Attributes
    ----------
    step : ndarray of shape (n_rows,)
        0, then the steps at which thresholds meet, increasing.
    aum : ndarray of shape (n_rows,)
        AUM at the step.
    slope : ndarray of shape (n_rows,)
        Slope of AUM just after the step.
    auc_at, auc_after : ndarray of shape (n_rows,)
        AUC at the step, where the thresholds that meet are tied, and just after it.
    valid_to : float
        Where the next row would be; infinity when no thresholds meet any more.
    n_crossings : int
        Pairs of threshold lines that crossed on the way.
    lines : ThresholdLines
        What moves: the distinct threshold lines.
    is_recorded : bool
        Whether every row is kept.
    """

    step: FloatArray
    aum: FloatArray
    slope: FloatArray
    auc_at: FloatArray
    auc_after: FloatArray
    valid_to: float
    n_crossings: int
    lines: ThresholdLines
    is_recorded: bool
    _segment: Segment

    @property
    def n_rows(self) -> int:
        return int(self.step.size)

    def best_aum(self) -> PathPoint:
        """The smallest step of least AUM on the path, with AUM evaluated anew at that step."""
        row = int(np.argmax(self.aum <= self.aum.min() + _FLAT * self.aum[0]))
        step = float(self.step[row])
        return PathPoint(step, self._segment.at(step).aum, float(self.auc_at[row]))

    def best_auc(self, max_step: float = np.inf) -> PathPoint:
        """The middle of the first stretch of greatest AUC, evaluated anew there.

        AUC at a meeting is the mean of AUC before and after it, so only the first and the last step
        can be a greatest value that does not last.

        Parameters
        ----------
        max_step : float, optional
            What comes after this step does not count.
        """
        ahead = self.step < max_step
        top = self.auc_after[ahead].max(initial=-np.inf)
        at_end = -np.inf if np.isinf(max_step) else self._segment.at(max_step).auc
        if max(self.auc_at[0], at_end) > top + _FLAT:
            step = float(self.step[0]) if self.auc_at[0] >= at_end else max_step
            return self._point(step)
        best = self.auc_after >= top - _FLAT
        first = int(np.argmax(best))
        rest = np.flatnonzero(~best[first:])
        end = float(self.step[first + rest[0]]) if rest.size else self.valid_to
        start, end = float(self.step[first]), min(end, max_step)
        return self._point((start + end) / 2 if np.isfinite(end) else 2 * start or 1.0)

    def evaluate(self, step: float) -> PathPoint:
        """Compute AUM and AUC at any step from 0 on, from the rows where they reach so far."""
        if not 0 <= step < np.inf:
            raise ValueError(f"step must be a finite number from 0 on, got {step!r}.")
        if step >= self.valid_to or not self.is_recorded:
            return self._point(float(step))
        row = int(np.searchsorted(self.step, step, side="right")) - 1
        auc = self.auc_at[row] if step == self.step[row] else self.auc_after[row]
        aum = self.aum[row] + self.slope[row] * (step - self.step[row])
        return PathPoint(float(step), float(aum), float(auc))

    def _point(self, step: float) -> PathPoint:
        here = self._segment.at(step)
        return PathPoint(step, here.aum, here.auc)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with ``step, aum, slope, auc_at, auc_after``, one row per step."""
        import pandas as pd

        columns = ("step", "aum", "slope", "auc_at", "auc_after")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    def plot(self, max_step: float | None = None, axes: Any = None) -> Figure:
        """Draw AUC, AUM and the thresholds against the step, as in Figures 3 and 4 of the paper.

        Parameters
        ----------
        max_step : float, optional
            Right end of the axes; by default a little beyond the last row.
        axes : sequence of three matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        from aucuba.aum._plot import plot_path

        if not self.is_recorded:
            raise ValueError("A path that was not recorded cannot be drawn; use record=True.")
        return plot_path(self, max_step, axes)


def line_search_path(
    errors: ErrorFunctions,
    predictions: ArrayLike,
    direction: ArrayLike,
    *,
    stop: str | int = "first_min",
    max_step: float | None = None,
    tol: float = 1e-10,
    record: bool = True,
) -> LineSearchPath:
    r"""Follow AUM and AUC along ``predictions + step * direction``, exactly.

    .. math::
        T_b(s) = v_b - \hat y_{I_b} - s\, d_{I_b}, \qquad
        \mathrm{AUM}(s) = \sum_{b=2}^B \big[T_{q_b}(s) - T_{q_{b-1}}(s)\big] M_b

    where ``q`` sorts the thresholds and ``M_b`` is the smaller error between two neighbours. Each
    meeting of neighbouring lines changes the slope of AUM and the AUC by an amount that depends on
    those lines only: O((B + I) log B) for I meetings, in O(B + rows) memory. Lines that meet in
    one point are reversed together.

    Parameters
    ----------
    errors : ErrorFunctions
    predictions, direction : array-like of shape (n_examples,)
        Predictions at step 0 and their change for a unit step: ``X @ w`` and ``X @ d`` for a linear
        model. They may be those of another data set than the gradient's, such as a validation set.
    stop : {"first_min", "first_max_auc", "linear", "all"} or int, default="first_min"
        Where to end: when AUM would rise (the first local minimum), when AUC has fallen (the first
        local maximum), after as many rows as there are distinct lines, never, or after the given
        number of rows. Row one is step 0.
    max_step : float, optional
        No row lies beyond it.
    tol : float, default=1e-10
        Meetings whose steps agree to this relative tolerance are one row. Intercepts and slopes are
        taken as equal when they agree to ``min(tol, 1e-14)`` times their mean magnitude, the
        rounding of a matrix product. 0 takes all floats literally.
    record : bool, default=True
        Keep every row, at 40 bytes each. False keeps at most four: the first, that of least AUM, and
        the ends of the first stretch of greatest AUC; `best_aum` and `best_auc` are the same.

    Returns
    -------
    LineSearchPath

    See Also
    --------
    minimize_aum : The first minimum alone, without following the path when errors are monotone.
    maximize_auc : The global maximum of AUC on a segment.

    Notes
    -----
    Fowler and Hocking, *Efficient line search for optimizing Area Under the ROC Curve in gradient
    descent* (2024). AUC may leave [0, 1] when the errors are not monotone.

    Examples
    --------
    >>> from aucuba.aum import ErrorFunctions, line_search_path
    >>> errors = ErrorFunctions.from_labels([0, 0, 1, 1])
    >>> path = line_search_path(errors, [2.0, 0.0, 1.0, -1.0], [-1, 0, 0, 1], stop="all")
    >>> path.step
    array([0. , 1. , 1.5, 2. ])
    >>> path.auc_after
    array([0.25, 0.75, 1.  , 1.  ])
    >>> path.best_aum()
    PathPoint(step=1.5, aum=0.0, auc=0.875)
    """
    if not 0 <= tol < 1:
        raise ValueError(f"tol must lie in [0, 1), got {tol!r}.")
    segment = Segment.from_predictions(errors, predictions, direction, min(tol, PRODUCT_ROUNDING))
    end = np.inf if max_step is None else check_positive_number(max_step, "max_step")
    return follow(segment, *_stop_rule(stop), max_step=end, tol=tol, record=record)


def follow(
    segment: Segment,
    rule: int,
    max_rows: int | None,
    *,
    start: float = 0.0,
    max_step: float = np.inf,
    tol: float = 1e-10,
    record: bool = True,
) -> LineSearchPath:
    """Follow the path of a validated segment from ``start`` on; see `line_search_path`."""
    from aucuba.aum import _loops

    lines = ThresholdLines.from_segment(segment, start)
    fp, fn = lines.errors_between()
    minimum = np.minimum(fp, fn)[1:-1]
    area = float((fp[1:] - fp[:-1]) @ (fn[0] - (fn[1:] + fn[:-1]) / 2))
    unit = float(fp[-1] * fn[0])
    aum_zero = float(np.diff(lines.at(start)) @ minimum)
    here = np.array([start, aum_zero, np.diff(lines.slope) @ minimum, 0.0, area])
    here[3] = segment.at(start).auc * unit
    steepest = float(np.abs(lines.slope).max()) * min(fp[-1], fn[0])
    queue = _meeting_queue(lines, start)
    counts = np.array([1, 1, 0, 1])
    rows = np.empty((5, _FIRST_ROWS)) if record else np.repeat(here[:, None], 4, axis=1)
    rows[:, 0] = here
    walk = (lines.table(), fp, fn, queue, here, counts, np.zeros(2))
    flat = _FLAT * np.array([aum_zero, steepest, unit])
    limits = (rule, _row_limit(max_rows, lines.n_lines), max_step, tol, record)
    while _loops.follow_path(*walk, rows, flat, *limits):
        rows = np.hstack([rows, np.empty_like(rows)])
    rows = rows[:, : counts[1]] if record else rows[:, np.unique(rows[0], return_index=True)[1]]
    step, aum, slope, area_at, area_after = rows
    return LineSearchPath(
        step,
        aum,
        slope,
        area_at / unit,
        area_after / unit,
        float(queue[1]),
        int(counts[2]),
        lines,
        record,
        segment,
    )


def _meeting_queue(lines: ThresholdLines, start: float) -> FloatArray:
    """Tournament tree of the meetings of neighbouring lines; leaf ``g`` is the pair ``(g, g + 1)``.

    A leaf always holds the meeting of the two lines that are neighbours now, so that nothing stale
    can be popped, which a heap with lazy deletion must check. The root is entry 1.
    """
    closing = -np.diff(lines.slope)
    leaves = 1 << max(closing.size - 1, 0).bit_length()
    queue = np.full(2 * leaves, np.inf)
    meet = closing > 0
    steps = np.diff(lines.intercept)[meet] / closing[meet]
    queue[leaves : leaves + closing.size][meet] = np.maximum(start, steps)
    while leaves > 1:
        below = queue[leaves : 2 * leaves]
        leaves //= 2
        np.minimum(below[::2], below[1::2], out=queue[leaves : 2 * leaves])
    return queue


def _stop_rule(stop: Any) -> tuple[int, int | None]:
    """The loop's stopping rule and the limit on rows: None for no limit, 0 for one per line."""
    from aucuba.aum import _loops

    named = {
        "first_min": (_loops.STOP_FIRST_MIN, None),
        "first_max_auc": (_loops.STOP_FIRST_MAX_AUC, None),
        "linear": (_loops.STOP_ROWS, 0),
        "all": (_loops.STOP_ROWS, None),
    }
    if isinstance(stop, str) and stop in named:
        return named[stop]
    if isinstance(stop, int | np.integer) and not isinstance(stop, bool) and stop >= 1:
        return _loops.STOP_ROWS, int(stop)
    options = ", ".join(repr(name) for name in named)
    raise ValueError(f"stop must be one of {options} or a number of rows from 1 on, got {stop!r}.")


def _row_limit(max_rows: int | None, n_lines: int) -> int:
    if max_rows is None:
        return int(np.iinfo(np.int64).max)
    return max_rows or n_lines
