"""Blocks that the workers of a cluster hold, so that a pass is one call per worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import count
from typing import Any

import pandas as pd

from aucuba._base._typing import IntArray

# A worker holds its blocks if they take at most this part of its memory: held blocks are never written
# to disk, and scores and gradients come on top.
_PART_OF_MEMORY = 0.4
# Sets of columns that a holder keeps: those of all rows, and of the part of cross-validation at work.
_MOST_KEPT = 3
_NUMBERS = count()
# How often a call looks whether its worker is still there.
_LOOK_EVERY_S = 2.0


# Number of a block, its rows (None for all), and the arguments of the task there.
Work = tuple[int, IntArray | None, tuple[Any, ...]]


class Beside:
    """Columns of the rows of every block, which the holders of the blocks keep after the first use."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts, self.number = parts, next(_NUMBERS)


class Holders:
    """The holders of all blocks, one per worker; made in the first pass, and anew after a loss.

    A task of ``distributed`` passes through the scheduler several times and costs it about as much as a
    product with 50,000 rows. A holder is an actor, whose calls are one message there and one back.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Future
        All blocks of X, computed or on their way.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        self._client, self._blocks = client, blocks
        # Futures of the actors, which keep them alive; the actors; holder and place of every block.
        self._futures: list[Any] = []
        self._actors: list[Any] = []
        self._places: list[tuple[int, int]] = []
        # Numbers of the columns that the holders keep, in the order of their arrival.
        self._kept: list[int] = []
        self._is_possible = True

    def run(
        self, task: Callable[..., Any], work: Sequence[Work], beside: Beside | None
    ) -> list[Any] | None:
        """Run a task on some blocks, with columns beside them if given.

        None if blocks are not held: too large for the memory of the workers, or just lost.
        """
        try:
            if not self._actors and self._is_possible:
                self._make()
            if not self._actors:
                return None
            found = self._called(task, work, beside)
        except Exception:
            # The same pass by tasks brings lost blocks back, or raises what the task has raised.
            self._futures, self._actors, self._kept = [], [], []
            return None
        parts = [iter(one) for one in found]
        return [next(parts[self._places[number][0]]) for number, *_ in work]

    def _called(
        self, task: Callable[..., Any], work: Sequence[Work], beside: Beside | None
    ) -> list[list[Any]]:
        """Call the holders of these blocks; return the results of each."""
        calls: list[list[Work]] = [[] for _ in self._actors]
        columns: list[list[Any]] = [[] for _ in self._actors]
        is_new = beside is not None and beside.number not in self._kept
        for row, (number, rows, arguments) in enumerate(work):
            holder, place = self._places[number]
            calls[holder].append((place, rows, arguments))
            if beside is not None and is_new:
                columns[holder].append(beside.parts[row])
        which = None if beside is None else beside.number
        running = [
            actor.run(task, own, which, new) if own else None
            for actor, own, new in zip(self._actors, calls, columns, strict=True)
        ]
        found = [
            [] if one is None else self._result(one, actor)
            for one, actor in zip(running, self._actors, strict=True)
        ]
        if which is not None and is_new:
            self._kept = [*self._kept, which][-_MOST_KEPT:]
        return found

    def _result(self, call: Any, actor: Any) -> Any:
        """Wait for a call, which never ends where a worker has vanished without a word."""
        while True:
            try:
                return call.result(timeout=_LOOK_EVERY_S)
            except TimeoutError:
                if actor._address not in self._client.nthreads():
                    raise

    def _make(self) -> None:
        """Let every worker hold the blocks that it has."""
        wait: Any = import_module("distributed").wait
        wait(self._blocks)
        keys = [block.key for block in self._blocks]
        owners = self._client.who_has(self._blocks)
        if not all(owners[key] for key in keys):
            return
        owner_of = [min(owners[key]) for key in keys]
        workers = sorted(set(owner_of))
        self._is_possible = self._fit_into_memory(dict(zip(keys, owner_of, strict=True)))
        if not self._is_possible:
            return
        groups: list[list[Any]] = [[] for _ in workers]
        self._places = []
        for owner, block in zip(owner_of, self._blocks, strict=True):
            holder = workers.index(owner)
            self._places.append((holder, len(groups[holder])))
            groups[holder].append(block)
        self._futures = [
            self._client.submit(
                BlockHolder,
                *group,
                actor=True,
                workers=[owner],
                allow_other_workers=True,
                pure=False,
            )
            for owner, group in zip(workers, groups, strict=True)
        ]
        self._actors = self._client.gather(self._futures)

    def _fit_into_memory(self, owner_of: dict[Any, str]) -> bool:
        sizes = self._client.nbytes(list(owner_of), summary=False)
        limits = self._client.run(_memory_limit)
        taken = dict.fromkeys(limits, 0)
        for key, owner in owner_of.items():
            taken[owner] += sizes[key]
        return all(
            not limit or taken[worker] <= _PART_OF_MEMORY * limit
            for worker, limit in limits.items()
        )


class BlockHolder:
    """Blocks in the memory of one worker: an actor, which the cluster keeps while it is referred to."""

    def __init__(self, *blocks: Any) -> None:
        from distributed import get_worker

        self.blocks = blocks
        # Columns of every block by their number, the oldest first.
        self.kept: dict[int, dict[int, Any]] = {}
        self.n_threads = get_worker().state.nthreads

    def run(
        self, task: Callable[..., Any], work: Sequence[Work], which: int | None, columns: list[Any]
    ) -> list[Any]:
        """Run a task on blocks given by their places here, with columns that are new or kept."""
        if which is not None and columns:
            self.kept[which] = dict(zip((place for place, *_ in work), columns, strict=True))
            if len(self.kept) > _MOST_KEPT:
                del self.kept[next(iter(self.kept))]
        beside = {} if which is None else self.kept[which]

        def result(place: int, rows: IntArray | None, arguments: tuple[Any, ...]) -> Any:
            block = self.blocks[place]
            first = () if which is None else (beside[place],)
            return task(block if rows is None else rows_of(block, rows), *first, *arguments)

        if self.n_threads == 1 or len(work) == 1:
            return [result(*one) for one in work]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(result, *zip(*work, strict=True)))


def rows_of(block: Any, rows: IntArray) -> Any:
    """Return some rows of a block."""
    return block.iloc[rows] if isinstance(block, pd.DataFrame) else block[rows]


def _memory_limit(dask_worker: Any) -> int | None:
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit
