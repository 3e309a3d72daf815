"""Designs on Dask collections: one task per block of rows, never the table as a whole."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import dask
import dask.array
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from scipy import sparse

from aucuba._base._arrays import NUMPY, Arrays
from aucuba._base._dask_client import gathered, lost_blocks, require_running
from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import largest_entry
from aucuba.design._table import TableDesign

LOG = logging.getLogger("aucuba")


class DaskDesign:
    r"""The rows of a Dask array or DataFrame, block by block: ``scores = X @ w``.

    Every pass is one task per block: a block's scores, or its part of ``X.T @ g``, which the driver
    adds up in the order of the blocks, so that the result does not depend on which worker was faster.
    With a ``distributed`` client the blocks are futures that keep their lineage, so that those of a
    worker that dies are computed again. Without one, every pass computes the blocks anew in threads
    (or by the scheduler that Dask is configured for): a few blocks are in memory at a time.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_features)
        Blocks of numbers: dense arrays, CSR matrices, or data frames. Columns are in one chunk.

    Attributes
    ----------
    block_rows : ndarray of int
        Number of rows of every block, counted in the first pass.
    n_passes : int
        Passes over the data so far.

    Examples
    --------
    >>> import dask.array, numpy as np
    >>> from aucuba.design import DaskDesign
    >>> X = dask.array.from_array(np.eye(4), chunks=(2, 4))
    >>> DaskDesign(X).scores(np.array([1.0, 2.0, 3.0, 4.0]))
    array([1., 2., 3., 4.])
    """

    def __init__(self, X: Any) -> None:
        self._blocks = _blocks_of(X)
        self.arrays: Arrays = NUMPY
        self.is_exact = True
        self.n_passes = 0
        # Places of the rows that count; None for all.
        self._rows: IntArray | None = None
        facts: list[_Facts] = self._pass(_facts)
        _require_alike(facts)
        n_rows = np.array([one.n_rows for one in facts], dtype=np.intp)
        self._blocks.keep(np.flatnonzero(n_rows))
        self.block_rows = n_rows[n_rows > 0]
        self.dtype, self.n_features = facts[0].dtype, facts[0].n_columns
        self.is_sparse = facts[0].is_sparse
        self.largest = max(one.largest for one in facts)
        if not _knows_its_rows(X):
            LOG.info(
                "The blocks of X did not know their numbers of rows; counted once: %d rows in %d "
                "blocks.",
                self.n_rows,
                len(facts),
            )

    @property
    def n_rows(self) -> int:
        return int(self.block_rows.sum() if self._rows is None else self._rows.size)

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
        scores = np.concatenate(self._pass(_scores, model))
        return scores if self._rows is None else scores[self._rows]

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        if isinstance(gradient, np.ndarray):
            return self._total(_adjoint, self._by_block(gradient))
        # Several vectors are stacked block by block: at once they would be copied all.
        several = zip(*(self._by_block(one) for one in gradient), strict=True)
        return self._total(_adjoint, list(several))

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ model)

    def take(self, rows: IntArray) -> DaskDesign:
        """Return the Design of some rows, each at most once; its passes are over all rows."""
        part = copy(self)
        part._rows = np.asarray(rows) if self._rows is None else self._rows[rows]
        return part

    def some_rows(self, count: int) -> Any:
        """Return rows of all blocks, also where only some rows were taken."""
        step = -(-int(self.block_rows.sum()) // count)
        # The first row of a block that is a multiple of the step.
        first = [(-start) % step for start in self._starts()]
        rows = self._pass(_every, parts=[(one, step) for one in first])
        return sparse.vstack(rows, format="csr") if self.is_sparse else np.concatenate(rows)

    def gram(self, weight: FloatArray) -> FloatArray:
        return self._total(_gram, self._by_block(weight))

    @staticmethod
    def as_table(block: Any) -> Any:
        """Return a block as a dense float array or a CSR matrix, in single precision if it was."""
        return _as_table(block)

    def _starts(self) -> IntArray:
        return np.cumsum(self.block_rows) - self.block_rows

    def _by_block(self, of_rows: FloatArray) -> list[FloatArray]:
        """Cut a vector by blocks, with zeros at the rows that were not taken."""
        if self._rows is not None:
            taken, of_rows = of_rows, np.zeros((*of_rows.shape[:-1], self.block_rows.sum()))
            of_rows[..., self._rows] = taken
        return np.split(of_rows, self._starts()[1:], axis=-1)

    def _total(self, task: Callable[..., FloatArray], parts: Sequence[Any]) -> FloatArray:
        """Add a sum over every block's rows, in the order of the blocks."""
        found = self._pass(task, parts=[(part,) for part in parts])
        total = np.zeros_like(found[0])
        for one in found:
            total += one
        return total

    def _pass(
        self, task: Callable[..., Any], *common: Any, parts: list[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """Run a task on every block: with arguments for all, or of its own."""
        self.n_passes += 1
        return self._blocks.run(task, [common] * self._blocks.count if parts is None else parts)


@dataclass(frozen=True)
class _Facts:
    """What one look at a block tells."""

    n_rows: int
    n_columns: int
    dtype: str
    is_sparse: bool
    largest: float


def _as_table(block: Any) -> Any:
    if isinstance(block, pd.DataFrame):
        single = all(dtype == np.float32 for dtype in block.dtypes)
        return block.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    table = block.tocsr() if sparse.issparse(block) else np.asarray(block)
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


def _every(block: Any, first: int, step: int) -> Any:
    # A view of some rows would keep the whole block in memory.
    return _as_table(block)[first::step].copy()


def _delayed_blocks(X: Any) -> list[Delayed]:
    """Return one delayed block of whole rows per chunk."""
    if isinstance(X, dask.array.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers, got a Dask array of dtype {X.dtype}.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed().ravel())
    text = [str(name) for name, dtype in X.dtypes.items() if dtype.kind not in "fiub"]
    if text:
        raise ValueError(
            f"X must hold numbers, but the column {text[0]!r} is of dtype {X.dtypes[text[0]]}"
            f"{f' and {len(text) - 1} more are of other kinds' if len(text) > 1 else ''}; encode "
            "such columns first."
        )
    return list(X.to_delayed())


def _knows_its_rows(X: Any) -> bool:
    return isinstance(X, dask.array.Array) and not np.isnan(X.chunks[0]).any()


def _require_alike(facts: Sequence[_Facts]) -> None:
    """Refuse blocks that differ in kind, or that have entries that are not finite."""
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
            "them, or leave these rows out."
        )


class _Blocks(Protocol):
    """How the blocks of a table are computed."""

    @property
    def count(self) -> int: ...

    def keep(self, numbers: IntArray) -> None:
        """Forget all other blocks."""
        ...

    def run(self, task: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Run a task on every block with arguments of its own."""
        ...


def _blocks_of(X: Any) -> _Blocks:
    """Choose how blocks are computed: by a distributed client if there is one."""
    blocks = _delayed_blocks(X)
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        return _OnDemand(blocks)
    return _OnClient(client, blocks)


class _OnDemand:
    """Compute every block anew in every pass, by the scheduler that Dask is configured for."""

    def __init__(self, blocks: list[Delayed]) -> None:
        self.blocks = blocks

    @property
    def count(self) -> int:
        return len(self.blocks)

    def keep(self, numbers: IntArray) -> None:
        self.blocks = [self.blocks[number] for number in numbers]

    def run(self, task: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        call = dask.delayed(task, pure=False, traverse=False)
        lazy = [call(block, *own) for block, own in zip(self.blocks, arguments, strict=True)]
        try:
            return list(dask.compute(*lazy, traverse=False, optimize_graph=False))
        except ValueError as error:
            if "Missing dependency" not in str(error):
                raise
            raise lost_blocks() from error
        finally:
            _release_unused()


def _release_unused() -> None:
    """Return what Arrow's pool has kept of freed blocks, if some were read by Arrow.

    Else they would be in memory beside the vectors of the driver, which are large after a pass.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


class _OnClient:
    """Keep the blocks as futures of a client and submit one task per block."""

    def __init__(self, client: Any, blocks: list[Delayed]) -> None:
        self.client = client
        self.futures = client.compute(blocks)

    @property
    def count(self) -> int:
        return len(self.futures)

    def keep(self, numbers: IntArray) -> None:
        self.futures = [self.futures[number] for number in numbers]

    def run(self, task: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        require_running(self.client)
        tasks = [
            self.client.submit(task, future, *own, pure=False)
            for future, own in zip(self.futures, arguments, strict=True)
        ]
        return gathered(self.client, tasks)
