"""The library's risks and measures inside of other trainers.

- `PartialAUCObjective`: for LightGBM and XGBoost, `PartialAUCMetric`: for these and CatBoost, none of
  which is imported here
- `PartialAUCLoss`, `AUMLoss`: for neural networks; using them imports PyTorch
- `TorchPartialAUC`, `TorchTPRAtFPR`: for their evaluation; using them imports torchmetrics
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucuba.objectives._boosting import PartialAUCMetric, PartialAUCObjective

if TYPE_CHECKING:
    from aucuba.objectives._torch import AUMLoss, PartialAUCLoss
    from aucuba.objectives._torchmetrics import TorchPartialAUC, TorchTPRAtFPR

_ON_DEMAND = {
    **dict.fromkeys(("AUMLoss", "PartialAUCLoss"), "aucuba.objectives._torch"),
    **dict.fromkeys(("TorchPartialAUC", "TorchTPRAtFPR"), "aucuba.objectives._torchmetrics"),
}

__all__ = [
    "AUMLoss",
    "PartialAUCLoss",
    "PartialAUCMetric",
    "PartialAUCObjective",
    "TorchPartialAUC",
    "TorchTPRAtFPR",
]


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module 'aucuba.objectives' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
