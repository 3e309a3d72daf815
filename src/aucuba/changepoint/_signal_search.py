"""Computations of the detector on one signal: features, segmentations, changes at a penalty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._warnings import warn_user
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
                f"{signal.title} has a value of magnitude {largest:g}, too large for its features. "
                f"Scale all signals by one factor: magnitudes must be below {_LARGEST_SAMPLE:g}."
            )
        return features_of(signal.values)

    def all_sizes(self, signal: Signal) -> Segmentation:
        """Find the best segmentations of every size; a short signal has fewer sizes."""
        return self._search(all_sizes, signal, min(int(self.max_segments), signal.values.size))

    def changes(self, signals: Sequence[Signal], log_penalty: FloatArray) -> list[IntArray]:
        """Find the changes at the penalties, among at most ``max_segments`` segments."""
        found, capped = [], []
        for signal, penalty in zip(signals, np.exp(log_penalty).tolist(), strict=True):
            best = self._search(one_penalty, signal, penalty)
            row = 0
            if best.sizes[0] > self.max_segments:
                best = self.all_sizes(signal)
                path = model_selection(best.losses, best.sizes)
                row = int(path.index[int(path.select(penalty))])
                capped.append(signal.title)
            found.append(best.changepoints[row])
        if capped:
            warn_user(
                f"max_segments={self.max_segments} limits {len(capped)} of {len(found)} signals, the "
                f"first {capped[0]}: their penalties select more segments. Raise max_segments and fit "
                "again if so many changes are plausible."
            )
        return found

    def _search(
        self, search: Callable[..., Segmentation], signal: Signal, limit: float
    ) -> Segmentation:
        values, loss = signal.values, make_loss(self.loss)
        try:
            return search(values, np.ones(values.size), loss, limit, signal.positions)
        except ValueError as problem:
            raise ValueError(f"{signal.title}: {problem}") from None
