"""The ROC curve that a promised threshold can keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from aucuba._base._drawing import EstimatorDisplay, axes_for
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import binary_target, check_fraction, finite_scores
from aucuba.threshold._order_statistic import joint_ranks, raised_by_rounding, rows_for_a_rank

# Number of limits on a simultaneous curve; the curve is constant between them.
_N_LIMITS = 30
_MOST_POINTS = 500


@dataclass(kw_only=True, eq=False)
class GuaranteedRocDisplay(EstimatorDisplay):
    r"""Curve of the cost of a promise: the TPR kept with confidence, for every limit on the FPR.

    At each limit the threshold is the one that :class:`FixedFPRClassifier` would set on these rows,
    and the confidence band contains the true positive rate of that threshold (NP-ROC band of [1]_).
    Both come from rows that the scores were not trained on.

    By default each limit alone has its promise and its confidence band: a limit chosen by looking at
    the picture is not promised. With ``simultaneous=True`` all limits and the whole lower curve hold
    together, so any limit may be chosen; the curve is then lower.

    Create one with `from_predictions` or `from_estimator`. Each draws immediately and returns the
    display.

    Parameters
    ----------
    max_fpr : ndarray of shape (n_limits,)
        Limits, rising.
    threshold : ndarray of shape (n_limits,)
        Threshold that keeps each limit.
    tpr_lower, tpr_upper : ndarray of shape (n_limits,)
        Confidence band of the TPR; if ``simultaneous``, the upper end is 1 and not drawn.
    confidence : float
        Confidence of each promise and each end, or of all together if ``simultaneous``.
    simultaneous : bool, default=False
        Whether all limits hold together.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Artist
    band_ : matplotlib Artist

    References
    ----------
    .. [1] Tong, Feng and Li (2018), Neyman-Pearson classification algorithms and NP receiver
       operating characteristics, Science Advances 4(2), eaao1659.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.threshold import GuaranteedRocDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [1000, 300])
    >>> display = GuaranteedRocDisplay.from_predictions(y, rng.normal(size=1300) + 2 * y)
    >>> at = np.searchsorted(display.max_fpr, 0.05, side="right") - 1
    >>> print(f"{display.tpr_lower[at]:.2f} to {display.tpr_upper[at]:.2f}")
    0.55 to 0.65
    """

    max_fpr: FloatArray
    threshold: FloatArray
    tpr_lower: FloatArray
    tpr_upper: FloatArray
    confidence: float
    simultaneous: bool = False
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        confidence: float = 0.95,
        simultaneous: bool = False,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> GuaranteedRocDisplay:
        """Draw the curve of scores of held-out rows.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_rows,)
            Labels and scores.
        confidence : float, default=0.95
            Confidence of each promise and each bound, or of all together if ``simultaneous``.
        simultaneous : bool, default=False
            Whether all limits hold together.
        pos_label : label, default=None
            The positive class; None takes the larger label.
        name : str, default=None
            Name for the legend.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        GuaranteedRocDisplay
            The display, drawn.
        """
        confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
        score = finite_scores(y_score)
        positive = binary_target(y_true, pos_label, score.size)
        curve = _simultaneous_curve if simultaneous else _pointwise_curve
        max_fpr, threshold, lower, upper = curve(
            np.sort(score[~positive]), np.sort(score[positive]), 1.0 - confidence
        )
        display = cls(
            max_fpr=max_fpr,
            threshold=threshold,
            tpr_lower=lower,
            tpr_upper=upper,
            confidence=confidence,
            simultaneous=simultaneous,
            name=name,
        )
        return display.plot(ax=ax, **plot_params)

    def plot(self, ax: Any = None, *, name: str | None = None) -> GuaranteedRocDisplay:
        """Draw into ``ax``, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        name : str, default=None
            Name for the legend; the display's own by default.

        Returns
        -------
        GuaranteedRocDisplay
            This object.
        """
        self.ax_ = ax = axes_for(ax, layout="constrained")
        self.figure_ = ax.figure
        name = self.name if name is None else name
        kind = "all limits together" if self.simultaneous else "each limit alone"
        label = f"promised, {self.confidence:.0%}, {kind}"
        style = {"step": "post", "alpha": 0.2, "linewidth": 0}
        (self.line_,) = ax.step(
            self.max_fpr,
            self.tpr_lower,
            where="post",
            label=label if name is None else f"{name} ({label})",
        )
        upper = self.tpr_lower if self.simultaneous else self.tpr_upper
        color = self.line_.get_color()
        self.band_ = ax.fill_between(self.max_fpr, self.tpr_lower, upper, color=color, **style)
        ax.set(xlabel="Promised limit on the false positive rate", ylabel="True positive rate kept")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.legend(loc="lower right")
        return self


def _pointwise_curve(
    negatives: FloatArray, positives: FloatArray, error: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the lowest limit that each rank keeps, with exact limits of the TPR above it."""
    n, m = negatives.size, positives.size
    ranks = n + 1 - _places(n)
    max_fpr = 1.0 - betaincinv(ranks, n - ranks + 1, error)
    threshold = raised_by_rounding(negatives[ranks - 1], negatives)
    found = m - np.searchsorted(positives, threshold, side="right")
    lower = np.where(found > 0, betaincinv(np.maximum(found, 1), m - found + 1, error), 0.0)
    upper = np.where(found < m, betaincinv(found + 1, np.maximum(m - found, 1), 1.0 - error), 1.0)
    return max_fpr, threshold, lower, upper


def _places(n: int) -> IntArray:
    """Return ranks from the top: all of them, or fewer with most among the highest scores."""
    if n <= _MOST_POINTS:
        return np.arange(1, n + 1)
    spread = [space(1, n, _MOST_POINTS // 2) for space in (np.geomspace, np.linspace)]
    return np.unique(np.concatenate(spread).round().astype(np.intp))


def _simultaneous_curve(
    negatives: FloatArray, positives: FloatArray, error: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return limits on a grid with lower limits of the TPR, from joint laws of order statistics."""
    error = float(1.0 - np.sqrt(1.0 - error))
    max_fpr = _grid(negatives.size, error)
    ranks = joint_ranks(negatives.size, max_fpr.tolist(), error)
    threshold = raised_by_rounding(negatives[ranks - 1], negatives)
    missed = _grid(positives.size, error)
    places = joint_ranks(positives.size, missed.tolist(), error)
    # TPR at or above this score is at least 1 - missed.
    levels = -raised_by_rounding(np.sort(-positives)[places - 1], positives)
    kept = np.where(levels[None, :] > threshold[:, None], 1.0 - missed, 0.0)
    return max_fpr, threshold, kept.max(axis=1), np.ones(max_fpr.size)


def _grid(n: int, error: float) -> FloatArray:
    lowest = float(-np.expm1(np.log(error / _N_LIMITS) / n)) * (1.0 + 1e-9)
    if lowest >= 0.95:
        needed = rows_for_a_rank(0.5, error / _N_LIMITS)
        raise ValueError(
            f"A simultaneous curve needs at least {needed} rows of each class, got {n}; give more "
            "rows, or simultaneous=False."
        )
    return np.geomspace(lowest, 0.95, _N_LIMITS)
