"""Out-of-fold scores of logistic regression, of convex fits and of direct fits on half-samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import delayed

from aucuba._core._callbacks import Progress
from aucuba._core._parallel import run_all
from aucuba._core._threads import one_blas_thread
from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._anchored_fit import anchor_direction, direct_fit
from aucuba.linear._logistic import logistic_regression, weighted_mean_and_sd
from aucuba.risks import Sample, make_risk
from aucuba.solvers import BundleSolver

Split = tuple[IntArray, IntArray]

_N_FOLDS = 5
_N_HALVINGS = 10


@dataclass(frozen=True)
class Splits:
    """Folds for choosing C, and splits for the half-sample fits."""

    folds: list[Split]
    halves: list[Split]

    @classmethod
    def make(cls, cv: Any, X: Any, y: Any, qid: Any, kept: IntArray, random_state: Any) -> Splits:
        """Five folds and ten halvings, or a user's splitter for both, on the rows kept."""
        if cv is not None:
            groups = None if qid is None else np.asarray(qid)
            if groups is not None and isinstance(cv, int | np.integer):
                seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
                cv = GroupKFold(int(cv), shuffle=True, random_state=seed)
            given = list(check_cv(cv, y, classifier=True).split(X, y, groups))
            place = np.full(len(y), -1)
            place[kept] = np.arange(kept.size)
            splits = [
                (place[train][place[train] >= 0], place[test][place[test] >= 0])
                for train, test in given
            ]
            return cls(splits, splits)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        y = np.asarray(y)[kept]
        if qid is None:
            n_folds = min(_N_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
            if n_folds < 2:
                return cls([], [])
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            halving = RepeatedStratifiedKFold(n_splits=2, n_repeats=_N_HALVINGS, random_state=seed)
            return cls(list(folds.split(y, y)), list(halving.split(y, y)))
        groups = np.asarray(qid)[kept]
        n_folds = min(_N_FOLDS, np.unique(groups).size)
        if n_folds < 2:
            return cls([], [])
        grouped = GroupKFold(n_folds, shuffle=True, random_state=seed)
        halves = [
            split
            for repeat in range(_N_HALVINGS)
            for split in GroupKFold(2, shuffle=True, random_state=seed + repeat).split(y, y, groups)
        ]
        return cls(list(grouped.split(y, y, groups)), halves)

    def usable(self, sample: Sample) -> Splits:
        """Without splits that leave one class, or no query with both, to train on."""
        return Splits(
            [split for split in self.folds if sample.take(split[0]).has_pairs],
            [split for split in self.halves if sample.take(split[0]).has_pairs],
        )

    def can_compare(self, sample: Sample) -> bool:
        """Whether the rows that both kinds of splits test, all together, can be ranked.

        One test part alone need not be: leaving out single rows is fine.
        """
        if not self.folds or not self.halves:
            return False
        by_folds, by_halves = (
            np.concatenate([test for _, test in some]) for some in (self.folds, self.halves)
        )
        return sample.take(np.intersect1d(by_folds, by_halves)).has_pairs


@dataclass(frozen=True)
class OutOfFold:
    """Scores of rows by models that have not seen them: the mean over the splits that test a row."""

    scores: FloatArray
    covered: IntArray

    @classmethod
    def collect(
        cls, n_rows: int, splits: Iterable[Split], parts: Iterable[FloatArray]
    ) -> OutOfFold:
        """``parts`` has one array (n_scorers, n_test) for each of the first splits."""
        parts = list(parts)
        total = np.zeros((parts[0].shape[0], n_rows))
        count = np.zeros(n_rows)
        for (_, test), part in zip(splits, parts, strict=False):
            total[:, test] += part
            count[test] += 1
        covered = np.flatnonzero(count)
        return cls(total[:, covered] / count[covered], covered)


def in_parallel(
    task: Callable[..., Any],
    splits: list[Split],
    n_jobs: int | None,
    progress: Progress,
    *args: Any,
) -> list[Any]:
    """One task a split, each on one BLAS thread, in the order of the splits.

    Progress is told of every result; when it is stopped no further task is begun, and the results of
    those that were are returned.
    """
    tasks = (
        delayed(_pinned)(task, split, *args)
        for split in itertools.takewhile(lambda _: not progress.stopped, splits)
    )
    return run_all(tasks, n_jobs, progress)


def _pinned(task: Callable[..., Any], split: Split, *args: Any) -> Any:
    with one_blas_thread():
        return task(split, *args)


def logistic_path(split: Split, X: Any, sample: Sample, Cs: FloatArray) -> FloatArray:
    """Test log-odds of logistic regression, one row a C."""
    train, test = split
    part = sample.take(train)
    return np.array(
        [
            logistic_regression(X[train], part.positive, part.weight, C).decision_function(X[test])
            for C in Cs
        ]
    )


def direct_half(
    split: Split, X: Any, sample: Sample, region: Region, C: float
) -> tuple[FloatArray, FloatArray]:
    """A direct fit on the training rows: its coefficients, and centred scores of the others."""
    train, test = split
    part = sample.take(train)
    anchor, _ = anchor_direction(X[train], part, C)
    fit = direct_fit(X[train], part, region, anchor)
    if fit.solution is not None:
        fit.solution.raise_interrupt()
    coef = fit.coef
    mean, _ = weighted_mean_and_sd(TableDesign(X[train]).scores(coef), part.weight)
    return coef, TableDesign(X[test]).scores(coef)[np.newaxis] - mean


def convex_path(
    split: Split,
    X: Any,
    sample: Sample,
    surrogate: str,
    region: Region,
    Cs: FloatArray,
    tol: float,
    max_iter: int,
) -> FloatArray:
    """Standardised test scores of convex fits, one row per C; planes are kept along the path."""
    train, test = split
    part = sample.take(train)
    design, risk, planes, rows = TableDesign(X[train]), make_risk(surrogate, part, region), None, []
    for C in Cs:
        solution = BundleSolver(C, tol, max_iter=max_iter).solve(design, risk, warm_start=planes)
        solution.raise_interrupt()
        planes = solution.warm_start
        mean, sd = weighted_mean_and_sd(design.scores(solution.coef), part.weight)
        rows.append((TableDesign(X[test]).scores(solution.coef) - mean) / (sd if sd > 0 else 1.0))
    return np.array(rows)


def log_loss(sample: Sample, log_odds: FloatArray) -> float:
    """Mean log-loss, rows counted by weight."""
    signed = np.where(sample.positive, -log_odds, log_odds)
    return float(np.average(np.logaddexp(0.0, signed), weights=sample.weight))
