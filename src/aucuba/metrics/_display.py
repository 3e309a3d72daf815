"""ROC curves with the region of interest shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from aucuba._base._drawing import EstimatorDisplay, axes_for
from aucuba._base._estimator import scores_and_label
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_choice, check_fpr_range, identifiers, row_weights
from aucuba._roc._curve import heights, range_average, roc_curve
from aucuba._rows._sample import RankingSample
from aucuba.metrics._confidence_band import ConfidenceBand
from aucuba.metrics._confidence_band import confidence_band as compute_band
from aucuba.metrics._operating_points import OperatingPoint
from aucuba.metrics._study import make_study

# The lowest rate shown on normal-deviate axes.
_LEAST = 1e-4


@dataclass(kw_only=True, eq=False, repr=False)
class RocRegionDisplay(EstimatorDisplay):
    """ROC curve whose area is shaded where ``alpha <= FPR <= beta``.

    Create one with `from_estimator`, `from_predictions` or `from_cv_results`. Each draws immediately
    and returns the display, whose ``plot`` draws it again.

    Parameters
    ----------
    fpr, tpr : ndarray or list of ndarray
        Vertices of one curve, or of one curve per fold.
    fpr_range : (float, float)
        The region.
    partial_auc : float or list of float
        Partial AUC in the region, one value per curve.
    name : str, default=None
        Name for the legend.
    confidence_band : ConfidenceBand, default=None
        Limits of the true positive rate, as `from_predictions` computes them.
    points : sequence of OperatingPoint, default=()
        Points of the curve to mark, such as those of `operating_point`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Artist or list of them
    region_ : matplotlib Artist or None
        The shaded area, under the mean of the curves; None with ``scale="det"``.
    """

    fpr: FloatArray | Sequence[FloatArray]
    tpr: FloatArray | Sequence[FloatArray]
    fpr_range: tuple[float, float]
    partial_auc: float | Sequence[float]
    name: str | None = None
    confidence_band: ConfidenceBand | None = None
    points: Sequence[OperatingPoint] = ()

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        sample_weight: ArrayLike | None = None,
        weight_kind: str = "sampling",
        pos_label: Any = None,
        name: str | None = None,
        confidence_band: str | None = None,
        confidence: float = 0.95,
        n_resamples: int = 500,
        random_state: Any = None,
        points: Sequence[OperatingPoint] = (),
        ax: Any = None,
        **plot_params: Any,
    ) -> RocRegionDisplay:
        """Draw the curve of given scores.

        Parameters
        ----------
        y_true, y_score, fpr_range, sample_weight, pos_label
            As in `partial_auc_score`.
        name : str, default=None
            Name for the legend.
        confidence_band : {"pointwise", "simultaneous"} or None, default=None
            Draw limits of the TPR over ``fpr_range`` that hold at each rate alone, or at all rates
            together.
        weight_kind, confidence, n_resamples, random_state
            Settings of the confidence band, as in `score_interval`.
        points : sequence of OperatingPoint, default=()
            Points to mark, with the limits of the confidence band at their rate if there is one.
        ax : matplotlib Axes, default=None
        **plot_params
            As in `plot`.

        Returns
        -------
        RocRegionDisplay
        """
        limits = check_fpr_range(fpr_range)
        options = {"sample_weight": sample_weight, "pos_label": pos_label}
        study = make_study("auc", {}, y_true, [y_score], weight_kind=weight_kind, **options)
        fpr, tpr, value = _vertices(study.samples[0], limits)
        band = None
        if confidence_band is not None:
            band = compute_band(
                study,
                limits,
                kind=confidence_band,
                confidence=confidence,
                n_resamples=n_resamples,
                random_state=random_state,
            )
        display = cls(
            fpr=fpr,
            tpr=tpr,
            fpr_range=fpr_range,
            partial_auc=value,
            name=name,
            confidence_band=band,
            points=points,
        )
        return display.plot(ax=ax, **plot_params)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> RocRegionDisplay:
        """Draw one curve per fold of ``cross_validate(return_estimator=True, return_indices=True)``.

        Parameters
        ----------
        cv_results : dict
        X, y
            As they were given to ``cross_validate``.
        fpr_range, sample_weight, pos_label
            As in `partial_auc_score`.
        name : str, default=None
            Name for the legend.
        ax : matplotlib Axes, default=None
        **plot_params
            As in `plot`.

        Returns
        -------
        RocRegionDisplay
        """
        missing = [key for key in ("estimator", "indices") if key not in cv_results]
        if missing:
            raise ValueError(
                f"cv_results has no {' and no '.join(map(repr, missing))}. Call cross_validate with "
                "return_estimator=True and return_indices=True."
            )
        limits, curves = check_fpr_range(fpr_range), []
        n_rows = _num_samples(X)
        y, sample_weight = identifiers(y, "y", n_rows), row_weights(sample_weight, n_rows)
        for estimator, test in zip(
            cv_results["estimator"], cv_results["indices"]["test"], strict=True
        ):
            score, positive = scores_and_label(estimator, _safe_indexing(X, test), pos_label)
            weight = None if sample_weight is None else sample_weight[test]
            fold = y[test], score, weight, None, positive
            curves.append(_vertices(RankingSample.from_arrays(*fold), limits))
        fpr, tpr, value = (list(column) for column in zip(*curves, strict=True))
        display = cls(fpr=fpr, tpr=tpr, fpr_range=fpr_range, partial_auc=value, name=name)
        return display.plot(ax=ax, **plot_params)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        region_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = False,
        scale: str = "linear",
    ) -> RocRegionDisplay:
        """Draw into ``ax``, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        name : str, default=None
            Name for the legend; the display's own by default.
        curve_kwargs, region_kwargs : dict, default=None
            Passed to ``Axes.plot`` and ``Axes.fill_between``.
        plot_chance_level : bool, default=False
            Draw the diagonal.
        scale : {"linear", "log", "det"}, default="linear"
            A linear or a logarithmic FPR axis, or detection error trade-off: false negative against
            false positive rates, both on normal-deviate axes.

        Returns
        -------
        RocRegionDisplay
            This object.
        """
        check_choice(scale, "scale", ("linear", "log", "det"))
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        several = isinstance(self.fpr, list)
        fprs, tprs = self._curves()
        lines: list[Any] = []
        for index, (fpr, tpr) in enumerate(zip(fprs, tprs, strict=True)):
            style = {"label": self._label(name) if index == 0 else None, **(curve_kwargs or {})}
            if several:
                style = {"alpha": 0.5, **style}
            if lines:
                style.setdefault("color", lines[0].get_color())
            lines += ax.plot(*_coordinates(fpr, tpr, scale), **style)
        self.line_ = lines if several else lines[0]
        color = lines[0].get_color()
        self.region_ = None if scale == "det" else self._shade(ax, color, region_kwargs or {})
        self._draw_uncertainty(ax, color, scale)
        if plot_chance_level:
            chance = np.linspace(0.0, 1.0, 501)
            style = {"color": "0.6", "linestyle": "--", "linewidth": 1, "label": "chance"}
            ax.plot(*_coordinates(chance, chance, scale), **style)
        _set_axes(ax, scale, min(float(fpr[fpr > 0].min()) for fpr in fprs))
        ax.legend(loc="upper right" if scale == "det" else "lower right")
        return self

    def _draw_uncertainty(self, ax: Any, color: Any, scale: str) -> None:
        """Draw the confidence band, and the operating points with their limits."""
        band = self.confidence_band
        if band is not None:
            x, low = _coordinates(band.fpr, band.low, scale)
            high = _coordinates(band.fpr, band.high, scale)[1]
            ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
        for point in self.points:
            at = np.array([point.fpr])
            x, y = _coordinates(at, np.array([point.tpr]), scale)
            ax.plot(x, y, "o", color=color, markersize=5)
            if band is not None and band.fpr[0] <= point.fpr <= band.fpr[-1]:
                ends = [np.interp(at, band.fpr, limit) for limit in (band.low, band.high)]
                limits = [_coordinates(at, end, scale)[1][0] for end in ends]
                ax.plot([x[0], x[0]], limits, color=color, linewidth=1)

    def _curves(self) -> tuple[list[Any], list[Any]]:
        if isinstance(self.fpr, list):
            return list(self.fpr), list(self.tpr)
        return [self.fpr], [self.tpr]

    def _label(self, name: str | None) -> str:
        name = self.name if name is None else name
        alpha, beta = self.fpr_range
        if isinstance(self.partial_auc, list):
            spread = f"{np.mean(self.partial_auc):.3f} ± {np.std(self.partial_auc):.3f}"
        else:
            spread = f"{self.partial_auc:.3f}"
        region = f"pAUC[{alpha:g}, {beta:g}] = {spread}"
        return region if name is None else f"{name} ({region})"

    def _shade(self, ax: Any, color: Any, region_kwargs: Mapping[str, Any]) -> Any:
        """Fill the area under the mean of the curves inside the region."""
        alpha, beta = self.fpr_range
        fprs, tprs = self._curves()
        inside = [fpr[(fpr > alpha) & (fpr < beta)] for fpr in fprs]
        grid = np.unique(np.concatenate([[alpha, beta], *inside]))
        # Heights on both sides of every vertical step, so that the filled area equals the partial AUC.
        limits = [
            np.mean([heights(fpr, tpr, grid, side) for fpr, tpr in zip(fprs, tprs, strict=True)], 0)
            for side in ("left", "right")
        ]
        ax.axvspan(alpha, beta, color="0.93", zorder=0)
        style = {"color": color, "alpha": 0.25, "linewidth": 0, **region_kwargs}
        # At each grid point the height from the left comes first, then the height from the right.
        return ax.fill_between(np.repeat(grid, 2), np.stack(limits, axis=1).ravel(), **style)


def _coordinates(fpr: FloatArray, tpr: FloatArray, scale: str) -> tuple[FloatArray, FloatArray]:
    """Transform rates to axis coordinates; normal deviates of 0 and 1 are infinite, so clip them."""
    if scale != "det":
        return fpr, tpr
    return norm.ppf(np.clip(fpr, _LEAST, 1 - _LEAST)), norm.ppf(
        np.clip(1 - tpr, _LEAST, 1 - _LEAST)
    )


def _set_axes(ax: Any, scale: str, lowest: float) -> None:
    ax.set(xlabel="False positive rate", ylabel="True positive rate")
    if scale == "det":
        rates = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])
        ticks, names = norm.ppf(rates), [f"{rate:g}" for rate in rates]
        ax.set(xticks=ticks, xticklabels=names, yticks=ticks, yticklabels=names)
        edge = float(norm.ppf(0.995))
        ax.set(xlim=(-edge - 0.6, edge), ylim=(-edge - 0.6, edge), ylabel="False negative rate")
    elif scale == "log":
        ax.set(xscale="log", xlim=(lowest / 2, 1.0), ylim=(-0.01, 1.01))
    else:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")


def _vertices(
    sample: RankingSample, limits: tuple[float, float]
) -> tuple[FloatArray, FloatArray, float]:
    """Return the rates at the vertices of the curve, and its partial AUC."""
    curve = roc_curve(sample)
    return curve.fpr, curve.tpr, float(range_average(curve, *limits))
