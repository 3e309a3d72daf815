"""Checks of signals, their weights and the positions of their samples."""

from __future__ import annotations

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray


def check_signal(signal: ArrayLike, name: str = "signal") -> FloatArray:
    """Check that a signal is a non-empty vector of finite numbers; errors name the sequence."""
    y = np.asarray(signal)
    if y.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be numeric, got dtype {y.dtype}.")
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {y.shape}.")
    if y.size == 0:
        raise ValueError(f"{name} is empty: at least one sample is needed.")
    y = y.astype(np.float64, copy=False)
    bad = ~np.isfinite(y)
    if bad.any():
        raise ValueError(
            f"{name} contains {bad.sum()} NaN or infinite values, the first at sample "
            f"{int(np.argmax(bad))}. Drop or fill them."
        )
    return y


def sample_positions(positions: ArrayLike | None, n_samples: int | None) -> FloatArray:
    """Check the increasing coordinates of the samples; 0, 1, ... by default."""
    if positions is None:
        assert n_samples is not None
        return np.arange(int(n_samples), dtype=np.float64)
    where = np.asarray(positions, dtype=np.float64)
    if where.ndim != 1 or (n_samples is not None and where.size != n_samples):
        raise ValueError(f"positions must have one entry per sample, got shape {where.shape}.")
    if where.size == 0 or not np.all(np.isfinite(where)) or np.any(np.diff(where) <= 0):
        raise ValueError("positions must be finite and strictly increasing; sort the signal first.")
    return where


def check_weights(weights: ArrayLike | None, n_samples: int) -> FloatArray:
    """Check that there is one positive weight per sample; ones by default."""
    if weights is None:
        return np.ones(n_samples)
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"weights has shape {weight.shape} for {n_samples} samples.")
    bad = ~((weight > 0) & np.isfinite(weight))
    if bad.any():
        raise ValueError(
            f"weights must be positive and finite, got {weight[bad][0]} at sample "
            f"{int(np.argmax(bad))}; drop samples of weight 0."
        )
    return weight
