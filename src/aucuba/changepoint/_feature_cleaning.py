"""Features that are not finite, or outside the range of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FeatureCleaning:
    """Ranges and medians of the training features.

    A column that is not finite in more than half of the training rows is dropped, and so is one that
    does not vary. Elsewhere NaN becomes the median, and every value is cut to the range of the finite
    training values: -inf becomes the smallest of them, inf the largest, and penalties are not
    extrapolated to signals unlike those of training.

    Attributes
    ----------
    used : ndarray of bool
        Columns that are kept.
    low, high, median : ndarray
        Of the finite training values of every column; 0 where there are none.
    """

    used: BoolArray
    low: FloatArray
    high: FloatArray
    median: FloatArray

    @classmethod
    def from_training(cls, X: FloatArray) -> FeatureCleaning:
        """Learn ranges and medians."""
        finite = np.isfinite(X)
        known = np.ma.masked_array(X, ~finite)
        # NumPy ships no type of this function.
        masked_median: Any = np.ma.median
        low, high, median = (
            np.asarray(np.ma.filled(part, 0.0), dtype=np.float64)
            for part in (known.min(axis=0), known.max(axis=0), masked_median(known, axis=0))
        )
        used = (finite.mean(axis=0) >= 0.5) & (high > low)
        return cls(used, low, high, median)

    def apply(self, X: FloatArray) -> FloatArray:
        """The used columns, all finite."""
        filled = np.where(np.isnan(X), self.median, X)
        clean: FloatArray = np.clip(filled, self.low, self.high)[:, self.used]
        return clean


def feature_table(X: ArrayLike, n_rows: int | None) -> FloatArray:
    """Check that there is one row of features per sequence."""
    features = np.asarray(X, dtype=np.float64)
    if features.ndim != 2 or (n_rows is not None and len(features) != n_rows):
        raise ValueError(
            f"X must have one row per sequence, got shape {features.shape}"
            + ("." if n_rows is None else f" for {n_rows} sequences.")
        )
    if n_rows == 0:
        raise ValueError("errors is empty: give the label errors of at least one sequence.")
    return features


def listed(numbers: IntArray) -> str:
    """The first few numbers, and how many there are."""
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown}, ... ({numbers.size} in all)" if numbers.size > 5 else shown
