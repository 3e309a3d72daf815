"""The splits of the cross-validated classifier, and one task per split for each kind of model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from aucuba._core._logistic import LogisticFit, LogisticPath, mean_and_scale
from aucuba._core._resampling import KeptRows, Split, halvings, shuffled_folds
from aucuba._core._seeds import draw_seed
from aucuba._core._threads import one_blas_thread
from aucuba._core._typing import FloatArray
from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._anchored_fit import anchor_direction, anchored_fit, training_region
from aucuba.risks import Sample, make_risk
from aucuba.solvers import BundleSolver

_N_FOLDS = 5
# Halvings of up to ten thousand rows; of more, in inverse proportion, since the fits differ less.
_N_HALVINGS, _FEWEST_HALVINGS = 10, 2
_ROWS_FOR_ALL_HALVINGS = 10_000
# Fits that are averaged need not be precise.
_OBJECTIVE_TOL = 1e-4


@dataclass(frozen=True)
class Splits:
    """Folds for choosing C, and splits for the half-sample fits."""

    folds: list[Split]
    halves: list[Split]

    @classmethod
    def from_cv(cls, cv: Any, kept: KeptRows, random_state: Any) -> Splits:
        """Draw five folds and the halvings, or use the user's ``cv`` for both; groups stay whole."""
        if cv is not None:
            if kept.groups is not None and isinstance(cv, int | np.integer):
                cv = GroupKFold(int(cv), shuffle=True, random_state=draw_seed(random_state))
            splits = kept.splits(cv)
            return cls(splits, splits)
        seed = draw_seed(random_state)
        y = kept.labels
        if kept.groups is None:
            groups, most = None, int(np.unique(y, return_counts=True)[1].min())
        else:
            groups = np.asarray(kept.groups)[kept.index]
            most = np.unique(groups).size
        if most < 2:
            return cls([], [])
        folds = shuffled_folds(y, min(_N_FOLDS, most), seed, groups)
        n_halvings = round(_N_HALVINGS * min(1.0, _ROWS_FOR_ALL_HALVINGS / y.size))
        return cls(folds, halvings(y, max(n_halvings, _FEWEST_HALVINGS), seed, groups))

    def usable(self, sample: Sample) -> Splits:
        """Drop the splits that leave one class, or no query with both, to train on."""
        return Splits(
            [split for split in self.folds if sample.take(split[0]).has_pairs],
            [split for split in self.halves if sample.take(split[0]).has_pairs],
        )

    def can_compare(self, sample: Sample) -> bool:
        """Tell whether the rows that both kinds of splits test, all together, can be ranked.

        One test part alone need not be: leaving out single rows is fine.
        """
        if not self.folds or not self.halves:
            return False
        by_folds, by_halves = (
            np.concatenate([test for _, test in some]) for some in (self.folds, self.halves)
        )
        return sample.take(np.intersect1d(by_folds, by_halves)).has_pairs


@one_blas_thread()
def logistic_path(
    split: Split, X: Any, sample: Sample, Cs: FloatArray, start: LogisticFit
) -> FloatArray:
    """Return the test log-odds of logistic regression, one row per C, and then standardised ones.

    The latter have mean 0 and variance 1 on the training rows, as the model of all rows has. ``start``
    is the fit of all rows at the first C.
    """
    train, test = split
    part, X_train, X_test = sample.take(train), X[train], X[test]
    path = LogisticPath(X_train, part.positive, part.weight, start)
    log_odds, standardised = [], []
    for C in Cs:
        fit = path.fit(C)
        mean, scale = mean_and_scale(fit.log_odds(X_train), part.weight)
        log_odds.append(fit.log_odds(X_test))
        standardised.append((log_odds[-1] - mean) / scale)
    return np.array(log_odds + standardised)


@one_blas_thread()
def anchored_half(
    split: Split, X: Any, sample: Sample, region: Region, C: float, start: LogisticFit
) -> tuple[FloatArray, FloatArray]:
    """Fit the training rows; return the coefficients and the centred scores of the other rows.

    ``start`` is the logistic regression of all rows.
    """
    train, test = split
    part, X_train = sample.take(train), X[train]
    anchor, _ = anchor_direction(X_train, part, C, start)
    trained_on, _ = training_region(part, region)
    fit = anchored_fit(X_train, part, trained_on, anchor, objective_tol=_OBJECTIVE_TOL)
    if fit.solution is not None:
        fit.solution.raise_interrupt()
    mean, _ = mean_and_scale(TableDesign(X_train).scores(fit.coef), part.weight)
    return fit.coef, TableDesign(X[test]).scores(fit.coef)[np.newaxis] - mean


@one_blas_thread()
def convex_path(
    split: Split,
    X: Any,
    sample: Sample,
    surrogate: str,
    region: Region,
    solvers: list[BundleSolver],
) -> FloatArray:
    """Return the standardised test scores of convex fits, one row per solver.

    Each fit starts from the planes of the one before.
    """
    train, test = split
    part = sample.take(train)
    design, risk, planes, rows = TableDesign(X[train]), make_risk(surrogate, part, region), None, []
    for solver in solvers:
        solution = solver.solve(design, risk, warm_start=planes)
        solution.raise_interrupt()
        planes = solution.warm_start
        mean, scale = mean_and_scale(design.scores(solution.coef), part.weight)
        rows.append((TableDesign(X[test]).scores(solution.coef) - mean) / scale)
    return np.array(rows)
