"""Interval regression: certificate, reference path, weights, scikit-learn checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba.changepoint import IntervalRegression, IntervalRegressionCV, interval_regression_path
from aucuba.changepoint._interval_solver import (
    best_constant,
    distance_score,
    interval_auc,
    interval_loss,
)


@parametrize_with_checks([IntervalRegression(), IntervalRegressionCV(cv=3, n_regularizations=5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_problem(seed, n=40, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 5, 0.1, 2][:p] + 3
    centre = X[:, 0] - X[:, 1] / 5 + rng.normal(size=n) / 3
    y = np.column_stack([centre - rng.uniform(0, 3, n), centre + rng.uniform(0, 3, n)])
    y[rng.random(n) < 0.4, 0] = -np.inf
    y[rng.random(n) < 0.4, 1] = np.inf
    return X, y


def objective(X, y, coef, intercept, rho, margin=1.0):
    rows = np.isfinite(y).any(axis=1)
    spread = X[rows].std(axis=0)
    loss = interval_loss(X[rows] @ coef + intercept, y[rows], margin)
    return loss + rho * np.abs(coef * spread).sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rho", [0.003, 0.1])
def test_no_other_point_is_better(seed, rho):
    X, y = random_problem(seed)
    model = IntervalRegression(rho).fit(X, y)
    value = objective(X, y, model.coef_, model.intercept_, rho)
    assert model.optimality_violation_ <= 1e-8
    found = minimize(
        lambda theta: objective(X, y, theta[:-1], theta[-1], rho),
        np.append(model.coef_, model.intercept_) + 0.1,
        method="Powell",
        options={"maxiter": 20000, "xtol": 1e-10, "ftol": 1e-14},
    )
    assert value <= found.fun + 1e-9


def test_certificate_is_the_subdifferential():
    X, y = random_problem(7)
    rho, step = 0.05, 1e-6
    model = IntervalRegression(rho).fit(X, y)
    spread = X[np.isfinite(y).any(axis=1)].std(axis=0)
    for j in range(4):
        for sign in (-1, 1):
            moved = model.coef_.copy()
            moved[j] += sign * step / spread[j]
            shifted = (
                model.intercept_ - X[np.isfinite(y).any(axis=1), j].mean() * sign * step / spread[j]
            )
            rise = objective(X, y, moved, shifted, rho) - objective(
                X, y, model.coef_, model.intercept_, rho
            )
            assert rise / step > -1e-5


def test_wild_problems_are_solved():
    """Heavy tails, near-collinear columns, few active rows: full Newton steps alone would cycle."""
    for seed in range(1, 240):
        rng = np.random.default_rng(seed)
        n, p = rng.integers(3, 12), rng.integers(1, 4)
        X = np.sign(rng.normal(size=(n, p))) * np.exp(3 * rng.normal(size=(n, p)))
        centre = np.sign(rng.normal(size=n)) * np.exp(2 * rng.normal(size=n))
        y = np.column_stack([centre, centre + rng.exponential(size=n)])
        y[rng.random(n) < 0.5, 0] = -np.inf
        y[rng.random(n) < 0.5, 1] = np.inf
        if np.isfinite(y).any():
            rho = [10 ** rng.uniform(-5, -1)]
            # Targets of size 1e3 leave rounding errors above the default tolerance.
            fit = interval_regression_path(X, y, rho, tol=1e-6, max_iter=100)[0]
            assert fit.violation <= 1e-6


def test_reference_path(reference):
    import pandas as pd

    folder = reference / "penaltylearning_reference"
    table = pd.read_csv(folder / "interval_regression_input.csv")
    expected = pd.read_csv(folder / "interval_regression_path.csv")
    columns = ["log2.n", "log.hall", "n", "log.n", "log.mad"]
    X, y = table[columns].to_numpy(), table[["min.log.lambda", "max.log.lambda"]].to_numpy()
    # The table scales features by the standard deviation with n - 1, we by the one with n.
    bessel = np.sqrt(len(X) / (len(X) - 1))
    fits = interval_regression_path(X, y, expected["regularization"] * bessel)
    objectives = np.array([fit.objective for fit in fits])
    # The table stops within 1e-3 of the optimality conditions: it may only be worse, and by little.
    assert np.all(objectives <= expected["objective"] + 1e-12)
    np.testing.assert_allclose(objectives, expected["objective"], rtol=0, atol=2e-6)
    intercepts = [fit.intercept for fit in fits]
    np.testing.assert_allclose(intercepts, expected["(Intercept)"], rtol=0, atol=0.03)
    coefs = np.array([fit.coef for fit in fits])
    np.testing.assert_allclose(coefs, expected[columns], rtol=0, atol=0.03)
    np.testing.assert_array_equal(coefs != 0, expected[columns] != 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_weights_are_replication(seed, weight):
    X, y = random_problem(seed, n=30)
    if not np.isfinite(y[np.array(weight) > 0]).any():
        return
    weighted = IntervalRegression(0.05).fit(X, y, sample_weight=weight)
    repeated = IntervalRegression(0.05).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-5)


def test_rows_without_limits_and_constant_columns_change_nothing():
    X, y = random_problem(1)
    more = np.vstack([np.column_stack([X, np.full(len(X), 7.0)]), [[1e3] * 5]])
    unbounded = np.vstack([y, [[-np.inf, np.inf]]])
    plain = IntervalRegression(0.02).fit(X, y)
    wide = IntervalRegression(0.02).fit(more, unbounded)
    assert wide.coef_[4] == 0 or abs(wide.coef_[4]) < 1e-12
    np.testing.assert_allclose(wide.coef_[:4], plain.coef_, rtol=1e-6, atol=1e-9)


def test_path_is_the_same_as_single_fits():
    X, y = random_problem(5)
    rho = [0.01, 0.3, 0.05]
    for fit in interval_regression_path(X, y, rho):
        alone = IntervalRegression(fit.regularization).fit(X, y)
        np.testing.assert_allclose(fit.coef, alone.coef_, atol=1e-6)
    assert [fit.regularization for fit in interval_regression_path(X, y, rho)] == rho


def test_no_regularization_and_satisfied_targets():
    X = np.arange(5.0)[:, None]
    y = np.column_stack([X[:, 0] - 3, X[:, 0] + 3])
    model = IntervalRegression(0.0).fit(X, y)
    assert interval_loss(model.predict(X), y) <= 1e-12
    lazy = IntervalRegression(0.1).fit(X, np.tile([-np.inf, 4.0], (5, 1)))
    np.testing.assert_array_equal(lazy.coef_, [0.0])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 2.0]))
def test_best_constant(seed, margin):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(-5, 6, size=(rng.integers(1, 8), 2)).astype(float), axis=1)
    y[rng.random(len(y)) < 0.3, 0] = -np.inf
    y[rng.random(len(y)) < 0.3, 1] = np.inf
    weight = rng.integers(1, 4, len(y)).astype(float)

    def loss(c):
        return interval_loss(np.full(len(y), c), y, margin, weight)

    best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
    assert loss(best_constant(y, margin, weight)) <= best.fun + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_auc_counts_pairs(seed):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(-4, 5, size=(6, 2)).astype(float), axis=1)
    y[rng.random(6) < 0.3, 0] = -np.inf
    y[rng.random(6) < 0.3, 1] = np.inf
    p = rng.integers(-3, 4, 6).astype(float)
    pairs = [
        (y[j, 1] - p[j] > y[i, 0] - p[i]) + 0.5 * (y[j, 1] - p[j] == y[i, 0] - p[i])
        for i in range(6)
        for j in range(6)
        if np.isfinite(y[i, 0]) and np.isfinite(y[j, 1])
    ]
    if pairs:
        assert interval_auc(p, y) == pytest.approx(np.mean(pairs))
    else:
        assert np.isnan(interval_auc(p, y))


def test_score_is_r2_for_points():
    rng = np.random.default_rng(0)
    y, p, w = rng.normal(size=20), rng.normal(size=20), rng.integers(1, 4, 20).astype(float)
    limits = np.column_stack([y, y])
    assert distance_score(p, limits, w) == pytest.approx(r2_score(y, p, sample_weight=w))
    assert distance_score(np.zeros(20), np.tile([-1.0, 1.0], (20, 1))) == 1.0
    assert distance_score(np.full(20, 5.0), np.tile([-1.0, 1.0], (20, 1))) == 0.0


@pytest.mark.parametrize("scoring", ["loss", "auc"])
def test_cv_picks_the_best_mean(scoring):
    X, y = random_problem(11, n=80)
    model = IntervalRegressionCV(
        cv=KFold(4), scoring=scoring, n_regularizations=8, standard_errors=0
    ).fit(X, y)
    assert model.cv_scores_.shape == (8, 4)
    chosen = int(np.argmax(model.cv_scores_.mean(axis=1)))
    assert model.regularization_ == model.regularizations_[chosen]
    alone = IntervalRegression(model.regularization_).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-6)
    train, test = next(KFold(4).split(X))
    fold = IntervalRegression(model.regularization_).fit(X[train], y[train]).predict(X[test])
    score = -interval_loss(fold, y[test]) if scoring == "loss" else interval_auc(fold, y[test])
    rows = np.isfinite(y[test]).any(axis=1)
    if scoring == "loss":
        score = -interval_loss(fold[rows], y[test][rows])
    assert model.cv_scores_[chosen, 0] == pytest.approx(score, abs=1e-6)


def test_largest_regularization_empties_the_model():
    X, y = random_problem(2)
    grid = IntervalRegressionCV(n_regularizations=4).fit(X, y).regularizations_
    np.testing.assert_array_equal(IntervalRegression(grid[0] * 1.0001).fit(X, y).coef_, 0)
    assert np.any(IntervalRegression(grid[0] * 0.98).fit(X, y).coef_ != 0)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[2, 1], [0, 1]], "lower <= upper, got .* in row 0"),
        ([[0, np.nan], [0, 1]], "contains NaN"),
        ([[-np.inf, np.inf]] * 2, "nothing to fit"),
        ([[0, 1]], "inconsistent numbers of samples"),
        ([[np.inf, np.inf], [0, 1]], "lower <= upper"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        IntervalRegression().fit([[0.0], [1.0]], y)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"regularization": -1.0}, "regularization"),
        ({"margin": -1.0}, "margin"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0.5}, "max_iter"),
    ],
)
def test_bad_settings(kwargs, message):
    with pytest.raises(ValueError, match=message):
        IntervalRegression(**kwargs).fit([[0.0], [1.0]], [0.0, 1.0])


def test_unfinished_fit_warns():
    X, y = random_problem(3)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        IntervalRegression(1e-4, max_iter=1).fit(X, y)
