"""Designs on Dask collections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import dask.array
import numpy as np
import pandas as pd
from scipy import sparse

from aucuba._base._arrays import NUMPY, Arrays
from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import largest_entry
from aucuba.design._base import RowTerms
from aucuba.design._dask_blocks import DaskBlocks
from aucuba.design._dask_holders import Beside
from aucuba.design._table import TableDesign

# Solvers ask again for the scores of the model they have just left, and cross-validation for those of
# the rows that a fit left out.
_MOST_KNOWN = 2
_ROWS_AT_ONCE = 8_192


class DaskDesign:
    r"""The rows of a Dask array or DataFrame, block by block: ``scores = X @ w``.

    Every pass runs one task per block, which computes the block's scores or its part of ``X.T @ g``.
    The driver adds these parts in the order of the blocks, so the result does not depend on which
    worker was faster.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_features)
        Blocks of finite numbers: dense arrays, CSR matrices, or data frames, all of one kind.

    Attributes
    ----------
    blocks : DaskBlocks
        The blocks and the passes over them (``blocks.n_passes``).

    Examples
    --------
    >>> import dask.array, numpy as np
    >>> from aucuba.design import DaskDesign
    >>> X = dask.array.from_array(np.eye(4), chunks=(2, 4))
    >>> DaskDesign(X).scores(np.array([1.0, 2.0, 3.0, 4.0]))
    array([1., 2., 3., 4.])
    """

    def __init__(self, X: Any) -> None:
        _require_numbers(X)
        self.blocks = DaskBlocks(X, _as_table, hold=True)
        self.arrays: Arrays = NUMPY
        self.is_exact = True
        # Places of the rows of this Design; None for all.
        self._rows: IntArray | None = None
        # Scores of all rows by the last models, shared with the parts that `take` returns.
        self._known: dict[bytes, FloatArray] = {}
        facts: list[_Facts] = self.blocks.run(_facts)
        _require_alike(facts)
        self.blocks.count([one.n_rows for one in facts])
        self.dtype, self.n_features = facts[0].dtype, facts[0].n_columns
        self.is_sparse = facts[0].is_sparse
        self.largest = max(one.largest for one in facts)

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows if self._rows is None else int(self._rows.size)

    def in_single_precision(self) -> DaskDesign:
        return self

    @property
    def table(self) -> Any:
        return None

    def exact(self) -> DaskDesign:
        return self

    def on_host(self) -> DaskDesign:
        return self

    def zeros(self) -> FloatArray:
        return np.zeros(self.n_features)

    def scores(self, model: FloatArray) -> FloatArray:
        scores = self._known.get(model.tobytes())
        if scores is None:
            scores = np.concatenate(self.blocks.run(_scores, model), axis=-1)
            if scores.ndim > 1:
                # Kept, the scores of many models would take much memory.
                return scores if self._rows is None else scores[:, self._rows]
            scores.flags.writeable = False
            if len(self._known) == _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[model.tobytes()] = scores
        return scores if self._rows is None else scores[self._rows]

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        if isinstance(gradient, np.ndarray):
            return self._total(_adjoint, self._by_block(gradient))
        # Stack the vectors block by block: stacking them whole would copy all of them.
        several = zip(*(self._by_block(one) for one in gradient), strict=True)
        return self._total(_adjoint, list(several))

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ model)

    def take(self, rows: IntArray) -> DaskDesign:
        """Return the Design of some rows, each at most once; its passes still read all rows."""
        part = copy(self)
        part._rows = np.asarray(rows) if self._rows is None else self._rows[rows]
        return part

    def some_rows(self, count: int) -> Any:
        step = -(-self.n_rows // count)
        places = np.arange(0, self.n_rows, step) if self._rows is None else self._rows[::step]
        order = np.argsort(places)
        found = self.blocks.take(places[order]).run(_as_table)
        rows = sparse.vstack(found, format="csr") if self.is_sparse else np.concatenate(found)
        return rows if self._rows is None else rows[np.argsort(order)]

    def gram(self, weight: FloatArray) -> FloatArray:
        return self._total(_gram, self._by_block(weight))

    def beside(self, *columns: FloatArray) -> DaskRowsWithColumns:
        return DaskRowsWithColumns(self, columns)

    @staticmethod
    def as_table(block: Any) -> Any:
        """Return a block as a dense array or CSR matrix of floats; float32 stays float32."""
        return _as_table(block)

    def _by_block(self, of_rows: FloatArray) -> list[FloatArray]:
        """Cut a vector by blocks, with zeros at the rows that were not taken."""
        if self._rows is not None:
            taken = of_rows
            of_rows = np.zeros((*of_rows.shape[:-1], self.blocks.n_rows), of_rows.dtype)
            of_rows[..., self._rows] = taken
        return self.blocks.split(of_rows)

    def _total(self, task: Callable[..., FloatArray], parts: Sequence[Any]) -> FloatArray:
        """Add up the results of a task in the order of the blocks."""
        return _sum(self.blocks.run(task, parts=[(part,) for part in parts]))


class DaskRowsWithColumns:
    """The rows of a `DaskDesign` with columns, which the workers keep; rows not taken have zeros."""

    def __init__(self, design: DaskDesign, columns: Sequence[FloatArray]) -> None:
        self.blocks = design.blocks
        self.columns = Beside(list(zip(*map(design._by_block, columns), strict=True)))

    def risk(self, terms: RowTerms, model: FloatArray) -> tuple[float, FloatArray]:
        found = self.blocks.run(_risk, terms, model, beside=self.columns)
        return sum(value for value, _ in found), _sum([gradient for _, gradient in found])

    def second_derivative(self, terms: RowTerms, model: FloatArray) -> FloatArray:
        return _sum(self.blocks.run(_second_derivative, terms, model, beside=self.columns))


@dataclass(frozen=True)
class _Facts:
    """Shape, kind and largest entry of a block, found in one pass over it."""

    n_rows: int
    n_columns: int
    dtype: str
    is_sparse: bool
    largest: float


def _as_table(block: Any) -> Any:
    if isinstance(block, pd.DataFrame):
        single = all(dtype == np.float32 for dtype in block.dtypes)
        return block.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    if sparse.issparse(block):
        table = block.tocsr()
    else:
        # A block that has travelled may lie at an odd address; NumPy would copy it for every product.
        table = np.require(block, requirements="A")
    return table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)


def _facts(block: Any) -> _Facts:
    table = _as_table(block)
    if table.ndim != 2:
        raise ValueError(f"X must have two dimensions, got blocks of {table.ndim}.")
    is_sparse = bool(sparse.issparse(table))
    values = table.data if is_sparse else table
    largest = largest_entry(values) if values.size else 0.0
    n_rows, n_columns = table.shape
    return _Facts(n_rows, n_columns, table.dtype.name, is_sparse, largest)


def _scores(block: Any, model: FloatArray) -> FloatArray:
    return TableDesign(_as_table(block)).scores(model)


def _adjoint(block: Any, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
    return TableDesign(_as_table(block)).adjoint(gradient)


def _gram(block: Any, weight: FloatArray) -> FloatArray:
    return TableDesign(_as_table(block)).gram(weight)


def _in_parts(
    block: Any, columns: Sequence[FloatArray]
) -> Iterator[tuple[TableDesign, list[FloatArray]]]:
    """Cut a block into parts whose vectors are so short that their memory is used again at once.

    Workers of Dask give back longer ones at every release, and the system clears them at every use.
    """
    table = _as_table(block)
    size = max(table.shape[0] if sparse.issparse(table) else _ROWS_AT_ONCE, 1)
    for start in range(0, table.shape[0], size):
        rows = slice(start, start + size)
        yield TableDesign(table[rows]), [one[rows] for one in columns]


def _risk(
    block: Any, columns: Sequence[FloatArray], terms: RowTerms, model: FloatArray
) -> tuple[float, FloatArray]:
    total, gradient = 0.0, np.zeros(model.size)
    for design, own in _in_parts(block, columns):
        value, slope, _ = terms(design.scores(model[:-1]) + model[-1], *own)
        total += value
        gradient[:-1] += design.adjoint(slope)
        gradient[-1] += slope.sum()
    return total, gradient


def _second_derivative(
    block: Any, columns: Sequence[FloatArray], terms: RowTerms, model: FloatArray
) -> FloatArray:
    total = np.zeros((model.size, model.size))
    for design, own in _in_parts(block, columns):
        _, _, curvature = terms(design.scores(model[:-1]) + model[-1], *own)
        total[:-1, :-1] += design.gram(curvature)
        total[:-1, -1] += design.adjoint(curvature)
        total[-1, -1] += curvature.sum()
    total[-1] = total[:, -1]
    return total


def _sum(parts: Sequence[FloatArray]) -> FloatArray:
    """Add up arrays in their order."""
    total = np.zeros_like(parts[0])
    for one in parts:
        total += one
    return total


def _require_numbers(X: Any) -> None:
    if isinstance(X, dask.array.Array):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers, got a Dask array of dtype {X.dtype}.")
        return
    text = [str(name) for name, dtype in X.dtypes.items() if dtype.kind not in "fiub"]
    if text:
        more = f" ({len(text) - 1} more columns are not numeric either)" if len(text) > 1 else ""
        raise ValueError(
            f"X must hold numbers, but the column {text[0]!r} has dtype {X.dtypes[text[0]]}{more}; "
            "encode such columns first."
        )


def _require_alike(facts: Sequence[_Facts]) -> None:
    """Raise if blocks differ in kind or hold entries that are not finite."""
    for name in ("n_columns", "dtype", "is_sparse"):
        values = [getattr(one, name) for one in facts]
        other = next((k for k, value in enumerate(values) if value != values[0]), None)
        if other is not None:
            what = {"n_columns": "columns", "dtype": "dtype", "is_sparse": "sparse"}[name]
            raise ValueError(
                f"The blocks of X differ: block 0 has {what} {values[0]}, block {other} {values[other]}"
                "; give all blocks one dtype, width and kind."
            )
    bad = [k for k, one in enumerate(facts) if not np.isfinite(one.largest)]
    if bad:
        more = f" (and {len(bad) - 1} other blocks)" if len(bad) > 1 else ""
        raise ValueError(
            f"Block {bad[0]} of X contains NaN or infinite values{more}; blocks count from 0. Impute "
            "them or drop these rows."
        )
