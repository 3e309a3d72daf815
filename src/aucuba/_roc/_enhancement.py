"""Robust initial enhancement and BEDROC, and the effect of every row on them.

With ``k(u) = alpha exp(-alpha u) / (1 - exp(-alpha))`` the enhancement is the mean of k over the places
u of the positives among all rows; a block of equal scores takes the mean of k over the block.
"""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, roc_curve
from aucuba._roc._points import n_ranked
from aucuba._rows._sample import RankingSample

# Step of the derivative by the prevalence, relative to it: rounding and curvature are far below what an
# acceleration needs.
_STEP = 1e-5


def initial_enhancement(curve: RocCurve, alpha: float) -> FloatArray:
    """Robust initial enhancement: mean of ``exp(-alpha u)`` over the positives, relative to chance."""
    return _mean_decay(curve, curve.true_positive, alpha)


def _mean_decay(curve: RocCurve, cumulated: FloatArray, alpha: float) -> FloatArray:
    """Mean over the rows of a class, relative to the mean over all rows.

    Weights of blocks are taken within their class, where a light row is not lost beside heavy ones.
    """
    ranked = n_ranked(curve)
    total = ranked[..., -1:]
    mass = (np.diff(curve.true_positive) + np.diff(curve.false_positive)) / total
    # The mean of exp(-alpha u) over a block, which for a light one is the value at its start.
    within = -np.expm1(-alpha * mass) / np.where(mass > 0, mass, 1.0)
    decay = np.exp(-alpha * ranked[..., :-1] / total) * np.where(mass > 0, within, alpha)
    of_block = np.diff(cumulated) / cumulated[..., -1:]
    mean: FloatArray = np.sum(of_block * decay, axis=-1) / -np.expm1(-alpha)
    return mean


def enhancement_limits(prevalence: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Least and greatest robust initial enhancement at a prevalence: positives last, or first."""
    norm = prevalence * -np.expm1(-alpha)
    most = -np.expm1(-alpha * prevalence) / norm
    least = np.exp(-alpha * (1 - prevalence)) * -np.expm1(-alpha * prevalence) / norm
    return least, most


def bedroc(curve: RocCurve, alpha: float) -> FloatArray:
    """Robust initial enhancement on a scale from 0 (positives last) to 1 (positives first).

    The scale of the rarer class is used, since the limits of a class that is nearly everything meet:
    positives come first exactly where negatives come last.
    """
    total = n_ranked(curve)[..., -1]
    found = []
    for cumulated in (curve.true_positive, curve.false_positive):
        part = cumulated[..., -1] / total
        least, most = enhancement_limits(np.minimum(part, 0.5), alpha)
        found.append((_mean_decay(curve, cumulated, alpha) - least) / (most - least))
    is_rarer = curve.true_positive[..., -1] <= curve.false_positive[..., -1]
    return np.clip(np.where(is_rarer, found[0], 1.0 - found[1]), 0.0, 1.0)


def enhancement_effects(sample: RankingSample, alpha: float) -> FloatArray:
    """Compute the first-order effect of every row on the robust initial enhancement.

    A positive row adds its own term, and every row moves the places of the positives below it.
    """
    curve = roc_curve(sample)
    total, hits = n_ranked(curve)[-1], np.diff(curve.true_positive)
    place = n_ranked(curve) / total
    low, high = place[:-1], place[1:]
    slope = alpha * np.exp(-alpha * place) / -np.expm1(-alpha)
    mean = -np.diff(slope) / alpha / (high - low)
    # Derivatives of a block's mean by the places of its ends.
    by_low, by_high = (mean - slope[:-1]) / (high - low), (slope[1:] - mean) / (high - low)
    below = np.cumsum((hits * (by_low + by_high))[::-1])[::-1] - hits * by_low
    moved = (below - hits @ (by_low * low + by_high * high)) / total
    value = hits @ mean / hits.sum()
    block = sample.ranked.blocks()
    own = np.where(sample.positive, mean[block] - value, 0.0)
    return np.asarray(sample.weights * (own + moved[block]) / hits.sum())


def bedroc_effects(sample: RankingSample, alpha: float) -> FloatArray:
    """Compute the first-order effect of every row on BEDROC, which depends on the prevalence too."""
    curve = roc_curve(sample)
    total = n_ranked(curve)[-1]
    prevalence, value = curve.true_positive[-1] / total, initial_enhancement(curve, alpha)
    near = prevalence * np.array([1 - _STEP, 1.0, 1 + _STEP])
    least, most = enhancement_limits(near, alpha)
    scaled = (value - least) / (most - least)
    by_prevalence = (scaled[2] - scaled[0]) / (near[2] - near[0])
    of_row = sample.weights * (sample.positive - prevalence) / total
    of_value = enhancement_effects(sample, alpha) / (most[1] - least[1])
    return np.asarray(of_value + by_prevalence * of_row)
