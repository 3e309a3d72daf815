"""Blocks that the workers of a cluster hold, so that a pass is one call per worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pandas as pd

from aucuba._base._typing import IntArray

# A worker holds its blocks if they take at most this part of its memory: held blocks are never written
# to disk, and scores and gradients come on top.
_PART_OF_MEMORY = 0.4
# How often a call looks whether its worker is still there.
_LOOK_EVERY_S = 2.0


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
        self._is_possible = True

    def run(
        self, task: Callable[..., Any], work: Sequence[tuple[int, IntArray | None, tuple[Any, ...]]]
    ) -> list[Any] | None:
        """Run a task on some blocks: number, rows (None for all) and arguments of each.

        None if blocks are not held: too large for the memory of the workers, or just lost.
        """
        try:
            if not self._actors and self._is_possible:
                self._make()
            if not self._actors:
                return None
            calls: list[list[Any]] = [[] for _ in self._actors]
            for number, rows, arguments in work:
                holder, place = self._places[number]
                calls[holder].append((place, rows, arguments))
            found = self._called(task, calls)
        except Exception:
            # The same pass by tasks brings lost blocks back, or raises what the task has raised.
            self._futures, self._actors = [], []
            return None
        parts = [iter(one) for one in found]
        return [next(parts[self._places[number][0]]) for number, *_ in work]

    def _called(self, task: Callable[..., Any], calls: list[list[Any]]) -> list[Any]:
        running = [
            actor.run(task, own) if own else None
            for actor, own in zip(self._actors, calls, strict=True)
        ]
        return [
            [] if one is None else self._result(one, actor)
            for one, actor in zip(running, self._actors, strict=True)
        ]

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
        self.n_threads = get_worker().state.nthreads

    def run(
        self, task: Callable[..., Any], work: Sequence[tuple[int, IntArray | None, tuple[Any, ...]]]
    ) -> list[Any]:
        """Run a task on blocks, given by their places here, their rows and their arguments."""

        def result(place: int, rows: IntArray | None, arguments: tuple[Any, ...]) -> Any:
            block = self.blocks[place]
            return task(block if rows is None else rows_of(block, rows), *arguments)

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
