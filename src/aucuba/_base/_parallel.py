"""Parallel tasks, limits on threads and seeds: results depend neither on jobs nor on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from aucuba._base._callbacks import Progress


def map_parallel(
    task: Callable[..., Any],
    items: Iterable[Any],
    *args: Any,
    n_jobs: int | None,
    progress: Progress,
) -> list[Any]:
    """Return ``task(item, *args)`` for every item, in order, and report each result.

    A task that has started is never cancelled; pass ``progress.until_stopped(items)`` to start no
    further ones once a callback has asked to stop.
    """
    results: list[Any] = []
    calls = (delayed(task)(item, *args) for item in items)
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(calls):
        results.append(result)
        progress.report({"tasks": len(results)})
    return results


def draw_seed(random_state: Any) -> int:
    """Draw one seed for all random parts of a fit."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def with_fixed_seed(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that is None, here and in nested estimators.

    Models are then the same wherever they are fitted, in this process or in another.
    """
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**unset)


@lru_cache(maxsize=1)
def _blas() -> tuple[Any, ...]:
    """Return the controllers of the BLAS libraries, one per library."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return tuple(found)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run BLAS on one thread inside the context, or inside the decorated function.

    A threaded product sums in an order that depends on the number of threads, and a solver carries
    the difference in the last bits into its result.
    """
    # ``ThreadpoolController.limit`` does this too, and takes three times as long.
    before = [(library, library.get_num_threads()) for library in _blas()]
    before = [(library, number) for library, number in before if number != 1]
    for library, _ in before:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, number in before:
            library.set_num_threads(number)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS and OpenMP on one thread inside the context.

    Libraries are looked up again each time, since a classifier may load its own OpenMP late.
    """
    with threadpool_limits(1):
        yield
