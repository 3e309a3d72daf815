"""First-order effect of every row on a smooth measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._placements import placements
from aucuba._rows._sample import RankingSample
from aucuba.metrics._measures import Measure


def region_influence(measure: Measure, sample: RankingSample) -> FloatArray:
    """Placement values of a measure that is an area in a region, up to a constant per class."""
    assert measure.region is not None
    region = measure.region
    # Only relations of weights matter; sums stay far from overflow.
    even = replace(sample, weight=sample.weights / sample.weights.mean())
    placed = placements(even, sample.ranked, region.weights, region.min_tpr)
    return measure.slope * placed.influence


def acceleration(effect: FloatArray, cluster: IntArray | None = None) -> float:
    r"""Compute ``a = sum l^3 / (6 (sum l^2)^{3/2})`` from the effects l of the rows or clusters."""
    units = effect if cluster is None else np.bincount(cluster, effect)
    spread = float(np.sum(units**2))
    return float(np.sum(units**3) / (6 * spread**1.5)) if spread > 0 else 0.0
