"""Precomputed matrices that are no kernels."""

import numpy as np
import pytest
from scipy import sparse

from aucuba import PartialAUCClassifier
from aucuba.linear._kernel import _lowest_eigenvalue

RANGE = (0.0, 0.3)
WAYS = [
    {"surrogate": "tight"},
    {"surrogate": "structural"},
    {"n_components": 20, "random_state": 0},
]


def rows(n_rows, n_features=4):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    return X, X[:, 0] > 0.5


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("n_rows", [60, 1100])
def test_asymmetric(options, n_rows):
    X, y = rows(n_rows)
    K = X @ X.T
    K[3, 5] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        PartialAUCClassifier(RANGE, kernel="precomputed", **options).fit(K, y)


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("n_rows", [60, 1100])
def test_indefinite(options, n_rows):
    X, y = rows(n_rows)
    K = X @ X.T
    K[7, 7] -= 5.0
    with pytest.raises(ValueError, match="has the eigenvalue -"):
        PartialAUCClassifier(RANGE, kernel="precomputed", **options).fit(K, y)


def test_the_remedies_work():
    X, y = rows(60)
    K = X @ X.T
    K[7, 7] -= 5.0
    shifted = K - np.linalg.eigvalsh(K)[0] * np.eye(60)
    PartialAUCClassifier(RANGE, kernel="precomputed", surrogate="tight").fit(shifted, y)


@pytest.mark.parametrize("seed", range(3))
def test_lowest_eigenvalue_of_large_matrices(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(1100, 1100))
    A += A.T
    lowest = np.linalg.eigvalsh(A)[0]
    assert lowest <= _lowest_eigenvalue(A) <= 0.95 * lowest
    X = rng.normal(size=(1100, 3))
    assert abs(_lowest_eigenvalue(X @ X.T)) < 1e-9


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [60, 1100])
def test_rounding_is_no_negative_eigenvalue(dtype, n_rows):
    X, y = rows(n_rows)
    K = (X @ X.T).astype(dtype)
    PartialAUCClassifier(RANGE, kernel="precomputed", n_components=10, random_state=0).fit(K, y)


def test_sparse_matrices_are_looked_at_too():
    X, y = rows(60)
    K = X @ X.T
    K[3, 5] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        PartialAUCClassifier(RANGE, kernel="precomputed").fit(sparse.csr_matrix(K), y)


def test_rows_without_weight_do_not_count():
    X, y = rows(60)
    K = X @ X.T
    K[0, 1] += 1.0
    weight = np.ones(60)
    weight[0] = 0.0
    model = PartialAUCClassifier(RANGE, kernel="precomputed", surrogate="tight")
    model.fit(K, y, sample_weight=weight)
