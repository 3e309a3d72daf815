"""The members of a stack: fitted on all rows, with scores of rows they have not seen."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from aucuba._core._columns import Columns
from aucuba._core._typing import FloatArray
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import check_strength, seeded, weight_keyword
from aucuba.metrics import partial_auc_score

# Rounds of boosting times its rate: beyond this, out-of-fold scores had stopped improving.
_RATE_TIMES_ROUNDS = 12.0
_ROUND_STEP = 10
# Neighbouring numbers of rounds whose partial AUC is averaged on either side; a single one is noisy.
_NEIGHBOURS = 2
# Of a partial AUC; differences beyond are rounding.
_DIGITS = 12


@dataclass(frozen=True)
class StackedFit:
    """A model fitted on all rows, and out-of-fold scores of the same procedure."""

    model: Any
    scores: FloatArray


class Member(ABC):
    """One way to fit the rows of a runner for a range of false positive rates."""

    @abstractmethod
    def fit(self, runner: Runner, fpr_range: tuple[float, float], seed: int) -> StackedFit:
        """Fit on all rows and score every row out of fold."""

    @abstractmethod
    def n_fits(self, n_folds: int) -> int:
        """How many models that takes."""


@dataclass(frozen=True)
class PlainMember(Member):
    """Any classifier, as it is."""

    estimator: Any

    def fit(self, runner: Runner, fpr_range: tuple[float, float], seed: int) -> StackedFit:
        base = seeded(clone(self.estimator), seed)
        scores = runner.scores(base)
        return StackedFit(runner.fit(base, [runner.table])[0], scores)

    def n_fits(self, n_folds: int) -> int:
        return n_folds + 1


@dataclass(frozen=True)
class ReweightedMember(Member):
    """A `RegionReweighted`, on the folds of the stack instead of its own."""

    estimator: RegionReweighted

    def fit(self, runner: Runner, fpr_range: tuple[float, float], seed: int) -> StackedFit:
        model = clone(self.estimator)
        scores = model._fit_in_stack(runner, seed)
        return StackedFit(model, scores)

    def n_fits(self, n_folds: int) -> int:
        return 2 * n_folds + 2


@dataclass(frozen=True)
class BoostingMember(Member):
    """Gradient boosting: rate and rounds by partial AUC out of fold, then re-weighted.

    Log-loss ends boosting early for a ranking, so every tenth number of rounds is judged by the
    partial AUC of its out-of-fold scores, averaged over neighbouring numbers. Where several are equal,
    above all where the range is perfect already, log-loss decides: the fewest rounds would not.
    """

    columns: Columns
    strength: float
    rates: tuple[float, ...] = (0.15, 0.05)

    def fit(self, runner: Runner, fpr_range: tuple[float, float], seed: int) -> StackedFit:
        best = (-np.inf, -np.inf)
        chosen, oof = (0.0, 0), np.empty(0)
        for rate in self.rates:
            last = round(_RATE_TIMES_ROUNDS / rate / _ROUND_STEP) * _ROUND_STEP
            rounds = list(range(_ROUND_STEP, last + 1, _ROUND_STEP))
            stages = runner.staged_scores(seeded(self._booster(rate, last), seed), rounds)
            values = [_partial_auc(runner, row, fpr_range) for row in stages]
            smooth = _moving_mean(np.array(values)).round(_DIGITS)
            for place in np.flatnonzero(smooth == smooth.max()):
                merit = (float(smooth[place]), -_log_loss(runner, stages[place]))
                if merit > best:
                    best, chosen, oof = merit, (rate, rounds[place]), stages[place]
        model = RegionReweighted(self._booster(*chosen), fpr_range, strength=self.strength)
        scores = model._fit_in_stack(runner, seed, oof)
        return StackedFit(model, scores)

    def n_fits(self, n_folds: int) -> int:
        return (len(self.rates) + 1) * n_folds + 2

    def _booster(self, rate: float, rounds: int) -> Any:
        # Early stopping would hide rows from the model and end by log-loss.
        booster = HistGradientBoostingClassifier(
            learning_rate=rate,
            max_iter=rounds,
            early_stopping=False,
            categorical_features=self.columns.categorical or None,
        )
        return self.columns.for_trees(booster)


def as_member(name: str, estimator: Any, *, weighted: bool) -> Member:
    """The member for a user's estimator; ``weighted`` tells whether it will be given row weights."""
    if isinstance(estimator, RegionReweighted):
        weight_keyword(estimator.estimator)
        check_strength(estimator.strength)
        return ReweightedMember(estimator)
    if not any(hasattr(estimator, method) for method in ("decision_function", "predict_proba")):
        raise ValueError(
            f"The member {name!r} must be a classifier with decision_function or predict_proba, got "
            f"{estimator!r}."
        )
    if weighted:
        weight_keyword(estimator)
    return PlainMember(estimator)


def fit_quietly(
    member: Member, runner: Runner, fpr_range: tuple[float, float], seed: int
) -> StackedFit:
    """Fit a member without the warnings that it would repeat in every fold."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Plain logistic regression is returned")
        warnings.filterwarnings("ignore", message="The range covers only")
        warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
        return member.fit(runner, fpr_range, seed)


def _partial_auc(runner: Runner, scores: FloatArray, fpr_range: tuple[float, float]) -> float:
    table = runner.table
    return partial_auc_score(table.y, scores, fpr_range=fpr_range, sample_weight=table.weight)


def _log_loss(runner: Runner, scores: FloatArray) -> float:
    table = runner.table
    loss = np.logaddexp(0.0, np.where(table.positive, -scores, scores))
    return float(np.average(loss, weights=table.weight))


def _moving_mean(values: FloatArray) -> FloatArray:
    """Mean over each place and its neighbours; at the ends over those that exist."""
    window = np.ones(2 * _NEIGHBOURS + 1)
    total = np.convolve(values, window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    count = np.convolve(np.ones_like(values), window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    return np.asarray(total / count)
