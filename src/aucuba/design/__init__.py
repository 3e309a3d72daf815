"""Where the data live: the only code that touches X."""

from aucuba.design.base import Design
from aucuba.design.kernel import KernelDesign
from aucuba.design.table import TableDesign

__all__ = ["Design", "KernelDesign", "TableDesign"]
