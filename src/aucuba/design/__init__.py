"""Where the data live: the only code that touches X."""

from aucuba.design._base import Design, RowDesign
from aucuba.design._kernel import KernelDesign
from aucuba.design._table import TableDesign

__all__ = ["Design", "KernelDesign", "RowDesign", "TableDesign"]
