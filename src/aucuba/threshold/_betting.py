r"""Betting bounds: tests of a mean that hold for any law of bounded variables.

Each independent unit (a row, a patient) has an excess Z <= b, and the promise is E Z <= 0. A
gambler who doubts a broken promise bets a fraction of his wealth against every unit,

.. math:: W_\lambda = \prod_i (1 - \lambda Z_i), \qquad 0 < \lambda \le 1 / b.

If E Z >= 0, then E W <= 1, also for the average over several fixed bets, and by Markov's inequality
P(W >= 1/error) <= error. So a wealth of 1/error certifies the promise. The bets are fixed before
any data are seen, so the wealth does not depend on the order of units and falls as any Z rises.

References ---------- Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables
by betting, Journal of the Royal Statistical Society B 86(1).
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from scipy.special import logsumexp

from aucuba._base._typing import FloatArray


def bets(n_units: int, lowest: float, highest: float, error: float) -> FloatArray:
    """Fractions to bet against excesses in [-lowest, highest], from the timid to the boldest.

    The timid end is the best bet where excesses take their extreme values only, the boldest the
    best where none counts against the promise; steps of two in between lose little at any variance.
    """
    timid = math.sqrt(2.0 * math.log(1.0 / error) * highest / (n_units * lowest))
    n_steps = math.ceil(math.log2(1.0 / min(timid, 0.5)))
    return np.exp2(-np.arange(n_steps, -1.0, -1.0)) / highest


def log_wealth(excess: FloatArray, fractions: FloatArray) -> float:
    """Logarithm of the average wealth over the bets."""
    with np.errstate(divide="ignore"):
        # A bet that risks everything on an excess of `highest` may miss zero by a rounding.
        growth = np.log(np.maximum(1.0 - np.outer(excess, fractions), 0.0))
    return float(logsumexp(growth.sum(axis=0)) - math.log(fractions.size))


def units_needed(lowest: float, highest: float, error: float) -> int:
    """The smallest number of units that certifies a promise against which none counts."""

    def certifies(n_units: int) -> bool:
        fractions = bets(n_units, lowest, highest, error)
        wealth = logsumexp(n_units * np.log1p(lowest * fractions)) - math.log(fractions.size)
        return bool(wealth >= -math.log(error))

    most = 1
    while not certifies(most):
        most *= 2
    return 1 + bisect_left(range(1, most + 1), True, key=certifies)
