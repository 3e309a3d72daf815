"""The threshold at a false positive rate: one rule for metrics, estimators and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray
from aucuba._roc._sample import Sample


def count_within(rates: FloatArray, limit: float | FloatArray, n_rows: int) -> Any:
    """Count the entries of increasing rates at or below a limit, up to rounding.

    Sums of weights that are equal on paper differ by up to one rounding per row, so rates up to
    ``limit * (1 + (n_rows + 8) eps)`` count as within the limit.

    Parameters
    ----------
    rates : ndarray
        Rates in increasing order along the last axis, cumulated over rows.
    limit : float or ndarray
        The highest rate allowed, or one for every entry of the leading axes.
    n_rows : int
        Number of rows that the rates were cumulated over.
    """
    allowance = (n_rows + 8) * np.finfo(np.float64).eps
    allowed = np.asarray(limit)[..., np.newaxis] * (1 + allowance)
    return np.count_nonzero(rates <= allowed, axis=-1)


def first_beyond(scores: FloatArray, weight: FloatArray | None, rate: float) -> tuple[float, int]:
    """Find the highest row of a class that a rate keeps out: a negative for a false positive rate.

    Parameters
    ----------
    scores : ndarray
        Scores of the rows of the class.
    weight : ndarray or None
        Their weights.
    rate : float
        The highest fraction of the class that may pass.

    Returns
    -------
    score : float
        Its score; that of the lowest row where the rate lets all pass.
    n_above : int
        Number of rows that may pass.
    """
    order = np.argsort(-scores)
    passed = np.arange(1.0, scores.size + 1) if weight is None else np.cumsum(weight[order])
    n_above = int(count_within(passed / passed[-1], rate, scores.size))
    return float(scores[order[min(n_above, scores.size - 1)]]), n_above


def threshold_for(scores: FloatArray, sample: Sample, upper_limit: float) -> float:
    """Choose the threshold whose training FPR is the upper limit.

    Rows strictly above it are called positive, and the FPR is the largest possible value at or below
    the limit. A limit of 1 asks for nothing, so the threshold of best balanced accuracy is taken.
    """
    if upper_limit >= 1.0:
        return _best_balanced_threshold(scores, sample.positive, sample.weights)
    negative = ~sample.positive
    weight = None if sample.weight is None else sample.weight[negative]
    below, _ = first_beyond(scores[negative], weight, upper_limit)
    above = scores[scores > below]
    return float(below if above.size == 0 else (below + above.min()) / 2)


def operating_point(scores: FloatArray, sample: Sample, upper_limit: float) -> tuple[float, float]:
    """Choose the threshold of a classifier by `threshold_for`.

    Returns
    -------
    threshold : float
    rate : float
        The false positive rate that it was set for: the upper limit, or for a limit of 1 the rate of
        the rows at the best balanced accuracy.
    """
    threshold = threshold_for(scores, sample, upper_limit)
    if upper_limit < 1.0:
        return threshold, float(upper_limit)
    negative = ~sample.positive
    passed = scores[negative] > threshold
    return threshold, float(np.average(passed, weights=sample.weights[negative]))


def _best_balanced_threshold(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    order = np.argsort(scores)
    ranked = scores[order]
    first = np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1])
    levels = ranked[first]
    gain = np.where(positive, weight / weight[positive].sum(), -weight / weight[~positive].sum())
    # Balanced accuracy of calling positive all rows at or above each level.
    at_or_above = np.cumsum(np.add.reduceat(gain[order], first)[::-1])[::-1]
    best = int(np.argmax(np.round(at_or_above, 12)))
    return float(levels[0] - 1.0 if best == 0 else (levels[best - 1] + levels[best]) / 2)
