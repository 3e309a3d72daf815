"""Tasks in parallel that report each result as it comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.utils.parallel import Parallel

from aucuba._core._callbacks import Progress


def run_all(tasks: Iterable[Any], n_jobs: int | None, progress: Progress) -> list[Any]:
    """Results of the delayed tasks, in their order; progress hears of every one.

    No task is cancelled: an iterator that ends when ``progress.stopped`` begins no further ones.
    """
    results: list[Any] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        results.append(result)
        progress.report({"tasks": len(results)})
    return results
