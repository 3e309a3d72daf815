"""Order statistics that keep several rates at once.

Of n scores with a continuous law F let M_i be the number above the (1 - a_i)-quantile. The k_i-th
smallest score lies at or above that quantile, so that its rate is at most a_i, when M_i >= n - k_i
+ 1. For a_1 > a_2 > ... these numbers are a chain of binomials,

    M_1 ~ Binomial(n, a_1),    M_{i+1} | M_i ~ Binomial(M_i, a_{i+1} / a_i),

so the probability that all rates are kept is a sum of products, computed without approximation.
With ties every rate is lower still.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

from aucuba._base._typing import FloatArray, IntArray
from aucuba.threshold._order_statistic import (
    negatives_needed,
    threshold_rank,
    violation_probability,
)

# Numbers of rows outside of these tails are counted as violations, which errs on the safe side.
_TAIL = 1e-13
# Products of neighbouring states; beyond, Bonferroni costs little, since ranks are then close to
# quantiles.
_MOST_STATES = 30_000_000
_BISECTIONS = 12


def joint_violation(ranks: Sequence[int], n: int, rates: Sequence[float]) -> float:
    """P(at least one rate exceeds its limit) for the order statistics of the given ranks.

    Exact for continuous scores up to a stated truncation, an upper bound for scores with ties.
    """
    if len(rates) == 1:
        return violation_probability(int(ranks[0]), n, rates[0])
    order = np.argsort(rates)[::-1]
    needed = n + 1 - np.asarray(ranks)[order]
    limits = np.asarray(rates, dtype=np.float64)[order]
    states = _states(n, limits, needed)
    probability: FloatArray = binom.pmf(states[0], n, limits[0])
    for i in range(1, len(states)):
        probability = probability @ _chances(states[i - 1], states[i], limits[i] / limits[i - 1])
    return float(np.clip(1.0 - probability.sum(), 0.0, 1.0))


def joint_ranks(n: int, rates: Sequence[float], error: float) -> IntArray:
    """Ranks whose rates hold together with probability of at least 1 - ``error``.

    All have the same level on their own, the largest that the joint law allows; for very many rows
    the level is ``error`` divided by the number of rates.
    """
    return np.array(_joint_ranks(n, tuple(rates), error), dtype=np.intp)


@lru_cache(maxsize=256)
def _joint_ranks(n: int, rates: tuple[float, ...], error: float) -> list[int]:
    single = error / len(rates)
    bonferroni = _ranks(n, rates, single)
    if len(rates) == 1 or _is_large(n, rates):
        return bonferroni
    best, low, high = bonferroni, single, error
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        ranks = _ranks(n, rates, middle)
        if joint_violation(ranks, n, rates) <= error:
            best, low = ranks, middle
        else:
            high = middle
    return best


def rows_for_all(rates: Sequence[float], error: float) -> int:
    """Rows with which `joint_ranks` finds a rank for every rate."""
    return negatives_needed(min(rates), 1.0 - error / len(rates))


def _chances(n_trials: IntArray, n_hits: IntArray, chance: float) -> FloatArray:
    """Binomial probabilities, one row per number of trials and one column per number of hits."""
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


def _ranks(n: int, rates: Sequence[float], error: float) -> list[int]:
    return [threshold_rank(n, rate, 1.0 - error) for rate in rates]


def _states(n: int, limits: FloatArray, needed: IntArray) -> list[IntArray]:
    """Numbers above each quantile that keep the promise and are not absurdly improbable."""
    low = np.maximum(binom.ppf(_TAIL, n, limits).astype(np.intp), needed)
    high = binom.isf(_TAIL, n, limits).astype(np.intp)
    return [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]


def _is_large(n: int, rates: Sequence[float]) -> bool:
    spread = 15.0 * np.sqrt(n * np.asarray(sorted(rates))) + 15.0
    return bool(np.sum(spread[1:] * spread[:-1]) > _MOST_STATES)
