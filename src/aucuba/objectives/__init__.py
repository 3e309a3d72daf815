"""The library's risks as objectives of other trainers.

- `PartialAUCObjective`, `PartialAUCMetric`: for LightGBM and XGBoost, which are not imported here
- `PartialAUCLoss`, `AUMLoss`: for neural networks; using them imports PyTorch
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucuba.objectives._boosting import PartialAUCMetric, PartialAUCObjective

if TYPE_CHECKING:
    from aucuba.objectives._torch import AUMLoss, PartialAUCLoss

_NEED_TORCH = ("AUMLoss", "PartialAUCLoss")

__all__ = ["AUMLoss", "PartialAUCLoss", "PartialAUCMetric", "PartialAUCObjective"]


def __getattr__(name: str) -> Any:
    if name in _NEED_TORCH:
        return getattr(import_module("aucuba.objectives._torch"), name)
    raise AttributeError(f"module 'aucuba.objectives' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
