"""The few operations on vectors of scores that differ between NumPy and PyTorch.

Everything else that risks and solvers do with scores (arithmetic, comparison, indexing by places,
products of vectors) is written alike for both. Scores, gradients and row weights stay where the table
lives; models, planes and the small programs of the solvers are NumPy arrays on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

# A vector of scores: a NumPy array or a torch tensor, in double precision.
Vector = Any


class Arrays(Protocol):
    """One home of score space. Vectors are in double precision, places are whole numbers."""

    def vector(self, values: Any) -> Vector:
        """Bring numbers here, from the host or as they are, in double precision."""
        ...

    def host(self, values: Vector) -> Any:
        """Bring a vector to the host as a NumPy array."""
        ...

    def empty(self, size: int) -> Vector: ...
    def zeros(self, size: int) -> Vector: ...
    def ones(self, size: int) -> Vector: ...

    def places(self, mask: Vector) -> Vector:
        """Return the places where a mask is true, in increasing order."""
        ...

    def order(self, values: Vector) -> Vector:
        """Return the places of the values in increasing order."""
        ...

    def kth_largest(self, values: Vector, k: int) -> Any:
        """Return the k-th largest value, k from 1."""
        ...

    def search(self, ranked: Vector, values: Vector, side: str = "left") -> Vector:
        """Return the places of values in a vector in increasing order, as ``np.searchsorted``."""
        ...

    def count_at_or_below(self, ranked: Vector, values: Vector) -> Vector:
        """Count the entries of ``ranked`` at or below each of many values in random order."""
        ...

    def running_sum(self, values: Vector) -> Vector:
        """Return the sums of the first 0, 1, ..., n values."""
        ...

    def sums_by_group(self, group: Vector, values: Vector | None, n_groups: int) -> Vector:
        """Sum values, or count, by the number of their group."""
        ...

    def mean_over_ties(self, ranked: Vector, mass: Vector | None, values: Vector) -> Vector:
        """Average the values over blocks of equal entries of ``ranked``, by mass (None: all equal)."""
        ...

    def decreasing_regression(self, target: Vector, mass: Vector) -> Vector:
        """Return the decreasing isotonic regression of the targets."""
        ...

    def join(self, parts: Sequence[Vector]) -> Vector: ...
    def flip(self, values: Vector) -> Vector: ...
    def unique(self, values: Vector) -> Vector: ...
    def where(self, condition: Vector, yes: Any, no: Any) -> Vector: ...
    def log1p_exp(self, values: Vector) -> Vector: ...
    def expit(self, values: Vector) -> Vector: ...


class NumpyArrays:
    """Score space in the memory of this machine."""

    def vector(self, values: Any) -> Vector:
        return np.asarray(values, dtype=np.float64)

    def host(self, values: Vector) -> Any:
        return values

    def empty(self, size: int) -> Vector:
        return np.empty(size)

    def zeros(self, size: int) -> Vector:
        return np.zeros(size)

    def ones(self, size: int) -> Vector:
        return np.ones(size)

    def places(self, mask: Vector) -> Vector:
        return np.flatnonzero(mask)

    def order(self, values: Vector) -> Vector:
        return np.argsort(values)

    def kth_largest(self, values: Vector, k: int) -> Any:
        return np.partition(values, len(values) - k)[len(values) - k]

    def search(self, ranked: Vector, values: Vector, side: Any = "left") -> Vector:
        return np.searchsorted(ranked, values, side=side)

    def count_at_or_below(self, ranked: Vector, values: Vector) -> Vector:
        """Count by a grid over the range of ``ranked``, which places most values at once.

        An increasing function of the score keeps the order, so only cells that hold an entry of
        ``ranked`` need a binary search, whose branches the processor cannot predict.
        """
        low, high = float(ranked[0]), float(ranked[-1])
        if values.size < 4 * ranked.size or not low < high:
            return np.searchsorted(ranked, values, side="right")
        n_cells = 8 * ranked.size
        scale = n_cells / (high - low)
        if not np.isfinite(scale):
            return np.searchsorted(ranked, values, side="right")
        cell = np.clip((values - low) * scale, 0.0, n_cells + 1.0).astype(np.int32)
        own = np.clip((ranked - low) * scale, 0.0, n_cells + 1.0).astype(np.int32)
        starts = np.searchsorted(own, np.arange(n_cells + 3))
        count = starts[cell]
        open_cells = np.flatnonzero(starts[cell + 1] > count)
        count[open_cells] = np.searchsorted(ranked, values[open_cells], side="right")
        return count

    def running_sum(self, values: Vector) -> Vector:
        return np.concatenate([[0.0], np.cumsum(values)])

    def sums_by_group(self, group: Vector, values: Vector | None, n_groups: int) -> Vector:
        return np.bincount(group, values, n_groups).astype(np.float64, copy=False)

    def mean_over_ties(self, ranked: Vector, mass: Vector | None, values: Vector) -> Vector:
        differs = ranked[1:] != ranked[:-1]
        if differs.all():
            return values
        starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
        sizes = np.diff(starts, append=ranked.size)
        if mass is None:
            return np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
        total = np.add.reduceat(mass, starts)
        means = np.add.reduceat(mass * values, starts) / np.where(total > 0, total, 1.0)
        return np.repeat(means, sizes)

    def decreasing_regression(self, target: Vector, mass: Vector) -> Vector:
        return isotonic_regression(target, weights=mass, increasing=False).x

    def join(self, parts: Sequence[Vector]) -> Vector:
        return np.concatenate(parts)

    def flip(self, values: Vector) -> Vector:
        return values[::-1]

    def unique(self, values: Vector) -> Vector:
        return np.unique(values)

    def where(self, condition: Vector, yes: Any, no: Any) -> Vector:
        return np.where(condition, yes, no)

    def log1p_exp(self, values: Vector) -> Vector:
        return np.logaddexp(0.0, values)

    def expit(self, values: Vector) -> Vector:
        return expit(values)


NUMPY = NumpyArrays()


def arrays_of(values: Any) -> Arrays:
    """Return the home of a vector: this machine's memory, or a torch tensor's device."""
    if is_tensor(values):
        arrays: Arrays = import_module("aucuba._core._torch_arrays").TorchArrays(values.device)
        return arrays
    return NUMPY


def is_tensor(values: Any) -> bool:
    """Tell whether a value is a torch tensor, without importing torch."""
    return type(values).__module__.partition(".")[0] == "torch"


def on_host(values: Any) -> Any:
    """Copy a tensor to the host; other values stay as they are."""
    return arrays_of(values).host(values.detach()) if is_tensor(values) else values


def scaled_by_power_of_two(values: Vector, power: int) -> Vector:
    """Multiply by ``2 ** power``, which changes no digit, also where that factor itself overflows."""
    half = power // 2
    return values * 2.0**half * 2.0 ** (power - half)
