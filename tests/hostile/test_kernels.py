"""Precomputed matrices that are no kernels."""

import numpy as np
import pytest
from scipy import sparse

from aucuba import PartialAUCSVC
from aucuba.linear._kernel import _lowest_eigenvalue

RANGE = (0.0, 0.3)
LOSSES = ["tight", "structural"]


def rows(n_rows, n_features=4):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    return X, X[:, 0] > 0.5


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_rows", [60, 1100])
def test_asymmetric(loss, n_rows):
    X, y = rows(n_rows)
    K = X @ X.T
    K[3, 5] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        PartialAUCSVC(RANGE, loss=loss, kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_rows", [60, 1100])
def test_indefinite(loss, n_rows):
    X, y = rows(n_rows)
    K = X @ X.T
    K[7, 7] -= 5.0
    with pytest.raises(ValueError, match="has the eigenvalue -"):
        PartialAUCSVC(RANGE, loss=loss, kernel="precomputed").fit(K, y)


def test_the_remedies_work():
    X, y = rows(60)
    K = X @ X.T
    K[7, 7] -= 5.0
    shifted = K - np.linalg.eigvalsh(K)[0] * np.eye(60)
    PartialAUCSVC(RANGE, kernel="precomputed", loss="tight").fit(shifted, y)


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
    PartialAUCSVC(RANGE, loss="tight", kernel="precomputed", tol=0.1, rtol=None).fit(K, y)


def test_sparse_matrices_are_looked_at_too():
    X, y = rows(60)
    K = X @ X.T
    K[3, 5] += 1e-3
    with pytest.raises(ValueError, match="not symmetric"):
        PartialAUCSVC(RANGE, kernel="precomputed").fit(sparse.csr_matrix(K), y)


def test_rows_without_weight_do_not_count():
    X, y = rows(60)
    K = X @ X.T
    K[0, 1] += 1.0
    weight = np.ones(60)
    weight[0] = 0.0
    model = PartialAUCSVC(RANGE, kernel="precomputed", loss="tight")
    model.fit(K, y, sample_weight=weight)
