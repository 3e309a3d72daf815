"""Placement values: partial AUC as means over positives and negatives, and its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._typing import FloatArray
from aucuba.linear._region import Region
from aucuba.risks import Labels, queries_with_both_classes

_TINY = np.finfo(np.float64).tiny


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


def placements(labels: Labels, scores: FloatArray, region: Region) -> Placements:
    """Placement values of one query."""
    weights, kept = region.weights, 1.0 - region.min_tpr
    weight = np.ones(scores.size) if labels.weight is None else labels.weight
    levels, block = np.unique(-scores, return_inverse=True)
    tp = np.bincount(block, weight * labels.positive, levels.size)
    fp = np.bincount(block, weight * ~labels.positive, levels.size)
    tpr = np.concatenate([[0.0], np.cumsum(tp) / tp.sum()])
    fpr = np.concatenate([[0.0], np.cumsum(fp) / fp.sum()])
    # Positives that tie with negatives lie evenly along a straight piece of the curve; of a piece
    # that crosses the lowest TPR the part above counts.
    below = np.clip(region.min_tpr - tpr[:-1], 0.0, None) / np.maximum(np.diff(tpr), _TINY)
    first = fpr[:-1] + np.minimum(below, 1.0) * np.diff(fpr)
    of_positive = 1.0 - weights.mean_cumulated(first, fpr[1:]) / weights.total
    # The density where the curve is vertical is taken over half a negative on either side.
    half = 0.5 / fp.sum()
    left, right = np.maximum(fpr[:-1] - half, 0.0), np.minimum(fpr[1:] + half, 1.0)
    density = (weights.cumulated(right) - weights.cumulated(left)) / (right - left)
    climb = density * np.diff(np.maximum(tpr, region.min_tpr)) / weights.total
    climbed = np.concatenate([[0.0], np.cumsum(climb)])
    of_negative = (climbed[1:] + climbed[:-1]) / 2
    # Positives come in decreasing order of V; those ranked above the lowest TPR do not count.
    counted = np.diff(np.maximum(tpr, region.min_tpr))
    last = of_positive[int(np.argmax(counted > 0))]
    influence = np.where(labels.positive, np.minimum(of_positive, last)[block], of_negative[block])
    return Placements(float(counted @ of_positive) / kept, influence / kept)


def standard_error(labels: Labels, influence: FloatArray) -> float:
    """Standard error of a mean difference with the given influences (of one or of two scorers)."""
    weight = np.ones(influence.size) if labels.weight is None else labels.weight
    variance = 0.0
    for rows in (labels.positive, ~labels.positive):
        total = weight[rows].sum()
        mean = weight[rows] @ influence[rows] / total
        variance += float(weight[rows] @ (influence[rows] - mean) ** 2 / total**2)
    return float(np.sqrt(variance))


@dataclass(frozen=True)
class RegionComparison:
    """Partial AUC of several scorers on the same rows, with paired standard errors."""

    values: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, labels: Labels, scores: FloatArray, region: Region) -> RegionComparison:
        """Compare the rows of ``scores``, shape (n_scorers, n_rows); queries count alike."""
        if labels.group is None:
            each = [placements(labels, row, region) for row in scores]
            values = np.array([one.value for one in each])
            errors = [
                [standard_error(labels, a.influence - b.influence) for b in each] for a in each
            ]
            return cls(values, np.array(errors))
        by_query = np.array(
            [
                [placements(labels.select(rows), row[rows], region).value for row in scores]
                for rows in queries_with_both_classes(labels)
            ]
        )
        gaps = by_query[:, :, np.newaxis] - by_query[:, np.newaxis, :]
        return cls(by_query.mean(axis=0), gaps.std(axis=0) / np.sqrt(len(by_query)))

    def beats(self, a: int, b: int, n_errors: float) -> bool:
        """Whether scorer a is above scorer b by more than a number of paired standard errors."""
        return bool(self.values[a] - self.values[b] > n_errors * self.errors[a, b])
