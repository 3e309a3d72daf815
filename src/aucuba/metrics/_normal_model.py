r"""Limits of a measure whose variance is taken at the limit, from a working model.

Wilson's limits of a rate are the rates that a test would just not reject, with the variance that the
rate itself implies. For other measures the variance as a function of the value comes from normal scores
of equal spread, the positives ``distance`` above the negatives, multiplied by the ratio of the variance
found in the rows to that of the model at the value found. The model thus only says how the variance
changes along the way from the value to a limit, and no less than what is still unseen: a bootstrap of a
very good scorer draws the few low positives that there are, not those that might have been.

A measure with value v and variance V counts like a rate of ``n(v) = v (1 - v) / V`` rows, so its limits
are those of a binomial with the variance of the model at the limit (mid-p; Korn and Graubard 1998 have
the effective rows, Newcombe 2006 the variance at the limit for the AUC).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri
from scipy.stats import norm

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve
from aucuba.metrics._roc_measure import RocMeasure

# Standard deviations between the classes: from a reversed ranking to one without errors.
_DISTANCES = np.concatenate([np.arange(-3.0, 0.0), np.arange(0.0, 5.0, 0.4), [5.5, 6.5, 8.0]])
# Vertices of the model's curve, which is straight between them.
_CUTS = np.linspace(13.0, -8.0, 420)
# Cells of either class that are made heavier and lighter together, from the highest scores down; fine
# at the top, where few negatives decide about low rates and precisions near 1.
_EDGES = norm.cdf(np.concatenate([np.arange(-5.2, -3.0, 0.3), np.linspace(-2.9, 2.9, 23), [3.4]]))
_STEP = 0.2
# A ratio beyond it says that the model has no variance left at the value, not that the rows have more.
_MOST_RATIO = 4.0
_TINY = 1e-12


@dataclass(frozen=True)
class NormalModel:
    """Values of a measure at growing distances of the classes, and variances of one row.

    Parameters
    ----------
    value : ndarray of shape (n_distances,)
        On the scale from 0 to 1.
    variance : ndarray of shape (n_distances, 2)
        Variance times the number of rows: of the negatives and of the positives where either class
        is drawn in its own number, else of all rows in the second column.
    """

    value: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, measure: RocMeasure, positives: float, negatives: float) -> NormalModel:
        """Tabulate a measure for classes of given total weight."""
        floor, ceiling = measure.limits
        found = [_moments(measure, positives, negatives, one) for one in _DISTANCES]
        value = np.array([one for one, _ in found])
        variance = np.array([one for _, one in found]) / (ceiling - floor) ** 2
        return cls((value - floor) / (ceiling - floor), variance)

    def variance_at(self, value: float) -> tuple[float, float]:
        """Return the variances of one row at a value on the scale from 0 to 1."""
        order = np.argsort(self.value)
        known = self.value[order]
        if not known[0] < value < known[-1]:
            raise ValueError(f"{value:g} is not between {known[0]:.3g} and {known[-1]:.3g}")
        at = ndtri(np.clip([value, *known], _TINY, 1 - _TINY))
        logs = np.log(np.maximum(self.variance[order], _TINY**2))
        of_negatives, of_positives = (np.exp(np.interp(at[0], at[1:], one)) for one in logs.T)
        return float(of_negatives), float(of_positives)

    def limits(
        self, value: float, error: float, rows: tuple[float, float], tail: float, most: float = 1.0
    ) -> tuple[float, float]:
        """Find the values between which no test rejects, each with a probability ``tail`` beyond.

        Parameters
        ----------
        value, error : float
            Value found and its standard error, on the scale from 0 to 1.
        rows : (float, float)
            Numbers of negatives and positives, or of rows in all as the second.
        tail : float
        most : float, default=1.0
            How often a group may count its rows: the largest design effect.
        """
        known = np.clip(self.value, _TINY, 1 - _TINY)
        spread = self.variance[:, 0] / rows[0] + self.variance[:, 1] / rows[1]
        # The probit of a value and the logarithm of a variance are almost linear in the distance.
        probit, log_variance = ndtri(known), np.log(np.maximum(spread, _TINY**2))
        if probit[-1] < probit[0]:
            probit, log_variance = probit[::-1], log_variance[::-1]
        knots = np.arange(probit.size)
        start = float(np.interp(ndtri(np.clip(value, _TINY, 1 - _TINY)), probit, knots))
        probit_at, log_variance_at = _through(probit), _through(log_variance)
        ratio = 1.0
        # Where no row is misplaced there is no spread to compare with.
        if error > _TINY and _TINY < value < 1.0 - _TINY:
            ratio = error**2 / float(np.exp(log_variance_at(start)))
        ratio = float(np.clip(ratio, 1.0, _MOST_RATIO * most))

        def at(place: float) -> float:
            return float(ndtr(probit_at(place)))

        def excess(place: float) -> float:
            """Probability of a value above the one found, which counts half itself."""
            theta = at(place)
            variance = ratio * float(np.exp(log_variance_at(place)))
            n = max(theta * (1 - theta) / variance, 1.0)
            hits, misses = value * n, (1 - value) * n
            at_least = betainc(hits, misses + 1, theta) if hits > 0 else 1.0
            above = betainc(hits + 1, misses, theta) if misses > 0 else 0.0
            return float(at_least + above) / 2

        last = float(knots[-1])
        low = at(_crossing(lambda place: excess(place) - tail, start, 0.0))
        high = at(_crossing(lambda place: 1 - tail - excess(place), start, last))
        return min(low, value), max(high, value)


def _through(values: FloatArray) -> Callable[[float], float]:
    """Join values at 0, 1, 2, ... by lines: `numpy.interp` of one place, without its overhead."""
    known = values.tolist()
    last = len(known) - 1

    def at(place: float) -> float:
        left = min(int(place), last)
        if place == left:
            return float(known[left])
        return float((known[left + 1] - known[left]) * (place - left) + known[left])

    return at


def _crossing(function: Callable[[float], float], inside: float, outside: float) -> float:
    """Find where a function that is positive inside turns negative; an end if it does not."""
    if function(inside) <= 0:
        # A value beyond all of the model's, such as a precision at k above k's share.
        return inside
    if function(outside) >= 0:
        return outside
    return float(brentq(function, inside, outside, xtol=1e-6))


def _moments(
    measure: RocMeasure, positives: float, negatives: float, distance: float
) -> tuple[float, FloatArray]:
    """Compute the value at a distance, and the variances of one row.

    Blocks of rows are made heavier and lighter by a fifth in turn, which gives the influence of a row
    in each to first order.
    """
    tails = norm.sf(_CUTS), norm.sf(_CUTS - distance)
    mass = np.array([np.diff(one, prepend=0.0, append=1.0) for one in tails])
    middle = np.cumsum(mass, axis=1) - mass / 2
    block = np.searchsorted(_EDGES, middle) + np.array([[0], [_EDGES.size + 1]])
    mass *= np.array([[negatives], [positives]])
    n_blocks = 2 * (_EDGES.size + 1)
    chosen = block == np.arange(n_blocks)[:, np.newaxis, np.newaxis]
    factors = np.concatenate([np.zeros_like(chosen[:1]), _STEP * chosen, -_STEP * chosen])
    cumulated = np.zeros((*factors.shape[:2], mass.shape[1] + 1))
    np.cumsum(mass * (1.0 + factors), axis=-1, out=cumulated[..., 1:])
    curves = RocCurve(cumulated[:, 0], cumulated[:, 1], np.append(_CUTS, -np.inf))
    values = (measure.of_population or measure.of_curve)(curves, 1)
    weight = np.bincount(block.ravel(), mass.ravel(), n_blocks)
    effect = (values[1 : n_blocks + 1] - values[n_blocks + 1 :]) / (2 * _STEP)
    influence = effect / np.maximum(weight, _TINY)
    halves = weight.reshape(2, -1), influence.reshape(2, -1)
    if measure.sampling == "random":
        centred = influence - np.average(influence, weights=weight)
        return float(values[0]), np.array([0.0, weight @ centred**2 * weight.sum()])
    centred = halves[1] - np.average(halves[1], weights=halves[0], axis=1, keepdims=True)
    return float(values[0]), np.sum(halves[0] * centred**2, axis=1) * halves[0].sum(axis=1)
