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
    if not isinstance(design, TableDesign):
        return _fit_by_passes(design, sample, C)
    model = logistic_regression(design.X, sample.positive, sample.weight, C)
    return LogisticFit(
        model.coef_[0].astype(np.float64), float(model.intercept_[0]), int(model.n_iter_[0])
    )


def _fit_by_passes(design: RowDesign, sample: Sample, C: float) -> LogisticFit:
    """Newton's method on the mean log-loss, halving steps that do not lower it."""
    weight = sample.weights / sample.weights.sum()
    ridge = 1.0 / (C * sample.weights.sum())
    sign = np.where(sample.positive, 1.0, -1.0)

    def value(model, scores):
        return weight @ np.logaddexp(0.0, -sign * scores) + ridge * model[:-1] @ model[:-1] / 2

    model = np.zeros(design.zeros().size + 1)
    scores = np.zeros(design.n_rows)
    for n_iter in range(1, 101):
        p = 1 / (1 + np.exp(-scores))
        slope = weight * (p - sample.positive)
        curvature = weight * p * (1 - p)
        gradient = np.append(design.adjoint(slope) + ridge * model[:-1], slope.sum())
        hessian = np.zeros((model.size, model.size))
        hessian[:-1, :-1] = design.gram(curvature) + ridge * np.eye(model.size - 1)
        hessian[-1, :-1] = hessian[:-1, -1] = design.adjoint(curvature)
        hessian[-1, -1] = curvature.sum()
        direction = -np.linalg.solve(hessian, gradient)
        moved = design.scores(direction[:-1]) + direction[-1]
        step, before = 1.0, value(model, scores)
        while step > 1e-6 and value(model + step * direction, scores + step * moved) > before:
            step /= 2
        model, scores = model + step * direction, scores + step * moved
        if -gradient @ direction <= 1e-14 * before:
            break
    return LogisticFit(model[:-1], float(model[-1]), n_iter)
