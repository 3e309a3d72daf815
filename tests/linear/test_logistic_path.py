import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from aucuba.design import TableDesign
from aucuba.linear._logistic_fit import LogisticPath
from aucuba.risks import Sample

CS = np.logspace(-3, 3, 7)


def table(n_rows=300, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.logspace(-1, 1, n_features)
    y = X[:, 0] * 5 + X[:, 2] + rng.normal(size=n_rows) > 1
    return X, y, rng


def path(X, y, weight=None, start=None):
    return LogisticPath(TableDesign(X), Sample(y, weight), start)


def log_odds(fit, X):
    return fit.log_odds(TableDesign(X))


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
    along = path(np.asarray(X, order=order), y, weight)
    for C in CS:
        fit = along.fit(C)
        want = reference(X, y, weight, C)
        np.testing.assert_allclose(np.append(fit.coef, fit.intercept), want, rtol=1e-6, atol=1e-8)


def test_start_changes_nothing_but_the_number_of_iterations():
    X, y, _ = table(2000)
    whole = path(X, y).fit(1.0)
    rows = np.arange(2000) % 5 > 0
    cold = path(X[rows], y[rows]).fit(1.0)
    warm = path(X[rows], y[rows], start=whole).fit(1.0)
    np.testing.assert_allclose(log_odds(warm, X), log_odds(cold, X), atol=1e-7)
    assert warm.n_iter < cold.n_iter


def test_weights_are_copies():
    X, y, rng = table()
    weight = rng.integers(1, 4, size=y.size)
    weighted = path(X, y, weight.astype(float)).fit(10.0)
    rows = np.repeat(np.arange(y.size), weight)
    copied = path(X[rows], y[rows]).fit(10.0)
    np.testing.assert_allclose(log_odds(weighted, X), log_odds(copied, X), atol=1e-7)


def test_separated_classes():
    X, _, _ = table(60, 40)
    y = X[:, 0] > 0
    for C in CS:
        fit = path(X, y).fit(C)
        want = reference(X, y, None, C)
        assert np.array_equal(log_odds(fit, X) > 0, X @ want[:-1] + want[-1] > 0)
    assert np.array_equal(log_odds(fit, X) > 0, y)


def test_equal_columns_without_a_penalty_to_speak_of():
    X, y, _ = table()
    doubled = np.hstack([X, X[:, :2], np.zeros((y.size, 1))])
    fit, plain = path(doubled, y).fit(1e15), path(X, y).fit(1e15)
    np.testing.assert_allclose(log_odds(fit, doubled), log_odds(plain, X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("convert", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_other_tables_agree_with_dense_double_ones(convert):
    X, y, _ = table()
    dense, other = path(X, y), path(convert(X), y)
    for C in (0.01, 1.0, 100.0):
        got, want = log_odds(other.fit(C), X), log_odds(dense.fit(C), X)
        np.testing.assert_allclose(got, want, rtol=1e-2, atol=1e-2)


def test_precise_fits_only_start_from_those_of_other_rows():
    X, y, rng = table(100)
    wide = sparse.csr_array(np.hstack([X, rng.normal(size=(100, 300))]))
    other = path(wide, rng.permutation(y)).fit(1.0)
    started, alone = path(wide, y, start=other).fit(1.0), path(wide, y).fit(1.0)
    assert np.array_equal(started.coef, alone.coef)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, np.float32])
def test_weighted_gram_matrix(convert):
    X, _, rng = table(40_000, 3)
    weight = rng.random(40_000)
    got = TableDesign(convert(X)).gram(weight)
    np.testing.assert_allclose(got, (X * weight[:, np.newaxis]).T @ X, rtol=1e-5, atol=1e-3)


def wide_table(n_rows=500, n_features=230):
    """Columns of several scales and many linear dependencies."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, n_features)) * np.logspace(-0.5, 0.5, n_features)
    X[:, 100:120] = X[:, :20] + X[:, 20:40]
    return X, X[:, 0] * 3 + X[:, 150] + rng.normal(size=n_rows) > 1, rng


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_wide_path_is_near_the_optimum_at_every_C(convert, weighted):
    X, y, rng = wide_table()
    weight = rng.integers(1, 4, size=y.size).astype(float) if weighted else None
    along = path(convert(X), y, weight)
    for C in (1e-3, 1e-2, 1e-1, 1.0):
        want = reference(X, y, weight, C)
        found, optimum = log_odds(along.fit(C), convert(X)), X @ want[:-1] + want[-1]
        assert np.std(found - optimum) < 2e-3 * np.std(optimum)


def test_wide_fits_of_some_rows_take_the_metric_of_all_and_nothing_else():
    X, y, rng = wide_table()
    rows = np.arange(y.size) % 5 > 0
    whole, flipped = path(X, y).fit(0.1), path(X, rng.permutation(y)).fit(0.1)
    assert whole.metric is not None
    found = path(X[rows], y[rows], start=whole).fit(0.1)
    assert found.metric is whole.metric
    # Labels of other rows enter through their frequency alone.
    again = path(X[rows], y[rows], start=flipped).fit(0.1)
    np.testing.assert_array_equal(again.coef, found.coef)
    alone = path(X[rows], y[rows]).fit(0.1)
    np.testing.assert_allclose(log_odds(found, X), log_odds(alone, X), atol=5e-3)


def test_a_wide_path_goes_on_from_the_fit_before():
    X, y, _ = wide_table()
    along = path(X, y)
    first, second = along.fit(1.0), along.fit(1.1)
    assert second.n_iter < first.n_iter
