"""Measures of a region for torchmetrics, Lightning and distributed evaluation loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from aucuba.metrics import RocSketch

# Batches kept apart before their sketches are merged.
_BATCHES = 64


class _SketchMetric(Metric):
    """A measure of a `RocSketch` that grows batch by batch.

    The state is one line of JSON per sketch, as bytes: processes exchange the bytes, and whoever
    computes merges the lines. Merging does not depend on the order, so every process gets the value of
    all rows at once.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    sketches: Any

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        capacity: int = 4_000_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.fpr_range, self.capacity = fpr_range, capacity
        RocSketch(fpr_range, capacity=capacity)
        self.add_state("sketches", default=[], dist_reduce_fx="cat")

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add the scores and labels, 0 or 1, of some rows."""
        scores = preds.detach().to("cpu", torch.float64).flatten().numpy()
        labels = target.detach().to("cpu").flatten().numpy().astype(np.int64)
        batch = RocSketch(self.fpr_range, capacity=self.capacity).update(labels, scores)
        self.sketches.append(self._packed(batch))
        if len(self.sketches) > _BATCHES:
            self.sketches = [self._packed(self.sketch())]

    def sketch(self) -> RocSketch:
        """Merge the rows of all batches, and of all processes while they are in step."""
        if not len(self.sketches):
            raise ValueError(f"{type(self).__name__} has seen no rows; call update first.")
        text = dim_zero_cat(self.sketches).cpu().numpy().tobytes()
        first, *others = (RocSketch.from_json(line) for line in text.splitlines())
        return first.merge(*others)

    def compute(self) -> Tensor:
        """Compute the measure of all rows; nan while they are of one class, as in a small batch."""
        sketch = self.sketch()
        both = sketch.n_positives and sketch.n_negatives
        return torch.tensor(self._value(sketch) if both else float("nan"), dtype=torch.float64)

    def _value(self, sketch: RocSketch) -> float:
        raise NotImplementedError

    def _packed(self, sketch: RocSketch) -> Tensor:
        content = bytearray(sketch.to_json().encode() + b"\n")
        return torch.frombuffer(content, dtype=torch.uint8).to(self.device)


class TorchPartialAUC(_SketchMetric):
    """Partial AUC as a ``torchmetrics.Metric``, exact however many rows and processes there are.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    capacity : int, default=4_000_000
        Number of negatives to keep; as in `aucuba.metrics.RocSketch`.
    **kwargs : dict
        Of ``torchmetrics.Metric``, such as ``dist_sync_on_step``.
    """

    def _value(self, sketch: RocSketch) -> float:
        return sketch.partial_auc()


class TorchTPRAtFPR(_SketchMetric):
    """True positive rate at the upper end of ``fpr_range``, as a ``torchmetrics.Metric``.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        Its upper end is the false positive rate.
    capacity : int, default=4_000_000
        Number of negatives to keep; as in `aucuba.metrics.RocSketch`.
    **kwargs : dict
        Of ``torchmetrics.Metric``.
    """

    def _value(self, sketch: RocSketch) -> float:
        return sketch.tpr_at_fpr()
