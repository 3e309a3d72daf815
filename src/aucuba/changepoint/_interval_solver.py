"""L1 interval regression: targets, losses, and a proximal Newton method along a path of penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils import assert_all_finite, check_array, column_or_1d

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, Monitor
from aucuba._base._validation import row_weights
from aucuba._base._warnings import warn_user

# Coordinate sweeps per Newton subproblem; a linear system finishes it.
_MAX_SWEEPS = 100


@dataclass(frozen=True)
class IntervalFit:
    """One model of the path, in the original units of the features."""

    regularization: float
    coef: FloatArray
    intercept: float
    objective: float
    violation: float
    n_iter: int


class IntervalProblem:
    """Standardised features and limits of one fit, without uninformative rows."""

    def __init__(
        self, X: FloatArray, limits: FloatArray, weight: FloatArray | None, margin: float
    ) -> None:
        mass = np.ones(len(X)) if weight is None else weight
        rows = informative(limits) & (mass > 0)
        if not rows.any():
            raise ValueError(
                "No row of y has a finite limit and a positive weight: there is nothing to fit."
            )
        X, self.limits = X[rows], limits[rows]
        self.weight = mass[rows] / mass[rows].sum()
        self.margin = margin
        self.mean = self.weight @ X
        centred = X - self.mean
        scale = np.sqrt(self.weight @ centred**2)
        # A column that varies only by rounding errors is constant.
        rounding = 10 * np.finfo(np.float64).eps * np.abs(X).max(axis=0, initial=0.0)
        self.used = scale > rounding
        self.scale = np.where(self.used, scale, 1.0)
        self.design = np.ones((len(X), int(self.used.sum()) + 1))
        self.design[:, 1:] = (centred / self.scale)[:, self.used]

    def start(self) -> FloatArray:
        """Return zero coefficients with the best intercept."""
        theta = np.zeros(self.design.shape[1])
        theta[0] = best_constant(self.limits, self.margin, self.weight)
        return theta

    def objective(self, theta: FloatArray, rho: float) -> float:
        below, above = squared_hinge(self.design @ theta, self.limits, self.margin)
        return float(self.weight @ (below**2 + above**2) + rho * np.abs(theta[1:]).sum())

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient of the smooth part and the weights of its generalised Hessian."""
        below, above = squared_hinge(self.design @ theta, self.limits, self.margin)
        gradient = self.design.T @ (2 * self.weight * (above - below))
        curvature = 2 * self.weight * ((below > 0).astype(np.float64) + (above > 0))
        return gradient, curvature

    def fit_at(self, theta: FloatArray, rho: float, violation: float, n_iter: int) -> IntervalFit:
        coef = np.zeros(self.used.size)
        coef[self.used] = theta[1:]
        coef /= self.scale
        intercept = float(theta[0] - self.mean @ coef)
        return IntervalFit(rho, coef, intercept, self.objective(theta, rho), violation, n_iter)


def _violation(theta: FloatArray, gradient: FloatArray, rho: float) -> float:
    """Return the largest distance from zero to the subdifferential over the coordinates."""
    coef, slope = theta[1:], gradient[1:]
    away = np.where(
        coef != 0, np.abs(slope + rho * np.sign(coef)), np.maximum(np.abs(slope) - rho, 0)
    )
    return float(max(abs(gradient[0]), away.max(initial=0.0)))


def _minimise(
    problem: IntervalProblem,
    theta: FloatArray,
    rho: float,
    tol: float,
    max_iter: int,
    monitor: Monitor | None,
) -> tuple[FloatArray, float, int]:
    """Run proximal Newton: a lasso on the active rows gives the direction, halving gives the step.

    The loss is piecewise quadratic, so the subproblem is exact once the active rows no longer change.
    Reference: Lee, Sun, Saunders, "Proximal Newton-type methods for minimizing composite functions"
    (2014); the sufficient decrease of the step is theirs.
    """
    from aucuba.changepoint._loops import lasso_on_gram

    penalty = np.full(theta.size, rho)
    penalty[0] = 0.0
    value = problem.objective(theta, rho)
    violation = np.inf
    for iteration in range(max_iter + 1):
        gradient, curvature = problem.derivatives(theta)
        violation = _violation(theta, gradient, rho)
        stop = monitor is not None and monitor({"iteration": iteration, "violation": violation})
        if stop or violation <= tol or iteration == max_iter:
            break
        active = problem.design[curvature > 0]
        gram = active.T @ (curvature[curvature > 0, None] * active)
        # A small ridge bounds directions without active rows; it does not move the solution.
        gram[np.diag_indices_from(gram)] += 1e-9
        target, linear = theta.copy(), gram @ theta - gradient
        lasso_on_gram(gram, gradient.copy(), target, penalty, 0.1 * tol, _MAX_SWEEPS)
        _polish(gram, linear, target, penalty)
        direction = target - theta
        decrease = gradient @ direction + rho * (np.abs(target[1:]).sum() - np.abs(theta[1:]).sum())
        step = 1.0
        while step > 1e-12:
            candidate = target if step == 1.0 else theta + step * direction
            new = problem.objective(candidate, rho)
            if new <= value + 1e-4 * step * decrease:
                break
            step /= 2
        else:
            break
        theta, value = candidate, new
    return theta, violation, iteration


