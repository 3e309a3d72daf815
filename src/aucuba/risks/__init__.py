"""Losses of the scores alone: classes, weights, queries and the region of the ROC curve."""

from aucuba._roc._region import RankWeights, Region
from aucuba._rows._sample import Sample
from aucuba.risks._base import Risk
from aucuba.risks._difference import HingeDifference
from aucuba.risks._prefix_hinge import PairwiseHinge, StructuralHinge, TightHinge
from aucuba.risks._ramp import SmoothRamp
from aucuba.risks._region_risks import make_risk

__all__ = [
    "HingeDifference",
    "PairwiseHinge",
    "RankWeights",
    "Region",
    "Risk",
    "Sample",
    "SmoothRamp",
    "StructuralHinge",
    "TightHinge",
    "make_risk",
]
