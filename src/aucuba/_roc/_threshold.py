"""The score threshold that keeps a false positive rate."""

from __future__ import annotations

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray
from aucuba._roc._sample import Sample


def threshold_for(scores: FloatArray, sample: Sample, upper_limit: float) -> float:
    """The threshold whose training FPR is the upper limit, or for 1 the best balanced accuracy.

    Rows strictly above it are called positive; the FPR is the largest possible value at or below
    the limit.
    """
    weight = np.ones(scores.size) if sample.weight is None else sample.weight
    if upper_limit >= 1.0:
        return _best_balanced_threshold(scores, sample.positive, weight)
    order = np.argsort(-scores[~sample.positive])
    ranked = scores[~sample.positive][order]
    passed = np.cumsum(weight[~sample.positive][order])
    # Sums that are equal on paper differ by up to a rounding a row.
    allowed = upper_limit * passed[-1] * (1 + 1e-12 + passed.size * np.finfo(np.float64).eps)
    first_kept_out = int(np.searchsorted(passed, allowed, side="right"))
    below = ranked[min(first_kept_out, ranked.size - 1)]
    above = scores[scores > below]
    return float(below if above.size == 0 else (below + above.min()) / 2)


def _best_balanced_threshold(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    levels, index = np.unique(scores, return_inverse=True)
    gain = np.where(positive, weight / weight[positive].sum(), -weight / weight[~positive].sum())
    # Balanced accuracy of calling positive all rows at or above each level.
    at_or_above = np.cumsum(np.bincount(index, gain)[::-1])[::-1]
    best = int(np.argmax(np.round(at_or_above, 12)))
    return float(levels[0] - 1.0 if best == 0 else (levels[best - 1] + levels[best]) / 2)
