"""How far estimates and resamples of measures that move in steps spread, from the scores of a pilot.

The TPR at an FPR is read off at a threshold that comes from the rows. Resamples come from rows that are
uneven around it, which makes them spread more than estimates do, by a part that fades with the square
root of the number of rows (Hall and Martin 1988, on quantiles). So a test by resamples rejects less
often than its estimate allows. Resamples of smoothed scores spread like the estimate (Hall, DiCiccio
and Romano 1989), and the excess of the others is the part that fades.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._curve import RocCurve
from aucuba._roc._runs import Runs
from aucuba._roc._standard_error import effective_rows
from aucuba.metrics._study import NO_SPREAD, Study

_RESAMPLES = 500
# Rows of a resample; with more the excess is small. Fewer of a class say little about it.
_MOST_ROWS, _FEWEST = 20_000, 10
# With fewer blocks of equal scores, counted as if of equal size, a kernel would hide their steps.
_FEWEST_BLOCKS = 30
# More is the noise of few resamples.
_MOST_EXCESS = 0.5


@dataclass(frozen=True)
class Spread:
    """Variance of resamples with ``size`` positives, and the part of it that the estimate lacks."""

    variance: float
    size: float = 1.0
    excess: float = 0.0

    def errors(self, n_positives: float) -> tuple[float, float]:
        """Return the standard errors of an estimate and of its resamples in a study."""
        scale = self.variance * self.size / n_positives
        estimate = 1.0 - self.excess
        resamples = estimate + self.excess * np.sqrt(self.size / n_positives)
        return float(np.sqrt(scale * estimate)), float(np.sqrt(scale * resamples))


def spread_of_steps(study: Study, ratio: float, random_state: Any) -> Spread:
    """Learn from a pilot how far the difference of its scorers spreads at a ratio of the classes.

    Either resample has the same rows, once as they are and once moved by a kernel.
    """
    measure, samples = study.measure, study.samples
    positive, rng = samples[0].positive, check_random_state(random_state)
    n_positives, n_negatives = float(positive.sum()), float((~positive).sum())
    m = min(n_positives, n_negatives / ratio, _MOST_ROWS / (1.0 + ratio))
    m = max(m, min(n_positives, _FEWEST), min(n_negatives, _FEWEST) / ratio)
    n_rows = max(2, round(m * (1.0 + ratio)))
    runs = [Runs.from_sample(one) for one in samples]
    slots = np.array([one.slot for one in runs])
    # Ranks as normal scores: outliers do not widen the kernel.
    scores = np.array([ndtri((rankdata(one.score) - 0.5) / positive.size) for one in samples])
    classes = [_Class.of(scores[:, one], slots[:, one]) for one in (positive, ~positive)]
    values = np.empty((2, len(samples), _RESAMPLES))
    for number in range(_RESAMPLES):
        hits = n_rows / (1.0 + ratio)
        if measure.sampling == "random":
            hits = rng.binomial(n_rows, hits / n_rows)
        hits = min(max(round(hits), 1), n_rows - 1)
        drawn = [one.draw(n, rng) for one, n in zip(classes, (hits, n_rows - hits), strict=True)]
        slot, score = (np.concatenate(part, axis=1) for part in zip(*drawn, strict=True))
        for place, run in enumerate(runs):
            totals = np.bincount(slot[place], minlength=2 * run.n_runs).astype(np.float64)
            values[0, place, number] = measure.of_curve(run.curves(totals), n_rows)
            curve = _curve_of(score[place], hits)
            values[1, place, number] = measure.of_curve(curve, n_rows)
    plain, smooth = (values[:, 0] - values[:, 1]).var(axis=1)
    blocks = min(effective_rows(np.diff(one.ranked.block_end, prepend=-1.0)) for one in samples)
    if plain <= NO_SPREAD or blocks < _FEWEST_BLOCKS:
        return Spread(float(plain), m)
    excess = np.clip(1.0 - smooth / plain, 0.0, _MOST_EXCESS)
    return Spread(float(plain), m, float(excess))


@dataclass(frozen=True)
class _Class:
    """Rows of a class: their slots, normal scores, and the kernel around them."""

    slot: IntArray
    score: FloatArray
    root: FloatArray
    width: float

    @classmethod
    def of(cls, score: FloatArray, slot: IntArray) -> _Class:
        n_scorers, n_rows = score.shape
        centred = score - score.mean(axis=1, keepdims=True)
        variance, axes = np.linalg.eigh(centred @ centred.T / n_rows)
        # Silverman's width for normal scores of so many scorers.
        width = (4.0 / (n_scorers + 2.0) / n_rows) ** (1.0 / (n_scorers + 4.0))
        return cls(slot, score, axes * np.sqrt(np.maximum(variance, 0.0)), width)

    def draw(self, n_drawn: int, rng: np.random.RandomState) -> tuple[IntArray, FloatArray]:
        """Draw rows: their slots, and their scores moved by the kernel without more variance."""
        rows = rng.randint(self.score.shape[1], size=n_drawn)
        middle = self.score.mean(axis=1, keepdims=True)
        noise = self.root @ rng.standard_normal((self.score.shape[0], n_drawn))
        moved = self.score[:, rows] - middle + self.width * noise
        return self.slot[:, rows], middle + moved / np.sqrt(1.0 + self.width**2)


def _curve_of(score: FloatArray, n_positives: int) -> RocCurve:
    """Return the curve of scores without ties, positives first."""
    hit = np.argsort(-score) < n_positives
    true_positive = np.concatenate([[0.0], np.cumsum(hit)])
    return RocCurve(np.arange(score.size + 1.0) - true_positive, true_positive, -np.sort(-score))
