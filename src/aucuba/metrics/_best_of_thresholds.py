r"""Limits of the best value over all thresholds, from a band over the thresholds.

The best value in a sample is optimistic, and so are those of its resamples. With values :math:`v_c`,
their standard errors :math:`s_c` over resamples and a q that the largest :math:`(v^*_c - v_c) / s_c`
rarely exceeds, no value of the population lies below :math:`v_c - q s_c`, and its best value is at
least the best of these limits. For the upper limit nothing has to be searched: the threshold that is
best for the population is fixed, its value rarely lies above :math:`v_c + z s_c`, and the best of these
is no less. Thresholds that are far from the best do not count.

Where nearly all rows of a class lie on one side of a threshold, resamples show too little spread, and
so do first-order effects at a fixed one. All limits are therefore no nearer than those from Wilson's
limits of the TPR, of the FPR and, where rows of both classes are drawn together, of the prevalence (Zou
and Donner 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve
from aucuba._roc._runs import Runs
from aucuba._roc._standard_error import wilson_interval
from aucuba.metrics._resampling import resampled_curves
from aucuba.metrics._study import Study

# Thresholds whose limits at so many standard errors do not reach the best of the lower ones are no
# candidates.
_FAR = 4.0
_TINY = 1e-12


def best_limits(
    study: Study, tail: float, n_draws: int, random_state: object
) -> tuple[float, float]:
    """Return limits of the best value of all thresholds with a probability ``tail`` beyond each."""
    measure, sample = study.measure, study.samples[0]
    assert measure.at_vertices is not None
    at_vertices, n_rows = measure.at_vertices, sample.n_rows
    # What follows is written for maxima.
    sign = -1.0 if measure.smaller_is_better else 1.0

    def values(curves: RocCurve) -> FloatArray:
        return sign * np.asarray(at_vertices(curves, n_rows))

    runs = Runs.from_sample(sample)
    totals = np.bincount(runs.slot, sample.weights, 2 * runs.n_runs).astype(np.float64)
    curve = runs.curves(totals)
    own = values(curve)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def drawn() -> Iterator[FloatArray]:
        for curves in resampled_curves(sample, study.draw, n_draws, seed):
            yield values(curves) - own

    # Two passes over equal draws keep a few vectors of thresholds in memory, not all resamples.
    spread = np.sqrt(sum(np.sum(one**2, axis=0) for one in drawn()) / n_draws)
    # A threshold without spread has few rows on one side; those of other thresholds bound it.
    spread = np.maximum(spread, max(float(spread.max()) / np.sqrt(study.n_effective()), _TINY))
    chosen = own + _FAR * spread >= np.max(own - _FAR * spread)
    largest = np.concatenate([(one[:, chosen] / spread[chosen]).max(axis=1) for one in drawn()])
    level = 1 - study.percentile(tail)
    # Student's t over few groups, as in the level.
    single = float(norm.ppf(level))
    # No resample moves a threshold that separates all rows: the band is at least as wide as one
    # for a single threshold.
    most = max(float(np.quantile(largest, level, method="higher")), single)
    rates = RateLimits(curve, values, own, *_units(study))
    below = np.maximum(most * spread, rates.reach(-most))
    above = np.maximum(single * spread, rates.reach(single))
    low, high = float(np.max((own - below)[chosen])), float(np.max((own + above)[chosen]))
    return (low, high) if sign > 0 else (-high, -low)


def _units(study: Study) -> tuple[float, float, float]:
    """Count the positives, the negatives and, where both are drawn together, all units."""
    rows = [study.n_effective(positive=one) for one in (True, False)]
    is_by_class = study.sampling == "by_class"
    return rows[0], rows[1], np.inf if is_by_class else sum(rows)


def limits_at_threshold(study: Study, scorer: int = 0) -> RateLimits:
    """Return the value at a fixed threshold with how far limits of its rates move it."""
    measure, sample = study.measure, study.samples[scorer]
    value = np.asarray(study.values[scorer])

    def values(curve: RocCurve) -> FloatArray:
        return np.asarray(measure.of_curve(curve, sample.n_rows))

    return RateLimits(measure.summary(sample), values, value, *_units(study))


@dataclass(frozen=True)
class RateLimits:
    """Values as functions of TPR, FPR and prevalence: at all vertices, or at a fixed threshold."""

    curve: RocCurve
    values: Callable[[RocCurve], FloatArray]
    own: FloatArray
    n_positives: float
    n_negatives: float
    n_rows: float

    def reach(self, n_errors: float) -> FloatArray:
        """Return how far the limits at so many standard errors lie below (if negative) or above."""
        # Over rates without spread any distance is many standard errors; the tail stays a number.
        curve, tail = self.curve, max(float(norm.sf(abs(n_errors))), np.finfo(float).tiny)
        share = curve.true_positive[-1] / (curve.true_positive[-1] + curve.false_positive[-1])
        # Neither class vanishes, however heavy the other one is.
        share = np.clip(share, _TINY, 1 - _TINY)
        moved = [(one, curve.fpr, share) for one in _limits(curve.tpr, self.n_positives, tail)]
        moved += [(curve.tpr, one, share) for one in _limits(curve.fpr, self.n_negatives, tail)]
        if np.isfinite(self.n_rows):
            ends = np.clip(wilson_interval(share, self.n_rows, tail), _TINY, 1 - _TINY)
            moved += [(curve.tpr, curve.fpr, float(one)) for one in ends]
        side = np.sign(n_errors)
        apart = [side * (self._values_at(*one) - self.own) for one in moved]
        # Of the two limits of a rate one moves the value to this side.
        pairs = [
            np.maximum(np.maximum(*pair), 0.0) for pair in zip(apart[::2], apart[1::2], strict=True)
        ]
        return np.asarray(np.sqrt(sum(one**2 for one in pairs)))

    def _values_at(self, tpr: FloatArray, fpr: FloatArray, share: float) -> FloatArray:
        total = self.curve.true_positive[-1] + self.curve.false_positive[-1]
        return self.values(
            RocCurve(fpr * total * (1.0 - share), tpr * total * share, self.curve.threshold)
        )


def _limits(rate: FloatArray, n: float, tail: float) -> list[FloatArray]:
    """Return Wilson's limits of rates; those of no row and of all rows are known."""
    found = []
    for limit in wilson_interval(rate, n, tail):
        limit = np.array(limit, dtype=np.float64)
        limit[..., 0], limit[..., -1] = rate[..., 0], rate[..., -1]
        found.append(limit)
    return found
