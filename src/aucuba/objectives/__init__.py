"""The library's risks as objectives of other trainers.

- `PartialAUCObjective`, `PartialAUCMetric`: for LightGBM and XGBoost, which are not imported here
- ``aucuba.objectives._torch``: losses for neural networks; imports PyTorch, so import it by name
"""

from aucuba.objectives._boosting import PartialAUCMetric, PartialAUCObjective

__all__ = ["PartialAUCMetric", "PartialAUCObjective"]
