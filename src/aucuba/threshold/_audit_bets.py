r"""Confidence limits of a rate from rows that were labelled with known probabilities.

The rate is a fraction of a fixed table: of the rows that count (all positives, for the sensitivity)
the part that hits (is flagged). With c = 1 for rows that count and g = 1 for hits,

.. math:: \text{rate} = r \iff \sum_i m_i(r) = 0, \qquad m_i(r) = c_i (g_i - r).

Row i is labelled with probability :math:`\pi_i > 0`, independently of the others. If the rate is at
most r, the sum of the :math:`m_i` is at most 0, so a gambler with a fixed bet :math:`\lambda` and the
factor

.. math:: 1 + (e^{\lambda m_i} - 1) / \pi_i \text{ for a labelled row, 1 for the others}

has factors with the means :math:`e^{\lambda m_i}` and, over all rows, an expected wealth of
:math:`e^{\lambda \sum_i m_i} \le 1`. No factor is negative as long as :math:`\lambda r` is at most
:math:`-\log(1 - \pi_i)` for every row that may miss. A wealth of 1/error or more therefore rejects
"at most r" with an error of at most ``error``, at any number of rows and for any labels; so does an
average over several bets.
(The usual factor :math:`1 + \lambda m_i / \pi_i` is smaller.)

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of
the Royal Statistical Society B 86(1). Shekhar, Xu, Lipton, Liang and Ramdas (2023), Risk-limiting
financial audits via weighted sampling without replacement, UAI.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray

# Rates are tested in cells with one bet each. Within a cell the wealth falls as the rate rises, so the
# end of the rejected part is found exactly.
_N_CELLS = 100
# Cells while plans are compared.
_FEW_CELLS = 50
_BISECTIONS = 20
# Bets that are tried for the expected rows, besides the best bet of a normal approximation.
_TRIED = np.exp2(np.arange(-3.0, 3.5, 0.5))
# The best bet, smaller ones in case the rows differ from the expected ones, and their weights.
_AROUND_BEST = np.array([1.0, 0.5, 0.2])
_LOG_WEIGHTS = np.log([0.9, 0.06, 0.04])
# Without an expectation: the boldest bet halved repeatedly, with equal weights.
_HALVES = np.exp2(-np.arange(8.0))
# If no row can lose everything, the range of floats limits the bets.
_BOLDEST = 1e9


@dataclass(frozen=True)
class CountedRows:
    """Labelled rows that count and hit, or count and miss.

    Parameters
    ----------
    probability : ndarray
        Probability with which each row was labelled.
    times : ndarray
        How many rows each entry stands for: 1 for a label, a fraction for an expectation.
    least : float
        Smallest probability, below 1, of any row of the table that may turn out to be of this kind;
        infinite if all of them are certain to be labelled.
    """

    probability: FloatArray
    times: FloatArray
    least: float

    @classmethod
    def labelled(cls, probability: FloatArray, least: float) -> CountedRows:
        """Return one entry per row; rows of equal probability are adjacent."""
        distinct, times = np.unique(probability, return_counts=True)
        return cls(distinct, times.astype(np.float64), least)

    def log_factors(self, stakes: FloatArray) -> FloatArray:
        """Sum the logarithms of the factors for stakes per row on the last axis."""
        certain = self.probability >= 1.0
        chance, stakes_ = self.probability[~certain], stakes[..., None]
        with np.errstate(divide="ignore", over="ignore"):
            # 1 + (exp(s) - 1) / p without overflow. The boldest bet loses everything at the least
            # probable row; rounding may go below zero.
            inside = np.maximum(-(1.0 - chance) * np.exp(-stakes_), -1.0)
            growth = stakes_ + np.log1p(inside) - np.log(chance)
        # An entry that stands for no row loses nothing.
        growth = np.where(self.times[~certain] > 0, growth, 0.0)
        summed: FloatArray = growth @ self.times[~certain] + stakes * self.times[certain].sum()
        return summed

    @property
    def spread(self) -> float:
        """Sum of 1/probability over the rows of the table that these stand for."""
        uncertain = self.probability < 1.0
        return float(np.sum(self.times[uncertain] / self.probability[uncertain] ** 2))


# Hits and misses.
Kinds = tuple[CountedRows, CountedRows]


def expected_limits(expected: Kinds, error: float, low_part: float = 0.5) -> tuple[float, float]:
    """Compute the limits of the expected rows, coarsely, while plans are compared."""
    return limits(expected, expected, error, low_part, _FEW_CELLS)


def limits(
    rows: Kinds, expected: Kinds | None, error: float, low_part: float, n_cells: int = _N_CELLS
) -> tuple[float, float]:
    """Compute the lower limit of the rate, with ``low_part`` of the error, and the upper limit.

    ``expected`` are the rows that the plan expects to be labelled; bets depend on them alone.
    """
    turned = None if expected is None else (expected[1], expected[0])
    low = lower_limit(rows, expected, error * low_part, n_cells)
    high = 1.0 - lower_limit((rows[1], rows[0]), turned, error * (1.0 - low_part), n_cells)
    return low, high


def lower_limit(rows: Kinds, expected: Kinds | None, error: float, n_cells: int) -> float:
    """Find the largest r such that the bets reject every rate below r."""
    edges = np.linspace(0.0, 1.0, n_cells + 1)
    boldest = _boldest(rows, edges[1:])
    if expected is None:
        bets, weights = np.outer(boldest, _HALVES), np.full(_HALVES.size, -math.log(_HALVES.size))
    else:
        best = _best_bets(expected, (edges[1:] + edges[:-1]) / 2, boldest, error)
        bets, weights = np.outer(best, _AROUND_BEST), _LOG_WEIGHTS
    rejected = _log_wealth(rows, edges[1:], bets, weights) >= -math.log(error)
    if rejected.all():
        return 1.0
    cell = int(np.argmin(rejected))
    low, high = edges[cell], edges[cell + 1]
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        wealth = _log_wealth(rows, np.array([middle]), bets[cell : cell + 1], weights)
        low, high = (middle, high) if wealth[0] >= -math.log(error) else (low, middle)
    return float(low)


def _boldest(rows: Kinds, rates: FloatArray) -> FloatArray:
    """Return the largest bets with which no row can lose more than everything."""
    hits, misses = rows
    if misses.least < 1.0:
        return np.asarray(-math.log1p(-misses.least) / rates)
    # Only rows that hit are uncertain, and their probability sets the scale; if none is uncertain,
    # the table is known, and any large bet decides.
    return np.full(rates.size, min(8.0 * hits.least, _BOLDEST))


def _best_bets(expected: Kinds, rates: FloatArray, boldest: FloatArray, error: float) -> FloatArray:
    """Return the bet with the largest expected logarithm of the wealth at every rate."""
    hits, misses = expected
    variance = (1.0 - rates) ** 2 * hits.spread + rates**2 * misses.spread
    normal = np.sqrt(-2.0 * math.log(error) / np.maximum(variance, 1e-300))
    tried = np.minimum(np.outer(normal, _TRIED), 0.98 * boldest[:, None])
    growth = _growth(expected, rates, tried)
    return np.asarray(tried[np.arange(rates.size), growth.argmax(axis=1)])


def _growth(rows: Kinds, rates: FloatArray, bets: FloatArray) -> FloatArray:
    """Compute the logarithm of the wealth of every bet at every rate."""
    hits, misses = rows
    r = rates[:, None]
    return hits.log_factors(bets * (1.0 - r)) + misses.log_factors(-bets * r)


def _log_wealth(
    rows: Kinds, rates: FloatArray, bets: FloatArray, log_weights: FloatArray
) -> FloatArray:
    """Compute the logarithm of the wealth at each rate, the weighted average over its bets."""
    wealth: FloatArray = np.logaddexp.reduce(_growth(rows, rates, bets) + log_weights, axis=1)
    return wealth
