"""Fits on folds and on all rows, in parallel and cached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sklearn

import aucuba
from aucuba._core._callbacks import Progress
from aucuba._core._parallel import map_parallel
from aucuba._core._resampling import Folds, OutOfFold, Split
from aucuba._core._threads import one_thread
from aucuba._core._typing import FloatArray
from aucuba._roc._sample import Sample
from aucuba.ensemble._sampling import ALL_ROWS, RowSampling
from aucuba.ensemble._scores import final_step
from aucuba.ensemble._table import Table


@dataclass(frozen=True)
class Runner:
    """What is common to all members of an ensemble: rows, folds, jobs and cache.

    Each task fits a clone with fixed seeds on one thread of BLAS and OpenMP, so that results do not
    depend on ``n_jobs``. (Boosting on tables of some thousand rows is also many times slower when its
    threads wait for a busy core than on one thread.) ``memory`` is a `joblib.Memory`: what does not
    depend on the region is found there when the same rows are fitted for another region. With a
    ``sampling`` models are trained on fewer rows; all rows are scored.
    """

    table: Table
    folds: Folds
    n_jobs: int | None
    memory: Any
    progress: Progress
    sampling: RowSampling = ALL_ROWS

    @cached_property
    def splits(self) -> list[Split]:
        """Rows to train on, and all rows to score."""
        return self.sampling.restricted(self.folds.splits)

    @cached_property
    def scored(self) -> Sample:
        """The rows that have out-of-fold scores: all, or those after the first block of time."""
        covered = self.folds.covered
        sample = self.table.sample
        return sample if covered.size == sample.n_rows else sample.take(covered)

    def scores(self, estimator: Any, table: Table | None = None) -> FloatArray:
        """Score the rows out of fold, trained with the weights of ``table``."""
        rows = self.sampling.weighted(self.table if table is None else table)
        parts = self._run(_score_fold, self.splits, rows, estimator)
        return self._out_of_fold(parts)[0]

    def staged_scores(self, estimator: Any, rounds: list[int]) -> FloatArray:
        """Score the rows out of fold after each number of boosting rounds, one row each."""
        rows = self.sampling.weighted(self.table)
        parts = self._run(_score_fold_staged, self.splits, rows, estimator, rounds)
        return self._out_of_fold(parts)

    def fit(self, estimator: Any, tables: list[Table]) -> list[Any]:
        """Fit the estimator on all rows to train on, once per table of weights."""
        return self._run(_fit_rows, [self.sampling.trained(one) for one in tables], estimator)

    def _run(self, task: Callable[..., Any], items: list[Any], *args: Any) -> list[Any]:
        cached = self.memory.cache(task)
        return map_parallel(
            cached, items, *args, _cache_key(), n_jobs=self.n_jobs, progress=self.progress
        )

    def _out_of_fold(self, parts: list[FloatArray]) -> FloatArray:
        return OutOfFold.from_parts(self.folds.n_rows, self.folds.splits, parts).scores


def _cache_key() -> tuple[str, str, bool]:
    """Return the versions and settings that belong in the cache key."""
    routing = bool(sklearn.get_config()["enable_metadata_routing"])
    return aucuba.__version__, sklearn.__version__, routing


def _score_fold(split: Split, table: Table, estimator: Any, cache_key: Any) -> FloatArray:
    train, test = split
    model = _fit_rows(table.take(train), estimator, cache_key)
    return table.take(test).scores(model)[np.newaxis]


def _score_fold_staged(
    split: Split, table: Table, estimator: Any, rounds: list[int], cache_key: Any
) -> FloatArray:
    train, test = split
    model = _fit_rows(table.take(train), estimator, cache_key)
    booster, wanted = final_step(model), set(rounds)
    with one_thread():
        X = model[:-1].transform(table.take(test).X)
        stages = enumerate(booster.staged_decision_function(X), start=1)
        return np.array([np.ravel(stage) for number, stage in stages if number in wanted])


def _fit_rows(table: Table, estimator: Any, cache_key: Any) -> Any:
    return table.fitted(estimator)
