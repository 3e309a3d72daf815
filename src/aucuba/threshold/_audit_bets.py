r"""Confidence limits of a rate from rows that were labelled with known probabilities.

The rate is a fraction of a fixed table: of the rows that count (all positives, for the sensitivity)
the part that hits (is flagged). With c = 1 for rows that count and g = 1 for hits,

.. math:: \text{rate} = r \iff \sum_i m_i(r) = 0, \qquad m_i(r) = c_i (g_i - r).

Row i is labelled with probability :math:`\pi_i > 0`, independently of the others, so
:math:`Z_i = m_i / \pi_i` if it is labelled, else 0, has the mean :math:`m_i`. If the rate is at most r,
the sum of the means is at most 0, and a fixed bet keeps

.. math:: E \prod_i (1 + \lambda Z_i) = \prod_i (1 + \lambda m_i) \le e^{\lambda \sum_i m_i} \le 1

as long as no factor can be negative, which :math:`\lambda \le \min_i \pi_i / r` ensures. A product of
1/error or more therefore rejects "at most r" with an error of at most ``error``, at any number of
rows and for any labels. A row that is certain to be labelled may have the factor
:math:`e^{\lambda m_i}`, which is larger and keeps the same bound.

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
from scipy.special import logsumexp

from aucuba._base._typing import FloatArray

# Rates are tested in cells with one bet each. Within a cell the wealth falls as the rate rises, so
# that the end of the rejected part is found exactly.
_N_CELLS = 200
_BISECTIONS = 30
# Around the best bet for the expected rows; it may be off by a factor of two at little cost.
_AROUND_BEST = (0.5, 1.0, 2.0)
# Without an expectation: halves of the boldest bet.
_HALVES = tuple(0.5**k for k in range(8))


@dataclass(frozen=True)
class CountedRows:
    """The labelled rows that count and hit, or count and miss, and the bets on them.

    Parameters
    ----------
    probability : ndarray
        Probability with which each row was labelled.
    times : ndarray
        How often each row stands for a row: 1 for labels, fractions for an expectation.
    spread : float
        Expected sum of 1/probability over the rows of this kind; nan if nothing is expected.
    least : float
        Smallest probability, below 1, of any row of the table that may turn out to be of this
        kind; infinite where all of them are certain to be labelled.
    """

    probability: FloatArray
    times: FloatArray
    spread: float
    least: float

    def log_factors(self, stakes: FloatArray) -> FloatArray:
        """Sum the logarithms of the factors for stakes per row on the last axis."""
        certain = self.probability >= 1.0
        uncertain = stakes[..., None] / self.probability[~certain]
        with np.errstate(divide="ignore"):
            # The boldest bet loses everything at the least probable row; rounding may go below zero.
            growth = np.log(np.maximum(1.0 + uncertain, 0.0))
        summed: FloatArray = growth @ self.times[~certain] + stakes * self.times[certain].sum()
        return summed


def limits(hits: CountedRows, misses: CountedRows, error: float) -> tuple[float, float]:
    """Compute a lower and an upper limit of the rate, each with half of the error."""
    low = lower_limit(hits, misses, error / 2)
    return low, 1.0 - lower_limit(misses, hits, error / 2)


def lower_limit(hits: CountedRows, misses: CountedRows, error: float) -> float:
    """Find the largest r such that the bets reject every rate below r."""
    edges = np.linspace(0.0, 1.0, _N_CELLS + 1)
    bets = _bets(hits, misses, edges, error)
    rejected = _log_wealth(hits, misses, edges[1:], bets) >= -math.log(error)
    if rejected.all():
        return 1.0
    cell = int(np.argmin(rejected))
    low, high = edges[cell], edges[cell + 1]
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        wealth = _log_wealth(hits, misses, np.array([middle]), bets[cell : cell + 1])
        low, high = (middle, high) if wealth[0] >= -math.log(error) else (low, middle)
    return float(low)


def _bets(hits: CountedRows, misses: CountedRows, edges: FloatArray, error: float) -> FloatArray:
    """Return the bets of every cell of rates, fixed by the plan and not by the labels."""
    boldest = misses.least / edges[1:]
    if np.isinf(misses.least):
        # Only the rows that hit are uncertain, and their probability sets the scale; if none is, the
        # table is known, and any large bet decides.
        boldest = np.full(edges.size - 1, min(8.0 * hits.least, 1e9))
    middle = (edges[:-1] + edges[1:]) / 2
    variance = (1.0 - middle) ** 2 * hits.spread + middle**2 * misses.spread
    if np.isnan(variance).any():
        return np.asarray(np.outer(boldest, _HALVES))
    best = np.sqrt(-2.0 * math.log(error) / np.maximum(variance, 1e-300))
    return np.asarray(np.minimum(np.outer(best, _AROUND_BEST), boldest[:, None]))


def _log_wealth(
    hits: CountedRows, misses: CountedRows, rates: FloatArray, bets: FloatArray
) -> FloatArray:
    """Compute the logarithm of the wealth at each rate, the average over its bets."""
    r = rates[:, None]
    growth = hits.log_factors(bets * (1.0 - r)) + misses.log_factors(-bets * r)
    wealth: FloatArray = logsumexp(growth, axis=1) - math.log(bets.shape[1])
    return wealth
