"""Members of a stack: models fitted on all rows, with scores of rows they have not seen."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning

from aucuba._base._callbacks import Progress
from aucuba._base._parallel import with_fixed_seed
from aucuba._base._typing import FloatArray
from aucuba._base._warnings import FewRowsWarning, ScaleAdvice
from aucuba._columns._table_columns import Columns
from aucuba._roc._comparison import region_placements
from aucuba._roc._logistic import log_loss
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba._rows._sample import Sample
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import bounded_log_odds, check_strength, final_step, weight_keyword


@dataclass(frozen=True)
class StackedFit:
    """A model fitted on all rows, and out-of-fold scores of the same procedure."""

    model: Any
    scores: FloatArray


@dataclass(frozen=True)
class FittedMember:
    """A fitted member of a stack, with what its plan, blend and report need."""

    name: str
    model: Any
    scores: FloatArray
    settings: Mapping[str, Any] = field(default_factory=dict)
    for_region: bool = False

    @classmethod
    def from_fit(cls, name: str, member: Member, fit: StackedFit) -> FittedMember:
        return cls(name, fit.model, fit.scores, member.settings, member.for_region)


class Member(ABC):
    """One way to fit the rows of a runner for a region of the ROC curve."""

    @abstractmethod
    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        """Fit on all rows and score the rows out of fold."""

    @abstractmethod
    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        """Count the models that a fit trains.

        ``every_row`` says whether all rows train with equal weight.
        """

    @abstractmethod
    def ranker(self) -> Any:
        """Return a classifier of this kind to rank rows before the member is fitted."""

    @property
    def for_region(self) -> bool:
        """Whether the out-of-fold scores come from models trained for the region, not by log-loss."""
        return False

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that a plan records with the name of this member."""
        return {}

    def reduced(self, fraction: float) -> Member | None:
        """Return a cheaper member that takes a fraction of the time, or None."""
        return None


@dataclass(frozen=True)
class PlainMember(Member):
    """Any classifier, unchanged.

    ``for_region`` marks the stack's own `PartialAUCClassifier`, whose columns the stack prepares:
    advice about their scale would not help the user. ``plan`` holds settings that the stack has chosen.
    """

    estimator: Any
    for_region: bool = False
    plan: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.plan)

    def ranker(self) -> Any:
        return self.estimator

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        base = with_fixed_seed(clone(self.estimator), seed)
        with warnings.catch_warnings():
            if self.for_region:
                warnings.simplefilter("ignore", ScaleAdvice)
            scores = runner.scores(base)
            return StackedFit(runner.fit(base, [runner.table])[0], scores)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        return len(folds.splits) + 1


@dataclass(frozen=True)
class ReweightedMember(Member):
    """A `RegionReweighted`, which keeps its region, on the folds of the stack."""

    estimator: RegionReweighted

    @property
    def for_region(self) -> bool:
        return True

    def ranker(self) -> Any:
        return self.estimator.estimator

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        return fit_on_stack(self.estimator, runner, seed)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        return 2 * len(folds.splits) + 2


def as_member(name: str, estimator: Any, *, weighted: bool) -> Member:
    """Make a member from a user's estimator; ``weighted`` says whether rows have weights."""
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
        warnings.simplefilter("ignore", FewRowsWarning)
        warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
        # Logistic regression on many columns stops at max_iter with a usable direction.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return member.fit(runner, region, seed)


def fit_on_stack(
    estimator: RegionReweighted,
    runner: Runner,
    seed: int,
    scores: FloatArray | None = None,
    *,
    every_fold: bool = True,
) -> StackedFit:
    """Fit a clone on the rows and folds of a stack, as `fit_reweighted` does."""
    model = clone(estimator).set_params(pos_label=None)
    return StackedFit(model, model._fit_on_stack(runner, seed, scores, every_fold=every_fold))


# More trees resolve probabilities near 0 and 1, where narrow ranges lie. Out-of-fold scores need fewer,
# because they only give the member its weight in the blend: 300 trees per fold cost three times as much
# and blended no better.
_TREES_PER_FOLD_TREE = 3
_FEWEST_TREES = 50


