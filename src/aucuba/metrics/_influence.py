"""First-order effect of every row on a smooth measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._roc._placements import placements
from aucuba._roc._sample import RankingSample
from aucuba._roc._standard_error import row_terms
from aucuba.metrics._measures import Measure

# Step of the directional derivative for measures without placement values; values are smooth in the
# weights, and at this step rounding and curvature are both far below what an acceleration needs.
_STEP = 1e-4
_MOST_BLOCKS = 400


def region_influence(measure: Measure, sample: RankingSample) -> FloatArray:
    """Placement values of a measure that is an area in a region, up to a constant per class."""
    assert measure.region is not None
    region = measure.region
    # Only relations of weights matter; sums stay far from overflow.
    even = replace(sample, weight=sample.weights / sample.weights.mean())
    placed = placements(even, sample.score, region.weights, region.min_tpr)
    return measure.slope * placed.influence


def acceleration(measure: Measure, sample: RankingSample) -> float:
    r"""Compute ``a = sum l^3 / (6 (sum l^2)^{3/2})`` from the effects l of the rows.

    Placement values give the effects of areas. For other smooth measures the rows are joined, in the
    order of their scores and apart by class, into at most 400 blocks, and the effect of a block is a
    directional derivative.
    """
    if measure.region is not None:
        effect = row_terms(sample, region_influence(measure, sample))
    else:
        effect = _block_effects(measure, sample)
    spread = float(np.sum(effect**2))
    return float(np.sum(effect**3) / (6 * spread**1.5)) if spread > 0 else 0.0


def _block_effects(measure: Measure, sample: RankingSample) -> FloatArray:
    weight = sample.weights
    block = np.empty(sample.n_rows, dtype=np.intp)
    first = 0
    for rows in (np.flatnonzero(sample.positive), np.flatnonzero(~sample.positive)):
        levels = np.unique(sample.score[rows], return_inverse=True)[1]
        n_blocks = min(_MOST_BLOCKS // 2, int(levels.max()) + 1)
        block[rows] = first + levels * n_blocks // (int(levels.max()) + 1)
        first += n_blocks
    value = measure.of_query(sample)
    mass = np.bincount(block, weight)
    effects = np.empty(first)
    for number in range(first):
        heavier = weight * np.where(block == number, 1.0 + _STEP, 1.0)
        effects[number] = (measure.of_query(replace(sample, weight=heavier)) - value) / _STEP
    # Rows of a block are equal in effect; weighted by their number, effects sum to zero.
    per_row = effects / mass
    per_row -= np.average(per_row, weights=mass)
    return np.repeat(per_row, np.maximum(1, np.round(mass)).astype(int))
