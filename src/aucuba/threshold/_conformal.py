r"""Conformal p-values of new rows against held-out negatives, and the rows to select by them.

The p-value of a row is (1 + number of held-out negatives that score at least as high) / (n + 1). For
a new negative it is at most t with probability of at most t, over the draw of the held-out rows and of
the new one, and the p-values of a batch depend positively on each other, so that Benjamini and
Hochberg's step-up rule keeps the false discovery rate [1]_.

That is a mean over held-out rows, too. Conditionally on them the probability that a new negative
passes the k-th smallest score is a random rate. With probability 1 - ``error`` a chain of rates
:math:`a_1 < a_2 < \ldots` holds for fixed ranks all together (`joint_ranks`), and then the smallest
:math:`a_j` whose rank the row passes is a p-value for every later batch [1]_.

Ties are broken by one random key per row, which makes ranks behave as for continuous scores.

References
----------
.. [1] Bates, Candes, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values, Annals
   of Statistics 51(1).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba.threshold._order_statistic import joint_ranks, raised_by_rounding

# Neighbouring rates of the chain differ by this factor, which is what the conditional p-values lose
# by having steps.
_STEP = 1.15


@dataclass(frozen=True)
class NegativeScores:
    """Scores of held-out negatives with the keys that break their ties, both sorted upwards.

    Without keys, ties count against the row (``ties="conservative"``).
    """

    score: FloatArray
    key: FloatArray | None

    @property
    def n(self) -> int:
        return int(self.score.size)

    def count_above(self, score: AnyArray, key: FloatArray | None) -> IntArray:
        """Count the negatives that score at least as high as each row."""
        snapped = self._snapped(score)
        left = np.searchsorted(self.score, snapped, side="left")
        if self.key is None or key is None:
            return np.asarray(self.n - left)
        right = np.searchsorted(self.score, snapped, side="right")
        place = left.copy()
        tied = np.flatnonzero(right > left)
        # The keys of equal scores are sorted: bisect all tied rows at once.
        low, high = left[tied], right[tied]
        while (low < high).any():
            middle = (low + high) // 2
            below = self.key[np.minimum(middle, self.n - 1)] < key[tied]
            open_ = low < high
            low = np.where(open_ & below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        place[tied] = low
        return np.asarray(self.n - place)

    def _snapped(self, score: AnyArray) -> FloatArray:
        """Move scores that differ from a held-out one by rounding alone onto it.

        BLAS may round the score of one row differently in another batch; without this, rows that tie
        with many negatives would pass all of them together.
        """
        if not self.n:
            return np.asarray(score, dtype=np.float64)
        place = np.searchsorted(self.score, score)
        found = np.asarray(score, dtype=np.float64).copy()
        for near in (np.maximum(place - 1, 0), np.minimum(place, self.n - 1)):
            nearest = self.score[near]
            guard = raised_by_rounding(nearest, self.score) - nearest
            found = np.where(np.abs(score - nearest) <= guard, nearest, found)
        return found


def p_values(n_above: IntArray, n: int, max_fdr: float, error: float | None) -> FloatArray:
    """Compute p-values from the numbers of negatives above, marginal or, with an error, conditional."""
    if error is None:
        return np.asarray((1.0 + n_above) / (n + 1.0))
    rates, most_above = conditional_steps(n, max_fdr, error)
    steps = np.append(rates, 1.0)
    return np.asarray(steps[np.searchsorted(most_above, n_above, side="left")])


def smallest_p_value(n: int, max_fdr: float, error: float | None) -> float:
    """Return the p-value of a row above all n negatives."""
    if n < 1:
        return 1.0
    return float(p_values(np.zeros(1, dtype=np.intp), n, max_fdr, error)[0])


@lru_cache(maxsize=64)
def conditional_steps(n: int, max_fdr: float, error: float) -> tuple[FloatArray, IntArray]:
    """Return rates and, for each, the most negatives above a row that may have it as its p-value.

    With probability of at least 1 - ``error`` over the held-out negatives, all rates hold.
    """
    smallest, n_rates = _smallest_rate(n, max_fdr, error)
    if smallest >= max_fdr:
        return np.empty(0), np.empty(0, dtype=np.intp)
    rates = np.geomspace(smallest, max_fdr, n_rates)
    ranks = joint_ranks(n, rates.tolist(), error)
    return rates, n - np.maximum.accumulate(ranks[::-1])[::-1]


def negatives_for_selection(
    max_fdr: float, error: float | None, batch_size: int, n_alerts: int
) -> int:
    """Compute the fewest negatives with which ``n_alerts`` of ``batch_size`` rows can be selected."""
    largest_p = max_fdr * n_alerts / batch_size
    if error is None:
        return max(1, math.ceil(round(1.0 / largest_p, 9)) - 1)
    most = 1
    while _smallest_rate(most, max_fdr, error)[0] > largest_p or most < 2:
        most *= 2
    enough = partial(_is_enough, max_fdr=max_fdr, error=error, largest_p=largest_p)
    return 1 + bisect_left(range(1, most + 1), True, key=enough)


def _is_enough(n: int, max_fdr: float, error: float, largest_p: float) -> bool:
    smallest, _ = _smallest_rate(n, max_fdr, error)
    return smallest < max_fdr and smallest <= largest_p


def _smallest_rate(n: int, max_fdr: float, error: float) -> tuple[float, int]:
    """Return the smallest rate of the chain of n negatives, and the number of its rates.

    A p-value above ``max_fdr`` is never selected, so the chain ends there. It begins with the
    smallest rate that n scores can carry at the error's share of one rate.
    """
    n_rates = 1
    while True:
        smallest = -math.expm1(math.log(error / n_rates) / n) if n else 1.0
        if smallest >= max_fdr:
            return smallest, 0
        needed = 1 + math.ceil(math.log(max_fdr / smallest) / math.log(_STEP))
        if needed <= n_rates:
            return smallest, n_rates
        n_rates = needed


def selected(p: FloatArray, max_fdr: float) -> BoolArray:
    """Select rows by Benjamini and Hochberg's step-up rule."""
    if not p.size:
        return np.zeros(0, dtype=bool)
    ranked = np.sort(p)
    passing = np.flatnonzero(ranked <= max_fdr * np.arange(1, p.size + 1) / p.size)
    if not passing.size:
        return np.zeros(p.size, dtype=bool)
    return np.asarray(p <= ranked[passing[-1]])
