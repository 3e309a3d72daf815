"""Fits on folds and on all rows, in parallel and cached."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone

import aucuba
from aucuba._base._callbacks import Progress
from aucuba._base._parallel import map_parallel, one_thread
from aucuba._base._typing import FloatArray
from aucuba._rows._out_of_fold import Folds, OutOfFold
from aucuba._rows._sample import Sample
from aucuba._rows._splits import KeptRows, Split
from aucuba.ensemble._sampling import ALL_ROWS, RowSampling
from aucuba.ensemble._table import TrainingTable, final_step, fit_weighted


class OutOfTime(Exception):
    """Raised when the deadline passes before the last task of a member."""


@dataclass(frozen=True)
class Runner:
    """Fits the members of an ensemble on the same rows and folds.

    Each task fits a clone with fixed seeds on one thread of BLAS and OpenMP, so that results do not
    depend on ``n_jobs``. (On a few thousand rows, boosting is also many times slower with threads that
    wait for a busy core than on one thread.) ``memory`` is a `joblib.Memory`: fits that do not depend
    on the region are reused when the same rows are fitted for another region. ``kept`` locates the rows
    among those given to ``fit``; None means all of them. With a ``sampling`` models are trained on
    fewer rows, but all rows are scored. No task starts after the ``deadline`` on the clock of
    `time.monotonic`.
    """

    table: TrainingTable
    folds: Folds
    kept: KeptRows | None
    n_jobs: int | None
    memory: Any
    progress: Progress
    sampling: RowSampling = ALL_ROWS
    deadline: float = np.inf

    @cached_property
    def splits(self) -> list[Split]:
        """Rows to train on, and all rows to score."""
        return self.sampling.restricted(self.folds.splits)

    @property
    def n_trained(self) -> int:
        """Count the rows that a model of all rows is trained on."""
        rows = self.sampling.rows
        return self.table.sample.n_rows if rows is None else int(rows.size)

    @property
    def every_row(self) -> bool:
        """Whether all rows train with equal weight."""
        return self.table.sample.weight is None and self.sampling.rows is None

    @cached_property
    def scored(self) -> Sample:
        """The rows that have out-of-fold scores: all, or those after the first block of time."""
        covered = self.folds.covered
        sample = self.table.sample
        return sample if covered.size == sample.n_rows else sample.take(covered)

    def among_given(self, values: FloatArray, fill: float) -> FloatArray:
        """Return values of the rows at their positions among the rows given to ``fit``."""
        return values if self.kept is None else self.kept.among_all(values, fill)

    def among_all(self, scores: FloatArray) -> FloatArray:
        """Return out-of-fold scores at their positions among the rows given to ``fit``, else nan."""
        return self.among_given(self.folds.among_rows(scores, np.nan), np.nan)

    def scores(self, estimator: Any, table: TrainingTable | None = None) -> FloatArray:
        """Score the rows out of fold, trained with the weights of ``table``."""
        rows = self.sampling.weighted(self.table if table is None else table)
        parts = self._run(_score_fold, self.splits, rows, estimator)
        scores: FloatArray = self._out_of_fold(parts)[0]
        return scores

    def scores_of_last_fold(self, estimator: Any, table: TrainingTable) -> FloatArray:
        """Score the rows of the last fold alone, which has the most training rows of blocks of time."""
        rows = self.sampling.weighted(table)
        (part,) = self._run(_score_fold, self.splits[-1:], rows, estimator)
        scores: FloatArray = part[0]
        return scores

    def more_stages(
        self, estimator: Any, models: list[Any], rounds: list[int]
    ) -> tuple[list[Any], FloatArray]:
        """Grow the boosters of the folds, and score the rows out of fold at numbers of rounds.

        ``estimator`` is a pipeline that ends in a booster with ``warm_start``; ``models`` holds one
        such, fitted for fewer rounds, per fold, or None. Returns the grown ones and a row of scores
        for each number.
        """
        rows = self.sampling.weighted(self.table)
        folds = list(zip(self.splits, models, strict=True))
        grown = self._run(_grow_fold, folds, rows, estimator, rounds)
        return [model for model, _ in grown], self._out_of_fold([part for _, part in grown])

    def fit(self, estimator: Any, tables: list[TrainingTable]) -> list[Any]:
        """Fit the estimator on all rows to train on, once per table of weights."""
        return self._run(_fit_rows, [self.sampling.trained(one) for one in tables], estimator)

    def _run(self, task: Callable[..., Any], items: list[Any], *args: Any) -> list[Any]:
        cached = self.memory.cache(task)
        in_time = itertools.takewhile(lambda _: time.monotonic() < self.deadline, items)
        with warnings.catch_warnings():
            # joblib warns if writing the summary of a call takes half a second; on a slow disk or a
            # busy core the user can do nothing about it.
            warnings.filterwarnings("ignore", "Persisting input arguments", UserWarning)
            done = map_parallel(
                cached, in_time, *args, _cache_key(), n_jobs=self.n_jobs, progress=self.progress
            )
        if len(done) < len(items):
            raise OutOfTime
        return done

    def _out_of_fold(self, parts: list[FloatArray]) -> FloatArray:
        scores: FloatArray = OutOfFold.from_parts(
            self.folds.n_rows, self.folds.splits, parts
        ).scores
        return scores


def _cache_key() -> tuple[str, str, bool]:
    """Return the versions and settings that belong in the cache key."""
    routing = bool(sklearn.get_config()["enable_metadata_routing"])
    return aucuba.__version__, sklearn.__version__, routing


def _score_fold(split: Split, table: TrainingTable, estimator: Any, cache_key: Any) -> FloatArray:
    train, test = split
    model = _fit_rows(table.take(train), estimator, cache_key)
    return table.take(test).scores(model)[np.newaxis]


def _grow_fold(
    fold: tuple[Split, Any], table: TrainingTable, estimator: Any, rounds: list[int], cache_key: Any
) -> tuple[Any, FloatArray]:
    (train, test), model = fold
    model = clone(estimator) if model is None else model
    final_step(model).set_params(max_iter=rounds[-1])
    with one_thread():
        fit_weighted(model, table.take(train))
        X = model[:-1].transform(table.take(test).X)
        stages = final_step(model).staged_decision_function(X)
        later = itertools.islice(stages, rounds[0] - 1, None)
        wanted = (
            np.ravel(stage) for number, stage in enumerate(later, rounds[0]) if number in rounds
        )
        return model, np.array(list(wanted))


def _fit_rows(table: TrainingTable, estimator: Any, cache_key: Any) -> Any:
    return table.fitted(estimator)