def _polish(gram: FloatArray, linear: FloatArray, target: FloatArray, penalty: FloatArray) -> None:
    """Finish a lasso whose support and signs are nearly found, in place.

    Coordinate descent is slow on nearly collinear columns, but with known signs the coefficients solve
    a linear system. On the way to its solution, the first coefficient that would change sign is set to
    zero and leaves the system.
    """
    for _ in range(target.size):
        support = np.flatnonzero((target != 0) | (penalty == 0))
        here = target[support]
        sign = np.sign(here) * (penalty[support] > 0)
        solved = np.linalg.solve(
            gram[np.ix_(support, support)], linear[support] - penalty[support] * sign
        )
        crosses = np.flatnonzero(sign * solved < 0)
        if not crosses.size:
            target[support] = solved
            return
        fraction = here[crosses] / (here[crosses] - solved[crosses])
        target[support] = here + fraction.min() * (solved - here)
        target[support[crosses[np.argmin(fraction)]]] = 0.0


def fit_path(
    problem: IntervalProblem,
    penalties: FloatArray,
    tol: float,
    max_iter: int,
    monitor: Monitor | None = None,
) -> list[IntervalFit]:
    """Fit by decreasing regularisation, each fit from the previous one; return the given order."""
    fits: dict[float, IntervalFit] = {}
    theta = problem.start()
    for rho in np.unique(penalties)[::-1]:
        theta, violation, n_iter = _minimise(problem, theta, float(rho), tol, max_iter, monitor)
        fits[float(rho)] = problem.fit_at(theta, float(rho), violation, n_iter)
    return [fits[float(rho)] for rho in penalties]


def warn_unfinished(fits: list[IntervalFit], tol: float) -> None:
    worst = max(fits, key=lambda fit: fit.violation)
    if worst.violation > tol:
        warn_user(
            f"Interval regression stopped after {worst.n_iter} iterations with an optimality violation "
            f"of {worst.violation:.2g} above tol={tol:.2g} at regularization="
            f"{worst.regularization:.3g}. Increase max_iter, or increase tol.",
            ConvergenceWarning,
        )


