"""Logistic regression on a Design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._core._logistic import logistic_regression
from aucuba._core._typing import FloatArray
from aucuba.design import RowDesign, TableDesign
from aucuba.risks import Sample


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients and intercept of the log-odds, and the iterations that they took."""

    coef: FloatArray
    intercept: float
    n_iter: int

    def log_odds(self, design: RowDesign) -> FloatArray:
        """Score the rows of a Design."""
        return design.scores(self.coef) + self.intercept


def fit_logistic(design: RowDesign, sample: Sample, C: float) -> LogisticFit:
    """Fit logistic regression to a precision at which the order of the rows does not show."""
    assert isinstance(design, TableDesign)
    model = logistic_regression(design.X, sample.positive, sample.weight, C)
    return LogisticFit(
        model.coef_[0].astype(np.float64), float(model.intercept_[0]), int(model.n_iter_[0])
    )
