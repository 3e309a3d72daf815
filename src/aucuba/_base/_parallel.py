"""Tasks in parallel that report each result as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from aucuba._base._callbacks import Progress


def map_parallel(
    task: Callable[..., Any],
    items: Iterable[Any],
    *args: Any,
    n_jobs: int | None,
    progress: Progress,
) -> list[Any]:
    """Return ``task(item, *args)`` for every item, in order, and report each result.

    A task that was begun is never cancelled; pass ``progress.until_stopped(items)`` to begin no
    further ones once a callback has asked to stop.
    """
    results: list[Any] = []
    calls = (delayed(task)(item, *args) for item in items)
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(calls):
        results.append(result)
        progress.report({"tasks": len(results)})
    return results
