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
# Resamples are processed together up to so many vertices, and rows: they fit into the cache.
_VERTICES_AT_ONCE = 16_384
_ROWS_AT_ONCE = 1_000_000

# Maps seeds to the weights of their resamples by slot, one row per seed; an array per scorer.
Resample: TypeAlias = Callable[[AnyArray], list[AnyArray]]


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
        (total,) = self.summed_by([(np.arange(n_rows), n_rows)])(np.array([seed]))
        return np.asarray(total[0], dtype=np.float64)

    def summed_by(self, scorers: list[tuple[IntArray, int]]) -> Resample:
        """Return a function that draws once per seed and sums the weights of the rows by slot.

        Parameters
        ----------
        scorers : list of (ndarray of int, int)
            The slot of every row, and the number of slots; one pair per scorer of the same rows.
        """
        from aucuba.metrics._loops import add_counts

        one = self.sample
        parts = self._parts
        rest = np.ones(one.n_rows, dtype=bool)
        for rows in parts:
            rest[rows] = False
        # Short integers keep more in the processor's cache, of the rows and of what is drawn.
        kind = np.uint32 if one.weight is None else np.float64
        still = [np.bincount(slot[rest], one.weights[rest], n).astype(kind) for slot, n in scorers]
        slots = [[slot[rows].astype(np.int32) for rows in parts] for slot, _ in scorers]
        is_weighted = one.weight is not None and not self._draws_copies
        weights = [one.weights[rows] if is_weighted else None for rows in parts]

        def resample(seeds: AnyArray) -> list[AnyArray]:
            totals = [np.repeat(own[np.newaxis], seeds.size, axis=0) for own in still]
            for place, counts in enumerate(self._counts(seeds, parts)):
                for own, total in zip(slots, totals, strict=True):
                    add_counts(counts, own[place], weights[place], total)
            return totals

        return resample

    @property
    def _draws_copies(self) -> bool:
        return self.frequency and self.group is None and self.sample.weight is not None

    @property
    def _parts(self) -> list[IntArray]:
        """Rows that are drawn among each other."""
        positive = self.sample.positive
        if self.group is not None or not self.by_class:
            return [np.arange(positive.size)]
        return [np.flatnonzero(positive == one) for one in (True, False) if one is not self.still]

    def _counts(self, seeds: AnyArray, parts: list[IntArray]) -> Iterator[AnyArray]:
        """Draw how often every row of each part counts, with its group or in copies."""
        from aucuba.metrics._loops import count_drawn

        generators = [np.random.default_rng(seed) for seed in seeds] if self._draws_copies else []
        for number, rows in enumerate(parts):
            if self._draws_copies:
                copies = self.sample.weights[rows]
                n_copies, share = round(copies.sum()), copies / copies.sum()
                yield np.array([rng.multinomial(n_copies, share) for rng in generators])
                continue
            n_units = rows.size if self.group is None else int(self.group.max()) + 1
            counts = np.empty((seeds.size, n_units), dtype=np.uint8)
            count_drawn(seeds ^ np.uint64(number), counts)
            yield counts if self.group is None else counts.take(self.group, axis=1)


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
    resample = draw.summed_by([(one.slot, 2 * one.n_runs) for one in runs])
    rng = check_random_state(random_state)
    n_runs, n_rows = max(one.n_runs for one in runs), samples[0].n_rows
    at_once = max(1, min(_VERTICES_AT_ONCE // n_runs, _ROWS_AT_ONCE // n_rows))
    for first in range(0, n_resamples, at_once):
        totals = _good_totals(resample, min(at_once, n_resamples - first), rng)
        yield [one.curves(part) for one, part in zip(runs, totals, strict=True)]


def _good_totals(resample: Resample, n_wanted: int, rng: np.random.RandomState) -> list[AnyArray]:
    """Draw the weights of all scorers' slots in resamples that have rows of both classes."""
    found: list[list[AnyArray]] = []
    n_failed = 0
    while n_wanted and n_failed < _MOST_TRIES:
        totals = resample(rng.randint(2**64, size=n_wanted, dtype=np.uint64))
        has_both = totals[0].reshape(n_wanted, 2, -1).any(axis=-1).all(axis=-1)
        n_good = int(np.count_nonzero(has_both))
        found.append(totals if n_good == n_wanted else [one[has_both] for one in totals])
        n_failed = 0 if n_good else n_failed + n_wanted
        n_wanted -= n_good
    if n_wanted:
        raise ValueError(
            f"{_MOST_TRIES} resamples in a row have rows of one class only; more rows (or groups) of "
            "both classes are needed for a bootstrap."
        )
    if len(found) == 1:
        return found[0]
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]
