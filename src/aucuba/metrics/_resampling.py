"""Resamples of rows, groups or queries, and the values of measures on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._roc._curve import RocCurve
from aucuba._roc._runs import Runs
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics._roc_measure import RocMeasure

# A resample without one of the classes has no curve; give up after this many in a row.
_MOST_TRIES = 1000
# Resamples are processed together up to this many vertices, which fit into the processor's cache.
_VERTICES_AT_ONCE = 16_384

# Maps seeds to the weights of their resamples by slot, one row per seed.
Resample: TypeAlias = Callable[[AnyArray], FloatArray]


@dataclass(frozen=True)
class Draw:
    """How a fresh sample would be drawn.

    Parameters
    ----------
    sample : Sample
        Class and weight of the rows that stand for the population.
    by_class : bool
        Draw either class in its own number; else draw rows of both together.
    group : ndarray of int or None
        Number of each row's group, where whole groups are drawn.
    frequency : bool
        Whether a weight is a number of equal rows, each drawn by itself; else a drawn row keeps its
        weight.
    still : bool or None
        The class that is not resampled, if any.
    """

    sample: Sample
    by_class: bool
    group: IntArray | None = None
    frequency: bool = False
    still: bool | None = None

    def weights(self, seed: np.uint64) -> FloatArray:
        """Draw once: the weight of every row in the resample."""
        n_rows = self.sample.n_rows
        return np.asarray(self.summed_by(np.arange(n_rows), n_rows)(np.array([seed]))[0])

    def summed_by(self, slot: IntArray, n_slots: int) -> Resample:
        """Return a function that draws once per seed and sums the weights of the rows by slot."""
        if self.group is not None:
            return self._of_groups(slot, n_slots)
        if self.frequency and self.sample.weight is not None:
            return self._of_copies(slot, n_slots)
        return self._of_rows(slot, n_slots)

    def _of_rows(self, slot: IntArray, n_slots: int) -> Resample:
        from aucuba.metrics._loops import count_drawn, sum_drawn

        weight, is_weighted = self.sample.weights, self.sample.weight is not None
        # Short integers keep more of the rows in the processor's cache.
        parts = [(slot[rows].astype(np.int32), weight[rows]) for rows in self._parts]
        rest = self.sample.positive == self.still
        base = np.bincount(slot[rest], weight[rest], n_slots).astype(np.float64)

        def resample(seeds: AnyArray) -> FloatArray:
            totals = np.tile(base, (seeds.size, 1))
            for number, (slots, kept) in enumerate(parts):
                if is_weighted:
                    sum_drawn(seeds ^ np.uint64(number), slots, kept, totals)
                else:
                    count_drawn(seeds ^ np.uint64(number), slots, totals)
            return totals

        return resample

    def _of_groups(self, slot: IntArray, n_slots: int) -> Resample:
        from aucuba.metrics._loops import count_drawn, sum_units

        assert self.group is not None
        group, weight = self.group, self.sample.weights
        units = np.arange(int(group.max()) + 1, dtype=np.int32)

        def resample(seeds: AnyArray) -> FloatArray:
            totals = np.zeros((seeds.size, n_slots))
            # Groups may be many more than slots: their counts are kept for one resample at a time.
            for place, total in enumerate(totals):
                counts = np.zeros((1, units.size))
                count_drawn(seeds[place : place + 1], units, counts)
                sum_units(counts[0], group, slot, weight, total)
            return totals

        return resample

    def _of_copies(self, slot: IntArray, n_slots: int) -> Resample:
        parts = [(slot[rows], self.sample.weights[rows]) for rows in self._parts]

        def resample(seeds: AnyArray) -> FloatArray:
            totals = np.zeros((seeds.size, n_slots))
            for seed, total in zip(seeds, totals, strict=True):
                rng = np.random.default_rng(seed)
                for slots, copies in parts:
                    drawn = rng.multinomial(round(copies.sum()), copies / copies.sum())
                    total += np.bincount(slots, drawn, n_slots)
            return totals

        return resample

    @property
    def _parts(self) -> list[IntArray]:
        """Rows that are drawn among each other."""
        positive = self.sample.positive
        if not self.by_class:
            return [np.arange(positive.size)]
        return [np.flatnonzero(positive == one) for one in (True, False) if one is not self.still]


def resampled_curves(
    sample: RankingSample,
    draw: Draw,
    n_resamples: int,
    random_state: Any,
    cuts: tuple[float, ...] | None = (),
) -> Iterator[RocCurve]:
    """Draw the curves of resamples of one scorer, some at a time along a leading axis."""
    for curves in _common_curves([sample], draw, n_resamples, random_state, cuts):
        yield curves[0]


def bootstrap(
    measure: RocMeasure,
    samples: list[RankingSample],
    draw: Draw,
    n_resamples: int,
    random_state: Any,
) -> FloatArray:
    """Compute the measure of every scorer on common resamples, shape (n_scorers, n_resamples).

    Rows are sorted once. Memory stays that of a few vectors of rows, whatever the number of resamples.
    """
    n_rows = samples[0].n_rows
    values = [
        [measure.of_curve(curve, n_rows) for curve in curves]
        for curves in _common_curves(
            samples, draw, n_resamples, random_state, measure.cuts, measure.steps
        )
    ]
    return np.concatenate(values, axis=1)


def bootstrap_means(values: FloatArray, n_resamples: int, random_state: Any) -> FloatArray:
    """Means over resampled queries of one value per query, shape (n_scorers, n_resamples)."""
    rng = check_random_state(random_state)
    chosen = rng.randint(values.shape[1], size=(n_resamples, values.shape[1]))
    return np.asarray(values[:, chosen].mean(axis=2))


def _common_curves(
    samples: list[RankingSample],
    draw: Draw,
    n_resamples: int,
    random_state: Any,
    cuts: tuple[float, ...] | None,
    steps: bool = False,
) -> Iterator[list[RocCurve]]:
    """Draw the curves of all scorers on common resamples, some at a time."""
    runs = [Runs.from_sample(one, cuts, steps) for one in samples]
    resamples = [draw.summed_by(one.slot, 2 * one.n_runs) for one in runs]
    rng = check_random_state(random_state)
    at_once = max(1, _VERTICES_AT_ONCE // max(one.n_runs for one in runs))
    for first in range(0, n_resamples, at_once):
        totals = _good_totals(resamples, min(at_once, n_resamples - first), rng)
        yield [one.curves(part) for one, part in zip(runs, totals, strict=True)]


def _good_totals(
    resamples: list[Resample], n_wanted: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Draw the weights of all scorers' slots in resamples that have rows of both classes."""
    found: list[list[FloatArray]] = []
    n_failed = 0
    while n_wanted and n_failed < _MOST_TRIES:
        seeds = rng.randint(2**64, size=n_wanted, dtype=np.uint64)
        first = resamples[0](seeds)
        has_both = first.reshape(n_wanted, 2, -1).any(axis=-1).all(axis=-1)
        found.append([first[has_both], *(draw(seeds[has_both]) for draw in resamples[1:])])
        n_good = int(np.count_nonzero(has_both))
        n_failed = 0 if n_good else n_failed + n_wanted
        n_wanted -= n_good
    if n_wanted:
        raise ValueError(
            f"{_MOST_TRIES} resamples in a row have rows of one class only; more rows (or groups) of "
            "both classes are needed for a bootstrap."
        )
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]
