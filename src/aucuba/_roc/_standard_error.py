r"""Standard errors of weighted means, under either meaning of a weight, and limits of rates.

A statistic with influence :math:`c_i` of row i has the variance, summed over the two classes,

.. math::
    \frac{\sum_i w_i\, c_i^2}{W^2} \ \text{(replication)}, \qquad
    \frac{n}{n - 1} \frac{\sum_i (w_i c_i)^2}{W^2} \ \text{(sampling)}, \qquad W = \sum_i w_i,

with n rows in the class and the influences centred within it. *Replication*: a row of weight k stands
for k independent rows; estimators use it, since their fits must not tell weights from copies.
*Sampling*: a row is one independent unit whatever its weight, as in a bootstrap that draws rows;
metrics and reports use it. Where whole groups are the units, their summed terms take the place of
the rows' over both classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv, ndtri

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._rows._sample import Sample

WeightMeaning = Literal["replication", "frequency", "sampling"]


def standard_error(
    sample: Sample,
    influence: FloatArray,
    *,
    meaning: WeightMeaning,
    group: IntArray | None = None,
) -> float:
    """Compute the standard error of a statistic of two classes from its influences.

    Parameters
    ----------
    sample : Sample
        Class and weight of every row.
    influence : ndarray of shape (n_rows,)
        Influence of every row on the statistic, up to a constant per class.
    meaning : {"replication", "frequency", "sampling"}
        What a weight means; see above. "frequency" is replication with the divisors W - 1, so that the
        error is that of the copied rows in "sampling".
    group : ndarray of int, default=None
        Number of each row's group, 0, 1, ... without gaps, where groups are the units
        (``"sampling"`` only).
    """
    if meaning != "sampling":
        variance = 0.0
        for rows, part, centred in _by_class(sample, influence):
            total = float(sample.weights[rows].sum())
            divisor = total if meaning == "replication" else total - 1.0
            variance += float(part @ centred**2 / divisor) if divisor > 0 else np.inf
        return float(np.sqrt(variance))
    terms = row_terms(sample, influence)
    if group is not None:
        return error_of_effects(terms, group=group)
    # One row has no spread to learn from.
    counts = [int(rows.sum()) for rows in _classes(sample)]
    if min(counts) < 2:
        return np.inf
    squares = [
        float(np.sum(terms[rows] ** 2)) * n / (n - 1)
        for rows, n in zip(_classes(sample), counts, strict=True)
    ]
    return float(np.sqrt(sum(squares)))


def row_terms(sample: Sample, influence: FloatArray) -> FloatArray:
    """First-order effect of every row on the statistic: ``w_i c_i / W`` within its class."""
    terms = np.empty(sample.n_rows)
    for rows, part, centred in _by_class(sample, influence):
        terms[rows] = part * centred
    return terms


def error_of_effects(
    effect: FloatArray,
    weight: FloatArray | None = None,
    group: IntArray | None = None,
) -> float:
    """Standard error from the first-order effects of rows of both classes, drawn together.

    Parameters
    ----------
    effect : ndarray of shape (n_rows,)
        Sum to 0 up to rounding.
    weight : ndarray of shape (n_rows,), default=None
        Numbers of equal rows, where a row stands for several.
    group : ndarray of int, default=None
        Number of each row's group, 0, 1, ... without gaps, where groups are the units.
    """
    if group is not None:
        sums = np.bincount(group, effect)
        return float(np.sqrt(np.sum(sums**2) * sums.size / (sums.size - 1)))
    # Each of k copies has the k-th part of the effect.
    squares = effect**2 if weight is None else effect**2 / weight
    units = float(effect.size) if weight is None else weight.sum()
    return float(np.sqrt(squares.sum() * units / (units - 1)))


def error_of_mean(values: FloatArray) -> float:
    """Compute the standard error of a mean over independent units, such as queries; divisor n - 1."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def effective_rows(weight: FloatArray) -> float:
    """Count the number of equally weighted rows that are as informative: ``sum(w)^2 / sum(w^2)``."""
    if not weight.size:
        return 0.0
    relative = weight / weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2))


def _classes(sample: Sample) -> tuple[BoolArray, BoolArray]:
    return sample.positive, ~sample.positive


def _by_class(
    sample: Sample, influence: FloatArray
) -> Iterator[tuple[BoolArray, FloatArray, FloatArray]]:
    weight = sample.weights
    for rows in _classes(sample):
        part = weight[rows] / weight[rows].sum()
        yield rows, part, influence[rows] - part @ influence[rows]


def clopper_pearson(hits: float, rows: float, tail: float) -> tuple[float, float]:
    """Exact binomial limits with a probability of at most ``tail`` beyond each."""
    low = 0.0 if hits == 0 else float(betaincinv(hits, rows - hits + 1, tail))
    high = 1.0 if hits == rows else float(betaincinv(hits + 1, rows - hits, 1 - tail))
    return low, high


def wilson_interval(rate: Any, n: float, tail: float = 0.025) -> tuple[FloatArray, FloatArray]:
    r"""Compute the score interval of rates of n rows.

    .. math::
        \frac{p + z^2/2n \pm z \sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    rate : float or ndarray
        Rates p.
    n : float
        Number of rows, or of equally weighted rows that are as informative.
    tail : float, default=0.025
        Probability beyond each limit.

    Examples
    --------
    >>> from aucuba._roc._standard_error import wilson_interval
    >>> low, high = wilson_interval(0.5, 100)
    >>> print(f"{low:.3f} {high:.3f}")
    0.404 0.596
    """
    z = -float(ndtri(tail))
    p = np.asarray(rate, dtype=float)
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    size = 1 + z**2 / n
    return np.clip((middle - half) / size, 0, 1), np.clip((middle + half) / size, 0, 1)
