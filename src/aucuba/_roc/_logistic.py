"""Logistic regression as scikit-learn fits it, its loss, and probabilities from scores by it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucuba._base._arrays import Vector, arrays_of, mean_and_scale
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import BoolArray, FloatArray
from aucuba._rows._sample import Sample

# Newton's method costs one product of size n d^2 per iteration and ends at machine precision; beyond
# this many columns L-BFGS is cheaper.
_NEWTON_FEATURES = 200
# Penalty of the slope: bounded where the classes are separated, without effect on a hundred rows.
CALIBRATION_C = 1.0


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


def logistic_calibration(scores: FloatArray, sample: Sample) -> FloatArray:
    r"""Fit ``log p / (1 - p) = slope * score + intercept`` by weighted log-loss.

    The slope is never negative, so that probabilities keep the order of the scores; where held-out
    scores do not rise with the class it is 0, and every row gets the frequency of the positives.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of rows that did not train the model.
    sample : Sample
        Class and weight of the rows; a row of weight k counts as k rows.

    Returns
    -------
    ndarray of shape (2,)
        Slope and intercept.
    """
    mean, scale = mean_and_scale(scores, sample.weight)
    column = ((scores - mean) / scale)[:, np.newaxis]
    with one_blas_thread():
        model = logistic_regression(column, sample.positive, sample.weight, CALIBRATION_C)
    return rising_line(float(model.coef_[0, 0] / scale), model.intercept_[0], mean, sample)


def rising_line(slope: float, at_mean: float, mean: float, sample: Sample) -> FloatArray:
    """Return slope and intercept of a line given at the mean, or of a flat one if it does not rise."""
    if slope <= 0.0:
        positives, negatives = (sample.class_weight(positive=one) for one in (True, False))
        return np.array([0.0, np.log(positives / negatives)])
    return np.array([slope, float(at_mean - slope * mean)])


def log_loss(log_odds: Vector, positive: Vector, weight: Vector | None) -> float:
    """Compute the mean log-loss, rows counted by weight."""
    arrays = arrays_of(log_odds)
    losses = arrays.log1p_exp(arrays.where(positive, -log_odds, log_odds))
    if weight is None:
        return float(losses.mean())
    return float((losses * weight).sum() / weight.sum())
