"""Losses of the scores alone: labels, weights, queries and the region of the ROC curve."""

from aucuba.risks.base import GroupedRisk, Labels, Risk, over_groups, queries_with_both_classes
from aucuba.risks.difference import HingeDifference
from aucuba.risks.direct import Anchored, SmoothRamp
from aucuba.risks.prefix_hinge import PairwiseHinge, PrefixHinge, StructuralHinge, TightHinge
from aucuba.risks.rank_weights import RankWeights

__all__ = [
    "Anchored",
    "GroupedRisk",
    "HingeDifference",
    "Labels",
    "PairwiseHinge",
    "PrefixHinge",
    "RankWeights",
    "Risk",
    "SmoothRamp",
    "StructuralHinge",
    "TightHinge",
    "over_groups",
    "queries_with_both_classes",
]
