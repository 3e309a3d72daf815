"""Re-weight any classifier for a region, stack several, measure importances, explain rows."""

from aucuba.ensemble._explain import RowReasons, explain_rows
from aucuba.ensemble._importances import region_importances
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._region_stack import RegionStack

__all__ = ["RegionReweighted", "RegionStack", "RowReasons", "explain_rows", "region_importances"]
