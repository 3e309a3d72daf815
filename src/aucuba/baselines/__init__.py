"""Methods that the papers compare with."""

from aucuba.baselines.link_scores import (
    adamic_adar,
    common_neighbours,
    jaccard,
    katz,
    resource_allocation,
)
from aucuba.baselines.svm_rank import svm_rank

__all__ = [
    "adamic_adar",
    "common_neighbours",
    "jaccard",
    "katz",
    "resource_allocation",
    "svm_rank",
]
