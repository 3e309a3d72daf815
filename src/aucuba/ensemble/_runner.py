"""Fits on folds and on all rows, in parallel and remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.utils.parallel import delayed
from threadpoolctl import threadpool_limits

import aucuba
from aucuba._core._callbacks import Progress
from aucuba._core._parallel import run_all
from aucuba._core._typing import FloatArray
from aucuba.ensemble._scores import final_step, log_odds
from aucuba.ensemble._table import Split, Table, fit_weighted


@dataclass(frozen=True)
class Runner:
    """Everything that is the same for all members of an ensemble.

    Each task gets a clone with fixed seeds and runs on one thread of BLAS and OpenMP, so that results
    do not depend on ``n_jobs``. (Boosting on tables of some thousand rows is also many times slower
    when its threads wait for a busy core than on one thread.) ``memory`` is a `joblib.Memory`: what
    does not depend on the range of false positive rates is found there when the same rows are fitted
    for another range.
    """

    table: Table
    folds: list[Split]
    n_jobs: int | None
    memory: Any
    progress: Progress

    def scores(self, estimator: Any, table: Table | None = None) -> FloatArray:
        """Out-of-fold scores, trained with the weights of ``table``."""
        return self._over_folds(_score_fold, estimator, table)[0]

    def staged_scores(self, estimator: Any, rounds: list[int]) -> FloatArray:
        """Out-of-fold scores of a boosted model after each number of rounds, one row each."""
        return self._over_folds(_score_fold_staged, estimator, None, rounds)

    def fit(self, estimator: Any, tables: list[Table]) -> list[Any]:
        """The estimator on all rows, once for every table of weights."""
        task = self.memory.cache(_fit_rows)
        tasks = (delayed(task)(clone(estimator), table, _surroundings()) for table in tables)
        return run_all(tasks, self.n_jobs, self.progress)

    def _over_folds(
        self, function: Callable[..., FloatArray], estimator: Any, table: Table | None, *args: Any
    ) -> FloatArray:
        source = self.table if table is None else table
        task = self.memory.cache(function)
        tasks = (
            delayed(task)(clone(estimator), source, train, test, _surroundings(), *args)
            for train, test in self.folds
        )
        parts = run_all(tasks, self.n_jobs, self.progress)
        scores = np.empty((parts[0].shape[0], source.y.size))
        for (_, test), part in zip(self.folds, parts, strict=True):
            scores[:, test] = part
        return scores


def _surroundings() -> tuple[str, str, bool]:
    """What changes a fit beside its arguments, for the memory to tell apart."""
    routing = bool(sklearn.get_config()["enable_metadata_routing"])
    return aucuba.__version__, sklearn.__version__, routing


def _score_fold(
    estimator: Any, table: Table, train: Any, test: Any, surroundings: Any
) -> FloatArray:
    model = _fit_rows(estimator, table.rows(train), surroundings)
    with threadpool_limits(1):
        return log_odds(model, table.rows(test).X)[np.newaxis]


def _score_fold_staged(
    estimator: Any, table: Table, train: Any, test: Any, surroundings: Any, rounds: list[int]
) -> FloatArray:
    model = _fit_rows(estimator, table.rows(train), surroundings)
    booster, wanted = final_step(model), set(rounds)
    with threadpool_limits(1):
        X = model[:-1].transform(table.rows(test).X)
        stages = enumerate(booster.staged_decision_function(X), start=1)
        return np.array([np.ravel(stage) for number, stage in stages if number in wanted])


def _fit_rows(estimator: Any, table: Table, surroundings: Any) -> Any:
    with threadpool_limits(1):
        return fit_weighted(estimator, table)
