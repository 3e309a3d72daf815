"""Logistic regression on a Design, along a path of C."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky
from scipy.linalg.lapack import dtrtrs

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import FloatArray
from aucuba._roc._logistic import logistic_regression
from aucuba.design import RowDesign, TableDesign
from aucuba.risks import Sample
from aucuba.solvers import minimize_lbfgs

# A second derivative costs one product of size n d^2; beyond this many columns L-BFGS is cheaper.
_NEWTON_FEATURES = 200
# More columns pay off where a pass over the data is expensive (Dask) or products are cheap (GPU).
_NEWTON_FEATURES_ELSEWHERE = 2000
# Up to this many columns, L-BFGS is preconditioned by one such product for all fits of a table.
_PRECONDITIONED_FEATURES = 2000
# Ridge of the preconditioner, relative to its mean diagonal: columns may be linearly dependent.
_METRIC_RIDGE = 1e-2
# Largest entry of the preconditioned gradient, and least relative decrease of the loss, of L-BFGS. In
# single precision smaller decreases are rounding error.
_GRADIENT_TOL, _LOSS_TOL = 1e-5, {True: 1e-14, False: 1e-9}
# Stop when the next step would lower the mean log-loss by less; scores are then exact to about 1e-9.
# In single precision such a step is rounding error.
_DECREMENT = {True: 1e-18, False: 1e-11}
_ROUNDING = {True: 1e-14, False: 1e-9}
_MAX_STEPS = 100
# A second derivative serves until a step brings the gradient, in its own norm, down by less than
# this factor; computing it costs as much as a few gradients.
_SLOW = 0.2
# Parts of so many rows start with the second derivative of all rows, which differs little from theirs.
_MANY_ROWS = 100_000


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients and intercept of the log-odds, and the iterations that they took.

    ``metric`` is the preconditioner of L-BFGS, and ``curvature`` the second derivative of the mean
    log-loss that Newton's method used last. Both serve for fits of parts of the rows, too, the latter
    if they are many.
    """

    coef: FloatArray
    intercept: float
    n_iter: int
    metric: FloatArray | None = None
    curvature: FloatArray | None = None

    def log_odds(self, design: RowDesign) -> Vector:
        """Score the rows of a Design."""
        return design.scores(self.coef) + self.intercept


@dataclass(frozen=True)
class _Loss:
    """The mean log-loss at a model, its gradient, and its second derivative by row.

    The latter is None where the rows are in blocks elsewhere.
    """

    value: float
    gradient: FloatArray
    curvature: Vector | None

    @property
    def value_and_gradient(self) -> tuple[float, FloatArray]:
        return self.value, self.gradient

    def penalised(self, model: FloatArray, ridge: FloatArray) -> _Loss:
        """Add the penalty of a model."""
        value = self.value + float(ridge @ model**2) / 2
        return replace(self, value=value, gradient=self.gradient + ridge * model)