def interval_regression_path(
    X: ArrayLike,
    y: ArrayLike,
    penalties: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    margin: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> list[IntervalFit]:
    """Fit several regularisation values, warm-started from the largest down.

    Parameters and the objective are those of `IntervalRegression`; ``penalties`` are its
    ``regularization``.

    Returns
    -------
    list of IntervalFit
        In the order of ``penalties``: ``coef``, ``intercept``, ``objective``, ``violation`` of the
        optimality conditions, ``n_iter``.
    """
    features = check_array(X, dtype=np.float64)
    limits = check_intervals(y, len(features))
    weight = row_weights(sample_weight, len(features))
    rho = np.atleast_1d(np.asarray(penalties, dtype=np.float64))
    fits = fit_path(IntervalProblem(features, limits, weight, margin), rho, tol, max_iter)
    warn_unfinished(fits, tol)
    return fits


def largest_regularization(problem: IntervalProblem) -> float:
    """Return the smallest penalty at which all coefficients are zero."""
    gradient = problem.derivatives(problem.start())[0]
    return float(max(np.abs(gradient[1:]).max(initial=0.0), np.finfo(np.float64).tiny * 1e6))


def check_intervals(y: Any, n_rows: int) -> FloatArray:
    """Return limits ``lower <= upper`` of shape (n_rows, 2), possibly infinite; 1-D y has width 0."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    limits = np.asarray(y)
    if limits.ndim == 2 and limits.shape[1] == 2:
        limits = limits.astype(np.float64)
        if np.isnan(limits).any():
            raise ValueError("Input y contains NaN; write -inf or inf for an unknown limit.")
        bad = ~(limits[:, 0] <= limits[:, 1]) | (limits[:, 0] == np.inf) | (limits[:, 1] == -np.inf)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"Every interval in y needs lower <= upper, got {limits[row].tolist()} in row {row}."
            )
    else:
        value = column_or_1d(y, warn=True)
        if value.dtype.kind not in "fiub":
            value = value.astype(np.float64)
        assert_all_finite(value, input_name="y")
        limits = np.column_stack([value, value]).astype(np.float64)
    if limits.shape[0] != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(limits)]}."
        )
    return limits


def informative(limits: FloatArray) -> BoolArray:
    """Return a mask of the rows with a finite limit; the others carry no information."""
    return np.asarray(np.isfinite(limits).any(axis=1))


def squared_hinge(
    prediction: FloatArray, limits: FloatArray, margin: float
) -> tuple[FloatArray, FloatArray]:
    """Return ``(margin - (p - lower))_+`` and ``(margin - (upper - p))_+`` of each row."""
    below = np.maximum(margin - (prediction - limits[:, 0]), 0.0)
    above = np.maximum(margin - (limits[:, 1] - prediction), 0.0)
    return below, above


def interval_loss(
    prediction: FloatArray,
    limits: FloatArray,
    margin: float = 1.0,
    weight: FloatArray | None = None,
) -> float:
    """Return the weighted mean of the squared hinge losses of both limits."""
    below, above = squared_hinge(prediction, limits, margin)
    return float(np.average(below**2 + above**2, weights=weight))


def interval_auc(
    prediction: ArrayLike, limits: FloatArray, weight: FloatArray | None = None
) -> float:
    """Compute the area under the ROC curve of predicted log penalties against target intervals.

    As a constant is added to all predictions, a row is a false positive (too many changes) below its
    lower limit and a false negative above its upper limit. So the area is the probability that a random
    lower limit is passed before a random upper limit: ``P(lower_i - p_i < upper_j - p_j)``, with ties
    counted one half. NaN if one kind of limit is missing.
    """
    margin = limits - np.asarray(prediction, dtype=np.float64)[:, None]
    lower, upper = np.isfinite(margin[:, 0]), np.isfinite(margin[:, 1])
    if not lower.any() or not upper.any():
        return np.nan
    score = np.concatenate([margin[lower, 0], margin[upper, 1]])
    is_upper = np.repeat([0, 1], [lower.sum(), upper.sum()])
    if weight is not None:
        weight = np.concatenate([weight[lower], weight[upper]])
    return float(roc_auc_score(is_upper, score, sample_weight=weight))


def distance_score(
    prediction: FloatArray, limits: FloatArray, weight: FloatArray | None = None
) -> float:
    r"""Compute the coefficient of determination with distances to intervals as residuals.

    .. math::
        1 - \sum_i w_i d(p_i, I_i)^2 \Big/ \min_c \sum_i w_i d(c, I_i)^2

    This is R² for intervals of width 0. If one constant satisfies all rows, the score is 1 for
    predictions that also do, else 0.
    """
    mass = np.ones(len(limits)) if weight is None else weight
    residual = interval_loss(prediction, limits, 0.0, mass)
    constant = best_constant(limits, 0.0, mass)
    spread = interval_loss(np.full(len(limits), constant), limits, 0.0, mass)
    if spread <= np.finfo(np.float64).eps ** 2:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / spread


def best_constant(limits: FloatArray, margin: float, weight: FloatArray) -> float:
    """Minimise the mean hinge loss over constants; return the middle of a flat minimum.

    Half the derivative, ``sum_upper w (c - upper + margin)_+ - sum_lower w (lower + margin - c)_+``, is
    increasing, piecewise linear, at most 0 at its first break and at least 0 at its last.
    """
    finite = np.isfinite(limits)
    knot = np.concatenate([limits[finite[:, 0], 0] + margin, limits[finite[:, 1], 1] - margin])
    if knot.size == 0:
        return 0.0
    mass = np.concatenate([weight[finite[:, 0]], weight[finite[:, 1]]])
    is_lower = np.repeat([True, False], finite.sum(axis=0))
    order = np.argsort(knot, kind="stable")
    origin = knot[order[0]]
    # Relative to the first knot, so a common shift of all limits loses no digits.
    knot, mass, is_lower = knot[order] - origin, mass[order], is_lower[order]
    pull, push = np.where(is_lower, mass, 0.0), np.where(is_lower, 0.0, mass)
    beyond = pull.sum() - np.cumsum(pull)
    beyond_sum = (pull * knot).sum() - np.cumsum(pull * knot)
    derivative = np.cumsum(push) * knot - np.cumsum(push * knot) - (beyond_sum - beyond * knot)
    rounding = 1e-13 * mass.sum() * knot[-1]
    negative = np.flatnonzero(derivative < -rounding)
    positive = np.flatnonzero(derivative > rounding)
    low = _crossing(knot, derivative, int(negative[-1])) if negative.size else knot[0]
    high = _crossing(knot, derivative, int(positive[0]) - 1) if positive.size else knot[-1]
    return float(origin + (low + high) / 2)


def _crossing(knot: FloatArray, derivative: FloatArray, k: int) -> float:
    """Find the zero of the piecewise linear derivative between knots k and k + 1."""
    rise = derivative[k + 1] - derivative[k]
    return float(knot[k] - (knot[k + 1] - knot[k]) * derivative[k] / rise)
