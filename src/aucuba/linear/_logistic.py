"""Logistic regression as scikit-learn fits it: the baseline, and the anchor of the direct fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucuba._core._typing import BoolArray, FloatArray

# Newton's method costs one product of size n d^2 an iteration and ends at machine precision; beyond
# this many columns L-BFGS is cheaper.
_NEWTON_FEATURES = 200


def logistic_regression(
    X: Any, positive: BoolArray, weight: FloatArray | None, C: float
) -> LogisticRegression:
    """A fitted logistic regression, solved far enough that row order does not show."""
    if not sparse.issparse(X) and X.shape[1] <= _NEWTON_FEATURES:
        options: dict[str, Any] = {"solver": "newton-cholesky", "tol": 1e-8, "max_iter": 100}
    else:
        options = {"solver": "lbfgs", "tol": 1e-6, "max_iter": 1000}
    model = LogisticRegression(C=C, **options)
    with warnings.catch_warnings():
        # Perfectly separated or badly scaled data end at the limit with a usable direction; scaling
        # has a warning of its own.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*ill-conditioned.*")
        warnings.filterwarnings("ignore", message=".*line search.*", category=UserWarning)
        return model.fit(X, positive, sample_weight=weight)


def weighted_mean_and_sd(scores: FloatArray, weight: FloatArray | None) -> tuple[float, float]:
    """Mean and standard deviation in which a row of weight k counts k times."""
    mean = float(np.average(scores, weights=weight))
    return mean, float(np.sqrt(np.average((scores - mean) ** 2, weights=weight)))
