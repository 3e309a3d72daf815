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
from aucuba._core._logistic import log_loss
from aucuba._core._seeds import with_fixed_seed
from aucuba._core._typing import FloatArray
from aucuba._roc._calibration import logistic_calibration
from aucuba._roc._comparison import region_placements
from aucuba._roc._region import Region
from aucuba._roc._threshold import operating_point
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._reweighting import fit_reweighted
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import check_columns, check_strength, weight_keyword

# Rounds of boosting times its rate: beyond this, out-of-fold scores had stopped improving.
_RATE_TIMES_ROUNDS = 12.0
_ROUND_STEP = 10
# Neighbouring numbers of rounds whose partial AUC is averaged on either side; a single one is noisy.
_NEIGHBOURS = 2
# Decimals of partial AUC compared; smaller differences are rounding error.
_DIGITS = 12


@dataclass(frozen=True)
class StackedFit:
    """A model fitted on all rows, and out-of-fold scores of the same procedure."""

    model: Any
    scores: FloatArray


class Member(ABC):
    """One way to fit the rows of a runner for a region of the ROC curve."""

    @abstractmethod
    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        """Fit on all rows and score the rows out of fold."""

    @abstractmethod
    def n_fits(self, n_folds: int) -> int:
        """Count the models that this takes."""


@dataclass(frozen=True)
class PlainMember(Member):
    """Any classifier, as it is."""

    estimator: Any

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        base = with_fixed_seed(clone(self.estimator), seed)
        scores = runner.scores(base)
        return StackedFit(runner.fit(base, [runner.table])[0], scores)

    def n_fits(self, n_folds: int) -> int:
        return n_folds + 1


@dataclass(frozen=True)
class ReweightedMember(Member):
    """A `RegionReweighted` with a region of its own, on the folds of the stack."""

    estimator: RegionReweighted

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        return _fit_on_stack(self.estimator, runner, seed)

    def n_fits(self, n_folds: int) -> int:
        return 2 * n_folds + 2


@dataclass(frozen=True)
class BoostingMember(Member):
    """Gradient boosting: rate and rounds by partial AUC out of fold, then re-weighted.

    Log-loss ends boosting early for a ranking, so every tenth number of rounds is judged by the
    partial AUC of its out-of-fold scores, averaged over neighbouring numbers. Where several are equal,
    above all where the region is perfect already, log-loss decides: the fewest rounds would not.
    """

    columns: Columns
    strength: float
    rates: tuple[float, ...] = (0.15, 0.05)

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        sample = runner.scored
        best = (-np.inf, -np.inf)
        chosen, scores = (0.0, 0), np.empty(0)
        for rate in self.rates:
            last = round(_RATE_TIMES_ROUNDS / rate / _ROUND_STEP) * _ROUND_STEP
            rounds = list(range(_ROUND_STEP, last + 1, _ROUND_STEP))
            stages = runner.staged_scores(with_fixed_seed(self._booster(rate, last), seed), rounds)
            values = [region_placements(sample, stage, region).value for stage in stages]
            smooth = _moving_mean(np.array(values)).round(_DIGITS)
            for place in np.flatnonzero(smooth == smooth.max()):
                loss = log_loss(stages[place], sample.positive, sample.weight)
                merit = (float(smooth[place]), -loss)
                if merit > best:
                    best, chosen, scores = merit, (rate, rounds[place]), stages[place]
        booster = self._booster(*chosen)
        model = RegionReweighted(booster, **region.params, strength=self.strength)
        return _fit_on_stack(model, runner, seed, scores)

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
    """Make a member of a user's estimator; ``weighted`` tells whether rows have weights."""
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


def fit_without_repeated_warnings(
    member: Member, runner: Runner, region: Region, seed: int
) -> StackedFit:
    """Fit a member without the warnings that it would repeat in every fold."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Plain logistic regression is returned")
        warnings.filterwarnings("ignore", message="The range covers only")
        warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
        return member.fit(runner, region, seed)


def _fit_on_stack(
    estimator: RegionReweighted, runner: Runner, seed: int, scores: FloatArray | None = None
) -> StackedFit:
    """Fit a `RegionReweighted` on the rows and folds of a stack."""
    # The stack names its classes 0 and 1.
    model = clone(estimator).set_params(pos_label=None)
    base = with_fixed_seed(clone(model.estimator), seed)
    region = Region.from_params(model.fpr_range, model.fpr_weight, model.min_tpr)
    pair = fit_reweighted(base, runner, region, model.strength, scores)
    check_columns(model, runner.table.X, reset=True)
    model.classes_, model.pos_label_ = np.array([0, 1]), 1
    model.estimator_, model.weighted_estimator_ = pair.plain, pair.weighted
    model.oof_scores_ = runner.folds.among_rows(pair.scores, np.nan)
    model.weights_ = pair.factors
    model.threshold_, model.predict_fpr_ = operating_point(
        pair.mean_scores, runner.scored, region.upper_limit
    )
    model.calibration_ = logistic_calibration(pair.mean_scores, runner.scored)
    # As the model itself scores rows.
    return StackedFit(model, pair.mean_scores - model.threshold_)


def _moving_mean(values: FloatArray) -> FloatArray:
    """Average each place with its neighbours; at the ends with those that exist."""
    window = np.ones(2 * _NEIGHBOURS + 1)
    total = np.convolve(values, window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    count = np.convolve(np.ones_like(values), window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    return np.asarray(total / count)
