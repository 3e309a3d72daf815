"""Logistic regression on a Design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._core._arrays import Vector
from aucuba._core._logistic import logistic_regression
from aucuba._core._typing import FloatArray
from aucuba.design import RowDesign, TableDesign
from aucuba.risks import Sample
from aucuba.solvers import minimize_lbfgs

# Beyond this many columns a Hessian costs more than the iterations that it saves.
_NEWTON_FEATURES = 2000
_NEWTON_STEPS = 100
# Newton's method ends where the next step promises to lower the objective by this part of it.
_PROMISE = {True: 1e-14, False: 1e-9}
# A step is halved until it lowers the objective by this part of what its slope promises.
_SUFFICIENT = 1e-4
_SHORTEST_STEP = 1e-6


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients and intercept of the log-odds, and the iterations that they took."""

    coef: FloatArray
    intercept: float
    n_iter: int

    def log_odds(self, design: RowDesign) -> Vector:
        """Score the rows of a Design."""
        return design.scores(self.coef) + self.intercept


def fit_logistic(design: RowDesign, sample: Sample, C: float) -> LogisticFit:
    """Fit logistic regression to a precision at which the order of the rows does not show.

    Arrays in memory are left to scikit-learn, which needs the table itself; other Designs are fitted
    through their products, by the methods that scikit-learn would choose.
    """
    if isinstance(design, TableDesign):
        model = logistic_regression(design.X, sample.positive, sample.weight, C)
        coef = model.coef_[0].astype(np.float64)
        return LogisticFit(coef, float(model.intercept_[0]), int(model.n_iter_[0]))
    objective = _Objective(design, sample, C)
    if design.zeros().size <= _NEWTON_FEATURES:
        return _newton(objective)
    start = np.zeros(design.zeros().size + 1)
    solution = minimize_lbfgs(objective.value_and_gradient, start, max_iter=1000)
    solution.raise_interrupt()
    return LogisticFit(solution.coef[:-1], float(solution.coef[-1]), solution.n_iter)


class _Objective:
    """``1/2 |w|^2 / (C V)`` + mean log-loss of ``X w + b``, for rows of weight V in all.

    A model is ``w`` with ``b`` as its last entry.
    """

    def __init__(self, design: RowDesign, sample: Sample, C: float) -> None:
        self.design, self.arrays = design, design.arrays
        weight = sample.weights
        total = float(weight.sum())
        self.weight, self.ridge = weight / total, 1.0 / (C * total)
        self.positive = self.arrays.vector(sample.positive)

    def scores(self, model: FloatArray) -> Vector:
        return self.design.scores(model[:-1]) + float(model[-1])

    def value(self, model: FloatArray, scores: Vector) -> float:
        losses = self.arrays.log1p_exp(scores) - self.positive * scores
        return float(self.weight @ losses) + self.ridge * float(model[:-1] @ model[:-1]) / 2

    def slopes(self, scores: Vector) -> tuple[Vector, Vector]:
        """Return the first and second derivative in every score."""
        probability = self.arrays.expit(scores)
        first = self.weight * (probability - self.positive)
        return first, self.weight * probability * (1.0 - probability)

    def value_and_gradient(self, model: FloatArray) -> tuple[float, FloatArray]:
        scores = self.scores(model)
        first, _ = self.slopes(scores)
        gradient = np.append(self.design.adjoint(first), float(first.sum()))
        gradient[:-1] += self.ridge * model[:-1]
        return self.value(model, scores), gradient

    def gradient_and_hessian(
        self, model: FloatArray, scores: Vector
    ) -> tuple[FloatArray, FloatArray]:
        """Compute both by two passes over the data."""
        size = model.size - 1
        first, second = self.slopes(scores)
        gradient, hessian = np.empty(size + 1), np.empty((size + 1, size + 1))
        gradient[:-1], hessian[-1, :-1] = self.design.adjoint([first, second])
        gradient[:-1] += self.ridge * model[:-1]
        gradient[-1] = float(first.sum())
        hessian[:-1, :-1] = self.design.gram(second)
        hessian.flat[:: size + 2] += self.ridge
        hessian[:-1, -1] = hessian[-1, :-1]
        hessian[-1, -1] = float(second.sum())
        return gradient, hessian


def _newton(objective: _Objective) -> LogisticFit:
    """Minimise by Newton's method with a backtracking search on the scores."""
    design = objective.design
    model, scores = np.zeros(design.zeros().size + 1), objective.arrays.zeros(design.n_rows)
    value, n_iter = objective.value(model, scores), 0
    while n_iter < _NEWTON_STEPS:
        n_iter += 1
        gradient, hessian = objective.gradient_and_hessian(model, scores)
        step = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0], dtype=np.float64)
        promise = -float(gradient @ step)
        if promise <= 2 * _PROMISE[design.is_exact] * value:
            break
        direction, length = objective.scores(step), 1.0
        while length >= _SHORTEST_STEP:
            moved = model + length * step
            reached = objective.value(moved, scores + length * direction)
            if reached <= value - _SUFFICIENT * length * promise:
                break
            length /= 2
        else:
            # Rounding hides what is left to gain.
            break
        model, scores, value = moved, scores + length * direction, reached
    return LogisticFit(model[:-1], float(model[-1]), n_iter)
