"""Re-weight any classifier for a region of the ROC curve, stack several, and measure importances."""

from aucuba.ensemble._importances import region_importances
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._region_stack import RegionStack

__all__ = ["RegionReweighted", "RegionStack", "region_importances"]
