"""Any classifier, re-weighted for a region of the ROC curve, and a stack of several."""

from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._region_stack import RegionStack

__all__ = ["RegionReweighted", "RegionStack"]
