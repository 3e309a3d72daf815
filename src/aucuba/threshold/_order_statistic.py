"""The binomial order-statistic rule of the Neyman-Pearson umbrella algorithm.

Sort the scores of n held-out negatives, s_(1) <= ... <= s_(n), and call a row positive when its
score lies strictly above s_(k). Let F be the distribution function of the negatives' scores, so
that the false positive rate of this threshold is 1 - F(s_(k)). It exceeds a only if s_(k) lies
below the (1 - a)-quantile q of F, that is, if at least k of the n scores lie below q; each does
with probability at most 1 - a. Hence

    P(FPR > a) <= P(Binomial(n, 1 - a) >= k) = sum_{j=k}^n C(n, j) (1 - a)^j a^(n - j),

with equality when F is continuous. The bound falls as k grows and is (1 - a)^n at k = n.

References
----------
Tong, Feng and Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
characteristics, Science Advances 4(2), eaao1659.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import betainc

from aucuba._base._typing import AnyArray, FloatArray
from aucuba._base._validation import check_fraction, check_positive_number, finite_scores

# 1 - confidence is rarely exact in binary: 1 - 0.271 falls one rounding below 0.9 ** 3. The slack
# keeps a promise that holds with equality from asking for one negative more.
_ROUNDING = 1e-12

# The error of a dot product of d terms is about sqrt(d) roundings: room for some thousand features,
# and far below the distance between the scores of rows that differ.
_TIE_ROUNDINGS = 64
# The size of the terms that cancel in a threshold near zero is that of most scores. Of the largest
# ones it is not: a few far scores say nothing of how the others are rounded.
_TYPICAL = 0.75


def violation_probability(rank: int, n_negatives: int, max_fpr: float) -> float:
    """P(Binomial(n, 1 - max_fpr) >= rank), the bound on P(FPR > max_fpr).

    Parameters
    ----------
    rank : int
        Which of the sorted held-out negative scores is the threshold, from 1 to ``n_negatives``.
    n_negatives : int
        Number n of held-out negatives.
    max_fpr : float
        The promised false positive rate, in (0, 1).

    Returns
    -------
    float
        Exact for continuous scores, an upper bound for scores with ties.

    Examples
    --------
    >>> from aucuba.threshold import violation_probability
    >>> round(violation_probability(59, 59, 0.05), 4)
    0.0485
    """
    max_fpr = check_fraction(max_fpr, "max_fpr", low_open=True, high_open=True)
    n_negatives = int(check_positive_number(n_negatives, "n_negatives", integer=True))
    rank = int(check_positive_number(rank, "rank", integer=True))
    if rank > n_negatives:
        raise ValueError(f"rank must be at most n_negatives={n_negatives}, got {rank}.")
    # The binomial tail as an incomplete beta function stays accurate for any n.
    return float(betainc(rank, n_negatives - rank + 1, 1.0 - max_fpr))


def negatives_needed(max_fpr: float = 0.05, confidence: float = 0.95) -> int:
    """The smallest n with (1 - max_fpr)^n <= 1 - confidence.

    With fewer held-out negatives not even their largest score is a safe threshold.

    Parameters
    ----------
    max_fpr : float, default=0.05
        The false positive rate to promise, in (0, 1).
    confidence : float, default=0.95
        How sure the promise is to be, in (0, 1).

    Returns
    -------
    int
        Number of held-out negatives.

    Examples
    --------
    >>> from aucuba.threshold import negatives_needed
    >>> negatives_needed(max_fpr=0.05, confidence=0.95)
    59
    >>> negatives_needed(max_fpr=0.01, confidence=0.99)
    459
    """
    max_fpr, allowed = _promise(max_fpr, confidence)
    return max(1, math.ceil(math.log(allowed) / math.log1p(-max_fpr)))


def threshold_rank(n_negatives: int, max_fpr: float = 0.05, confidence: float = 0.95) -> int:
    """The smallest rank k with P(Binomial(n, 1 - max_fpr) >= k) <= 1 - confidence.

    The k-th smallest of n held-out negative scores is the lowest of them that keeps the promise,
    so it finds the most positives.

    Parameters
    ----------
    n_negatives : int
        Number n of held-out negatives.
    max_fpr : float, default=0.05
        The false positive rate to promise, in (0, 1).
    confidence : float, default=0.95
        How sure the promise is to be, in (0, 1).

    Returns
    -------
    int
        Rank between 1 and ``n_negatives``.

    Raises
    ------
    ValueError
        If there are fewer than ``negatives_needed(max_fpr, confidence)`` negatives.

    Examples
    --------
    With 1,000 negatives 38 may lie above the threshold; the plain quantile would let 50.

    >>> from aucuba.threshold import threshold_rank
    >>> threshold_rank(1000, max_fpr=0.05, confidence=0.95)
    962
    """
    max_fpr, allowed = _promise(max_fpr, confidence)
    if isinstance(n_negatives, bool) or not isinstance(n_negatives, Integral):
        raise ValueError(f"n_negatives must be a whole number, got {n_negatives!r}.")
    needed = negatives_needed(max_fpr, confidence)
    if n_negatives < needed:
        raise ValueError(_too_few(n_negatives, needed, max_fpr, confidence))
    ranks = range(1, n_negatives + 1)
    index = bisect_left(
        ranks, -allowed, key=lambda rank: -violation_probability(rank, n_negatives, max_fpr)
    )
    return ranks[min(index, n_negatives - 1)]


def tie_safe_threshold(scores: AnyArray, rank: int) -> float:
    """The rank-th smallest score, raised by a few roundings of scores of its size."""
    values = finite_scores(scores, "The base score")
    return float(raised_by_rounding(np.partition(values, rank - 1)[rank - 1 : rank], scores)[0])


def raised_by_rounding(thresholds: FloatArray, scores: AnyArray) -> FloatArray:
    """Thresholds that rows which tie with them do not pass, however their scores are rounded.

    BLAS may round the score of one row differently in another batch. Rows that tie with the
    threshold, often many of them when features are discrete, would then slip above it together.
    """
    precision = np.finfo(np.result_type(scores, np.float32)).eps
    size = np.maximum(np.abs(thresholds), np.quantile(np.abs(scores), _TYPICAL))
    return thresholds + float(_TIE_ROUNDINGS * precision) * size


def _promise(max_fpr: Any, confidence: Any) -> tuple[float, float]:
    """The checked rate, and the violation probability that the confidence allows."""
    max_fpr = check_fraction(max_fpr, "max_fpr", low_open=True, high_open=True)
    confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
    return max_fpr, (1.0 - confidence) * (1.0 + _ROUNDING)


def carried_by(n_rows: int, rate: float, error: float) -> tuple[float, float]:
    """The lowest rate at this error, and the highest confidence at this rate, that n rows carry.

    Rounded towards the safe side, so that the advice works when typed in.
    """
    lowest = math.ceil(-math.expm1(math.log(error) / n_rows) * 1e4) / 1e4
    highest = math.floor(-math.expm1(n_rows * math.log1p(-rate)) * 1e4) / 1e4
    return lowest, highest


def _too_few(n_negatives: int, needed: int, max_fpr: float, confidence: float) -> str:
    message = (
        f"Promising a false positive rate of at most max_fpr={max_fpr:g} with "
        f"confidence={confidence:g} needs at least {needed} held-out negatives, got {n_negatives}."
    )
    if n_negatives < 1:
        return f"{message} Hold out more negatives."
    lowest, highest = carried_by(n_negatives, max_fpr, 1.0 - confidence)
    return (
        f"{message} Hold out more negatives, or promise less: max_fpr={lowest:g} at this "
        f"confidence, or confidence={highest:g} at this max_fpr, is what {n_negatives} can carry."
    )
