"""Designs on kernel matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aucuba._base._arrays import NUMPY, Arrays
from aucuba._base._typing import FloatArray


class KernelDesign:
    """A kernel matrix of the rows: ``scores = K @ v`` for the model ``sum_i v_i phi(x_i)``.

    The adjoint of a score gradient is the gradient itself, and the inner product of two models is
    ``a @ K @ b``, so that solvers for linear models train kernel models unchanged.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Symmetric and positive semidefinite.
    """

    def __init__(self, K: FloatArray) -> None:
        self.K = K
        self.arrays: Arrays = NUMPY
        self.is_exact = True

    @property
    def n_rows(self) -> int:
        return int(self.K.shape[0])

    @property
    def largest(self) -> float:
        return float(self.K.diagonal().max())

    def exact(self) -> KernelDesign:
        return self

    def on_host(self) -> KernelDesign:
        return self

    def zeros(self) -> FloatArray:
        return np.zeros(self.K.shape[0])

    def scores(self, model: FloatArray) -> FloatArray:
        return np.asarray(self.K @ model)

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        return np.asarray(gradient)

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ self.scores(model))
