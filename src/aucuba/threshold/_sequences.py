r"""Evidence about a rate that remains valid however often one looks.

Of n counted rows, s count against the promise. For an alternative rate q above a limit m the
likelihood ratio

.. math:: (q / m)^s \, ((1 - q) / (1 - m))^{n - s}

does not grow on average while the conditional rate p_i of every row i, given the rows before it, is
at most m. An average over q is therefore a non-negative supermartingale, and ever passes 1/error with
probability at most error (Ville's inequality). With q below m it is evidence for a
rate below m. Neither needs a constant rate: write u = q (1 - m) / (m (1 - q)), so that the ratio is
u^s ((1 - q) / (1 - m))^n. The product of u^{loss} / (1 + p_i (u - 1)) is a martingale for any p_i. By
concavity of the logarithm it is at least the ratio for q below m wherever the mean of p_1, ..., p_n
is at least m, and at least the ratio for q above m wherever that mean is at most m. So with
probability of at most error, evidence for a rate below m passes 1/error at any n at which the mean is
not below m, or evidence for a rate above m does while all means so far are within m. Rows whose loss
lies between 0 and 1 (means of groups) enter s as they are: by concavity the ratio is then at most
that of a fair bet.

If row i is labelled with probability pi_i only, independently of the others, it counts as the part
w_i = pi / pi_i of a row in n and s, with pi the smallest probability. Its factor R^w (1 if it is not
labelled) has a mean of at most 1 + pi_i w_i (E R - 1) = 1 + pi (E R - 1), since R^w <= 1 + w (R - 1),
and E R - 1 is a multiple of p_i - m, the same for all rows: the product over all rows has a mean of at
most 1 wherever the mean of the p_i is on the promised side of m. The same holds for every step of the
detector.

References
----------
Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
Mathematical Statistics 41(5).
Shin, Ramdas and Rinaldo (2024), E-detectors: a nonparametric framework for sequential change
detection, New England Journal of Statistics in Data Science 2(2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, betaln, xlogy

from aucuba._base._typing import ArrayLike, FloatArray

# Odds ratios of the changes that the detector seeks.
CHANGES = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_LOG_SIZES = np.log(len(CHANGES))
_SMALLEST = 1e-12
# The largest odds ratio to this power is still a double: the evidence of this many rows multiplied.
_BLOCK = 256
# Halvings that reduce an interval of length 1 to rounding error.
_HALVINGS = 50


def log_evidence_above(n: Any, s: Any, limit: Any) -> FloatArray:
    """Compute the logarithm of the evidence against a rate of at most ``limit`` at every row.

    Half of the prior lies within a few multiples of the limit, half is spread over all rates.
    """
    near = _log_mixture(n, s, limit, (1.0, 1.0 / limit), betaincc)
    far = _log_mixture(n, s, limit, (0.5, 0.5), betaincc)
    evidence: FloatArray = np.logaddexp(near, far) - np.log(2.0)
    return evidence


def log_evidence_below(n: Any, s: Any, limit: Any) -> FloatArray:
    """Compute the logarithm of the evidence against a rate of at least ``limit`` at every row."""
    return _log_mixture(n, s, limit, (0.5, 0.5), betainc)


def upper_limit(n: ArrayLike, s: ArrayLike, error: ArrayLike) -> FloatArray:
    """Return the upper end of the confidence sequence after n rows: the lowest refuted rate."""
    return _crossing(log_evidence_below, n, s, error, 1.0)


def lower_limit(n: ArrayLike, s: ArrayLike, error: ArrayLike) -> FloatArray:
    """Return the lower end of the confidence sequence after n rows."""
    return _crossing(log_evidence_above, n, s, error, 0.0)


@lru_cache(maxsize=64)
def detector_bets(limit: float) -> FloatArray:
    """Return the bets of the e-detector, one per size of change."""
    odds = np.array(CHANGES) * limit / (1.0 - limit)
    rates = odds / (1.0 + odds)
    bets: FloatArray = (rates - limit) / (limit * (1.0 - limit))
    return bets


@lru_cache(maxsize=64)
def _log_steps(limit: float) -> tuple[FloatArray, FloatArray]:
    """Return the change of every bet's log-state by a row against the limit, and by one within it."""
    bets = detector_bets(limit)
    return np.log1p(bets * (1.0 - limit)), np.log1p(-bets * limit)


