"""Resamples of rows, clusters or queries, and the values of measures on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._curve import SortedRows, roc_curve
from aucuba._roc._sample import RankingSample, Sample
from aucuba.metrics._measures import Measure

# A resample without one of the classes has no curve; so many in a row mean that there is none.
_MOST_TRIES = 1000


@dataclass(frozen=True)
class Draw:
    """What a fresh sample would look like.

    Parameters
    ----------
    sample : Sample
        Class and weight of the rows that stand for the population.
    by_class : bool
        Draw either class in its own number; else draw rows of both together.
    cluster : ndarray of int or None
        Number of each row's cluster, where whole clusters are drawn.
    frequency : bool
        Whether a weight is a number of equal rows, each drawn by itself; else a drawn row keeps its
        weight.
    """

    sample: Sample
    by_class: bool
    cluster: IntArray | None = None
    frequency: bool = False

    def weights(self, rng: np.random.RandomState) -> FloatArray:
        """Draw once: the weight of every row in the resample."""
        for _ in range(_MOST_TRIES):
            weight = self._once(rng)
            found = self.sample.positive @ weight
            if 0 < found < weight.sum():
                return weight
        raise ValueError(
            f"{_MOST_TRIES} resamples in a row have rows of one class only; more rows (or clusters) of "
            "both classes are needed for a bootstrap."
        )

    def _once(self, rng: np.random.RandomState) -> FloatArray:
        positive, kept = self.sample.positive, self.sample.weight
        if self.cluster is not None:
            n_clusters = int(self.cluster.max()) + 1
            drawn = np.bincount(rng.randint(n_clusters, size=n_clusters), minlength=n_clusters)
            return drawn[self.cluster] * self.sample.weights
        parts = [positive, ~positive] if self.by_class else [np.ones(positive.size, dtype=bool)]
        counts = np.empty(positive.size)
        for part in parts:
            rows = np.flatnonzero(part)
            if self.frequency and kept is not None:
                total = kept[rows].sum()
                counts[rows] = rng.multinomial(round(total), kept[rows] / total)
            else:
                drawn = rng.randint(rows.size, size=rows.size)
                counts[rows] = np.bincount(drawn, minlength=rows.size)
        return counts if kept is None or self.frequency else counts * kept


def bootstrap(
    measure: Measure,
    samples: list[RankingSample],
    draw: Draw,
    n_resamples: int,
    random_state: Any,
) -> FloatArray:
    """Compute the measure of every scorer on common resamples, shape (n_scorers, n_resamples).

    Memory stays that of a few vectors of rows, whatever the number of resamples.
    """
    rng = check_random_state(random_state)
    rows = [SortedRows.from_scores(one.score) for one in samples]
    values = np.empty((len(samples), n_resamples))
    for number in range(n_resamples):
        weight = draw.weights(rng)
        for scorer, one in enumerate(samples):
            curve = roc_curve(replace(one, weight=weight), rows[scorer])
            values[scorer, number] = measure.of_curve(curve, one.n_rows)
    return values


def bootstrap_means(values: FloatArray, n_resamples: int, random_state: Any) -> FloatArray:
    """Means over resampled queries of one value per query, shape (n_scorers, n_resamples)."""
    rng = check_random_state(random_state)
    chosen = rng.randint(values.shape[1], size=(n_resamples, values.shape[1]))
    return values[:, chosen].mean(axis=2)
