"""Kernels of the classifiers: exact matrices, and Nystroem features that approximate them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels

from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_choice, check_positive_number

KERNELS = ("linear", "rbf", "poly", "precomputed")
# A kernel matrix of this many rows takes 800 MB.
MAX_KERNEL_ROWS = 10_000
# All eigenvalues of a matrix of so many rows take less than a second.
_DENSE_ROWS = 1_000
_LANCZOS_STEPS = 40


@dataclass(frozen=True)
class Kernel:
    """A kernel with all its numbers; those it does not use are None."""

    name: str
    gamma: float | None = None
    degree: int | None = None
    coef0: float | None = None

    @classmethod
    def from_params(
        cls, name: str, gamma: Any, degree: Any, coef0: Any, X: Any, weight: FloatArray | None
    ) -> Kernel:
        """Check the parameters, and take gamma="scale" from the data."""
        if name == "precomputed":
            return cls(name)
        if isinstance(gamma, str):
            check_choice(gamma, "gamma", ("scale",))
            gamma = scale_gamma(X, weight)
        gamma = check_positive_number(gamma, "gamma")
        if name == "rbf":
            return cls(name, gamma)
        return cls(name, gamma, int(check_positive_number(degree, "degree", integer=True)), coef0)

    def matrix(self, A: Any, B: Any) -> FloatArray:
        """Compute ``k(a, b)`` for all rows of A and B."""
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        used = {key: value for key, value in params.items() if value is not None}
        return np.asarray(pairwise_kernels(A, B, metric=self.name, **used), dtype=np.float64)

    def features(self, n_components: int, random_state: Any) -> Nystroem:
        """Make the feature map that approximates the kernel."""
        features = Nystroem(
            kernel=self.name,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            n_components=n_components,
            random_state=random_state,
        )
        # Coefficients are trained on arrays, whatever output scikit-learn is set to.
        return features.set_output(transform="default")


def check_kernel_matrix(K: Any) -> None:
    """Refuse a matrix of the training rows that is not symmetric or has a negative eigenvalue.

    Neither is an inner product of features: objectives and bounds computed with it mean nothing.
    """
    n_rows, largest = K.shape[0], float(abs(K).max())
    rounding = n_rows * np.finfo(K.dtype).eps * largest
    skew = float(abs(K - K.T).max())
    if skew > rounding:
        raise ValueError(
            f"The precomputed kernel is not symmetric: entries differ from their mirror images by up "
            f"to {skew:.3g}. Pass kernel(X, X) of the training rows, or (K + K.T) / 2."
        )
    lowest = _lowest_eigenvalue(K)
    if lowest < -rounding:
        raise ValueError(
            f"The precomputed kernel has the eigenvalue {lowest:.3g}; a kernel has none below 0. Add "
            f"{-lowest:.3g} to its diagonal, or pass a positive semidefinite kernel."
        )


def _lowest_eigenvalue(K: Any) -> float:
    """Return the lowest eigenvalue, of a large matrix the lowest of its Lanczos approximation.

    That is never below the true one, and after this many products near it unless it is tiny.
    """
    n_rows = K.shape[0]
    if n_rows <= _DENSE_ROWS:
        return float(np.linalg.eigvalsh(K.toarray() if sparse.issparse(K) else K)[0])
    basis = np.zeros((_LANCZOS_STEPS + 1, n_rows))
    # A fixed start, so that answers repeat.
    basis[0] = np.random.default_rng(0).normal(size=n_rows)
    basis[0] /= np.linalg.norm(basis[0])
    reduced = np.zeros((_LANCZOS_STEPS, _LANCZOS_STEPS))
    for step in range(_LANCZOS_STEPS):
        product = np.asarray(K @ basis[step], dtype=np.float64)
        known = basis[: step + 1]
        reduced[: step + 1, step] = known @ product
        product -= known.T @ (known @ product)
        product -= known.T @ (known @ product)
        length = np.linalg.norm(product)
        if length <= 1e-12 * abs(reduced[: step + 1, : step + 1]).max():
            reduced = reduced[: step + 1, : step + 1]
            break
        basis[step + 1] = product / length
    return float(np.linalg.eigvalsh(reduced, UPLO="U")[0])


def scale_gamma(X: Any, weight: FloatArray | None) -> float:
    """Compute ``1 / (n_features * variance of all entries)``, rows counted by weight."""
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    first = np.average(np.asarray(X.mean(axis=1)).ravel(), weights=weight)
    second = np.average(np.asarray(squares.mean(axis=1)).ravel(), weights=weight)
    variance = float(second - first**2)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
