"""Interval regression with its regularisation chosen by held-out errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._base._callbacks import fit_monitor, with_callbacks
from aucuba._base._estimator import all_or_nothing
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_choice, check_length, check_positive_number, row_weights
from aucuba.changepoint._held_out import (
    AUCMeasure,
    Comparison,
    ErrorMeasure,
    HeldOutMeasure,
    LossMeasure,
    choose,
    row_groups,
    splits_of,
    total_by_unit,
    units_of,
)
from aucuba.changepoint._interval_regression import IntervalRegressor, check_settings
from aucuba.changepoint._interval_solver import (
    IntervalProblem,
    check_intervals,
    fit_path,
    informative,
    largest_regularization,
    warn_unfinished,
)
from aucuba.changepoint._label_errors import ErrorTotals, LabelErrors

# Held-out scores need fewer digits than coefficients.
_FOLD_TOL = 1e-5


class IntervalRegressionCV(IntervalRegressor):
    r"""Interval regression with its L1 penalty chosen by cross-validation.

    The candidates range from the best constant, at the largest penalty, to functions of ever more
    features. The constant is kept unless a function beats it on held-out rows. Predictions do not
    extrapolate: features are clipped to their training ranges.

    Parameters
    ----------
    regularizations : array-like, default=None
        Values to try; by default ``n_regularizations`` of them, evenly spaced in the logarithm from
        the smallest value that makes all coefficients zero down to a thousandth of it.
    n_regularizations : int, default=30
    cv : int, splitter or iterable, default=None
        As in scikit-learn; 5 folds by default.
    scoring : {"errors", "loss", "auc"}, default="errors"
        Measure on held-out rows. "errors" counts label errors if ``fit`` gets them, otherwise
        predictions outside their intervals (the hinge loss, if all intervals have width 0), with the
        intercept that makes the fewest errors in training; "loss" is the hinge loss, "auc" the area
        under the ROC curve of each fold.
    standard_errors : float, default=1.0
        A function of the features must beat the constant by more than this many standard errors of the
        difference over rows or groups (for "auc", over folds). The candidate is the simplest function
        within one standard error of the best one. 0 takes the best of all.
    margin, tol, max_iter
        As in `IntervalRegression`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, optimality_violation_
        As in `IntervalRegression`, fitted on all rows; with ``scoring="errors"`` the intercept makes
        the fewest errors.
    regularization_ : float
        The chosen value.
    regularizations_ : ndarray
        Decreasing.
    cv_scores_ : ndarray of shape (n_regularizations, n_splits)
        Higher is better: minus the mean errors or losses, or the AUC.
    is_constant_ : bool
        Whether all coefficients are zero.
    status_ : str
        Which model was chosen, and why.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest training values.

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
        scoring: str = "errors",
        standard_errors: float = 1.0,
        margin: float = 1.0,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.regularizations = regularizations
        self.n_regularizations = n_regularizations
        self.cv = cv
        self.scoring = scoring
        self.standard_errors = standard_errors
        self.margin = margin
        self.tol = tol
        self.max_iter = max_iter

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        errors: Sequence[LabelErrors] | None = None,
        groups: ArrayLike | None = None,
    ) -> IntervalRegressionCV:
        """Choose the penalty on held-out folds, then fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `IntervalRegression.fit`.
        errors : list of LabelErrors, default=None
            Label errors of the rows, counted by ``scoring="errors"``.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group stay in the same fold, and standard errors are taken over groups.

        Returns
        -------
        IntervalRegressionCV
        """
        check_choice(self.scoring, "scoring", ("errors", "loss", "auc"))
        if not 0 <= self.standard_errors < np.inf:
            raise ValueError(
                f"standard_errors must be a number from 0 on, got {self.standard_errors!r}."
            )
        features = validate_data(self, X, dtype=np.float64)
        limits = check_intervals(y, len(features))
        weight = row_weights(sample_weight, len(features))
        if errors is not None:
            check_length(errors, len(features), "errors", "rows")
        problem = IntervalProblem(features, limits, weight, self.margin)
        rho = self._grid(problem)
        group = None if groups is None else row_groups(groups, features)
        splits = splits_of(self.cv, features, group)
        measure = self._measure(
            limits, np.ones(len(features)) if weight is None else weight, errors
        )
        with fit_monitor(self, X, y, len(splits)) as monitor:
            folds = []
            for train, test in splits:
                folds.append(self._fold_costs(features, limits, weight, rho, measure, train, test))
                if monitor is not None and monitor({"fold": len(folds)}):
                    break
        tests = [units_of(test, group) for _, test in splits[: len(folds)]]
        costs = self._joined(folds, tests)
        chosen = choose(costs, self.standard_errors)
        fits = fit_path(problem, rho[: chosen + 1], self.tol, self.max_iter)
        warn_unfinished(fits, self.tol)
        self.regularizations_ = rho
        self.regularization_ = float(rho[chosen])
        self.feature_range_ = np.stack([features.min(axis=0), features.max(axis=0)])
        self._adopt(fits[-1])
        self.intercept_ += measure.intercept(features @ self.coef_ + self.intercept_)
        self.is_constant_ = not self.coef_.any()
        self._say(costs, chosen, measure.unit)
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict values; for changepoints these are log penalties."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        prediction: FloatArray = np.clip(features, *self.feature_range_) @ self.coef_
        return prediction + self.intercept_

    def _grid(self, problem: IntervalProblem) -> FloatArray:
        if self.regularizations is not None:
            values = np.atleast_1d(np.asarray(self.regularizations, dtype=np.float64))
            rho = check_settings(self.margin, self.tol, self.max_iter, values)
            return np.unique(rho)[::-1]
        check_positive_number(self.n_regularizations, "n_regularizations", integer=True)
        check_settings(self.margin, self.tol, self.max_iter, [0.0])
        largest = largest_regularization(problem)
        return np.geomspace(largest, 1e-3 * largest, int(self.n_regularizations))

    def _measure(
        self, limits: FloatArray, weight: FloatArray, errors: Sequence[LabelErrors] | None
    ) -> HeldOutMeasure:
        if self.scoring == "auc":
            return AUCMeasure(limits, weight)
        has_width = bool(np.any(limits[:, 1] > limits[:, 0]))
        if self.scoring == "loss" or (errors is None and not has_width):
            return LossMeasure(limits, weight, self.margin)
        totals = ErrorTotals.from_intervals(limits)
        if errors is not None:
            totals = ErrorTotals.from_tables(errors)
        return ErrorMeasure(totals.weighted(weight))

    def _fold_costs(
        self,
        X: FloatArray,
        limits: FloatArray,
        weight: FloatArray | None,
        rho: FloatArray,
        measure: HeldOutMeasure,
        train: Any,
        test: Any,
    ) -> FloatArray:
        """Return the held-out costs, of shape (n_regularizations, n_costs)."""
        mass = np.ones(len(X)) if weight is None else weight
        train, test = np.asarray(train), np.asarray(test)
        useful = informative(limits[test]) & (mass[test] > 0)
        if not useful.any():
            return np.full((rho.size, 1 if self.scoring == "auc" else test.size), np.nan)
        problem = IntervalProblem(X[train], limits[train], mass[train], self.margin)
        fits = fit_path(problem, rho, max(self.tol, _FOLD_TOL), self.max_iter)
        within = np.clip(X[test], X[train].min(axis=0), X[train].max(axis=0))
        costs = np.stack(
            [
                measure.costs(
                    X[train] @ fit.coef + fit.intercept,
                    train,
                    within @ fit.coef + fit.intercept,
                    test,
                )
                for fit in fits
            ]
        )
        if self.scoring != "auc":
            costs[:, ~useful] = np.nan
        return costs

    def _joined(self, folds: list[FloatArray], tests: list[IntArray]) -> FloatArray:
        """Join the costs of all held-out rows (for AUC, folds); sets ``cv_scores_``."""
        top = 1.0 if self.scoring == "auc" else 0.0
        with warnings.catch_warnings():
            # The mean of a fold that cannot be scored is NaN.
            warnings.simplefilter("ignore", RuntimeWarning)
            self.cv_scores_ = top + np.column_stack([-np.nanmean(part, axis=1) for part in folds])
        costs = np.concatenate(folds, axis=1)
        known = ~np.isnan(costs).any(axis=0)
        costs = costs[:, known]
        if not costs.size:
            raise ValueError(
                f"No fold of cv can be scored by {self.scoring!r}: every held-out part needs rows with "
                "finite limits (for 'auc', both lower and upper ones). Use fewer folds."
            )
        unit = np.arange(known.size) if self.scoring == "auc" else np.concatenate(tests)
        return total_by_unit(costs, unit[known])

    def _say(self, costs: FloatArray, chosen: int, unit: str) -> None:
        best = int(np.argmin(costs.sum(axis=1)))
        gain = Comparison.from_rows(costs[0], costs[best if self.is_constant_ else chosen])
        self.status_ = (
            f"The constant is kept: at best {gain.describe(unit)}."
            if self.is_constant_
            else f"A function of {np.count_nonzero(self.coef_)} features is learned: "
            f"{gain.describe(unit)}."
        )
