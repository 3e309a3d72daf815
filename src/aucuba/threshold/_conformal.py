r"""Conformal p-values of new rows against held-out negatives, and the selection by them.

The p-value of a row is (1 + number of held-out negatives that score at least as high) / (n + 1). For
a new negative it is at most t with probability at most t, over the draw of the held-out rows and of
the new one. The p-values of a batch depend positively on each other, so Benjamini and Hochberg's
step-up rule keeps the false discovery rate [1]_.

That guarantee is also a mean over the held-out rows. Given these rows, the probability that a new
negative scores above the r-th highest of them is a random rate. With probability 1 - ``error`` limits
:math:`a_1 < a_2 < \ldots` of these rates hold jointly for fixed ranks, and then the :math:`a_r` of the
first rank that a row passes is a p-value for every later batch [1]_. Any such band is valid; those of
[1]_ (Simes, asymptotic, Monte Carlo) differ in where they are narrow. Here the rate of rank r has an
error proportional to 1 / r, since the first ranks alone select few alerts, and the factor is the
largest that the joint law of the order statistics allows, computed without approximation.

One random key per row breaks ties, so ranks behave as for continuous scores.

References
----------
.. [1] Bates, Candes, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values, Annals
   of Statistics 51(1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import beta

from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba.threshold._order_statistic import joint_violation, raised_by_rounding, smallest_count

# Neighbouring ranks of the band differ by this factor, from where that is more than one rank.
_STEP = 1.2
# With few negatives the band has more ranks than `max_fdr` needs; otherwise one more negative could
# make the smallest p-value larger.
_FEWEST_RANKS = 40
# Beyond this rank errors are so small that adding them up costs nothing.
_MOST_JOINT = 1_000
_BISECTIONS = 16


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
        """Replace scores that differ from a held-out one only by rounding.

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
    """Compute p-values from counts of negatives above: conditional with an ``error``, else marginal."""
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
    """Return rates and, for each, the largest number of negatives above a row with this p-value.

    With probability at least 1 - ``error`` over the held-out negatives, all rates hold. A p-value
    above ``max_fdr`` is never selected, so the rates end there.
    """
    ranks = _ranks(max(math.floor(n * max_fdr), min(n, _FEWEST_RANKS)))
    if not ranks.size:
        return np.empty(0), ranks
    # The result lies between Bonferroni and a single rank, which may have all of the error.
    low, high = error / np.sum(1.0 / ranks), error
    joint = ranks <= _MOST_JOINT
    rest = np.sum(1.0 / ranks[~joint])
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        rates = _rates(ranks[joint], n, middle)
        violation = joint_violation((n + 1 - ranks[joint]).tolist(), n, rates.tolist())
        low, high = (middle, high) if violation + middle * rest <= error else (low, middle)
    rates = _rates(ranks, n, low)
    kept = rates < max_fdr
    return rates[kept], ranks[kept] - 1


def _rates(ranks: IntArray, n: int, error: float) -> FloatArray:
    """Return limits that the rates above the highest scores exceed with probability error / rank."""
    return np.asarray(beta.isf(error / ranks, ranks, n - ranks + 1))


def _ranks(most: int) -> IntArray:
    ranks = [1] if most >= 1 else []
    while ranks and (following := max(ranks[-1] + 1, round(_STEP * ranks[-1]))) <= most:
        ranks.append(following)
    return np.array(ranks, dtype=np.intp)


def negatives_for_selection(
    max_fdr: float, error: float | None, batch_size: int, n_alerts: int
) -> int:
    """Compute the fewest negatives with which ``n_alerts`` of ``batch_size`` rows can be selected."""
    largest_p = max_fdr * n_alerts / batch_size
    if error is None:
        return max(1, math.ceil(round(1.0 / largest_p, 9)) - 1)

    def is_enough(n: int) -> bool:
        return smallest_p_value(n, max_fdr, error) <= largest_p

    return smallest_count(is_enough)


def selected(p: FloatArray, max_fdr: float) -> BoolArray:
    """Select rows by Benjamini and Hochberg's step-up rule."""
    if not p.size:
        return np.zeros(0, dtype=bool)
    ranked = np.sort(p)
    passing = np.flatnonzero(ranked <= max_fdr * np.arange(1, p.size + 1) / p.size)
    if not passing.size:
        return np.zeros(p.size, dtype=bool)
    return np.asarray(p <= ranked[passing[-1]])


def warn_if_too_few_negatives(p: FloatArray, max_fdr: float, smallest_possible: float) -> None:
    """Warn if a batch of this size needs more rows above all held-out negatives than it has.

    ``smallest_possible`` is the p-value of a row above all negatives.
    """
    if not p.size:
        return
    smallest = p.min()
    fewest = math.ceil(p.size * smallest / max_fdr)
    n_above_all = int(np.sum(p == smallest))
    if smallest <= smallest_possible * (1 + 1e-9) and n_above_all < fewest:
        warn_user(
            f"{n_above_all} of {p.size} rows score above every held-out negative, but with these "
            f"negatives a selection must have at least {fewest} rows, so nothing is selected. Hold "
            "out more negatives, or select from smaller batches.",
            FewRowsWarning,
        )
