"""Designs on tables of numbers: dense arrays and sparse CSR matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._core._typing import FloatArray

_ROWS_AT_ONCE = 4096


class TableDesign:
    """``scores = X @ w`` for a dense array or a SciPy CSR matrix, float32 or float64.

    X is never copied or scaled. The products run in the precision of X (a float32 table would
    otherwise be copied to float64 at every pass); models and scores are float64.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Finite floats; the caller has validated them.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.design import TableDesign
    >>> TableDesign(np.eye(2)).scores(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def zeros(self) -> FloatArray:
        return np.zeros(self.X.shape[1])

    def scores(self, model: FloatArray) -> FloatArray:
        return self._in_float64(self.X @ model.astype(self.X.dtype, copy=False))

    def precise_scores(self, model: FloatArray) -> FloatArray:
        if self.X.dtype == np.float64:
            return self.scores(model)
        # In pieces: a float64 copy of the whole table would double its memory.
        parts = [
            self.X[start : start + _ROWS_AT_ONCE].astype(np.float64) @ model
            for start in range(0, self.n_rows, _ROWS_AT_ONCE)
        ]
        return self._in_float64(np.concatenate(parts))

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        return self._in_float64(np.asarray(gradient, dtype=self.X.dtype) @ self.X)

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ model)

    @staticmethod
    def _in_float64(vector: Any) -> FloatArray:
        return np.asarray(vector, dtype=np.float64)
