"""Logistic regression as scikit-learn fits it."""

from __future__ import annotations

import warnings
from typing import Any

from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucuba._base._typing import BoolArray, FloatArray

# Newton's method costs one product of size n d^2 per iteration and ends at machine precision; beyond
# this many columns L-BFGS is cheaper.
_NEWTON_FEATURES = 200


def logistic_regression(
    X: Any, positive: BoolArray, weight: FloatArray | None, C: float
) -> LogisticRegression:
    """Fit logistic regression to a precision at which the order of the rows does not show."""
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
