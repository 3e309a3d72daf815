r"""Evidence about a rate that stays valid however often one looks.

Of n counted rows, s count against the promise. For an alternative rate q above a limit m the
likelihood ratio

.. math:: (q / m)^s \, ((1 - q) / (1 - m))^{n - s}

never grows on average while the conditional rate of every row is at most m, whatever its drift. An
average over q is therefore a non-negative supermartingale, and passes 1/error with probability of
at most error over all time (Ville's inequality). With q below m it is evidence for a rate below m,
which assumes that the rate is constant or never below m. Rows whose loss lies between 0 and 1 (means
of groups) enter s as they are: by concavity the ratio is then at most that of a fair bet.

References
----------
Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
Mathematical Statistics 41(5).
Shin, Ramdas and Rinaldo (2024), E-detectors: a nonparametric framework for sequential change
detection, New England Journal of Statistics in Data Science 2(2).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaln

from aucuba._base._typing import FloatArray

# Odds ratios of the changes that the detector looks for.
CHANGES = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_SMALLEST = 1e-12


def log_evidence_above(n: FloatArray, s: FloatArray, limit: float) -> FloatArray:
    """Compute the logarithm of the evidence against a rate of at most ``limit`` at every row.

    Half of the prior lies within a few limits above the limit, half is spread over all rates.
    """
    near = _log_mixture(n, s, limit, (1.0, 1.0 / limit), betaincc)
    far = _log_mixture(n, s, limit, (0.5, 0.5), betaincc)
    evidence: FloatArray = np.logaddexp(near, far) - np.log(2.0)
    return evidence


def log_evidence_below(n: FloatArray, s: FloatArray, limit: float) -> FloatArray:
    """Compute the logarithm of the evidence against a rate of at least ``limit`` at every row."""
    return _log_mixture(n, s, limit, (0.5, 0.5), betainc)


def upper_limit(n: float, s: float, error: float) -> float:
    """Return the upper end of the confidence sequence after n rows: the lowest refuted rate."""
    return _crossing(log_evidence_below, n, s, error, s / n, 1.0) if n else 1.0


def lower_limit(n: float, s: float, error: float) -> float:
    """Return the lower end of the confidence sequence after n rows."""
    return _crossing(log_evidence_above, n, s, error, s / n, 0.0) if n else 0.0


def detector_bets(limit: float) -> FloatArray:
    """Return the bets of the e-detector, one per size of change."""
    odds = np.array(CHANGES) * limit / (1.0 - limit)
    rates = odds / (1.0 + odds)
    bets: FloatArray = (rates - limit) / (limit * (1.0 - limit))
    return bets


def advance_detector(log_state: FloatArray, losses: FloatArray, limit: float) -> FloatArray:
    """Return the logarithms of the detector's states after every row, one column per change.

    Each state follows M <- (1 + bet (loss - limit)) (M + 1), the sum over all rows of the evidence
    for a change at that row. M less the number of rows never grows on average before a change, so
    the mean number of rows until M first passes a level is at least that level.
    """
    growth = np.cumsum(np.log1p(np.outer(losses - limit, detector_bets(limit))), axis=0)
    before = np.vstack([np.zeros(log_state.size), growth[:-1]])
    started = np.logaddexp.accumulate(np.vstack([log_state, -before]), axis=0)[1:]
    states: FloatArray = growth + started
    return states


def advance_detector_by_counts(log_state: FloatArray, n: int, s: int, limit: float) -> FloatArray:
    """Return the state after n rows in unknown order, s of them against the promise.

    All n rows join before their evidence is counted; the argument about the mean holds as before.
    """
    bets = detector_bets(limit)
    growth = s * np.log1p(bets * (1.0 - limit)) + (n - s) * np.log1p(-bets * limit)
    state: FloatArray = np.logaddexp(log_state, np.log(n)) + growth
    return state


def _log_mixture(
    n: FloatArray, s: FloatArray, limit: float, prior: tuple[float, float], tail: np.ufunc
) -> FloatArray:
    """Average the likelihood ratio over a Beta prior that is cut at the limit."""
    a, b = s + prior[0], n - s + prior[1]
    with np.errstate(divide="ignore"):
        mixed = betaln(a, b) + np.log(tail(a, b, limit))
    cut = betaln(*prior) + np.log(tail(*prior, limit))
    ratio: FloatArray = mixed - cut - s * np.log(limit) - (n - s) * np.log1p(-limit)
    return ratio


def _crossing(
    evidence: Callable[[FloatArray, FloatArray, float], FloatArray],
    n: float,
    s: float,
    error: float,
    inner: float,
    outer: float,
) -> float:
    """Find where the evidence against a rate reaches 1/error, between the estimate and an end."""

    def excess(rate: float) -> float:
        value = float(evidence(np.array([n], dtype=float), np.array([s], dtype=float), rate)[0])
        return max(value, -700.0) + math.log(error)

    inner, outer = (float(np.clip(end, _SMALLEST, 1.0 - _SMALLEST)) for end in (inner, outer))
    if excess(outer) <= 0:
        return float(round(outer))
    if excess(inner) >= 0:
        return inner
    return float(brentq(excess, inner, outer, xtol=1e-12))
