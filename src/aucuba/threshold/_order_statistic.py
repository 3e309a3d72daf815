"""Order statistics of held-out scores that keep one rate, or several at once.

Sort the scores of n held-out rows, s_(1) <= ... <= s_(n), and flag a row when its score lies
strictly above s_(k). Let F be the distribution function of the scores, so that the rate of flagged
rows is 1 - F(s_(k)). It exceeds a only if s_(k) lies below the (1 - a)-quantile q of F, that is, if
at least k of the n scores lie below q; each does with probability at most 1 - a. Hence

    P(rate > a) <= P(Binomial(n, 1 - a) >= k) = sum_{j=k}^n C(n, j) (1 - a)^j a^(n - j),

with equality when F is continuous. The bound falls as k grows and is (1 - a)^n at k = n.

For several rates a_1 > a_2 > ... let M_i be the number of scores above the (1 - a_i)-quantile. The
rate of the k_i-th smallest score is at most a_i when M_i >= n - k_i + 1. For continuous F these
numbers are a chain of binomials,

    M_1 ~ Binomial(n, a_1),    M_{i+1} | M_i ~ Binomial(M_i, a_{i+1} / a_i),

so the probability that all rates are kept is a sum of products, computed without approximation.
Ties only lower the rates.

References
----------
Tong, Feng and Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
characteristics, Science Advances 4(2), eaao1659.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import betainc, gammaln
from scipy.stats import binom

from aucuba._base._typing import AnyArray, FloatArray, IntArray

# 1 - confidence is rarely exact in binary: 1 - 0.271 falls one rounding below 0.9 ** 3. With this slack
# a promise that holds with equality does not need one more row.
_ROUNDING = 1e-12

# The error of a dot product of d terms is about sqrt(d) roundings: room for some thousand features,
# and far below the distance between the scores of rows that differ.
_TIE_ROUNDINGS = 64
# Most scores are as large as the terms that cancel in a threshold near zero. The largest scores are no
# guide: a few outliers do not show how other scores are rounded.
_TYPICAL = 0.75

# Counts in these tails are treated as violations, which errs on the safe side.
_TAIL = 1e-13
# Largest number of pairs of neighbouring states. With more, Bonferroni costs little, since ranks are
# close to quantiles.
_MOST_STATES = 30_000_000
_BISECTIONS = 12


def smallest_count(is_enough: Callable[[int], bool]) -> int:
    """Find the smallest n from 1 that is enough, if every larger n is enough too."""
    most = 1
    while not is_enough(most):
        most *= 2
    return 1 + bisect_left(range(1, most + 1), True, key=is_enough)


def rows_for_a_rank(rate: float, error: float) -> int:
    """Compute the smallest n with (1 - rate)^n <= error.

    With fewer held-out rows not even the largest score is a safe threshold.
    """
    return max(1, math.ceil(math.log(_allowed(error)) / math.log1p(-rate)))


def violation_probability(rank: int, n: int, rate: float) -> float:
    """Compute P(Binomial(n, 1 - rate) >= rank), the bound on P(rate is exceeded)."""
    # The binomial tail as an incomplete beta function stays accurate for any n.
    return float(betainc(rank, n - rank + 1, 1.0 - rate))


def threshold_rank(n: int, rate: float, error: float) -> int:
    """Find the smallest rank k with P(Binomial(n, 1 - rate) >= k) <= error.

    The k-th smallest of n scores is the lowest that keeps the promise, so it flags the most rows. n
    must be at least ``rows_for_a_rank(rate, error)``.
    """
    ranks = range(1, n + 1)
    index = bisect_left(
        ranks, -_allowed(error), key=lambda rank: -violation_probability(rank, n, rate)
    )
    return ranks[min(index, n - 1)]


def joint_ranks(n: int, rates: Sequence[float], error: float) -> IntArray:
    """Find ranks whose rates hold together with probability at least 1 - ``error``.

    Each rate alone has the same error, the largest that the joint law allows; with very many rows it
    is ``error`` divided by the number of rates.
    """
    return np.array(_joint_ranks(n, tuple(rates), error), dtype=np.intp)


@lru_cache(maxsize=256)
def _joint_ranks(n: int, rates: tuple[float, ...], error: float) -> list[int]:
    low, high = error / len(rates), error
    best = [threshold_rank(n, rate, low) for rate in rates]
    if len(rates) == 1 or _is_large(n, rates):
        return best
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        ranks = [threshold_rank(n, rate, middle) for rate in rates]
        if joint_violation(ranks, n, rates) <= error:
            best, low = ranks, middle
        else:
            high = middle
    return best


def joint_violation(ranks: Sequence[int], n: int, rates: Sequence[float]) -> float:
    """Compute P(at least one rate exceeds its limit) for the order statistics of the given ranks.

    Exact for continuous scores up to ``_TAIL``, an upper bound for scores with ties.
    """
    if len(rates) == 1:
        return violation_probability(int(ranks[0]), n, rates[0])
    order = np.argsort(rates)[::-1]
    needed = n + 1 - np.asarray(ranks)[order]
    limits = np.asarray(rates, dtype=np.float64)[order]
    # Counts above each quantile that keep the promise and are not extremely improbable.
    low = np.maximum(binom.ppf(_TAIL, n, limits).astype(np.intp), needed)
    high = binom.isf(_TAIL, n, limits).astype(np.intp)
    states = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    probability: FloatArray = binom.pmf(states[0], n, limits[0])
    for i in range(1, len(states)):
        probability = probability @ _chances(states[i - 1], states[i], limits[i] / limits[i - 1])
    return float(np.clip(1.0 - probability.sum(), 0.0, 1.0))


def raised_by_rounding(thresholds: FloatArray, scores: AnyArray) -> FloatArray:
    """Raise thresholds so that rows that tie with them do not pass because of rounding.

    BLAS may round the score of one row differently in another batch. Rows that tie with the
    threshold, often many of them if features are discrete, would then all pass it.

    Probabilities in single precision are sigmoids, whose rounding errors shrink with the slope towards
    0 and 1. A threshold raised past the end would flag nothing at all, so there it is raised by one
    rounding, and stays below the end.
    """
    precision = np.finfo(np.result_type(scores, np.float32)).eps
    size = np.maximum(np.abs(thresholds), np.quantile(np.abs(scores), _TYPICAL))
    raised: FloatArray = thresholds + float(_TIE_ROUNDINGS * precision) * size
    if scores.dtype != np.float32:
        return raised
    # Probabilities, or negated ones, which end at 0.
    for low, high in ((0, 1), (-1, 0)):
        if low <= scores.min() and scores.max() <= high:
            end = np.float32(high)
            one_up = np.nextafter(thresholds.astype(np.float32), end)
            nearest = np.minimum(one_up, np.nextafter(end, np.float32(-1)))
            raised = np.where((thresholds < end) & (raised >= end), nearest, raised)
    return raised


def carried_by(n_rows: int, rate: float, error: float) -> tuple[float, float]:
    """Return the lowest rate at this error, and the highest confidence at this rate, for n rows.

    Both are rounded to the safe side, so that a user can type them in.
    """
    lowest = math.ceil(-math.expm1(math.log(error) / n_rows) * 1e4) / 1e4
    highest = math.floor(-math.expm1(n_rows * math.log1p(-rate)) * 1e4) / 1e4
    return lowest, highest


def _allowed(error: float) -> float:
    return error * (1.0 + _ROUNDING)


def _chances(n_trials: IntArray, n_hits: IntArray, chance: float) -> FloatArray:
    """Compute binomial probabilities, one row per number of trials, one column per number of hits."""
    largest = max(n_trials[-1], n_hits[-1]) if n_trials.size and n_hits.size else 0
    log_factorial = gammaln(np.arange(largest + 1) + 1.0)
    misses = n_trials[:, None] - n_hits[None, :]
    log_chance = (
        log_factorial[n_trials][:, None]
        - log_factorial[n_hits][None, :]
        - log_factorial[np.maximum(misses, 0)]
        + n_hits * np.log(chance)
        + misses * np.log1p(-chance)
    )
    return np.where(misses >= 0, np.exp(np.minimum(log_chance, 0.0)), 0.0)


def _is_large(n: int, rates: Sequence[float]) -> bool:
    spread = 15.0 * np.sqrt(n * np.asarray(sorted(rates))) + 15.0
    return bool(np.sum(spread[1:] * spread[:-1]) > _MOST_STATES)
