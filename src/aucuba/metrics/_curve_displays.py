"""Precision-recall curves with bands, decision curves and gains charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._drawing import EstimatorDisplay, axes_for
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_fpr_range
from aucuba._roc._average_precision import average_precision
from aucuba._roc._curve import roc_curve
from aucuba._roc._points import n_ranked, precision_of
from aucuba._rows._sample import RankingSample
from aucuba.metrics._confidence_band import precision_band
from aucuba.metrics._decision_curve import DecisionCurve, decision_curve
from aucuba.metrics._study import make_study

_FAINT = 0.2


@dataclass(kw_only=True, eq=False, repr=False)
class PrecisionRecallBandDisplay(EstimatorDisplay):
    """Precision-recall curve with a confidence band and the line of scores without information.

    Create one with `from_estimator` or `from_predictions`. Each draws immediately and returns the
    display, whose ``plot`` draws it again.

    Parameters
    ----------
    recall, precision : ndarray
        One step per threshold.
    average_precision : float
        Over ``recall_range``.
    prevalence : float
        Share of positives, the precision without information.
    recall_range : (float, float), default=(0.0, 1.0)
    band : (ndarray, ndarray, ndarray), default=None
        Recalls, and the lower and upper limits of the precision there.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_, no_skill_ : matplotlib Artist
    band_ : matplotlib Artist or None
    """

    recall: FloatArray
    precision: FloatArray
    average_precision: float
    prevalence: float
    recall_range: tuple[float, float] = (0.0, 1.0)
    band: tuple[FloatArray, FloatArray, FloatArray] | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        recall_range: tuple[float, float] = (0.0, 1.0),
        sample_weight: ArrayLike | None = None,
        weight_kind: str = "sampling",
        pos_label: Any = None,
        name: str | None = None,
        confidence_band: str | None = "simultaneous",
        confidence: float = 0.95,
        n_resamples: int = 500,
        random_state: Any = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> PrecisionRecallBandDisplay:
        """Draw the curve of given scores.

        Parameters
        ----------
        y_true, y_score, recall_range, sample_weight, pos_label
            As in `average_precision_score`.
        name : str, default=None
            Name for the legend.
        confidence_band : {"pointwise", "simultaneous"} or None, default="simultaneous"
            Limits of the precision that hold at each recall alone, or at all recalls together.
        weight_kind, confidence, n_resamples, random_state
            Settings of the band, as in `score_interval`; random rows are drawn.
        ax : matplotlib Axes, default=None
        **plot_params
            As in `plot`.

        Returns
        -------
        PrecisionRecallBandDisplay
        """
        limits = check_fpr_range(recall_range, "recall_range")
        options = {"sample_weight": sample_weight, "pos_label": pos_label}
        options["weight_kind"] = weight_kind
        study = make_study("average_precision", {}, y_true, [y_score], **options)
        curve, band = roc_curve(study.samples[0]), None
        if confidence_band is not None:
            settings = {"n_resamples": n_resamples, "random_state": random_state}
            settings |= {"kind": confidence_band, "confidence": confidence}
            band = precision_band(study, limits, **settings)
        display = cls(
            recall=curve.tpr[1:],
            precision=precision_of(curve)[1:],
            average_precision=float(average_precision(curve, limits)),
            prevalence=float(curve.true_positive[-1] / n_ranked(curve)[-1]),
            recall_range=limits,
            band=band,
            name=name,
        )
        return display.plot(ax=ax, **plot_params)

    def plot(
        self, ax: Any = None, *, name: str | None = None, **curve_kwargs: Any
    ) -> PrecisionRecallBandDisplay:
        """Draw into ``ax``, or into a new figure; ``curve_kwargs`` are passed to ``Axes.plot``."""
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        name, (low, high) = self.name if name is None else name, self.recall_range
        where = "" if (low, high) == (0.0, 1.0) else f"[{low:g}, {high:g}]"
        label = f"AP{where} = {self.average_precision:.3f}"
        recall, precision = (
            np.append(0.0, self.recall),
            np.append(self.precision[0], self.precision),
        )
        style = {"drawstyle": "steps-pre", "label": label if name is None else f"{name} ({label})"}
        (self.line_,) = ax.plot(recall, precision, **{**style, **curve_kwargs})
        self.band_ = None
        if self.band is not None:
            shade = {"color": self.line_.get_color(), "alpha": _FAINT, "linewidth": 0}
            self.band_ = ax.fill_between(*self.band, **shade)
        self.no_skill_ = ax.axhline(self.prevalence, linestyle="--", color="0.5", linewidth=1)
        ax.set(xlabel="Recall", ylabel="Precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.legend()
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionCurveDisplay:
    """Net benefit over thresholds, with the lines of acting on everyone and on nobody.

    Create one with `from_predictions`.

    Parameters
    ----------
    curves : mapping of str to DecisionCurve
        By name, as `decision_curve` computes them for one model each.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of matplotlib Artist by name
        With "all" and "none".
    """

    curves: Mapping[str, DecisionCurve]

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        thresholds: ArrayLike | None = None,
        ax: Any = None,
        **options: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curves of one model, or of several by name.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        y_prob : array-like of shape (n_samples,), or dict of such by name
            Probabilities of the positive class.
        thresholds : array-like of float, default=None
            From 0.01 to 0.5 by default.
        ax : matplotlib Axes, default=None
        **options
            As in `decision_curve`.

        Returns
        -------
        DecisionCurveDisplay
        """
        at = np.linspace(0.01, 0.5, 50) if thresholds is None else thresholds
        several = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
        curves = {
            name: decision_curve(y_true, one, thresholds=at, **options)
            for name, one in several.items()
        }
        return cls(curves=curves).plot(ax)

    def plot(self, ax: Any = None) -> DecisionCurveDisplay:
        """Draw into ``ax``, or into a new figure."""
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for name, curve in self.curves.items():
            at = [one.threshold for one in curve]
            (line,) = ax.plot(at, [one.values[0] for one in curve], label=name)
            limits = ([one.low for one in curve], [one.high for one in curve])
            ax.fill_between(at, *limits, color=line.get_color(), alpha=_FAINT, linewidth=0)
            self.lines_[name] = line
        first = next(iter(self.curves.values()))
        at, everyone = ([getattr(one, key) for one in first] for key in ("threshold", "treat_all"))
        (self.lines_["all"],) = ax.plot(at, everyone, "--", color="0.5", label="all")
        self.lines_["none"] = ax.axhline(0.0, linestyle=":", color="0.5", label="none")
        top = max(one.high for curve in self.curves.values() for one in curve)
        ax.set(xlabel="Threshold probability", ylabel="Net benefit", ylim=(-0.1 * top, 1.1 * top))
        ax.legend()
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class GainsDisplay:
    """Cumulative gains: the part of the positives found over the part of the rows, from the top.

    Create one with `from_predictions`.

    Parameters
    ----------
    fraction, gain : ndarray
        Vertices of the curve, straight through rows of equal score.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Artist
    """

    fraction: FloatArray
    gain: FloatArray
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        lift: bool = False,
    ) -> GainsDisplay:
        """Draw the gains of given scores, or with ``lift`` the gain per fraction."""
        sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
        curve = roc_curve(sample)
        ranked = n_ranked(curve)
        return cls(fraction=ranked / ranked[-1], gain=curve.tpr, name=name).plot(ax, lift=lift)

    def plot(self, ax: Any = None, *, lift: bool = False) -> GainsDisplay:
        """Draw into ``ax``, or into a new figure."""
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        start = int(lift)
        x, y = self.fraction[start:], self.gain[start:]
        (self.line_,) = ax.plot(x, y / x if lift else y, label=self.name)
        if lift:
            ax.axhline(1.0, linestyle="--", color="0.5", linewidth=1)
        else:
            ax.plot([0, 1], [0, 1], "--", color="0.5", linewidth=1)
        ax.set(xlabel="Fraction of rows", ylabel="Lift" if lift else "Gain (TPR)", xlim=(0, 1))
        if self.name is not None:
            ax.legend()
        return self
