"""Where the rows of a linear model live: arrays, kernels, torch tensors or Dask blocks.

- `TableDesign`, `KernelDesign`: arrays in memory
- `TorchDesign`: tensors on any device; using it imports PyTorch
- `DaskDesign`: Dask arrays and DataFrames, on the engine `DaskBlocks`; using them imports Dask
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucuba.design._base import Design, RowDesign
from aucuba.design._kernel import KernelDesign
from aucuba.design._table import TableDesign

if TYPE_CHECKING:
    from aucuba.design._dask import DaskDesign
    from aucuba.design._dask_blocks import DaskBlocks
    from aucuba.design._torch import TorchDesign

# Designs whose packages are imported when first used.
_ON_DEMAND = {
    "DaskBlocks": "aucuba.design._dask_blocks",
    "DaskDesign": "aucuba.design._dask",
    "TorchDesign": "aucuba.design._torch",
}

__all__ = [
    "DaskBlocks",
    "DaskDesign",
    "Design",
    "KernelDesign",
    "RowDesign",
    "TableDesign",
    "TorchDesign",
]


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module 'aucuba.design' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
