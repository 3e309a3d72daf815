"""Probabilities from scores: a rising logistic curve through held-out rows."""

from __future__ import annotations

import numpy as np

from aucuba._base._arrays import mean_and_scale
from aucuba._base._logistic import logistic_regression
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import FloatArray
from aucuba._rows._sample import Sample

# Penalty of the slope: bounded where the classes are separated, without effect on a hundred rows.
CALIBRATION_C = 1.0


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
