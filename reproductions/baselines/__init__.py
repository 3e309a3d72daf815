"""Methods that the papers compare with."""

from reproductions.baselines.greedy import GreedyCombination
from reproductions.baselines.hamming_svm import HammingSVM
from reproductions.baselines.link_scores import (
    adamic_adar,
    common_neighbours,
    jaccard,
    katz,
    resource_allocation,
)
from reproductions.baselines.pauc_boost import PAUCBoost
from reproductions.baselines.svm_rank import svm_rank

__all__ = [
    "GreedyCombination",
    "HammingSVM",
    "PAUCBoost",
    "adamic_adar",
    "common_neighbours",
    "jaccard",
    "katz",
    "resource_allocation",
    "svm_rank",
]
