"""Losses of the scores alone: labels, weights, queries and the region of the ROC curve."""

from aucuba.risks.base import GroupedRisk, Labels, Risk, over_groups, queries_with_both_classes
from aucuba.risks.rank_weights import RankWeights
from aucuba.risks.structural import StructuralHinge

__all__ = [
    "GroupedRisk",
    "Labels",
    "RankWeights",
    "Risk",
    "StructuralHinge",
    "over_groups",
    "queries_with_both_classes",
]
