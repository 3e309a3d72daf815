"""L1-regularised max-margin interval regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._base._callbacks import CallbackSupport, fit_monitor, with_callbacks
from aucuba._base._estimator import all_or_nothing
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_positive_number, row_weights
from aucuba.changepoint._interval_solver import (
    IntervalFit,
    IntervalProblem,
    check_intervals,
    distance_score,
    fit_path,
    warn_unfinished,
)


class IntervalRegressor(CallbackSupport, RegressorMixin, BaseEstimator):
    """Base of both estimators: prediction and score."""

    coef_: FloatArray
    intercept_: float

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict values; for changepoints these are log penalties."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        prediction: FloatArray = features @ self.coef_ + self.intercept_
        return prediction

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination with distances to the intervals as residuals.

        ``1 - sum d(p_i, I_i)^2 / min_c sum d(c, I_i)^2``, which is R² for intervals of width 0.
        """
        prediction = self.predict(X)
        limits = check_intervals(y, len(prediction))
        return distance_score(prediction, limits, row_weights(sample_weight, len(prediction)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.two_d_labels = False
        return tags

    def _adopt(self, fit: IntervalFit) -> None:
        self.coef_ = fit.coef
        self.intercept_ = fit.intercept
        self.n_iter_ = max(fit.n_iter, 1)
        self.optimality_violation_ = fit.violation


class IntervalRegression(IntervalRegressor):
    r"""Linear regression on interval targets with an L1 penalty.

    .. math::
        \min_{w, b} \; \frac1n \sum_i \phi(w^\top x_i + b - \ell_i) + \phi(u_i - w^\top x_i - b)
        + \rho \lVert w \rVert_1,
        \qquad \phi(z) = (m - z)_+^2

    on features scaled to mean 0 and variance 1; coefficients are reported in the original units. A
    target is an interval :math:`[\ell_i, u_i]`. Limits may be infinite, and rows with two infinite
    limits are ignored. The intercept is not penalised; constant features get coefficient 0.

    Parameters
    ----------
    regularization : float, default=0.01
        :math:`\rho`; 0 is allowed.
    margin : float, default=1.0
        :math:`m`, how far inside its interval a prediction must lie to have no loss.
    tol : float, default=1e-8
        Largest allowed distance from zero to the subdifferential, in any coordinate.
    max_iter : int, default=1000
        Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    optimality_violation_ : float
        The distance that ``tol`` bounds, as a certificate.

    See Also
    --------
    IntervalRegressionCV : Chooses ``regularization`` by cross-validation.

    Notes
    -----
    Rigaill, Hocking, Bach, Vert, "Learning sparse penalties for change-point detection using max
    margin interval regression", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import IntervalRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = [[-np.inf, 0.5], [-1, 2], [1.0, 4], [3, np.inf]]
    >>> IntervalRegression(margin=0.1).fit(X, y).predict(X).round(1)
    array([0.4, 1.3, 2.2, 3.1])
    """

    def __init__(
        self,
        regularization: float = 0.01,
        *,
        margin: float = 1.0,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.regularization = regularization
        self.margin = margin
        self.tol = tol
        self.max_iter = max_iter

    @with_callbacks
    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> IntervalRegression:
        """Fit the model to target intervals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples, 2) or (n_samples,)
            Lower and upper limits, -inf and inf allowed; a 1-D y is an interval of width 0.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        IntervalRegression
        """
        rho = check_settings(self.margin, self.tol, self.max_iter, [self.regularization])
        features = validate_data(self, X, dtype=np.float64)
        limits = check_intervals(y, len(features))
        weight = row_weights(sample_weight, len(features))
        problem = IntervalProblem(features, limits, weight, self.margin)
        with fit_monitor(self, X, y, int(self.max_iter) + 1) as monitor:
            fits = fit_path(problem, rho, self.tol, self.max_iter, monitor)
        warn_unfinished(fits, self.tol)
        self._adopt(fits[0])
        return self


def check_settings(margin: Any, tol: Any, max_iter: Any, rho: Any) -> FloatArray:
    if not isinstance(margin, (int, float)) or not 0 <= margin < np.inf:
        raise ValueError(f"margin must be a finite number, at least 0, got {margin!r}.")
    check_positive_number(tol, "tol")
    check_positive_number(max_iter, "max_iter", integer=True)
    values = np.asarray(rho, dtype=np.float64)
    if values.size == 0 or not np.all(np.isfinite(values) & (values >= 0)):
        raise ValueError(f"regularization must be finite and at least 0, got {rho!r}.")
    return values
