"""Designs on tables of numbers: dense arrays and sparse CSR matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._arrays import NUMPY, Arrays, Vector, is_half_precision
from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import largest_entry

# Entries per block of converted rows: half a megabyte, which stays in the cache.
_ENTRIES_AT_ONCE = 65_536
# Products in single precision need entries whose products are finite, and columns whose mean is not so
# many standard deviations from zero that it takes the digits in which rows differ.
_LARGEST_SINGLE, _SMALLEST_SINGLE, _MOST_OFF_ZERO = 1e15, 1e-15, 100.0


class TableDesign:
    """A dense array or a SciPy CSR matrix of floats: ``scores = X @ w``.

    X is never copied or scaled. Products are computed in double precision, whatever the precision of
    X, because certificates need it. A float32 table is converted a few rows at a time; so is one in
    half precision (float16, or bfloat16 of ``ml_dtypes``), of which parts are not copied either.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Finite floats, already validated by the caller.
    largest : float, default=None
        Bound on the absolute entries, if the caller knows one; by default computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.design import TableDesign
    >>> TableDesign(np.eye(2)).scores(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, X: Any, largest: float | None = None) -> None:
        self.X = X
        self._largest = largest
        self.arrays: Arrays = NUMPY
        self.is_exact = True

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def largest(self) -> float:
        if self._largest is not None:
            return self._largest
        return largest_entry(self.X if isinstance(self.X, np.ndarray) else self.X.data)

    def exact(self) -> TableDesign:
        return self

    def on_host(self) -> TableDesign:
        return self

    def in_single_precision(self) -> TableDesign:
        in_reach = _SMALLEST_SINGLE < self.largest < _LARGEST_SINGLE
        if sparse.issparse(self.X) or is_half_precision(self.X.dtype) or not in_reach:
            return self
        return _SingleDesign(self.X, self._largest) if _is_near_zero(self.X) else self

    @property
    def table(self) -> Any:
        return self.X

    def zeros(self) -> FloatArray:
        return np.zeros(self.X.shape[1])

    def scores(self, model: FloatArray) -> FloatArray:
        if self.X.dtype == np.float64:
            return _scores(self.X, model)
        return np.concatenate([_scores(block, model) for _, block in self._blocks()], axis=-1)

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        gradient = np.asarray(gradient)
        if self.X.dtype == np.float64:
            return np.asarray(gradient @ self.X)
        total = np.zeros((*gradient.shape[:-1], self.X.shape[1]))
        for rows, block in self._blocks():
            total += gradient[..., rows] @ block
        return total

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ model)

    def take(self, rows: IntArray) -> TableDesign:
        if is_half_precision(self.X.dtype):
            return _PartDesign(self.X, self._largest, rows)
        return TableDesign(self.X[rows], self._largest)

    def columns(self, places: IntArray) -> TableDesign:
        """Return the dense Design of some of the columns."""
        part = self.X[:, places]
        return TableDesign(part.toarray() if sparse.issparse(part) else part, self._largest)

    def some_rows(self, count: int) -> Any:
        return self.X[:: -(-self.n_rows // count)]

    def gram(self, weight: FloatArray) -> FloatArray:
        total = np.zeros((self.X.shape[1], self.X.shape[1]))
        # Memory of the first block serves for all: workers of Dask give it back at every release.
        weighted = np.empty((0, 0))
        for rows, block in self._blocks():
            if sparse.issparse(block):
                total += (block.multiply(weight[rows, np.newaxis]).T @ block).toarray()
                continue
            if not weighted.size:
                weighted = np.empty_like(block)
            part = np.multiply(block, weight[rows, np.newaxis], out=weighted[: len(block)])
            total += part.T @ block
        return total

    def beside(self, *columns: Vector) -> None:
        return None

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Convert the rows to double precision, a few at a time."""
        width = self.X.shape[1] if isinstance(self.X, np.ndarray) else self.X.nnz // self.n_rows
        size = max(_ENTRIES_AT_ONCE // max(width, 1), 1)
        for start in range(0, self.n_rows, size):
            rows = slice(start, min(start + size, self.n_rows))
            yield rows, self._widened(rows)

    def _widened(self, rows: slice) -> Any:
        if is_half_precision(self.X.dtype):
            return _as_doubles(self.X[rows])
        return self.X[rows].astype(np.float64, copy=False)


class _SingleDesign(TableDesign):
    """A dense table whose products with models and gradients are in single precision."""

    def __init__(self, X: Any, largest: float | None) -> None:
        super().__init__(X.astype(np.float32, copy=False), largest)
        self.is_exact = False

    def exact(self) -> TableDesign:
        return TableDesign(self.X, self._largest)

    def in_single_precision(self) -> TableDesign:
        return self

    def scores(self, model: FloatArray) -> FloatArray:
        return _scores(self.X, model.astype(np.float32)).astype(np.float64)

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.asarray(gradient, dtype=np.float32) @ self.X, dtype=np.float64)

    def take(self, rows: IntArray) -> TableDesign:
        return _SingleDesign(self.X[rows], self._largest)


class _PartDesign(TableDesign):
    """Some rows of a table, gathered a few at a time where they are used.

    Tables in half precision are those that hardly fit into memory; copies of the halves and folds of
    cross-validation would take as much again.
    """

    def __init__(self, X: Any, largest: float | None, rows: IntArray) -> None:
        super().__init__(X, largest)
        # Rows in order are read faster, but the caller's order counts.
        self.rows = np.asarray(rows)

    @property
    def n_rows(self) -> int:
        return int(self.rows.size)

    @property
    def table(self) -> Any:
        return self.X[self.rows]

    def take(self, rows: IntArray) -> TableDesign:
        return _PartDesign(self.X, self._largest, self.rows[rows])

    def columns(self, places: IntArray) -> TableDesign:
        return TableDesign(self.X[np.ix_(self.rows, places)], self._largest)

    def some_rows(self, count: int) -> Any:
        return self.X[self.rows[:: -(-self.n_rows // count)]]

    def _widened(self, rows: slice) -> Any:
        return _as_doubles(self.X[self.rows[rows]])


def _scores(X: Any, model: FloatArray) -> FloatArray:
    # The scores of one model shall lie side by side.
    return np.asarray(X @ model if model.ndim == 1 else model @ X.T)


def _is_near_zero(X: FloatArray) -> bool:
    """Tell whether no column's mean is too far from zero, counted in its standard deviations."""
    each = np.full(len(X), 1 / len(X), X.dtype)
    mean = np.asarray(each @ X, dtype=np.float64)
    square = np.asarray(np.einsum("i,ij,ij->j", each, X, X), dtype=np.float64)
    # That of a constant column, which no model needs, is rounding error.
    return bool(np.all(mean**2 <= _MOST_OFF_ZERO**2 * (square - mean**2)))


def _as_doubles(part: Any) -> FloatArray:
    """Copy numbers of 16 bits as doubles, in half the time of NumPy's own conversion.

    Their bits are moved to where those of a float32 stand, whose exponents count from elsewhere.
    """
    if not part.dtype.isnative:
        return np.asarray(part.astype(np.float64))
    bits = part.view(np.int16).astype(np.int32)
    if part.dtype.name == "bfloat16":
        return np.asarray((bits << 16).view(np.float32).astype(np.float64))
    bits <<= 13
    # The sign was copied into the three places after it.
    bits &= -0x70000001
    numbers = bits.view(np.float32)
    numbers *= np.float32(2.0**112)
    return np.asarray(numbers.astype(np.float64))
