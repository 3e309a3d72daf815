"""Computations of the detector on one signal: features, segmentations, changes at a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.changepoint._features import features_of
from aucuba.changepoint._losses import make_loss
from aucuba.changepoint._segment import all_sizes, one_penalty
from aucuba.changepoint._segmentation import Segmentation, model_selection
from aucuba.changepoint._signals import Signal

# One feature, the standard deviation of squared samples, needs fourth powers.
_LARGEST_SAMPLE = 1e70


@dataclass(frozen=True)
class SignalSearch:
    """Segmentations into at most ``max_segments`` pieces, with errors that name the signal."""

    max_segments: int
    loss: str
    features: Callable[[Any], ArrayLike] | None

    def features_of(self, signal: Signal) -> FloatArray:
        """Return one row of features."""
        if self.features is not None:
            return np.asarray(self.features(signal.values), dtype=np.float64)
        largest = float(np.abs(signal.values).max())
        if largest >= _LARGEST_SAMPLE:
            raise ValueError(
                f"{signal.title} has a value of size {largest:g}, too large for its features. "
                f"Scale all signals by one factor: sizes must be below {_LARGEST_SAMPLE:g}."
            )
        return features_of(signal.values)

    def all_sizes(self, signal: Signal) -> Segmentation:
        """Find the best segmentations of every size."""
        if signal.values.size < self.max_segments:
            raise ValueError(
                f"{signal.title} has {signal.values.size} samples, fewer than max_segments="
                f"{self.max_segments}; lower max_segments or leave the signal out."
            )
        return self._search(all_sizes, signal, int(self.max_segments))

    def changes(self, signal: Signal, log_penalty: float) -> IntArray:
        """Find the changes at a penalty, among at most ``max_segments`` segments."""
        penalty = np.exp(log_penalty)
        best = self._search(one_penalty, signal, float(penalty))
        if best.sizes[0] <= self.max_segments:
            return best.changepoints[0]
        table = self.all_sizes(signal)
        path = model_selection(table.losses, table.sizes)
        chosen: IntArray = table.changepoints[path.index[int(path.select(penalty))]]
        return chosen

    def _search(
        self, search: Callable[..., Segmentation], signal: Signal, limit: float
    ) -> Segmentation:
        values, loss = signal.values, make_loss(self.loss)
        try:
            return search(values, np.ones(values.size), loss, limit, signal.positions)
        except ValueError as problem:
            raise ValueError(f"{signal.title}: {problem}") from None
