"""Confidence bands of a ROC curve and of a precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_choice
from aucuba._roc._curve import RocCurve, heights, roc_curve
from aucuba.metrics._resampling import resampled_curves
from aucuba.metrics._study import Study, check_draws, check_level

KINDS = ("pointwise", "simultaneous")
_GRID = 201


@dataclass(frozen=True)
class ConfidenceBand:
    """Limits of the true positive rate over a grid of false positive rates."""

    fpr: FloatArray
    low: FloatArray
    high: FloatArray


def confidence_band(
    study: Study,
    fpr_range: tuple[float, float],
    *,
    kind: str,
    confidence: float,
    n_resamples: int,
    random_state: Any,
) -> ConfidenceBand:
    """Compute a band of the TPR over a range of false positive rates by bootstrap.

    A pointwise band holds at any one rate. A simultaneous band holds at all of them together: it is
    widened, in units of the spread at each rate, until the part of the resampled curves that lie inside
    it everywhere is the confidence asked for.
    """
    check_choice(kind, "confidence_band", KINDS)
    tail, n_draws = (1 - check_level(confidence)) / 2, check_draws(n_resamples)
    rates, sample = np.linspace(*fpr_range, _GRID), study.samples[0]
    drawn = resampled_curves(sample, study.draw, n_draws, random_state)
    heights = np.array(
        [
            _height(fpr, tpr, rates)
            for curve in drawn
            for fpr, tpr in zip(curve.fpr, curve.tpr, strict=True)
        ]
    )
    curve = roc_curve(sample)
    own = _height(curve.fpr, curve.tpr, rates)
    n_positives, n_negatives = (study.n_effective(positive=one) for one in (True, False))
    low, high = _limits(own, heights, n_positives, tail, kind)
    # At rates so low that the true threshold may lie above all negatives, the lower limit is 0.
    beyond = tail if kind == "pointwise" else tail / 10
    low = np.where((1.0 - rates) ** n_negatives > beyond, 0.0, low)
    return ConfidenceBand(rates, low, high)


def precision_band(
    study: Study,
    recall_range: tuple[float, float],
    *,
    kind: str,
    confidence: float,
    n_resamples: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute recalls and the limits of the precision at each, over random rows, by bootstrap."""
    check_choice(kind, "confidence_band", KINDS)
    tail, n_draws = (1 - check_level(confidence)) / 2, check_draws(n_resamples)
    sample, n_positives = study.samples[0], study.n_effective(positive=True)
    lowest = max(recall_range[0], 1.0 / n_positives)
    recalls = np.linspace(min(lowest, recall_range[1]), recall_range[1], _GRID)
    drawn = resampled_curves(sample, study.draw, n_draws, random_state)
    precisions = np.array(
        [
            _precision(RocCurve(*pair, curves.threshold), recalls)
            for curves in drawn
            for pair in zip(curves.false_positive, curves.true_positive, strict=True)
        ]
    )
    own = _precision(roc_curve(sample), recalls)
    # Rows that are flagged at a recall decide the spread of a precision.
    flagged = recalls * n_positives / own
    return recalls, *_limits(own, precisions, flagged, tail, kind)


def _precision(curve: RocCurve, recalls: FloatArray) -> FloatArray:
    hits = recalls * curve.true_positive[-1]
    return np.asarray(hits / (hits + heights(curve.tpr, curve.false_positive, recalls, "left")))


def _height(fpr: FloatArray, tpr: FloatArray, rates: FloatArray) -> FloatArray:
    return heights(fpr, tpr, rates, "right")


def _limits(
    own: FloatArray, heights: FloatArray, n_positives: Any, tail: float, kind: str
) -> tuple[FloatArray, FloatArray]:
    """Limits on the log-odds scale, where the spread of a rate depends little on the rate.

    Half a positive is added on either side, so that rates of 0 and 1 have log-odds too.
    """
    centre, drawn = (logit((one * n_positives + 0.5) / (n_positives + 1)) for one in (own, heights))
    spread = np.sqrt(np.mean((drawn - centre) ** 2, axis=0))
    # Where resamples barely vary, as at a rate of 1, use a binomial spread with half a row added.
    found = own * n_positives
    doubt = np.sqrt(1 / (found + 0.5) + 1 / (n_positives - found + 0.5))
    spread = np.maximum(spread, doubt)
    distance = np.abs(drawn - centre) / spread
    factor = float(norm.isf(tail))
    if kind == "simultaneous":
        factor = max(factor, float(np.quantile(distance.max(axis=1), 1 - 2 * tail)))
    reach = factor * spread
    smooth = [expit(centre - reach), expit(centre + reach)]
    low, high = ((one * (n_positives + 1) - 0.5) / n_positives for one in smooth)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
