"""ROC pictures with the band of interest shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from aucuba._core._positive_scores import positive_scores
from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._core._validation import check_fpr_range
from aucuba._roc._curve import band_average, roc_curve
from aucuba._roc._sample import RankingSample


class RocBandDisplay:
    """ROC curve whose area is shaded where ``alpha <= FPR <= beta``.

    Make one with `from_estimator`, `from_predictions` or `from_cv_results`; each draws at once and
    returns the display, whose ``plot`` draws again.

    Parameters
    ----------
    fpr, tpr : ndarray or list of ndarray
        Vertices of one curve, or of one curve per fold.
    fpr_range : (float, float)
        The band.
    partial_auc : float or list of float
        Value in the band, one per curve.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Artist or list of them
    band_ : matplotlib Artist
        The shaded band of the first curve.
    """

    def __init__(
        self,
        *,
        fpr: FloatArray | Sequence[FloatArray],
        tpr: FloatArray | Sequence[FloatArray],
        fpr_range: tuple[float, float],
        partial_auc: float | Sequence[float],
        name: str | None = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.fpr_range = fpr_range
        self.partial_auc = partial_auc
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> RocBandDisplay:
        """Draw the curve of given scores."""
        fpr, tpr, value = _curve(y_true, y_score, fpr_range, sample_weight, pos_label)
        display = cls(fpr=fpr, tpr=tpr, fpr_range=fpr_range, partial_auc=value, name=name)
        return display.plot(ax=ax, **plot_params)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> RocBandDisplay:
        """Draw the curve of a fitted classifier."""
        score, pos_label = _response(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            score,
            fpr_range=fpr_range,
            sample_weight=sample_weight,
            pos_label=pos_label,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **plot_params,
        )

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
    ) -> RocBandDisplay:
        """Draw one curve per fold of ``cross_validate(return_estimator=True, return_indices=True)``."""
        missing = [key for key in ("estimator", "indices") if key not in cv_results]
        if missing:
            raise ValueError(
                f"cv_results has no {' and no '.join(map(repr, missing))}. Call cross_validate with "
                "return_estimator=True and return_indices=True."
            )
        curves = []
        for estimator, test in zip(
            cv_results["estimator"], cv_results["indices"]["test"], strict=True
        ):
            score, positive = _response(estimator, _safe_indexing(X, test), pos_label)
            weight = None if sample_weight is None else _safe_indexing(sample_weight, test)
            curves.append(_curve(_safe_indexing(y, test), score, fpr_range, weight, positive))
        fpr, tpr, value = (list(column) for column in zip(*curves, strict=True))
        display = cls(fpr=fpr, tpr=tpr, fpr_range=fpr_range, partial_auc=value, name=name)
        return display.plot(ax=ax, **plot_params)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        band_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = False,
    ) -> RocBandDisplay:
        """Draw into ``ax``, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        name : str, default=None
            Name for the legend; the display's own by default.
        curve_kwargs, band_kwargs : dict, default=None
            Passed to ``Axes.plot`` and ``Axes.fill_between``.
        plot_chance_level : bool, default=False
            Draw the diagonal.

        Returns
        -------
        RocBandDisplay
            This object.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(
                "Drawing needs matplotlib: install it with `pip install aucuba[plot]`."
            ) from None
        if ax is None:
            ax = plt.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        several = isinstance(self.fpr, list)
        fprs, tprs = self._curves()
        lines: list[Any] = []
        for index, (fpr, tpr) in enumerate(zip(fprs, tprs, strict=True)):
            style = {"label": self._label(name) if index == 0 else None, **(curve_kwargs or {})}
            if several:
                style = {"alpha": 0.5, **style}
            if lines:
                style.setdefault("color", lines[0].get_color())
            lines += ax.plot(fpr, tpr, **style)
        self.line_ = lines if several else lines[0]
        self.band_ = self._shade(ax, lines[0].get_color(), band_kwargs or {})
        if plot_chance_level:
            ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1, label="chance")
        ax.set(xlabel="False positive rate", ylabel="True positive rate")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.legend(loc="lower right")
        return self

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

    def _shade(self, ax: Any, color: Any, band_kwargs: Mapping[str, Any]) -> Any:
        """Fill under the mean of the curves inside the band."""
        alpha, beta = self.fpr_range
        fprs, tprs = self._curves()
        inside = [fpr[(fpr > alpha) & (fpr < beta)] for fpr in fprs]
        grid = np.unique(np.concatenate([[alpha, beta], *inside]))
        # Both sides of every vertical step, so that the filled area is the area that is counted.
        heights = [
            np.mean([_height(fpr, tpr, grid, side) for fpr, tpr in zip(fprs, tprs, strict=True)], 0)
            for side in ("left", "right")
        ]
        ax.axvspan(alpha, beta, color="0.93", zorder=0)
        style = {"color": color, "alpha": 0.25, "linewidth": 0, **band_kwargs}
        # Order within a grid point: the height from the left, then from the right.
        return ax.fill_between(np.repeat(grid, 2), np.stack(heights, axis=1).ravel(), **style)


def _height(fpr: FloatArray, tpr: FloatArray, at: FloatArray, side: str) -> FloatArray:
    """Limit of the curve from the left or the right at the given rates."""
    if side == "right":
        index = np.minimum(np.searchsorted(fpr, at, side="right"), fpr.size - 1)
    else:
        index = np.maximum(np.searchsorted(fpr, at, side="left"), 1)
    run = fpr[index] - fpr[index - 1]
    along = np.where(run > 0, (at - fpr[index - 1]) / np.where(run > 0, run, 1.0), 1.0)
    return tpr[index - 1] + (tpr[index] - tpr[index - 1]) * along


def _curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr_range: tuple[float, float],
    sample_weight: ArrayLike | None,
    pos_label: Any,
) -> tuple[FloatArray, FloatArray, float]:
    alpha, beta = check_fpr_range(fpr_range)
    curve = roc_curve(RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label))
    return curve.fpr, curve.tpr, float(band_average(curve, alpha, beta))


def _response(estimator: Any, X: Any, pos_label: Any) -> tuple[FloatArray, Any]:
    """Scores for the positive class of a fitted classifier, and that class."""
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        raise ValueError(
            f"{type(estimator).__name__} must be a fitted classifier with two classes, its classes_ "
            f"are {classes!r}."
        )
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {list(classes)!r}.")
    return positive_scores(estimator, X, int(pos_label == classes[1]))[0], pos_label