class LogisticPath:
    r"""Logistic regression of the same rows at several C, every fit started from the one before:

    .. math::
        \min_{w, b}\; \tfrac{1}{2C} |w|^2 + \sum_i v_i \log(1 + e^{-y_i (x_i w + b)})

    Fits are so precise that the order of the rows does not show. Newton's method keeps its second
    derivative while it serves. Tables with many columns are fitted by L-BFGS, in coordinates in which
    the second derivative at the mean probability is the identity.

    Parameters
    ----------
    design : RowDesign
        The rows.
    sample : Sample
        Class and weight ``v`` of every row.
    start : LogisticFit, default=None
        Where the first fit of Newton's method starts, for example the fit of more rows. L-BFGS, which
        is less precise, takes its preconditioner alone and starts from zero: it would know rows that
        are to test it.
    """

    def __init__(self, design: RowDesign, sample: Sample, start: LogisticFit | None = None) -> None:
        self.design, self.present = design, start
        self.metric = None if start is None else start.metric
        if self.is_wide():
            self.present = None
        self.sample = sample.moved_to(design.arrays)
        weight = self.sample.weights
        self.total = float(weight.sum())
        self.row_weight = weight / self.total
        self.rows = design.beside(self.sample.positive, self.row_weight)
        self.curvature: FloatArray | None = None
        if start is not None and sample.n_rows >= _MANY_ROWS:
            self.curvature = start.curvature
        self.last: tuple[FloatArray, _Loss] | None = None

    def fit(self, C: float) -> LogisticFit:
        """Fit at one C, from the fit of the previous one."""
        penalty = 1.0 / (C * self.total)
        found = self._descent(penalty) if self.is_wide() else self._newton(penalty)
        # Separated or badly scaled data may have no second derivative to solve with.
        self.present = self._by_descent(C) if found is None else found
        return self.present

    def is_wide(self) -> bool:
        """Tell whether the fits are by L-BFGS, for second derivatives would cost more."""
        in_memory = isinstance(self.design, TableDesign)
        most = _NEWTON_FEATURES if in_memory else _NEWTON_FEATURES_ELSEWHERE
        return self.design.zeros().size > most

    def _by_descent(self, C: float) -> LogisticFit:
        """Fit by L-BFGS: that of scikit-learn where the table is in memory."""
        if self.design.table is None:
            return self._descent(1.0 / (C * self.total))
        model = logistic_regression(self.design.table, self.sample.positive, self.sample.weight, C)
        coef = model.coef_[0].astype(np.float64)
        return LogisticFit(coef, float(model.intercept_[0]), int(model.n_iter_[0]))

    def _descent(self, penalty: float) -> LogisticFit:
        """Fit by L-BFGS from the present model, in coordinates ``z = L' w`` of the metric ``L L'``."""
        ridge = np.append(np.full(self.design.zeros().size, penalty), 0.0)
        factor = self._metric()
        if factor is None:
            solution = minimize_lbfgs(
                lambda model: self._loss(model, ridge).value_and_gradient,
                self._start(),
                objective_tol=_LOSS_TOL[self.design.is_exact],
                max_iter=1000,
            )
            solution.raise_interrupt()
            return LogisticFit(solution.coef[:-1], float(solution.coef[-1]), solution.n_iter)

        def objective(z: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self._loss(dtrtrs(factor, z, 1, 1)[0], ridge).value_and_gradient
            return value, dtrtrs(factor, gradient, 1)[0]

        solution = minimize_lbfgs(
            objective,
            factor.T @ self._start(),
            tol=_GRADIENT_TOL,
            objective_tol=_LOSS_TOL[self.design.is_exact],
            max_iter=1000,
        )
        solution.raise_interrupt()
        model = dtrtrs(factor, solution.coef, 1, 1)[0]
        return LogisticFit(model[:-1], float(model[-1]), solution.n_iter, factor)

    def _metric(self) -> FloatArray | None:
        """Factor the second derivative at the mean probability; None where it costs too much."""
        # The table of some rows in half precision is a copy, so it is not asked for.
        design = self.design
        if not isinstance(design, TableDesign) or sparse.issparse(design.X):
            return None
        if design.X.shape[1] > _PRECONDITIONED_FEATURES:
            return None
        if self.metric is None:
            frequency = self._frequency()
            curvature = frequency * (1.0 - frequency) * self.row_weight
            metric = self._second_derivative(curvature)
            metric += _METRIC_RIDGE * float(metric.diagonal().mean()) * np.eye(len(metric))
            self.metric = np.asarray(cholesky(metric, lower=True))
        return self.metric

    def _newton(self, penalty: float) -> LogisticFit | None:
        """Minimise the mean log-loss plus ``penalty |w|^2 / 2``; None where no step can be found."""
        model = self._start()
        ridge = np.append(np.full(model.size - 1, penalty), 0.0)
        loss, last, is_fresh = self._loss(model, ridge), np.inf, False
        for n_iter in range(1, _MAX_STEPS + 1):
            if self.curvature is None:
                self.curvature, is_fresh = self._curvature_at(model, loss), True
            try:
                factor = cho_factor(self.curvature + np.diag(ridge))
            except (LinAlgError, ValueError):
                return None
            step = cho_solve(factor, -loss.gradient)
            decrement = float(-loss.gradient @ step)
            if decrement <= _DECREMENT[self.design.is_exact]:
                coef, intercept = model[:-1], float(model[-1])
                return LogisticFit(coef, intercept, n_iter, curvature=self.curvature)
            moved = None
            if is_fresh or decrement <= _SLOW**2 * last:
                moved = self._moved(model, step, loss, decrement, ridge, shorten=is_fresh)
            if moved is not None:
                (model, loss), last, is_fresh = moved, decrement, False
            elif is_fresh:
                return None
            else:
                self.curvature, last = None, np.inf
        return None

    def _moved(
        self,
        model: FloatArray,
        step: FloatArray,
        loss: _Loss,
        decrement: float,
        ridge: FloatArray,
        *,
        shorten: bool,
    ) -> tuple[FloatArray, _Loss] | None:
        """Take a step that does not raise the loss; None where there is none."""
        # Near the minimum the values of two models differ by rounding errors alone.
        length, accepted = 1.0, loss.value
        accepted += _ROUNDING[self.design.is_exact] * abs(loss.value)
        there = self._loss(model + step, ridge)
        while shorten and there.value > accepted - 1e-4 * length * decrement and length > 1e-8:
            length /= 2
            there = self._loss(model + length * step, ridge)
        return None if there.value > accepted else (model + length * step, there)

    def _start(self) -> FloatArray:
        if self.present is not None:
            return np.append(self.present.coef, self.present.intercept)
        frequency = self._frequency()
        return np.append(self.design.zeros(), np.log(frequency / (1.0 - frequency)))

    def _frequency(self) -> float:
        return float(self.row_weight[self.sample.positive].sum())

    def _loss(self, model: FloatArray, ridge: FloatArray) -> _Loss:
        # The fit of another C starts where the last one ended.
        if self.last is None or not np.array_equal(self.last[0], model):
            self.last = model.copy(), self._log_loss(model)
        return self.last[1].penalised(model, ridge)

    def _log_loss(self, model: FloatArray) -> _Loss:
        if self.rows is not None:
            return _Loss(*self.rows.risk(log_loss_terms, model), None)
        log_odds = self.design.scores(model[:-1]) + float(model[-1])
        value, residual, curvature = log_loss_terms(log_odds, self.sample.positive, self.row_weight)
        gradient = np.append(self.design.adjoint(residual), float(residual.sum()))
        return _Loss(value, gradient, curvature)

    def _curvature_at(self, model: FloatArray, loss: _Loss) -> FloatArray:
        if self.rows is not None:
            return self.rows.second_derivative(log_loss_terms, model)
        return self._second_derivative(loss.curvature)

    def _second_derivative(self, curvature: Vector) -> FloatArray:
        of_intercept = self.design.adjoint(curvature)[:, np.newaxis]
        return np.block(
            [[self.design.gram(curvature), of_intercept], [of_intercept.T, float(curvature.sum())]]
        )


def log_loss_terms(
    log_odds: Vector, positive: Vector, weight: Vector
) -> tuple[float, Vector, Vector]:
    """Compute the log-loss summed by weight, and its first and second derivative by row."""
    arrays = arrays_of(log_odds)
    probability = arrays.expit(log_odds)
    losses = arrays.log1p_exp(arrays.where(positive, -log_odds, log_odds))
    residual = weight * (probability - arrays.vector(positive))
    return float(weight @ losses), residual, weight * probability * (1.0 - probability)
