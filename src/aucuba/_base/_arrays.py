"""The few operations on vectors of scores that differ between NumPy and PyTorch.

Everything else that risks and solvers do with scores (arithmetic, comparison, indexing by integers,
products of vectors) is the same code for both. Scores, gradients and row weights stay where the table
lives; models, planes and the small programs of the solvers are NumPy arrays on the host.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

# A vector of scores: a NumPy array or a torch tensor, in double precision.
Vector = Any

# For fewer values a plain binary search is faster than the grid.
_WORTH_A_GRID = 1000
_WORTH_A_SAMPLE = 2000
_EPS = float(np.finfo(np.float64).eps)


class Arrays(Protocol):
    """Where vectors of scores live. Vectors are in double precision, positions are integers."""

    def vector(self, values: Any) -> Vector:
        """Convert numbers, from the host or already here, to a vector in double precision."""
        ...

    def host(self, values: Vector) -> Any:
        """Copy a vector to the host as a NumPy array."""
        ...

    def index(self, places: Any) -> Any:
        """Bring integers or truth values, from the host or already here, as they are."""
        ...

    def empty(self, size: int) -> Vector: ...
    def zeros(self, size: int) -> Vector: ...
    def ones(self, size: int) -> Vector: ...

    def places(self, mask: Vector) -> Vector:
        """Return the positions where a mask is true, in increasing order."""
        ...

    def count(self, mask: Vector) -> int:
        """Count where a mask is true."""
        ...

    def order(self, values: Vector) -> Vector:
        """Return the positions of the values in increasing order."""
        ...

    def ordered(self, values: Vector) -> tuple[Vector, Vector]:
        """Return the values in increasing order, and their positions."""
        ...

    def kth_largest(self, values: Vector, k: int) -> Any:
        """Return the k-th largest value, k from 1."""
        ...

    def search(self, ranked: Vector, values: Vector, side: str = "left") -> Vector:
        """Return the insertion points of values in a sorted vector, as ``np.searchsorted``."""
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
    def stack(self, rows: Sequence[Vector]) -> Vector: ...
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

    def index(self, places: Any) -> Any:
        return places

    def empty(self, size: int) -> Vector:
        return np.empty(size)

    def zeros(self, size: int) -> Vector:
        return np.zeros(size)

    def ones(self, size: int) -> Vector:
        return np.ones(size)

    def places(self, mask: Vector) -> Vector:
        return mask.nonzero()[0]

    def count(self, mask: Vector) -> int:
        return int(np.count_nonzero(mask))

    def order(self, values: Vector) -> Vector:
        return values.argsort()

    def ordered(self, values: Vector) -> tuple[Vector, Vector]:
        order = values.argsort()
        return values[order], order

    def kth_largest(self, values: Vector, k: int) -> Any:
        """Search only the values above a bound that every sixteenth value suggests."""
        if k > len(values) // 2 or len(values) < _WORTH_A_SAMPLE:
            return np.partition(values, len(values) - k)[len(values) - k]
        some = values[::16]
        expected = k * len(some) / len(values)
        likely = len(some) - 1 - int(expected + 3 * expected**0.5 + 3)
        candidates = values[values >= np.partition(some, likely)[likely]] if likely > 0 else values
        if len(candidates) < k:
            candidates = values
        return np.partition(candidates, len(candidates) - k)[len(candidates) - k]

    def search(self, ranked: Vector, values: Vector, side: Any = "left") -> Vector:
        return ranked.searchsorted(values, side)

    def count_at_or_below(self, ranked: Vector, values: Vector) -> Vector:
        """Count by a grid, finest where most of ``ranked`` lies, which settles most values at once.

        An increasing function of the score keeps the order, so only cells that hold an entry of
        ``ranked`` need a binary search, whose branches the processor cannot predict.
        """
        if values.size < max(4 * ranked.size, _WORTH_A_GRID):
            return ranked.searchsorted(values, "right")
        n_cells = 16 * ranked.size
        grid = ScoreGrid.of(ranked, n_cells)
        if grid is None:
            return ranked.searchsorted(values, "right")
        cell, per_cell = grid.cells(values), np.bincount(grid.cells(ranked), minlength=n_cells + 1)
        count = (per_cell.cumsum() - per_cell)[cell]
        open_cells = np.flatnonzero((per_cell > 0)[cell])
        count[open_cells] = ranked.searchsorted(values[open_cells], "right")
        return count

    def running_sum(self, values: Vector) -> Vector:
        sums = np.empty(len(values) + 1)
        sums[0] = 0.0
        np.cumsum(values, out=sums[1:])
        return sums

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

    def stack(self, rows: Sequence[Vector]) -> Vector:
        return np.stack(rows)

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


class ScoreGrid(NamedTuple):
    """Cells 0 to ``n_cells``, finest where most of some values lie, that keep the order of numbers.

    The grid is even for ``z / (1 + |z|)``, z the numbers about the values' median in units of half
    their interquartile range.
    """

    middle: float
    scale: float
    n_cells: int

    @classmethod
    def of(cls, ranked: Vector, n_cells: int) -> ScoreGrid | None:
        """Lay a grid by values in increasing order; return None if half of them are equal."""
        quartiles = ranked[[ranked.size // 4, ranked.size // 2, 3 * ranked.size // 4]]
        first, middle, third = quartiles.tolist()
        scale = 2.0 / (third - first) if third > first else 0.0
        return cls(middle, scale, n_cells) if 0.0 < scale < math.inf else None

    def cells(self, values: Vector) -> Vector:
        """Number the cells of values.

        Written as ``1 - 1 / (1 + |z|)`` with the sign of z, every operation rounds a monotone function
        of one variable, so the result never decreases.
        """
        with np.errstate(over="ignore"):
            z = values - self.middle
            z *= self.scale
        part = np.abs(z)
        part += 1.0
        np.divide(-self.n_cells / 2, part, out=part)
        part += self.n_cells / 2
        np.copysign(part, z, out=part)
        part += self.n_cells / 2
        return part.astype(np.intp)


NUMPY = NumpyArrays()


def arrays_of(values: Any) -> Arrays:
    """Return the home of a vector: this machine's memory, or a torch tensor's device."""
    if is_tensor(values):
        arrays: Arrays = import_module("aucuba._base._torch_arrays").TorchArrays(values.device)
        return arrays
    return NUMPY


def is_tensor(values: Any) -> bool:
    """Return whether a value is a torch tensor, without importing torch."""
    return type(values).__module__.partition(".")[0] == "torch"


def is_half_precision(dtype: Any) -> bool:
    """Return whether a dtype is a 16-bit float; bfloat16 comes from a package of its own."""
    return dtype.name in ("bfloat16", "float16")


def on_host(values: Any) -> Any:
    """Copy a tensor to the host; return other values unchanged."""
    return arrays_of(values).host(values.detach()) if is_tensor(values) else values


def scaled_by_power_of_two(values: Vector, power: int) -> Vector:
    """Multiply by ``2 ** power`` exactly, even where that factor itself overflows."""
    half = power // 2
    return values * 2.0**half * 2.0 ** (power - half)


def mean_and_scale(scores: Vector, weight: Vector | None) -> tuple[Any, Any]:
    """Compute the mean and the standard deviation of each column; a row of weight k counts k times.

    Constant scores get the standard deviation 1, so that they can be divided by it. Their computed
    deviation is not 0 but the rounding error of their mean.
    """
    part = None if weight is None else weight / weight.sum()
    mean = scores.mean(axis=0) if part is None else part @ scores
    squares = (scores - mean) ** 2
    sd = (squares.mean(axis=0) if part is None else part @ squares) ** 0.5
    # NumPy adds the rows of a matrix one after the other, with up to one rounding per row.
    rounding = _EPS * (10.0 + len(scores)) * abs(mean)
    # Products with truth values leave all other deviations as they are.
    return mean, sd * (sd > rounding) + (sd <= rounding)
