r"""Betting bounds: tests of a mean that hold for any law of bounded variables.

Each independent unit (a row, a patient) has an excess Z <= b, and the promise is E Z <= 0. A
gambler who bets that the promise is kept stakes a fraction of the wealth on every unit,

.. math:: W_\lambda = \prod_i (1 - \lambda Z_i), \qquad 0 < \lambda \le 1 / b.

If E Z >= 0, then E W <= 1, also for the average over several fixed bets, and by Markov's inequality
P(W >= 1/error) <= error. So a wealth of 1/error certifies the promise. The bets are fixed before
any data are seen, so the wealth does not depend on the order of units and falls as any Z rises.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of
the Royal Statistical Society B 86(1).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv, logsumexp

from aucuba._base._typing import FloatArray
from aucuba.threshold._order_statistic import raised_by_rounding, smallest_count
from aucuba.threshold._units import Units


def bets(n_units: int, lowest: float, highest: float, error: float) -> FloatArray:
    """Return fractions to bet against excesses in [-lowest, highest], from the timid to the boldest.

    The most timid bet is best if excesses take only their extreme values, the boldest if no unit
    counts against the promise; factors of two in between lose little at any variance.
    """
    timid = math.sqrt(2.0 * math.log(1.0 / error) * highest / (n_units * lowest))
    n_steps = math.ceil(math.log2(1.0 / min(timid, 0.5)))
    fractions: FloatArray = np.exp2(-np.arange(n_steps, -1.0, -1.0)) / highest
    return fractions


def log_wealth(excess: FloatArray, fractions: FloatArray) -> float:
    """Compute the logarithm of the average wealth over the bets."""
    with np.errstate(divide="ignore"):
        # The boldest bet loses everything at the largest excess; rounding may go below zero.
        growth = np.log(np.maximum(1.0 - np.outer(excess, fractions), 0.0))
    return float(logsumexp(growth.sum(axis=0)) - math.log(fractions.size))


def units_needed(lowest: float, highest: float, error: float) -> int:
    """Find the smallest number of units that certify a promise if none of them counts against it."""

    def is_enough(n_units: int) -> bool:
        fractions = bets(n_units, lowest, highest, error)
        wealth = logsumexp(n_units * np.log1p(lowest * fractions)) - math.log(fractions.size)
        return bool(wealth >= -math.log(error))

    return smallest_count(is_enough)


def certifies(units: Units, level: float, rate: float, error: float) -> bool:
    """Return whether the betting bound certifies at most ``rate`` for scores above ``level``."""
    excess = units.totals((units.rows.score > level) - rate)
    return log_wealth(excess, bets_against(units, rate, error)) >= -math.log(error)


def bets_against(units: Units, rate: float, error: float) -> FloatArray:
    """Return the bets for excesses of a loss over ``rate``."""
    return bets(units.n_units, units.largest * rate, units.largest * (1.0 - rate), error)


def least_safe_threshold(units: Units, rate: float, error: float) -> float:
    """Return the lowest score above which the betting bound certifies the rate; nan without one."""
    levels = np.unique(units.rows.score).astype(np.float64)
    index = _first(levels, lambda level: certifies(units, level, rate, error))
    if index == levels.size:
        return np.nan
    return float(raised_by_rounding(levels[index : index + 1], units.rows.score)[0])


def certified_rate(units: Units, level: float, error: float) -> float:
    """Return the lowest rate that can be promised for scores above ``level``; 1 if none can."""
    if units.is_exact:
        n_above = int(np.sum(units.rows.score > level))
        if n_above == units.n_units:
            return 1.0
        return float(1.0 - betaincinv(units.n_units - n_above, n_above + 1, error))
    grid = np.linspace(0.0, 1.0, 1001)[1:-1]
    index = _first(grid, lambda rate: certifies(units, level, rate, error))
    return 1.0 if index == grid.size else float(grid[index])


def _first(values: FloatArray, holds: Callable[[float], bool]) -> int:
    """Return the index of the first value from which on a condition holds."""
    return bisect_left(range(values.size), True, key=lambda i: holds(float(values[i])))
