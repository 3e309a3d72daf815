"""L1-regularised max-margin interval regression, and its choice of regularisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._core._callbacks import CallbackSupport, fit_monitor, with_callbacks
from aucuba._core._fit_guard import all_or_nothing
from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._core._validation import check_choice, check_positive_number, row_weights
from aucuba.changepoint._interval_solver import (
    IntervalFit,
    IntervalProblem,
    fit_path,
    largest_regularization,
    warn_unfinished,
)
from aucuba.changepoint._interval_targets import (
    check_intervals,
    distance_score,
    informative,
    interval_auc,
    interval_loss,
)

# Held-out scores need fewer digits than coefficients.
_FOLD_TOL = 1e-5


class _IntervalRegressor(CallbackSupport, RegressorMixin, BaseEstimator):
    """Prediction and score of both estimators."""

    coef_: FloatArray
    intercept_: float

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predicted values, for changepoints log penalties."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        prediction: FloatArray = features @ self.coef_ + self.intercept_
        return prediction

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Coefficient of determination with distances to the intervals as residuals.

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


class IntervalRegression(_IntervalRegressor):
    r"""Linear regression on interval targets with an L1 penalty.

    .. math::
        \min_{w, b} \; \frac1n \sum_i \phi(w^\top x_i + b - \ell_i) + \phi(u_i - w^\top x_i - b)
        + \rho \lVert w \rVert_1,
        \qquad \phi(z) = (m - z)_+^2

    on features scaled to mean 0 and variance 1 (coefficients come back in the units given). A target
    is an interval :math:`[\ell_i, u_i]`; a limit may be infinite, and rows with two infinite limits
    say nothing. The intercept is not penalised; constant features get coefficient 0.

    Parameters
    ----------
    regularization : float, default=0.01
        :math:`\rho`; 0 is allowed.
    margin : float, default=1.0
        :math:`m`: how far inside its interval a prediction must be to cost nothing.
    tol : float, default=1e-8
        Largest distance allowed from zero to any coordinate of the subdifferential.
    max_iter : int, default=1000
        Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    optimality_violation_ : float
        The certificate: the distance that ``tol`` bounds.

    See Also
    --------
    IntervalRegressionCV : Chooses ``regularization``.

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
        """Fit to intervals.

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
        rho = _check_settings(self.margin, self.tol, self.max_iter, [self.regularization])
        features = validate_data(self, X, dtype=np.float64)
        limits = check_intervals(y, len(features))
        weight = row_weights(sample_weight, len(features))
        problem = IntervalProblem(features, limits, weight, self.margin)
        with fit_monitor(self, X, y, int(self.max_iter) + 1) as monitor:
            fits = fit_path(problem, rho, self.tol, self.max_iter, monitor)
        warn_unfinished(fits, self.tol)
        self._adopt(fits[0])
        return self


class IntervalRegressionCV(_IntervalRegressor):
    r"""Interval regression with its L1 penalty chosen by cross-validation.

    Parameters
    ----------
    regularizations : array-like, default=None
        Values to try; by default ``n_regularizations`` of them, evenly spaced in the logarithm from
        the smallest value that makes all coefficients zero down to a thousandth of it.
    n_regularizations : int, default=30
    cv : int, splitter or iterable, default=None
        As in scikit-learn; 5 folds by default.
    scoring : {"loss", "auc"}, default="loss"
        Mean hinge loss of the held-out rows, or their area under the ROC curve
        (`interval_auc`). Of equal scores the larger penalty wins.
    margin, tol, max_iter
        As in `IntervalRegression`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, optimality_violation_
        As in `IntervalRegression`, fitted on all rows.
    regularization_ : float
        The value chosen.
    regularizations_ : ndarray
        Decreasing.
    cv_scores_ : ndarray of shape (n_regularizations, n_splits)
        Higher is better: minus the loss, or the AUC.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import IntervalRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = np.column_stack([X[:, 0] - 1, X[:, 0] + 1])
    >>> model = IntervalRegressionCV(margin=0.5).fit(X, y)
    >>> bool(abs(model.coef_[0]) > 10 * abs(model.coef_[1:]).max())
    True
    """

    def __init__(
        self,
        regularizations: ArrayLike | None = None,
        *,
        n_regularizations: int = 30,
        cv: Any = None,
        scoring: str = "loss",
        margin: float = 1.0,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.regularizations = regularizations
        self.n_regularizations = n_regularizations
        self.cv = cv
        self.scoring = scoring
        self.margin = margin
        self.tol = tol
        self.max_iter = max_iter

    @with_callbacks
    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> IntervalRegressionCV:
        """Choose the penalty on held-out folds, then fit to all rows; see `IntervalRegression.fit`."""
        check_choice(self.scoring, "scoring", ("loss", "auc"))
        features = validate_data(self, X, dtype=np.float64)
        limits = check_intervals(y, len(features))
        weight = row_weights(sample_weight, len(features))
        problem = IntervalProblem(features, limits, weight, self.margin)
        rho = self._grid(problem)
        splits = list(check_cv(self.cv).split(features, limits))
        with fit_monitor(self, X, y, len(splits)) as monitor:
            scores = []
            for split in splits:
                scores.append(self._fold_scores(features, limits, weight, rho, *split))
                if monitor is not None and monitor({"fold": len(scores)}):
                    break
        self.cv_scores_ = np.column_stack(scores)
        seen = ~np.isnan(self.cv_scores_).all(axis=0)
        if not seen.any():
            raise ValueError(
                f"No fold of cv can be scored by {self.scoring!r}: every held-out part needs rows with "
                "finite limits, for 'auc' lower and upper ones. Use fewer folds."
            )
        chosen = int(np.argmax(np.mean(self.cv_scores_[:, seen], axis=1)))
        fits = fit_path(problem, rho[: chosen + 1], self.tol, self.max_iter)
        warn_unfinished(fits, self.tol)
        self.regularizations_ = rho
        self.regularization_ = float(rho[chosen])
        self._adopt(fits[-1])
        return self

    def _grid(self, problem: IntervalProblem) -> FloatArray:
        if self.regularizations is not None:
            values = np.atleast_1d(np.asarray(self.regularizations, dtype=np.float64))
            rho = _check_settings(self.margin, self.tol, self.max_iter, values)
            return np.unique(rho)[::-1]
        check_positive_number(self.n_regularizations, "n_regularizations", integer=True)
        _check_settings(self.margin, self.tol, self.max_iter, [0.0])
        largest = largest_regularization(problem)
        return np.geomspace(largest, 1e-3 * largest, int(self.n_regularizations))

    def _fold_scores(
        self,
        X: FloatArray,
        limits: FloatArray,
        weight: FloatArray | None,
        rho: FloatArray,
        train: Any,
        test: Any,
    ) -> FloatArray:
        mass = np.ones(len(X)) if weight is None else weight
        test = test[informative(limits[test]) & (mass[test] > 0)] if len(test) else test
        if not len(test):
            return np.full(rho.size, np.nan)
        problem = IntervalProblem(X[train], limits[train], mass[train], self.margin)
        fits = fit_path(problem, rho, max(self.tol, _FOLD_TOL), self.max_iter)
        held = limits[test], mass[test]
        predictions = [X[test] @ fit.coef + fit.intercept for fit in fits]
        if self.scoring == "auc":
            return np.array([interval_auc(p, *held) for p in predictions])
        return np.array([-interval_loss(p, held[0], self.margin, held[1]) for p in predictions])


def _check_settings(margin: Any, tol: Any, max_iter: Any, rho: Any) -> FloatArray:
    if not isinstance(margin, (int, float)) or not 0 <= margin < np.inf:
        raise ValueError(f"margin must be a finite number, at least 0, got {margin!r}.")
    check_positive_number(tol, "tol")
    check_positive_number(max_iter, "max_iter", integer=True)
    values = np.asarray(rho, dtype=np.float64)
    if values.size == 0 or not np.all(np.isfinite(values) & (values >= 0)):
        raise ValueError(f"regularization must be finite and at least 0, got {rho!r}.")
    return values
