"""The risk of a region by the name of its surrogate."""

from __future__ import annotations

import math
from dataclasses import replace

from aucuba._base._arrays import scaled_by_power_of_two
from aucuba._base._validation import check_choice
from aucuba._roc._region import RankWeights, Region
from aucuba._rows._sample import Sample
from aucuba.risks._base import Risk
from aucuba.risks._prefix_hinge import PairwiseHinge, StructuralHinge, TightHinge
from aucuba.risks._query_risks import QueryHinge, QueryPairs, QueryRamp
from aucuba.risks._ramp import RAMP_WIDTH, SmoothRamp


def make_risk(
    surrogate: str,
    sample: Sample,
    region: Region,
    *,
    ramp_width: float = RAMP_WIDTH,
    tie_loss: float = 0.5,
) -> Risk:
    """Build the risk of a region, query by query.

    Parameters
    ----------
    surrogate : {"structural", "tight", "direct"}
        `StructuralHinge`, `TightHinge` (both `PairwiseHinge` on the whole curve) or `SmoothRamp`.
    sample : Sample
        Class, weight and query of every row.
    region : Region
        The part of the ROC plane that counts.
    ramp_width : float, default=0.133
        Half-width of the ramp of ``"direct"``, in the unit of the scores.
    tie_loss : float, default=0.5
        Loss of a tied pair of ``"direct"``, from 1/2 to 1.

    Returns
    -------
    Risk

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.risks import Region, Sample, make_risk
    >>> sample = Sample(np.array([True, False, False, True]))
    >>> risk = make_risk("tight", sample, Region.from_params(fpr_range=(0.0, 0.5)))
    >>> risk.value_and_gradient(np.array([0.0, 1.0, -1.0, 3.0]))[0]
    1.0
    """
    check_choice(surrogate, "surrogate", ("structural", "tight", "direct"))
    if surrogate == "structural" and region.min_tpr > 0:
        raise ValueError(
            f"'structural' has no two-way form; use 'tight' with min_tpr={region.min_tpr:g}."
        )
    weights, lowest = region.weights, region.min_tpr
    if surrogate == "direct":
        if sample.weight is not None:
            # The ramp depends on ratios of weights only. Divided by a power of two, to a sum in
            # [1/2, 1), they lose no digit and their products stay finite.
            power = math.frexp(float(sample.weight.sum()))[1]
            weight = scaled_by_power_of_two(sample.weight, -power)
            sample = replace(sample, weight=weight)
        ramp = SmoothRamp if sample.query is None else QueryRamp
        return ramp(sample, weights, lowest, ramp_width, tie_loss)
    if sample.query is not None:
        if region.is_whole_curve and QueryPairs.are_few(sample):
            return QueryPairs(sample)
        masses = weights.envelope() if surrogate == "tight" else RankWeights.from_range()
        return QueryHinge(sample, weights, masses, lowest)
    if region.is_whole_curve:
        return PairwiseHinge(sample)
    if surrogate == "tight":
        return TightHinge(sample, weights, lowest)
    return StructuralHinge(sample, weights)