def advance_detector(
    log_state: FloatArray, losses: FloatArray, limit: float, share: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithms of the detector's states after all rows, and of their average at each.

    Each state follows M <- (1 + bet (loss - limit)) (M + 1), the sum over all rows of the evidence
    for a change at that row. M minus the number of rows does not grow on average before a change, so
    the mean number of rows until M first passes a level is at least that level. With ``share`` a row
    counts in part, by its factor to that power.
    """
    averages = np.empty(losses.size)
    for start in range(0, losses.size, _BLOCK):
        part = losses[start : start + _BLOCK]
        steps = np.log1p(np.outer(part - limit, detector_bets(limit)))
        if share is not None:
            steps *= share[start : start + _BLOCK, None]
        growth = np.cumsum(steps, axis=0)
        # M_k = G_k (M_0 + 1 / G_0 + ... + 1 / G_{k-1}), with M_0 scaled to at most 1.
        scale = np.maximum(log_state, 0.0)
        before = np.vstack([np.zeros(scale.size), growth[:-1]])
        joined = np.cumsum(np.exp(-before), axis=0)
        grown = np.exp(growth) * (np.exp(log_state - scale) + np.exp(-scale) * joined)
        log_state = scale + np.log(grown[-1])
        top = scale.max()
        averages[start : start + _BLOCK] = top + np.log(
            np.mean(np.exp(scale - top) * grown, axis=1)
        )
    return log_state, averages


def advance_detector_by_counts(
    log_state: FloatArray,
    n: ArrayLike,
    s: ArrayLike,
    limit: float,
    joining: ArrayLike | None = None,
) -> FloatArray:
    """Return the state after n rows in unknown order, s of them against the promise.

    All rows join before their evidence is counted; the argument about the mean still holds. With
    ``joining``, that many units join instead, such as days, and the mean time is counted in them.
    """
    started = n if joining is None else joining
    against, within = _log_steps(limit)
    growth = np.multiply.outer(s, against) + np.multiply.outer(np.subtract(n, s), within)
    state: FloatArray = np.logaddexp(log_state, np.log(started)[..., None]) + growth
    return state


def log_average(log_states: FloatArray) -> FloatArray:
    """Average the detector's states over the sizes of change."""
    average: FloatArray = np.logaddexp.reduce(log_states, axis=-1) - _LOG_SIZES
    return average


def _log_mixture(n: Any, s: Any, limit: Any, prior: tuple[Any, Any], tail: np.ufunc) -> FloatArray:
    """Average the likelihood ratio over a Beta prior truncated at the limit."""
    a, b = s + prior[0], n - s + prior[1]
    # xlogy(1, x) is log(x), without NumPy's warning at zero.
    mixed = betaln(a, b) + xlogy(1.0, tail(a, b, limit))
    cut = _log_cut(limit, prior, tail) if isinstance(limit, float) else _cut(limit, prior, tail)
    ratio: FloatArray = mixed - cut - s * np.log(limit) - (n - s) * np.log1p(-limit)
    return ratio


def _cut(limit: Any, prior: tuple[Any, Any], tail: np.ufunc) -> Any:
    """Return the logarithm of the mass of a Beta prior beyond the limit, without its constant."""
    return betaln(*prior) + xlogy(1.0, tail(*prior, limit))


_log_cut = lru_cache(maxsize=256)(_cut)


def _crossing(
    evidence: Callable[[FloatArray, FloatArray, Any], FloatArray],
    n: ArrayLike,
    s: ArrayLike,
    error: ArrayLike,
    outer: float,
) -> FloatArray:
    """Find where the evidence against a rate reaches 1/error, between the estimate and an end."""
    n, s = np.asarray(n, dtype=np.float64), np.asarray(s, dtype=np.float64)
    level = -np.log(error)
    inside = np.clip(s / np.maximum(n, 1.0), _SMALLEST, 1.0 - _SMALLEST)
    end = np.clip(outer, _SMALLEST, 1.0 - _SMALLEST)
    is_refuted = evidence(n, s, end) > level
    outside = np.full(inside.shape, end)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        passed = evidence(n, s, middle) > level
        inside, outside = np.where(passed, inside, middle), np.where(passed, middle, outside)
    found: FloatArray = np.where(is_refuted & (n > 0), (inside + outside) / 2, outer)
    return found
