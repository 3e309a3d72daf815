"""Row weights that turn a classifier's attention to a range of false positive rates."""

from __future__ import annotations

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray

# Widths of the two bumps in units of the score's standard deviation.
_NEGATIVE_WIDTH = 0.1
_POSITIVE_WIDTH = 0.5


def region_weights(
    scores: FloatArray,
    positive: BoolArray,
    weight: FloatArray | None,
    upper_limit: float,
    strength: float,
) -> FloatArray:
    r"""Weights of the rows around the thresholds of the range ``[0, b]``:

    .. math::
        v_j = 1 + (k - 1)\, \sigma\bigl((s_j - t_{2b}) / (0.1\, \mathrm{sd}(s))\bigr)
        \ \text{(negatives)}, \qquad
        v_i = 1 + (k - 1) \exp\bigl(-\tfrac12 ((s_i - t_b) / (0.5\, \mathrm{sd}(s)))^2\bigr)
        \ \text{(positives)}

    with :math:`t_u` the score of the first negative below the false positive rate u. Negatives that
    can enter the range count more, and so do positives near its end, whose side of the threshold is
    open; each class is rescaled to mean 1, so class priors stay as they are. The lower limit of the
    range is not used: it moves the weights little, and ignoring it was at least as good.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of rows by models that have not seen them.
    positive : ndarray of bool
    weight : ndarray or None
        A row of weight k counts as k rows.
    upper_limit : float
        ``b``.
    strength : float
        ``k``, the largest weight before rescaling; 1 leaves all rows equal.

    Returns
    -------
    ndarray of shape (n_rows,)
        Factors, to be multiplied with ``weight``.
    """
    mass = np.ones(scores.size) if weight is None else weight
    mean = np.average(scores, weights=mass)
    sd = float(np.sqrt(np.average((scores - mean) ** 2, weights=mass)))
    if sd == 0.0:
        return np.ones(scores.size)
    end = _negative_quantile(scores[~positive], mass[~positive], upper_limit)
    twice = _negative_quantile(scores[~positive], mass[~positive], 2.0 * upper_limit)
    bump = np.empty(scores.size)
    # tanh is the logistic function without overflow.
    bump[~positive] = 0.5 + 0.5 * np.tanh((scores[~positive] - twice) / (2 * _NEGATIVE_WIDTH * sd))
    bump[positive] = np.exp(-0.5 * ((scores[positive] - end) / (_POSITIVE_WIDTH * sd)) ** 2)
    factor = 1.0 + (strength - 1.0) * bump
    for rows in (positive, ~positive):
        factor[rows] /= np.average(factor[rows], weights=mass[rows])
    return factor


def _negative_quantile(q: FloatArray, mass: FloatArray, rate: float) -> float:
    """Score of the first negative below the false positive rate, or of the last negative."""
    order = np.argsort(-q)
    passed = np.cumsum(mass[order])
    place = int(np.searchsorted(passed, rate * passed[-1] * (1 + 1e-12), side="right"))
    return float(q[order[min(place, q.size - 1)]])
