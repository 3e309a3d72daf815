"""Any classifier, tuned for a region of the ROC curve, and the stack of the best of them."""

from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._region_stack import RegionStack

__all__ = ["RegionReweighted", "RegionStack"]
