import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from aucuba._core._logistic import LogisticPath, logistic_regression

CS = np.logspace(-3, 3, 7)


def table(n_rows=300, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.logspace(-1, 1, n_features)
    y = X[:, 0] * 5 + X[:, 2] + rng.normal(size=n_rows) > 1
    return X, y, rng


def reference(X, y, weight, C):
    """The optimum by another solver, far below the tolerance of the test."""
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-13, max_iter=300)
    model.fit(X, y, sample_weight=weight)
    return np.append(model.coef_[0], model.intercept_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_path_is_the_optimum_at_every_C(weighted, order):
    X, y, rng = table()
    weight = rng.integers(1, 4, size=y.size).astype(float) if weighted else None
    path = LogisticPath(np.asarray(X, order=order), y, weight)
    for C in CS:
        fit = path.fit(C)
        want = reference(X, y, weight, C)
        np.testing.assert_allclose(np.append(fit.coef, fit.intercept), want, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(fit.log_odds(X), X @ want[:-1] + want[-1], rtol=1e-6, atol=1e-6)


def test_start_changes_nothing_but_the_number_of_iterations():
    X, y, _ = table(2000)
    whole = logistic_regression(X, y, None, 1.0)
    rows = np.arange(2000) % 5 > 0
    cold = LogisticPath(X[rows], y[rows], None).fit(1.0)
    warm = LogisticPath(X[rows], y[rows], None, whole).fit(1.0)
    np.testing.assert_allclose(warm.log_odds(X), cold.log_odds(X), atol=1e-7)
    assert warm.n_iter < cold.n_iter


def test_weights_are_copies():
    X, y, rng = table()
    weight = rng.integers(1, 4, size=y.size)
    weighted = logistic_regression(X, y, weight.astype(float), 10.0)
    rows = np.repeat(np.arange(y.size), weight)
    copied = logistic_regression(X[rows], y[rows], None, 10.0)
    np.testing.assert_allclose(weighted.log_odds(X), copied.log_odds(X), atol=1e-7)


def test_separated_classes():
    X, _, _ = table(60, 40)
    y = X[:, 0] > 0
    for C in CS:
        fit = logistic_regression(X, y, None, C)
        want = reference(X, y, None, C)
        assert np.array_equal(fit.log_odds(X) > 0, X @ want[:-1] + want[-1] > 0)
    assert np.all((fit.log_odds(X) > 0) == y)


def test_equal_columns_without_a_penalty_to_speak_of():
    X, y, _ = table()
    doubled = np.hstack([X, X[:, :2], np.zeros((y.size, 1))])
    fit = logistic_regression(doubled, y, None, 1e15)
    plain = logistic_regression(X, y, None, 1e15)
    np.testing.assert_allclose(fit.log_odds(doubled), plain.log_odds(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("convert", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_other_tables_agree_with_dense_double_ones(convert):
    X, y, _ = table()
    path, other = LogisticPath(X, y, None), LogisticPath(convert(X), y, None)
    for C in (0.01, 1.0, 100.0):
        np.testing.assert_allclose(
            other.fit(C).log_odds(X), path.fit(C).log_odds(X), rtol=1e-2, atol=1e-2
        )


def test_precise_fits_only_start_from_those_of_other_rows():
    X, y, rng = table(100)
    wide = sparse.csr_array(np.hstack([X, rng.normal(size=(100, 300))]))
    other = logistic_regression(wide, rng.permutation(y), None, 1.0)
    started = LogisticPath(wide, y, None, other).fit(1.0)
    alone = LogisticPath(wide, y, None).fit(1.0)
    assert np.array_equal(started.coef, alone.coef)