@dataclass(frozen=True)
class ForestMember(Member):
    """A pipeline that ends in a forest.

    A tree grown on a bootstrap sample has not seen a third of the rows, and its votes on them are
    out-of-fold scores that cost nothing. They cannot be used with groups or times, which bootstrap
    samples do not respect, nor with weights, since a heavy row may be in every sample.
    """

    estimator: Any

    def ranker(self) -> Any:
        return self.estimator

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_trees": final_step(self.estimator).n_estimators}

    def reduced(self, fraction: float) -> Member | None:
        n_trees = int(final_step(self.estimator).n_estimators * fraction)
        if n_trees < _FEWEST_TREES:
            return None
        smaller = clone(self.estimator)
        final_step(smaller).set_params(n_estimators=n_trees)
        return ForestMember(smaller)

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        base = with_fixed_seed(clone(self.estimator), seed)
        if self._is_free(runner.folds, every_row=runner.every_row):
            return self._out_of_bag(base, runner)
        smaller = clone(base)
        n_trees = final_step(base).n_estimators
        final_step(smaller).set_params(n_estimators=-(-n_trees // _TREES_PER_FOLD_TREE))
        scores = runner.scores(smaller)
        return StackedFit(_grown(base, runner), scores)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        return 1 if self._is_free(folds, every_row=every_row) else len(folds.splits) + 1

    def _is_free(self, folds: Folds, *, every_row: bool) -> bool:
        # Out-of-bag scores exist only for rows that train.
        bootstrap: bool = final_step(self.estimator).bootstrap
        return folds.interchangeable and bootstrap and every_row

    def _out_of_bag(self, base: Any, runner: Runner) -> StackedFit:
        final_step(base).set_params(oob_score=True)
        model = _grown(base, runner)
        forest = final_step(model)
        scores: FloatArray = bounded_log_odds(
            forest.oob_decision_function_[:, 1], 0.5 / forest.n_estimators
        )
        # A saved model has no use for one entry per training row.
        del forest.oob_decision_function_, forest.oob_score_
        forest.set_params(oob_score=False)
        return StackedFit(model, scores)


def _grown(base: Any, runner: Runner) -> Any:
    """Fit on all rows with trees in parallel, since a single fit would leave the other jobs idle."""
    final_step(base).set_params(n_jobs=runner.n_jobs)
    (model,) = runner.fit(base, [runner.table])
    # The trees do not depend on n_jobs, and a saved model should not carry it.
    final_step(model).set_params(n_jobs=None)
    return model


_ROUND_STEP = 10
_FEWEST_ROUNDS = 20
# Rounds added at a time, and rounds without improvement after which boosting stops.
_CHUNK = 60
_PATIENCE = 40
# Neighbours on either side over which partial AUC is averaged, since a single value is noisy.
_NEIGHBOURS = 2
# Decimals of partial AUC compared; smaller differences are rounding error.
_DIGITS = 12


@dataclass(frozen=True)
class BoostingMember(Member):
    """Gradient boosting with the number of rounds that is best out of fold.

    Log-loss would stop boosting too early for a ranking, so every tenth number of rounds is judged by
    the partial AUC of its out-of-fold scores, averaged over neighbouring numbers. Log-loss breaks ties,
    which occur mostly if the region is ranked perfectly, when the fewest rounds would be a poor choice.
    The models of the folds grow until 40 rounds have brought no improvement.

    Parameters
    ----------
    columns : Columns
    max_rounds : int
    strength : float, default=1.0
        Strength of the re-weighting for the region; 1 leaves the booster unweighted.
    by_log_loss : bool, default=False
        Whether log-loss alone chooses the rounds.
    """

    columns: Columns
    max_rounds: int
    strength: float = 1.0
    by_log_loss: bool = False

    def ranker(self) -> Any:
        return self._booster(min(int(self.max_rounds), _CHUNK))

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_rounds": self.max_rounds}

    def reduced(self, fraction: float) -> Member | None:
        rounds = int(self.max_rounds * fraction) // _ROUND_STEP * _ROUND_STEP
        return replace(self, max_rounds=rounds) if rounds >= _FEWEST_ROUNDS else None

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        rounds, scores = self._tuned(runner, region, seed)
        booster = self._booster(rounds)
        if self.strength == 1.0:
            (model,) = runner.fit(with_fixed_seed(booster, seed), [runner.table])
            return StackedFit(model, scores)
        reweighted = RegionReweighted(booster, **region.params, strength=self.strength)
        return fit_on_stack(reweighted, runner, seed, scores, every_fold=False)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        n_folds = len(folds.splits)
        return n_folds + 1 if self.strength == 1.0 else n_folds + 3

    def _tuned(self, runner: Runner, region: Region, seed: int) -> tuple[int, FloatArray]:
        """Return the best number of rounds and its out-of-fold scores."""
        last = int(self.max_rounds)
        judged = list(range(_ROUND_STEP, last + 1, _ROUND_STEP)) or [last]
        models: list[Any] = [None] * len(runner.folds.splits)
        stages: list[FloatArray] = []
        best = 0
        while len(stages) < len(judged) and (len(stages) - 1 - best) * _ROUND_STEP < _PATIENCE:
            added = judged[len(stages) : len(stages) + _CHUNK // _ROUND_STEP]
            grown = with_fixed_seed(self._booster(added[-1], warm_start=True), seed)
            models, scores = runner.more_stages(grown, models, added)
            # A model that continues to grow does not count as another fit.
            runner = replace(runner, progress=Progress(None))
            stages += list(scores)
            best = self._best_stage(np.array(stages), runner.scored, region)
        return judged[best], stages[best]

    def _best_stage(self, stages: FloatArray, sample: Sample, region: Region) -> int:
        losses = np.array([log_loss(stage, sample.positive, sample.weight) for stage in stages])
        if self.by_log_loss:
            return int(np.argmin(losses))
        values = [region_placements(sample, stage, region).value for stage in stages]
        smooth = moving_mean(np.array(values)).round(_DIGITS)
        equal = np.flatnonzero(smooth == smooth.max())
        return int(equal[np.argmin(losses[equal])])

    def _booster(self, rounds: int, *, warm_start: bool = False) -> Any:
        # Early stopping would hold rows out and stop by log-loss. Small trees on half of the columns
        # ranked better in the region than the defaults, and are cheaper.
        booster = HistGradientBoostingClassifier(
            learning_rate=0.12,
            max_iter=rounds,
            max_leaf_nodes=15,
            max_features=0.5,
            early_stopping=False,
            warm_start=warm_start,
            categorical_features=self.columns.categorical or None,
        )
        return self.columns.for_trees(booster)


def moving_mean(values: FloatArray) -> FloatArray:
    """Average every value with its neighbours, fewer of them at the ends."""
    window = np.ones(2 * _NEIGHBOURS + 1)
    total = np.convolve(values, window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    count = np.convolve(np.ones_like(values), window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    return np.asarray(total / count)
