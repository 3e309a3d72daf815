"""Sorting, splitting and averaging by rank, for all risks."""

from __future__ import annotations

import numpy as np

from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._rank_weights import RankWeights


def top(scores: FloatArray, count: float, weight: FloatArray | None) -> IntArray:
    """Return the rows in decreasing order of score, down to ``count`` of them and all ties of the last.

    With weights the rows that matter are not known before the sort, so all are returned.
    """
    keep = int(np.ceil(count))
    if weight is not None or keep >= scores.size:
        return np.argsort(scores)[::-1]
    last = np.partition(scores, scores.size - keep)[scores.size - keep]
    rows = np.flatnonzero(scores >= last)
    return rows[np.argsort(scores[rows])[::-1]]


def count_at_or_below(ranked: FloatArray, values: FloatArray) -> IntArray:
    """Count the entries of ``ranked`` at or below each value, fast for many values in random order.

    A grid over the range of ``ranked`` places most values at once: an increasing function of the
    score keeps the order, so only cells that hold an entry of ``ranked`` need a binary search, whose
    branches the processor cannot predict.
    """
    low, high = float(ranked[0]), float(ranked[-1])
    if values.size < 4 * ranked.size or not low < high:
        return np.searchsorted(ranked, values, side="right")
    n_cells = 8 * ranked.size
    scale = n_cells / (high - low)
    if not np.isfinite(scale):
        return np.searchsorted(ranked, values, side="right")
    cell = np.clip((values - low) * scale, 0.0, n_cells + 1.0).astype(np.int32)
    own = np.clip((ranked - low) * scale, 0.0, n_cells + 1.0).astype(np.int32)
    starts = np.searchsorted(own, np.arange(n_cells + 3))
    count = starts[cell]
    open_cells = np.flatnonzero(starts[cell + 1] > count)
    count[open_cells] = np.searchsorted(ranked, values[open_cells], side="right")
    return count


def mean_over_ties(ranked: FloatArray, mass: FloatArray | None, values: FloatArray) -> FloatArray:
    """Average the values over blocks of equal score, by mass (None: all equal).

    Every order of a block gives a subgradient, so the mean is one too, and it does not depend on the
    order of the rows.
    """
    differs = ranked[1:] != ranked[:-1]
    if differs.all():
        return values
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    sizes = np.diff(starts, append=ranked.size)
    if mass is None:
        return np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
    total = np.add.reduceat(mass, starts)
    means = np.add.reduceat(mass * values, starts) / np.where(total > 0, total, 1.0)
    return np.repeat(means, sizes)


def sum_of_first(values: FloatArray, counts: IntArray) -> FloatArray:
    """Return the sums of the first ``count`` values, one for each count."""
    sums = np.cumsum(values)
    return np.where(counts > 0, sums[counts - 1], 0.0)


def tied_rank_weights(ranked: FloatArray, weight: FloatArray, weights: RankWeights) -> FloatArray:
    """Compute the rank weight of every row; rows of equal score divide theirs by weight.

    ``ranked`` may be the top of a longer list; ``weight`` is then that of the rows shown, followed by
    one entry for the rest.
    """
    edges = np.concatenate([[0.0], np.cumsum(weight)])
    rank_mass = weights.between(edges[: ranked.size + 1], edges[-1])
    mass = weight[: ranked.size]
    return mass * mean_over_ties(ranked, mass, rank_mass / mass)


def counted_unit(weight: FloatArray) -> float:
    """Return the weight that stands for one row: 1 for whole-number weights, else their mean."""
    return 1.0 if np.all(weight == np.floor(weight)) else float(weight.mean())


def split_at(weight: FloatArray, cuts: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Cut weighted rows in a line at the given places: (row of a piece, its mass, its middle)."""
    ends = np.cumsum(weight)
    n = ends[-1]
    edges = np.unique(np.concatenate([ends, cuts[(cuts > 0) & (cuts < n)]]))
    pieces = np.diff(edges, prepend=0.0)
    # Edges that differ by rounding only leave a sliver that belongs to either neighbour.
    kept = pieces > 1e-12 * n
    edges, pieces = edges[kept], pieces[kept]
    middle = edges - pieces / 2
    return np.minimum(np.searchsorted(ends, middle), weight.size - 1), pieces, middle
