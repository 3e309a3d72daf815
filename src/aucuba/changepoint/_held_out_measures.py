"""What is measured on held-out rows to choose between penalty functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.changepoint._error_totals import ErrorTotals
from aucuba.changepoint._interval_targets import interval_auc, squared_hinge


class HeldOutMeasure(ABC):
    """A cost of predicted log penalties; lower is better. ``unit`` is its name in sentences."""

    unit: ClassVar[str]

    @abstractmethod
    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        """Costs of the test rows, or of the whole fold.

        Parameters
        ----------
        known, held_out : ndarray of shape (n_train,) and (n_test,)
            Predictions of a model that was fitted on the training rows.
        train, test : ndarray of int
        """

    def intercept(self, prediction: FloatArray) -> float:
        """What to add to the predictions of all rows."""
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
    """One minus the area under the ROC curve of the fold; NaN where one kind of limit is missing."""

    limits: FloatArray
    weight: FloatArray
    unit: ClassVar[str] = "(one minus AUC, added up)"

    def costs(
        self, known: FloatArray, train: IntArray, held_out: FloatArray, test: IntArray
    ) -> FloatArray:
        test_limits, weight = self.limits[test], self.weight[test]
        kept = weight > 0
        return np.array([1.0 - interval_auc(held_out[kept], test_limits[kept], weight[kept])])
