"""Logistic regression along a path of C, and the weighted moments that go with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucuba._core._typing import BoolArray, FloatArray

# A second derivative costs one product of size n d^2; beyond this many columns L-BFGS is cheaper.
_NEWTON_FEATURES = 200
# Stop when the next step would lower the mean log-loss by less: scores are then right to about 1e-9.
_DECREMENT = 1e-18
_MAX_STEPS = 100
# A second derivative serves until a step brings the gradient, in its own norm, down by less than
# this factor; computing it costs as much as a few gradients.
_SLOW = 0.2
# A block of rows that stays in the cache: half a megabyte.
_ENTRIES_AT_ONCE = 65_536


@dataclass(frozen=True)
class LogisticFit:
    """Log-odds ``X @ coef + intercept``, and the number of iterations that found them."""

    coef: FloatArray
    intercept: float
    n_iter: int

    def log_odds(self, X: Any) -> FloatArray:
        """Score rows."""
        return np.asarray(X @ self.coef + self.intercept)


class LogisticPath:
    r"""Logistic regression of the same rows at several C, every fit started from the one before:

    .. math::
        \min_{w, b}\; \tfrac{1}{2C} |w|^2 + \sum_i v_i \log(1 + e^{-y_i (x_i w + b)})

    Fits are so precise that the order of the rows does not show. Tables of few columns are fitted by
    Newton's method, whose second derivative is kept while it serves.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Validated by the caller.
    positive : ndarray of bool
    weight : ndarray or None
        ``v``; ones by default.
    start : LogisticFit, default=None
        Where the first fit of Newton's method starts, for example the fit of more rows. L-BFGS, which
        is less precise, does not use it: a fit must not know rows that are to test it.
    """

    def __init__(
        self,
        X: Any,
        positive: BoolArray,
        weight: FloatArray | None,
        start: LogisticFit | None = None,
    ) -> None:
        self.X, self.positive, self.weight = X, positive, weight
        counted = np.ones(positive.size) if weight is None else weight
        self.total = float(counted.sum())
        self.row_weight = counted / self.total
        self.start = start
        self.present: LogisticFit | None = None
        self.curvature: FloatArray | None = None

    def fit(self, C: float) -> LogisticFit:
        """Fit at one C, from the fit of the previous one."""
        if not sparse.issparse(self.X) and self.X.shape[1] <= _NEWTON_FEATURES:
            found = self._newton(1.0 / (C * self.total))
        else:
            found = None
        # Perfectly separated or badly scaled data may have no second derivative to solve with.
        self.present = self._lbfgs(C) if found is None else found
        return self.present

    def _newton(self, penalty: float) -> LogisticFit | None:
        """Minimise the mean log-loss plus ``penalty |w|^2 / 2``; None where no step can be found."""
        model = self._start()
        ridge = np.append(np.full(model.size - 1, penalty), 0.0)
        value, gradient, slope = self._mean_loss(model, ridge)
        fresh, last = False, np.inf
        for n_iter in range(1, _MAX_STEPS + 1):
            if self.curvature is None:
                self.curvature, fresh = self._second_derivative(slope), True
            try:
                factor = cho_factor(self.curvature + np.diag(ridge))
            except (LinAlgError, ValueError):
                return None
            step = cho_solve(factor, -gradient)
            decrement = float(-gradient @ step)
            if decrement <= _DECREMENT:
                return LogisticFit(model[:-1], float(model[-1]), n_iter)
            if decrement > _SLOW**2 * last and not fresh:
                self.curvature, last = None, np.inf
                continue
            length = 1.0
            # Where only rounding is left to gain, the values of two models compare by chance.
            accepted = value + 1e-14 * abs(value)
            trial = self._mean_loss(model + step, ridge)
            while fresh and trial[0] > accepted - 1e-4 * length * decrement and length > 1e-8:
                length /= 2
                trial = self._mean_loss(model + length * step, ridge)
            if trial[0] > accepted:
                if fresh:
                    return None
                self.curvature, last = None, np.inf
                continue
            model = model + length * step
            (value, gradient, slope), last = trial, decrement
            fresh = False
        return None

    def _start(self) -> FloatArray:
        start = self.start if self.present is None else self.present
        if start is not None:
            return np.append(start.coef, start.intercept)
        frequency = float(self.row_weight[self.positive].sum())
        zero = np.zeros(self.X.shape[1] + 1)
        zero[-1] = np.log(frequency / (1.0 - frequency))
        return zero

    def _mean_loss(
        self, model: FloatArray, ridge: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the penalised loss, its gradient, and the second derivative by row."""
        log_odds = np.empty(self.positive.size)
        gradient = np.empty(model.size)
        for rows, block in self._blocks():
            np.dot(block, model[:-1], out=log_odds[rows])
        log_odds += model[-1]
        probability = expit(log_odds)
        loss = np.logaddexp(0.0, np.where(self.positive, -log_odds, log_odds))
        residual = self.row_weight * (probability - self.positive)
        gradient[:-1] = 0.0
        for rows, block in self._blocks():
            gradient[:-1] += residual[rows] @ block
        gradient[-1] = residual.sum()
        value = float(self.row_weight @ loss + ridge @ model**2 / 2)
        return value, gradient + ridge * model, self.row_weight * probability * (1.0 - probability)

    def _second_derivative(self, slope: FloatArray) -> FloatArray:
        size = self.X.shape[1] + 1
        total = np.zeros((size, size))
        root = np.sqrt(slope)
        for rows, block in self._blocks():
            scaled = block * root[rows, np.newaxis]
            total[:-1, :-1] += scaled.T @ scaled
            total[:-1, -1] += root[rows] @ scaled
        total[-1, :-1] = total[:-1, -1]
        total[-1, -1] = slope.sum()
        return total

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the rows in double precision, a few at a time."""
        size = max(_ENTRIES_AT_ONCE // max(self.X.shape[1], 1), 1)
        for begin in range(0, self.X.shape[0], size):
            rows = slice(begin, begin + size)
            yield rows, self.X[rows].astype(np.float64, copy=False)

    def _lbfgs(self, C: float) -> LogisticFit:
        model = LogisticRegression(C=C, tol=1e-6, max_iter=1000, warm_start=True)
        if self.present is not None:
            model.coef_ = self.present.coef[np.newaxis]
            model.intercept_ = np.array([self.present.intercept])
        with warnings.catch_warnings(), config_context(assume_finite=True):
            # Perfectly separated or badly scaled data end at the limit with a usable direction;
            # scaling has a warning of its own.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X, self.positive, sample_weight=self.weight)
        coef = model.coef_[0].astype(np.float64)
        return LogisticFit(coef, float(model.intercept_[0]), int(model.n_iter_[0]))


def logistic_regression(
    X: Any, positive: BoolArray, weight: FloatArray | None, C: float
) -> LogisticFit:
    """Fit logistic regression to a precision at which the order of the rows does not show."""
    return LogisticPath(X, positive, weight).fit(C)


def log_loss(log_odds: FloatArray, positive: BoolArray, weight: FloatArray | None) -> float:
    """Compute the mean log-loss, rows counted by weight."""
    signed = np.where(positive, -log_odds, log_odds)
    return float(np.average(np.logaddexp(0.0, signed), weights=weight))


def mean_and_scale(scores: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Compute the mean and the standard deviation of each column; a row of weight k counts k times.

    The standard deviation of constant scores is replaced by 1, so that they can be divided by it.
    """
    mean = np.average(scores, axis=0, weights=weight)
    sd = np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=weight))
    return mean, np.where(sd > 0, sd, 1.0)
