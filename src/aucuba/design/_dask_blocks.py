"""The engine for Dask collections: one task per block of rows, never the table as a whole."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import dask
import dask.array
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba.design._dask_client import (
    current_client,
    gathered,
    lost_blocks,
    require_running,
    watched,
)
from aucuba.design._dask_holders import Beside, Holders, rows_of

LOG = logging.getLogger("aucuba")
# Dask is only partly typed, so a strict type check rejects direct calls.
_dask: Any = dask


class DaskBlocks:
    """The blocks of rows of a Dask array or DataFrame, and the tasks that run on them.

    With a ``distributed`` client the blocks are futures. They keep their lineage, so Dask recomputes
    the blocks of a worker that dies; if no worker is left, one error ends the wait. Without a client
    every pass computes the blocks anew, in threads or by the scheduler that Dask is configured to use,
    so only a few are in memory at a time.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_columns)
    convert : callable, default=None
        What every block is turned into; with a client only the result stays in memory.
    hold : bool, default=False
        Whether every worker holds its blocks for all passes, one call per worker and pass, where its
        memory allows it (``Holders``). Otherwise every pass is one task per block.

    Attributes
    ----------
    client : distributed.Client or None
        Holds the blocks.
    columns : ndarray or DataFrame
        An empty table of the same columns.
    lengths : ndarray of int
        Number of rows of every block, known after `count`.
    n_passes : int
        Passes over the blocks so far, those over parts of them included.

    Examples
    --------
    >>> import dask.array, numpy as np
    >>> from aucuba.design import DaskBlocks
    >>> blocks = DaskBlocks(dask.array.from_array(np.eye(4), chunks=(3, 2)))
    >>> blocks.count(blocks.run(len))
    >>> blocks.lengths
    array([3, 1])
    >>> [block.shape for block in blocks.take(np.array([0, 2])).run(np.asarray)]
    [(2, 4)]
    """

    def __init__(
        self, X: Any, convert: Callable[[Any], Any] | None = None, *, hold: bool = False
    ) -> None:
        self.columns = self.columns_of(X)
        self.client = current_client()
        blocks = list(np.ravel(_whole_rows(X).to_delayed()))
        if convert is not None:
            call = _dask.delayed(convert, pure=False)
            blocks = [call(block) for block in blocks]
        self._blocks = blocks if self.client is None else self.client.compute(blocks)
        self._holders: Holders | None = None
        if hold and self.client is not None:
            self._holders = Holders(self.client, self._blocks)
        # Numbers of the blocks, of all those that X has.
        self._numbers: IntArray = np.arange(len(blocks))
        # Places of the taken rows in every block; None for all.
        self._taken: list[IntArray | None] = [None] * len(blocks)
        self._knows_its_rows = isinstance(X, dask.array.Array) and not np.isnan(X.shape[0])
        self.lengths: IntArray = np.zeros(len(blocks), dtype=np.intp)
        # Shared with the parts that `take` returns.
        self._n_passes = [0]

    @staticmethod
    def columns_of(X: Any) -> Any:
        """Return an empty table of the columns of X, which Dask knows without computing."""
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}.")
        is_array = isinstance(X, dask.array.Array)
        return np.empty((0, X.shape[1]), dtype=X.dtype) if is_array else X._meta

    @staticmethod
    def gather(*vectors: Any) -> tuple[Any, ...]:
        """Compute the vectors that come with X: Dask collections, arrays or None."""
        client = current_client()
        if client is None:
            found = _dask.compute(*vectors)
        else:
            found = watched(client, lambda: _dask.compute(*vectors))
        return tuple(found)

    @staticmethod
    def scored(X: Any, score: Callable[[Any], FloatArray]) -> Any:
        """Score X lazily, block by block; return a Dask array."""
        if isinstance(X, dask.array.Array):
            return _whole_rows(X).map_blocks(score, drop_axis=1, dtype="f8", meta=np.empty(0))
        return X.map_partitions(_scored_frame, score, meta=(None, "f8")).to_dask_array()

    @staticmethod
    def mapped(X: Any, convert: Callable[[Any], Any], n_columns: int, *, sparse: bool) -> Any:
        """Convert X lazily, block by block, to a Dask array of dense or CSR blocks."""
        lengths = X.chunks[0] if isinstance(X, dask.array.Array) else [np.nan] * X.npartitions
        call = _dask.delayed(convert, pure=False)
        empty = np.empty((0, n_columns))
        parts = [
            _dask.array.from_delayed(
                call(block), (length, n_columns), meta=csr_matrix(empty) if sparse else empty
            )
            for block, length in zip(np.ravel(_whole_rows(X).to_delayed()), lengths, strict=True)
        ]
        return _dask.array.concatenate(parts)

    def count(self, n_rows: Sequence[int]) -> None:
        """Store the number of rows of every block, which a pass has found; drop empty blocks."""
        lengths = np.array(n_rows, dtype=np.intp)
        kept = np.flatnonzero(lengths)
        if not self._knows_its_rows:
            LOG.info("Counted the rows of X once: %d in %d blocks.", lengths.sum(), lengths.size)
        self._blocks = [self._blocks[number] for number in kept]
        self._numbers = self._numbers[kept]
        self._taken, self.lengths = [None] * kept.size, lengths[kept]

    @property
    def n_passes(self) -> int:
        return self._n_passes[0]

    @property
    def n_rows(self) -> int:
        return int(self.lengths.sum())

    @property
    def starts(self) -> IntArray:
        """Number of rows before every block."""
        return np.cumsum(self.lengths) - self.lengths

    def take(self, rows: IntArray) -> DaskBlocks:
        """Return the blocks of some rows, given in increasing order; the workers cut them."""
        cuts = np.searchsorted(rows, np.append(self.starts, self.n_rows))
        part = copy(self)
        part.lengths = np.diff(cuts)
        kept = np.flatnonzero(part.lengths)
        part._blocks, part._taken = [], []
        for number in kept:
            places = rows[cuts[number] : cuts[number + 1]] - self.starts[number]
            taken = self._taken[number]
            part._blocks.append(self._blocks[number])
            part._taken.append(places if taken is None else taken[places])
        part.lengths, part._numbers = part.lengths[kept], self._numbers[kept]
        return part

    def split(self, of_rows: AnyArray) -> list[AnyArray]:
        """Split an array by blocks along its last axis, which is that of the rows."""
        return np.split(of_rows, self.starts[1:], axis=-1)

    def run(
        self,
        task: Callable[..., Any],
        *common: Any,
        parts: Sequence[tuple[Any, ...]] | None = None,
        beside: Beside | None = None,
    ) -> list[Any]:
        """Run a task on every block, with common arguments or with its own in ``parts``.

        ``beside`` are columns of every block, which come first and stay with those who hold it.
        """
        self._n_passes[0] += 1
        arguments = [common] * len(self._blocks) if parts is None else parts
        holders = self._holders
        if holders is not None:
            require_running(self.client)
            work = list(zip(self._numbers, self._taken, arguments, strict=True))
            held = watched(self.client, lambda: holders.run(task, work, beside))
            if held is not None:
                return list(held)
        if beside is not None:
            arguments = [
                (own, *others) for own, others in zip(beside.parts, arguments, strict=True)
            ]
        if self.client is None:
            return _computed(task, self.delayed(), arguments)
        require_running(self.client)
        tasks = [
            self.client.submit(task, self._cut(block, taken), *own, pure=False)
            for block, taken, own in zip(self._blocks, self._taken, arguments, strict=True)
        ]
        found: list[Any] = watched(self.client, lambda: gathered(self.client, tasks))
        return found

    def shared(self, value: Any) -> Any:
        """Send a large argument to the cluster once instead of once per block."""
        return value if self.client is None else self.client.submit(_same, value, pure=False)

    def delayed(self) -> list[Any]:
        """Return every block, cut to its taken rows, as a delayed table."""
        cut = _dask.delayed(rows_of, pure=False)
        return [
            _dask.delayed(block) if taken is None else cut(block, taken)
            for block, taken in zip(self._blocks, self._taken, strict=True)
        ]

    def with_all_workers(self, work: Callable[[Any], Any]) -> Any:
        """Run work that cannot go on without one of the workers; raise one error if it loses one."""
        return watched(self.client, lambda: work(self.client), list(self.client.nthreads()))

    def _cut(self, block: Any, taken: IntArray | None) -> Any:
        if taken is None:
            return block
        return self.client.submit(rows_of, block, taken, pure=False)


def _whole_rows(X: Any) -> Any:
    several = isinstance(X, dask.array.Array) and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if several else X


def _computed(
    task: Callable[..., Any], blocks: list[Any], arguments: Sequence[tuple[Any, ...]]
) -> list[Any]:
    call = _dask.delayed(task, pure=False, traverse=False)
    lazy = [call(block, *own) for block, own in zip(blocks, arguments, strict=True)]
    try:
        return list(_dask.compute(*lazy, traverse=False, optimize_graph=False))
    except ValueError as error:
        if "Missing dependency" not in str(error):
            raise
        raise lost_blocks() from error
    finally:
        _release_unused()


def _release_unused() -> None:
    """Give back the memory that Arrow's pool has kept from blocks, if Arrow has read any.

    Otherwise that memory adds to the driver's vectors, which are large after a pass.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def _scored_frame(frame: pd.DataFrame, score: Callable[[Any], FloatArray]) -> pd.Series:
    scores = score(frame) if len(frame) else np.empty(0)
    return pd.Series(scores, index=frame.index, dtype="f8")


def _same(value: Any) -> Any:
    return value
