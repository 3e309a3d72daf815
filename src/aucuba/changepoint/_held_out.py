"""Held-out rows: which stay together, what is measured on them, and the choice of a model by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import query_index
from aucuba._rows._lead import Lead
from aucuba._rows._splits import Split, group_folds, is_number, splits_by
from aucuba.changepoint._interval_solver import interval_auc, squared_hinge
from aucuba.changepoint._label_errors import ErrorTotals

# Rows that share the exact value of a feature are assumed to come from one place, such as a stretch of
# a genome or a sensor, if there are at least this many groups with this many rows on average.
_FEWEST_GROUPS = 8
_MEAN_SIZE = 5


def row_groups(groups: ArrayLike | None, X: FloatArray) -> IntArray | None:
    """Number the given groups, or those that repeated values of a feature reveal; None without any.

    Of the features with repeated values, the one with the most distinct values defines the groups.
    For example, sequences from one place often have the same length. A model that memorises places
    looks good on other sequences from the same places and fails elsewhere.
    """
    if groups is not None:
        return query_index(groups, len(X), "groups")
    found, most = None, _FEWEST_GROUPS - 1
    for column in X.T:
        values, number = np.unique(column, return_inverse=True)
        if most < values.size <= len(X) / _MEAN_SIZE:
            found, most = number.astype(np.intp), values.size
    return found


def splits_of(cv: Any, X: FloatArray, groups: IntArray | None) -> list[Split]:
    """Return training and test rows of every fold; a number of folds keeps groups together."""
    if groups is not None and (cv is None or is_number(cv)):
        return group_folds(groups, min(5 if cv is None else cv, int(groups.max()) + 1))
    return splits_by(cv, X, None, groups)


def units_of(test: IntArray, groups: IntArray | None) -> IntArray:
    """Return the independently sampled units: the groups of the rows, or the rows themselves."""
    return test if groups is None else groups[test]


class HeldOutMeasure(ABC):
    """A cost of predicted log penalties; lower is better. ``unit`` names it in sentences."""

    unit: ClassVar[str]

    @abstractmethod
    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        """Return the costs of the test rows, or of the whole fold.

        Parameters
        ----------
        known, held_out : ndarray of shape (n_train,) and (n_test,)
            Predictions of a model that was fitted on the training rows.
        train, test : ndarray of int
        """

    def intercept(self, prediction: FloatArray) -> float:
        """Return the constant to add to the predictions of all rows."""
        return 0.0


@dataclass(frozen=True)
class ErrorMeasure(HeldOutMeasure):
    """Label errors, with the shift that makes the fewest on the training rows."""

    totals: ErrorTotals
    unit: ClassVar[str] = "errors"

    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        shift = self.totals.take(train).best_shift(-known)
        return self.totals.take(test).at(held_out - shift)

    def intercept(self, prediction: FloatArray) -> float:
        return -self.totals.best_shift(-prediction)


@dataclass(frozen=True)
class LossMeasure(HeldOutMeasure):
    """Squared hinge losses of both limits."""

    limits: FloatArray
    weight: FloatArray
    margin: float
    unit: ClassVar[str] = "squared hinge loss"

    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        below, above = squared_hinge(held_out, self.limits[test], self.margin)
        return self.weight[test] * (below**2 + above**2)


@dataclass(frozen=True)
class AUCMeasure(HeldOutMeasure):
    """One minus the area under the ROC curve of the fold; NaN if one kind of limit is missing."""

    limits: FloatArray
    weight: FloatArray
    unit: ClassVar[str] = "(one minus AUC, added up)"

    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        test_limits, weight = self.limits[test], self.weight[test]
        kept = weight > 0
        return np.array([1.0 - interval_auc(held_out[kept], test_limits[kept], weight[kept])])


@dataclass(frozen=True)
class Comparison:
    """Costs of two models on the same held-out rows.

    Attributes
    ----------
    before, after : float
        Total costs.
    error : float
        Standard error of the difference, over the rows.
    """

    before: float
    after: float
    error: float

    @classmethod
    def from_rows(cls, before: FloatArray, after: FloatArray) -> Comparison:
        """Compare the costs of single rows."""
        difference = before - after
        spread = float(difference.std(ddof=1)) if difference.size > 1 else np.inf
        return cls(float(before.sum()), float(after.sum()), spread * difference.size**0.5)

    def pays(self, standard_errors: float) -> bool:
        """Return whether the second model is better by more than a number of standard errors."""
        return Lead(self.before - self.after, self.error).is_clear(standard_errors)

    def describe(self, unit: str) -> str:
        """Describe both totals and the standard error of their difference."""
        return (
            f"{self.after:.4g} instead of {self.before:.4g} {unit} on held-out rows, with a standard "
            f"error of {self.error:.2g}"
        )


def choose(costs: FloatArray, standard_errors: float) -> int:
    """Choose among models of growing complexity, the first of which is the fallback.

    The candidate is the simplest model after the fallback whose cost is within one standard error of
    the lowest cost. It must beat the fallback by more than ``standard_errors`` standard errors. With 0,
    the lowest cost decides.

    Parameters
    ----------
    costs : ndarray of shape (n_models, n_rows)
        Held-out costs, the simplest model first.
    standard_errors : float
        Number of standard errors of the difference over the rows.
    """
    best = int(np.argmin(costs.sum(axis=1)))
    if standard_errors == 0 or best == 0:
        return best
    within = [
        not Comparison.from_rows(costs[model], costs[best]).pays(1.0)
        for model in range(1, best + 1)
    ]
    chosen = 1 + within.index(True)
    gain = Comparison.from_rows(costs[0], costs[chosen])
    return chosen if gain.pays(standard_errors) else 0


def total_by_unit(costs: FloatArray, unit: IntArray) -> FloatArray:
    """Add up the costs of the rows of each independently sampled unit."""
    place = np.unique(unit, return_inverse=True)[1]
    return np.stack([np.bincount(place, weights=row) for row in costs])
