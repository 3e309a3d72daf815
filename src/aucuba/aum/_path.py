"""The whole path of AUM and AUC along a line of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucuba._base._drawing import pyplot
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_positive_number
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import PRODUCT_ROUNDING, Segment, ThresholdLines
from aucuba.aum._walk import FLAT, check_stop, walk

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# More lines blur and are slow to draw.
_MOST_LINES = 500


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
    lines : object
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
        """Find the smallest step of least AUM on the path; AUM is evaluated anew there."""
        row = int(np.argmax(self.aum <= self.aum.min() + FLAT * self.aum[0]))
        step = float(self.step[row])
        return PathPoint(step, self._segment.at(step).aum, float(self.auc_at[row]))

    def best_auc(self, max_step: float = np.inf) -> PathPoint:
        """Find the middle of the first stretch of greatest AUC; AUC is evaluated anew there.

        AUC at a meeting is the mean of AUC before and after it, so only the first and the last step
        can be a greatest value that does not last.

        Parameters
        ----------
        max_step : float, optional
            Steps beyond it do not count.
        """
        ahead = self.step < max_step
        top = self.auc_after[ahead].max(initial=-np.inf)
        at_end = -np.inf if np.isinf(max_step) else self._segment.at(max_step).auc
        if max(self.auc_at[0], at_end) > top + FLAT:
            step = float(self.step[0]) if self.auc_at[0] >= at_end else max_step
            return self._point(step)
        best = self.auc_after >= top - FLAT
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

        if not self.is_recorded:
            raise ValueError("A path that was not recorded cannot be drawn; use record=True.")
        return _draw_path(self, max_step, axes)


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
    return follow(segment, check_stop(stop), max_step=end, tol=tol, record=record)


def follow(
    segment: Segment,
    stop: str | int,
    *,
    start: float = 0.0,
    max_step: float = np.inf,
    tol: float = 1e-10,
    record: bool = True,
) -> LineSearchPath:
    """Follow the path of a validated segment from ``start`` on; see `line_search_path`."""
    lines = ThresholdLines.from_segment(segment, start)
    walked = walk(segment, lines, stop, start, max_step, tol, record)
    step, aum, slope, auc_at, auc_after = walked.columns
    return LineSearchPath(
        step,
        aum,
        slope,
        auc_at,
        auc_after,
        walked.next_step,
        walked.n_crossings,
        lines,
        record,
        segment,
    )


def _draw_path(path: LineSearchPath, max_step: float | None, axes: Any) -> Figure:
    """Draw AUC, AUM and thresholds in three panels that share the step axis."""
    end = 1.1 * float(path.step[-1]) or 1.0
    if max_step is not None:
        end = float(max_step)
    elif np.isfinite(path.valid_to):
        end = min(end, path.valid_to)
    if axes is None:
        _, axes = pyplot().subplots(3, 1, sharex=True, figsize=(6.4, 6.4), layout="constrained")
    auc_axes, aum_axes, line_axes = axes
    shown = path.step <= end
    edges = np.r_[path.step[shown], end]
    auc_axes.stairs(path.auc_after[shown], edges, baseline=None, color="black")
    auc_axes.plot(path.step[shown], path.auc_at[shown], "o", ms=3, mfc="white", color="black")
    auc_axes.set_ylabel("AUC")
    aum_axes.plot(edges, [path.evaluate(step).aum for step in edges], color="black")
    aum_axes.set_ylabel("AUM")
    _draw_lines(path, line_axes, edges, end)
    best = path.best_aum()
    if best.step <= end:
        for ax in (auc_axes, aum_axes, line_axes):
            ax.axvline(best.step, color="tab:red", lw=0.8, ls="--")
        aum_axes.annotate(
            "least AUM",
            (best.step, best.aum),
            xytext=(4, 10),
            textcoords="offset points",
            color="tab:red",
            fontsize="small",
        )
    figure: Figure = line_axes.figure
    return figure


def _draw_lines(path: LineSearchPath, ax: Any, edges: Any, end: float) -> None:
    lines = path.lines
    drawn = np.arange(0, lines.n_lines, -(-lines.n_lines // _MOST_LINES))
    intercept, slope = lines.intercept[drawn], lines.slope[drawn]
    # A line that changes only FP belongs to a negative row.
    color = np.where(lines.fp_diff[drawn] != 0, "tab:orange", "tab:blue")
    for i in range(drawn.size):
        ends = (intercept[i], intercept[i] + end * slope[i])
        ax.plot((0.0, end), ends, color=color[i], lw=0.9)
    for step in edges[:-1] if edges.size <= 60 else ():
        ax.axvline(step, color="0.85", lw=0.6, zorder=0)
    ax.set(xlabel="step size", ylabel="threshold", xlim=(0.0, end))
    ax.plot([], [], color="tab:orange", label="changes FP")
    ax.plot([], [], color="tab:blue", label="changes FN")
    ax.legend(fontsize="small", loc="best")
