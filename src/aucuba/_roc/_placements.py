"""Placement values: partial AUC as means over positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, corner_average
from aucuba._roc._rank_weights import RankWeights
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample, SortedRows

_TINY = np.finfo(np.float64).tiny
# A density is not taken over less of the FPR axis than this, where differences of ``G`` lose digits.
_NARROWEST = 1e-9


@dataclass(frozen=True)
class Placements:
    r"""Weighted partial AUC with the influence of every row.

    With ``G`` the integral of the FPR weights and ``u(p)`` the false positive rate at a positive's
    score, the partial AUC is the mean of ``V_i = 1 - G(u(p_i)) / G(1)`` over the positives. A negative
    moves it through the quantiles of the negatives; its influence ``W_j`` runs along the ROC curve with
    ``dW = g(u) dTPR / G(1)`` (for a range: the TPR at its score, held at the range's limits). To first
    order the variance is ``var(V)/m + var(W)/n``, DeLong's formula on the full range. With a lowest TPR
    the mean over positives is one over the lowest of them, and their influence is held at its end.

    Parameters
    ----------
    value : float
    influence : ndarray of shape (n_rows,)
        ``V`` at the positives, ``W`` at the negatives.
    """

    value: float
    influence: FloatArray


def placements(
    sample: Sample,
    ranked: SortedRows,
    weights: RankWeights,
    min_tpr: float = 0.0,
) -> Placements:
    """Compute the placement values of one query, whose rows are ranked by their scores."""
    weight, block = sample.weights, ranked.blocks()
    tp = np.cumsum(np.bincount(block, weight * sample.positive))
    fp = np.cumsum(np.bincount(block, weight * ~sample.positive))
    tpr, fpr = (np.concatenate([[0.0], count / count[-1]]) for count in (tp, fp))
    of_positive = _of_positives(fpr, tpr, weights, min_tpr)
    # The density where the curve is vertical is taken over half a negative on either side.
    half = max(0.5 / fp[-1], _NARROWEST)
    left, right = np.maximum(fpr[:-1] - half, 0.0), np.minimum(fpr[1:] + half, 1.0)
    density = (weights.cumulated(right) - weights.cumulated(left)) / (right - left)
    counted = np.diff(np.maximum(tpr, min_tpr))
    climbed = np.concatenate([[0.0], np.cumsum(density * counted / weights.total)])
    of_negative = (climbed[1:] + climbed[:-1]) / 2
    # Positives come in decreasing order of V; those ranked above the lowest TPR do not count.
    last = of_positive[int(np.argmax(counted > 0))]
    influence = np.where(sample.positive, np.minimum(of_positive, last)[block], of_negative[block])
    kept = 1.0 - min_tpr
    return Placements(float(counted @ of_positive) / kept, influence / kept)


def region_average(curve: RocCurve, region: Region) -> FloatArray:
    r"""Compute the mean height of a ROC curve above ``min_tpr``, as a part of what is possible.

    .. math::
        \frac{\int g(u) \max(\mathrm{TPR}(u) - a, 0)\, du}{(1 - a) \int g(u)\, du}

    with g the weight of the region's rates and a its lowest TPR.
    """
    if region.is_plain_range:
        return corner_average(curve, *region.fpr_range, region.min_tpr)
    tpr = curve.tpr
    counted = np.diff(np.maximum(tpr, region.min_tpr))
    heights = _of_positives(curve.fpr, tpr, region.weights, region.min_tpr)
    mean = np.sum(counted * heights, axis=-1) / (1.0 - region.min_tpr)
    return np.asarray(np.clip(mean, 0.0, 1.0))


def _of_positives(
    fpr: FloatArray, tpr: FloatArray, weights: RankWeights, min_tpr: float
) -> FloatArray:
    """Compute the mean of ``1 - G(u)/G(1)`` over the positives of every segment above ``min_tpr``."""
    # Positives that tie with negatives lie evenly along a straight piece of the curve; of a piece
    # that crosses the lowest TPR the part above counts.
    below = np.clip(min_tpr - tpr[..., :-1], 0.0, None) / np.maximum(np.diff(tpr), _TINY)
    first = fpr[..., :-1] + np.minimum(below, 1.0) * np.diff(fpr)
    # Pieces without positives do not count; as points they cost less.
    first = np.where(tpr[..., 1:] > tpr[..., :-1], first, fpr[..., 1:])
    return 1.0 - weights.mean_cumulated(first, fpr[..., 1:]) / weights.total
