"""Predictive values of a threshold over the prevalence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._drawing import EstimatorDisplay, axes_for
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._roc._flagged import FlaggedRows
from aucuba._roc._prevalence import target_range
from aucuba._rows._sample import RankingSample
from aucuba.metrics._study import check_level, count_copies

_N_PREVALENCES = 200


@dataclass(kw_only=True, eq=False, repr=False)
class PredictiveValueDisplay(EstimatorDisplay):
    """Show precision (PPV) and NPV of one threshold for every share of positives.

    The curves assume label shift: within each class scores are distributed as in the rows. The bands
    come from exact limits of the true and the false positive rate, each with half of the error, so
    they hold at all prevalences and for both curves together; weighted rows have score limits for
    the number of rows of equal weight that tell as much.

    Create one with `from_predictions` or `from_estimator`. Each draws immediately and returns the
    display.

    Parameters
    ----------
    prevalence : ndarray of shape (n_prevalences,)
        Shares of positives, rising.
    ppv, npv : ndarray of shape (3, n_prevalences)
        Value, lower and upper limit at each prevalence.
    confidence : float
        Confidence of the bands.
    of_rows : float
        Share of positives among the rows.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Artist
        PPV and NPV.
    bands_ : list of matplotlib Artist

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import PredictiveValueDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [1800, 200])
    >>> score = rng.normal(size=2000) + 3 * y
    >>> shown = PredictiveValueDisplay.from_predictions(y, score, threshold=2.5)
    >>> at = np.searchsorted(shown.prevalence, 0.01)
    >>> print("{:.2f}, between {:.2f} and {:.2f}".format(*shown.ppv[:, at]))
    0.59, between 0.37 and 0.81
    """

    prevalence: FloatArray
    ppv: FloatArray
    npv: FloatArray
    confidence: float
    of_rows: float
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        threshold: float,
        prevalence_range: tuple[float, float] = (0.001, 0.5),
        confidence: float = 0.95,
        sample_weight: ArrayLike | None = None,
        weight_kind: str = "sampling",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> PredictiveValueDisplay:
        """Draw the curves of given scores.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in `partial_auc_score`.
        threshold : float
            Rows with a score at or above it are flagged. Of an estimator: a value of its
            ``decision_function``, or of the probability where there is none.
        prevalence_range : (float, float), default=(0.001, 0.5)
            The lowest and the highest share of positives.
        confidence : float, default=0.95
            Confidence of the bands.
        weight_kind : {"sampling", "frequency"}, default="sampling"
            As in `score_interval`.
        name : str, default=None
            Name for the legend.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        PredictiveValueDisplay
            The display, drawn.
        """
        level = check_level(confidence)
        ends = target_range(prevalence_range)
        sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
        counted = FlaggedRows()
        frequency, flagged = (
            count_copies(weight_kind, sample.weight),
            sample.score >= float(threshold),
        )
        counted.update(sample.positive, flagged, sample.weight, frequency=frequency)
        prevalence = np.geomspace(*ends, _N_PREVALENCES)
        display = cls(
            prevalence=prevalence,
            ppv=counted.at_prevalences("precision", prevalence, level),
            npv=counted.at_prevalences("npv", prevalence, level),
            confidence=level,
            of_rows=float(np.average(sample.positive, weights=sample.weight)),
            name=name,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, name: str | None = None) -> PredictiveValueDisplay:
        """Draw into ``ax``, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        name : str, default=None
            Name for the legend; the display's own by default.

        Returns
        -------
        PredictiveValueDisplay
            This object.
        """
        self.ax_ = ax = axes_for(ax, layout="constrained")
        self.figure_ = ax.figure
        name = self.name if name is None else name
        start = "" if name is None else f"{name}, "
        self.lines_, self.bands_ = [], []
        for words, (value, low, high) in (("precision (PPV)", self.ppv), ("NPV", self.npv)):
            (line,) = ax.plot(self.prevalence, value, label=f"{start}{words}")
            style = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
            self.lines_.append(line)
            self.bands_.append(ax.fill_between(self.prevalence, low, high, **style))
        if self.prevalence[0] <= self.of_rows <= self.prevalence[-1]:
            label = f"of these rows: {self.of_rows:.3g}"
            ax.axvline(self.of_rows, color="0.5", linestyle=":", label=label)
        ax.set(xscale="log", ylim=(-0.01, 1.01), xlabel="Prevalence: share of positives")
        ax.set(ylabel=f"Predictive value, with {self.confidence:.0%} bands")
        ax.legend()
        return self
