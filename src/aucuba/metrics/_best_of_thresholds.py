r"""Limits of the best value of all thresholds, by a band over the thresholds.

The best value of a sample is too good, and so are those of its resamples. With values :math:`v_c`,
their standard errors :math:`s_c` over resamples and a q that the largest :math:`(v^*_c - v_c) / s_c` of
either sign rarely exceeds, the values of the population lie in :math:`v_c \pm q s_c` at once. Its best
value is then at least the best lower limit and at most the best upper limit, whichever threshold has
it. Thresholds that are far from the best do not count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import FloatArray
from aucuba._roc._runs import Runs
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
    runs = Runs.from_sample(sample)
    totals = np.bincount(runs.slot, sample.weights, 2 * runs.n_runs).astype(np.float64)
    own = sign * at_vertices(runs.curves(totals), n_rows)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def drawn() -> Iterator[FloatArray]:
        for curves in resampled_curves(sample, study.draw, n_draws, seed):
            yield sign * at_vertices(curves, n_rows) - own

    # Two passes over equal draws keep a few vectors of thresholds in memory, not all resamples.
    spread = np.sqrt(sum(np.sum(one**2, axis=0) for one in drawn()) / n_draws)
    # A threshold without spread has few rows on one side; those of other thresholds bound it.
    spread = np.maximum(spread, max(float(spread.max()) / np.sqrt(n_rows), _TINY))
    chosen = own + _FAR * spread >= np.max(own - _FAR * spread)
    relative = (one[:, chosen] / spread[chosen] for one in drawn())
    apart = np.concatenate([[one.max(axis=1), -one.min(axis=1)] for one in relative], axis=1)
    # Near the best possible value resamples are skewed; the longer side serves both.
    level = 1 - study.percentile(tail)
    reach = spread * float(np.quantile(apart, level, axis=1, method="higher").max())
    low, high = (float(np.max((own + step)[chosen])) for step in (-reach, reach))
    return (low, high) if sign > 0 else (-high, -low)
