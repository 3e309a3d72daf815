"""From the parameters of an estimator to the region of the ROC curve and the risk on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._typing import FloatArray
from aucuba._validation import check_fpr_range, check_fraction
from aucuba.risks import (
    HingeDifference,
    Labels,
    PairwiseHinge,
    RankWeights,
    Risk,
    SmoothRamp,
    StructuralHinge,
    TightHinge,
    over_groups,
    queries_with_both_classes,
)

# A bounded loss on fewer negatives than this fits their noise; the range is widened to hold them.
_NEGATIVES_TO_TRAIN = 10.0


@dataclass(frozen=True)
class Region:
    """The part of the ROC plane that counts: FPR weights and a lowest TPR."""

    fpr_range: tuple[float, float] | None
    weights: RankWeights
    min_tpr: float

    @classmethod
    def from_params(
        cls, fpr_range: Any, fpr_weight: Callable[[FloatArray], FloatArray] | None, tpr_min: Any
    ) -> Region:
        """Checked parameters; a weight function takes the place of the range."""
        min_tpr = check_fraction(tpr_min, "tpr_min", high_open=True)
        if fpr_weight is None:
            limits = check_fpr_range(fpr_range)
            return cls(limits, RankWeights.from_range(limits), min_tpr)
        if not callable(fpr_weight):
            raise ValueError(
                f"fpr_weight must be a function of the false positive rate, got {fpr_weight!r}."
            )
        return cls(None, RankWeights.from_function(fpr_weight), min_tpr)

    @property
    def upper_limit(self) -> float:
        """The highest false positive rate that counts."""
        return self.weights.last_rate

    def widened(self, n_negatives: float) -> Region:
        """The region to train on: wide enough to hold ten negatives, and no wider."""
        if self.fpr_range is None or n_negatives * self.weights.total >= _NEGATIVES_TO_TRAIN:
            return self
        width = min(1.0, _NEGATIVES_TO_TRAIN / n_negatives)
        low = min(self.fpr_range[0], 1.0 - width)
        limits = (low, min(1.0, low + width))
        return replace(self, fpr_range=limits, weights=RankWeights.from_range(limits))

    def structural(self, labels: Labels) -> Risk:
        """The structural hinge, query by query."""
        if self.min_tpr > 0:
            raise ValueError(
                "surrogate='structural' has no two-way form; use 'tight' or 'direct' with tpr_min."
            )
        if self.weights.is_uniform:
            return over_groups(PairwiseHinge, labels)
        return over_groups(lambda part: StructuralHinge(part, self.weights), labels)

    def tight(self, labels: Labels) -> Risk:
        """The convex tight hinge, query by query."""
        if self.weights.is_uniform and self.min_tpr == 0:
            return over_groups(PairwiseHinge, labels)
        return over_groups(lambda part: TightHinge(part, self.weights, self.min_tpr), labels)

    def direct(self, labels: Labels) -> Risk:
        """The smooth ramp, query by query."""
        if labels.weight is not None:
            # The ramp knows relations of weights only; divided by a power of two, to a sum in
            # [1/2, 1), they lose no digit and their products stay finite.
            weight = np.ldexp(labels.weight, -np.frexp(labels.weight.sum())[1])
            labels = replace(labels, weight=weight)
        return over_groups(lambda part: SmoothRamp(part, self.weights, self.min_tpr), labels)

    def difference(self, labels: Labels) -> HingeDifference:
        """The tight hinge as a difference of convex functions."""
        if self.fpr_range is None or self.fpr_range[0] == 0:
            raise ValueError(
                "tight_form='dc' is for ranges that start above 0; the tight hinge is convex "
                "otherwise, use tight_form='bound'."
            )
        if labels.group is not None:
            raise ValueError("tight_form='dc' does not take qid; use tight_form='bound'.")
        return HingeDifference(labels, self.fpr_range, self.min_tpr)


def warn_about_queries(labels: Labels) -> None:
    """Count the queries that cannot be ranked."""
    if labels.group is None:
        return
    n_queries = int(labels.group.max()) + 1
    skipped = n_queries - len(queries_with_both_classes(labels))
    if skipped == n_queries:
        raise ValueError(
            f"None of the {n_queries} queries in qid has both a positive and a negative row."
        )
    if skipped:
        warnings.warn(
            f"{skipped} of {n_queries} queries have only one class and do not count in training.",
            UserWarning,
            stacklevel=4,
        )


def threshold_for(scores: FloatArray, labels: Labels, upper_limit: float) -> float:
    """The threshold whose training FPR is the upper limit, or for 1 the best balanced accuracy.

    Rows strictly above it are called positive; the FPR is the largest possible value at or below
    the limit.
    """
    weight = np.ones(scores.size) if labels.weight is None else labels.weight
    if upper_limit >= 1.0:
        return _best_balanced_threshold(scores, labels.positive, weight)
    order = np.argsort(-scores[~labels.positive])
    ranked = scores[~labels.positive][order]
    passed = np.cumsum(weight[~labels.positive][order])
    # Sums that are equal on paper differ by up to a rounding a row.
    allowed = upper_limit * passed[-1] * (1 + 1e-12 + passed.size * np.finfo(np.float64).eps)
    first_kept_out = int(np.searchsorted(passed, allowed, side="right"))
    below = ranked[min(first_kept_out, ranked.size - 1)]
    above = scores[scores > below]
    return float(below if above.size == 0 else (below + above.min()) / 2)


def _best_balanced_threshold(scores: FloatArray, positive: Any, weight: FloatArray) -> float:
    levels, index = np.unique(scores, return_inverse=True)
    gain = np.where(positive, weight / weight[positive].sum(), -weight / weight[~positive].sum())
    # Balanced accuracy of calling positive all rows at or above each level.
    at_or_above = np.cumsum(np.bincount(index, gain)[::-1])[::-1]
    best = int(np.argmax(np.round(at_or_above, 12)))
    return float(levels[0] - 1.0 if best == 0 else (levels[best - 1] + levels[best]) / 2)
