"""Tests of many thresholds in a fixed order.

Thresholds are tested from the strictest downwards, each for the hypothesis that its precision is
below the limit. A hypothesis is tested only while all before it were rejected, so the first true
one is the only chance of an error, and no correction for their number is needed. The level is dealt
out over several starts: a failure at a strict threshold, where few rows are flagged, ends that
start alone, and what a start has not lost it hands on (the fallback procedure).

References ---------- Angelopoulos, Bates, Candès, Jordan and Lei (2025), Learn then test:
calibrating predictive algorithms to achieve risk control, Annals of Applied Statistics 19(2). Wiens
(2003), A fixed sequence Bonferroni procedure for testing multiple endpoints, Pharmaceutical
Statistics 2(3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scipy.special import bdtr

N_STARTS = 2


def last_rejected(
    n_tests: int, starts: Sequence[int], error: float, p_value: Callable[[int], float]
) -> int | None:
    """The last hypothesis that is rejected, with at most ``error`` to reject any true one.

    Parameters
    ----------
    n_tests : int
        Number of hypotheses, in their fixed order.
    starts : sequence of int
        Where the parts of the level, ``error / len(starts)`` each, come in.
    error : float
        The level of all tests together.
    p_value : callable
        The p-value of hypothesis i; called only where there is level left to spend.

    Returns
    -------
    int or None
        None if nothing was rejected.
    """
    level, last = 0.0, None
    part = error / len(starts)
    for test in range(n_tests):
        level += part * starts.count(test)
        if level == 0.0:
            continue
        if p_value(test) <= level:
            last = test
        else:
            level = 0.0
    return last


def binomial_p_value(n_against: int, n_flagged: int, allowed: float) -> float:
    """P(Binomial(n_flagged, allowed) <= n_against), for the hypothesis of a rate above ``allowed``."""
    return float(bdtr(n_against, n_flagged, allowed)) if n_flagged else 1.0
