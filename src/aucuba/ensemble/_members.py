"""Members of a stack: models fitted on all rows, with scores of rows they have not seen."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucuba._base._parallel import with_fixed_seed
from aucuba._base._typing import FloatArray
from aucuba._base._warnings import FewRowsWarning, ScaleAdvice
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import check_strength, weight_keyword


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
        """Count the models that this takes.

        ``every_row`` tells whether all rows train, none of them heavier than another.
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
        """Settings that a plan records beside the name of this member."""
        return {}

    def reduced(self, fraction: float) -> Member | None:
        """Return a cheaper member that takes a fraction of the time, or None."""
        return None


@dataclass(frozen=True)
class PlainMember(Member):
    """Any classifier, as it is.

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
