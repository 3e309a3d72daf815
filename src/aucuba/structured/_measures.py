r"""The AUC and its generalisations (Rosenfeld et al., AISTATS 2014, Section 5) as weighted rows.

A ranking of n items is a chain of sets: row ``k`` holds the :math:`\kappa_k` top-ranked items and
counts with weight :math:`\omega_k`. With bins of sizes :math:`b_1, \dots, b_K`

.. math::
    \kappa_k = b_1 + \dots + b_k, \quad \omega_k = \tfrac12 (b_k + b_{k+1}), \; b_{K+1} = 0, \qquad
    P N \,\mathrm{AUC} = \sum_k \omega_k P_k - \tfrac12 P^2

where :math:`P_k` is the number of positives in row k and pairs inside one bin count one half. All
measures here have this form, so one set of scores is optimal for all of them and only the weights
differ. The last row contains all items: its weight adds a constant and changes no ranking.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import binary_target, check_choice, check_positive_number
from aucuba.metrics import auc_at_k_score, binned_auc_score

# Smaller differences, relative to the largest score of the graph, are rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rows:
    """Sizes and weights of the rows of a ranking matrix, smallest row first."""

    cardinality: FloatArray
    weight: FloatArray

    def position_weight(self) -> FloatArray:
        """Return the total weight of the rows that hold the item in position 1, 2, ..., n."""
        tail = np.cumsum(self.weight[::-1])[::-1]
        sizes = np.diff(self.cardinality, prepend=0.0).astype(np.intp)
        return np.repeat(tail, sizes)


class Measure(ABC):
    """AUC of a binned ranking; subclasses define how n items are cut into bins."""

    nested: ClassVar[bool] = True

    @abstractmethod
    def bin_sizes(self, n_items: int) -> FloatArray:
        """Return the sizes of the bins, best bin first; they sum to ``n_items``."""

    @abstractmethod
    def score(self, positive: BoolArray, scores: FloatArray) -> float:
        """Measure a ranking by scores, with ties counted one half."""

    def rows(self, n_items: int) -> Rows:
        """Return the rows of a ranking of ``n_items``."""
        sizes = self.bin_sizes(n_items)
        return Rows(np.cumsum(sizes), (sizes + np.append(sizes[1:], 0.0)) / 2)


@dataclass(frozen=True)
class AUC(Measure):
    """The area under the ROC curve: every item is a bin."""

    def bin_sizes(self, n_items: int) -> FloatArray:
        return np.ones(n_items)

    def score(self, positive: BoolArray, scores: FloatArray) -> float:
        return binned_auc_score(positive, scores, bin_sizes=1)


@dataclass(frozen=True)
class BinnedAUC(Measure):
    """AUC of a ranking read in bins; pairs inside one bin count one half.

    Parameters
    ----------
    sizes : int or sequence of int
        One size for all bins (the last may be smaller), or the sizes in order, best bin first. Items
        beyond the last size form one more bin, and sizes beyond the number of items are cut off, so one
        choice fits graphs of all sizes.
    """

    sizes: int | Sequence[int]

    def __post_init__(self) -> None:
        wanted = [self.sizes] if isinstance(self.sizes, int | np.integer) else list(self.sizes)
        if not wanted:
            raise ValueError("sizes is empty: give at least one bin size.")
        for size in wanted:
            check_positive_number(size, "a bin size", integer=True)

    def bin_sizes(self, n_items: int) -> FloatArray:
        if isinstance(self.sizes, int | np.integer):
            ends = np.arange(int(self.sizes), n_items, int(self.sizes), dtype=float)
        else:
            ends = np.cumsum(np.asarray(self.sizes, dtype=float))
        ends = np.append(ends[ends < n_items], n_items)
        return np.diff(ends, prepend=0.0)

    def score(self, positive: BoolArray, scores: FloatArray) -> float:
        return binned_auc_score(positive, scores, bin_sizes=self.bin_sizes(scores.size).tolist())


@dataclass(frozen=True)
class AUCAtK(Measure):
    """AUC in which only the order of the top ``k`` counts: k bins of one item, and one of the rest."""

    k: int

    def __post_init__(self) -> None:
        check_positive_number(self.k, "k", integer=True)

    def bin_sizes(self, n_items: int) -> FloatArray:
        top = min(int(self.k), n_items)
        rest = [float(n_items - top)] if n_items > top else []
        return np.append(np.ones(top), rest)

    def score(self, positive: BoolArray, scores: FloatArray) -> float:
        return auc_at_k_score(positive, scores, k=int(self.k))


@dataclass(frozen=True)
class UnnestedAUC(Measure):
    """AUC of sets that need not be nested: every size has its own best set.

    With attractive pairs the best relaxed rows are nested anyway, and the measure equals the AUC; with
    repelling pairs they may not be.

    Parameters
    ----------
    sizes : int, default=1
        Difference between the sizes of consecutive sets.
    """

    sizes: int = 1
    nested: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive_number(self.sizes, "sizes", integer=True)

    def bin_sizes(self, n_items: int) -> FloatArray:
        return BinnedAUC(int(self.sizes)).bin_sizes(n_items)

    def score(self, positive: BoolArray, scores: FloatArray) -> float:
        return binned_auc_score(positive, scores, bin_sizes=int(self.sizes))


_NAMED = {"auc": AUC(), "unnested": UnnestedAUC()}


def as_measure(measure: str | Measure) -> Measure:
    """Return a measure object, given as such or by one of the names "auc" and "unnested"."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(
            f"measure must be 'auc', 'unnested' or a Measure such as BinnedAUC(20), got "
            f"{measure!r}."
        )
    return _NAMED[check_choice(measure, "measure", tuple(_NAMED))]


def ranking_mass(
    score: FloatArray,
    graph: IntArray,
    position_weight: FloatArray,
    ahead: BoolArray | None = None,
) -> FloatArray:
    """Return the mass of every item when graphs are ranked by score and ties split their positions.

    Parameters
    ----------
    score : array of shape (n_nodes,)
    graph : array of shape (n_nodes,)
        Non-decreasing graph numbers.
    position_weight : array of shape (n_nodes,)
        Weights of the positions 1, 2, ... of every graph, graph after graph.
    ahead : array of bool, optional
        Items that rank before all others of their graph, regardless of score.
    """
    behind = np.zeros(score.size, dtype=bool) if ahead is None else ~ahead
    order = np.lexsort((-score, behind, graph))
    changes = np.diff(graph[order]).astype(bool)
    changes |= np.diff(behind[order].astype(np.int8)).astype(bool)
    changes |= np.diff(score[order]).astype(bool)
    starts = np.append(0, np.flatnonzero(changes) + 1) if score.size else np.zeros(0, dtype=np.intp)
    lengths = np.diff(np.append(starts, score.size))
    mass = np.empty(score.size)
    if score.size:
        mass[order] = np.repeat(np.add.reduceat(position_weight, starts) / lengths, lengths)
    return mass


def ranking_rows(score: FloatArray, rows: Rows) -> FloatArray:
    """Return the fractional ranking matrix of one graph; tied items share their positions equally."""
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan))
    lengths = np.diff(np.append(starts, score.size))
    inside = (rows.cardinality[:, None] - starts) / lengths
    matrix = np.empty((rows.cardinality.size, score.size))
    matrix[:, order] = np.repeat(np.clip(inside, 0.0, 1.0), lengths, axis=1)
    return matrix


def merge_rounding_ties(score: FloatArray, graph: IntArray) -> FloatArray:
    """Give one common value to scores of a graph that differ only by rounding errors.

    Parts of a graph reach equal scores through different sums; otherwise the order of the edges would
    break ties.
    """
    order = np.lexsort((score, graph))
    ranked, owner = score[order], graph[order]
    largest = np.zeros(int(graph.max(initial=-1)) + 1)
    np.maximum.at(largest, graph, np.abs(score))
    apart = np.diff(ranked) > _ROUNDING * largest[owner[1:]]
    starts = (
        np.append(True, apart | (np.diff(owner) > 0)) if score.size else np.zeros(0, dtype=bool)
    )
    merged = np.empty_like(score)
    merged[order] = ranked[starts][np.cumsum(starts) - 1]
    return merged


def unnested_auc_score(
    y_true: ArrayLike, sets: ArrayLike | Sequence[Sequence[int]], *, pos_label: Any = None
) -> float:
    r"""Compute the AUC of sets of growing size that need not contain one another.

    .. math::
        P N \,\mathrm{AUC} = \sum_k \omega_k P_k - \tfrac12 P^2, \qquad
        \omega_k = \tfrac12 (b_k + b_{k+1}), \quad b_{K+1} = 0

    where :math:`P_k` is the number of positives in set k and :math:`b_k` the growth in size from set
    k - 1 to set k (Rosenfeld et al., AISTATS 2014, Section 5). For the top-k sets of a ranking it is
    the AUC, for the sets at the ends of bins `aucuba.metrics.binned_auc_score`. Sets that contradict
    one another can have values below 0.

    Parameters
    ----------
    y_true : array of shape (n_items,)
        Binary labels.
    sets : array of shape (n_sets, n_items), or sequence of lists of item numbers
        Indicators, possibly fractional, or members of each set. Sizes must grow; a last set of all
        items is added if it is missing.
    pos_label : label, optional
        The positive label; the larger one by default.

    Returns
    -------
    float

    Examples
    --------
    >>> from aucuba.structured import unnested_auc_score
    >>> unnested_auc_score([1, 0, 1, 0], [[0], [0, 1], [0, 1, 2]])
    0.75
    >>> unnested_auc_score([1, 0, 1, 0], [[0], [0, 2], [0, 1, 2]])
    1.0
    """
    positive = binary_target(y_true, pos_label)
    rows = _indicators(sets, positive.size)
    cardinality = rows.sum(axis=1)
    if cardinality.size == 0 or not np.isclose(cardinality[-1], positive.size):
        rows = np.concatenate([rows, np.ones((1, positive.size))])
        cardinality = np.append(cardinality, positive.size)
    growth = np.diff(cardinality, prepend=0.0)
    if growth.min() <= 0:
        at = int(growth.argmin())
        raise ValueError(
            f"The sizes of sets must grow, but set {at} has size {cardinality[at]:g} after "
            f"{cardinality[at] - growth[at]:g}. Sort the sets by size and keep one of each size."
        )
    weight = (growth + np.append(growth[1:], 0.0)) / 2
    n_positive = int(positive.sum())
    area = weight @ rows[:, positive].sum(axis=1) - n_positive**2 / 2
    return float(area / (n_positive * (positive.size - n_positive)))


def _indicators(sets: Any, n_items: int) -> FloatArray:
    """Return rows in [0, 1], from an indicator matrix or from lists of members."""
    if isinstance(sets, np.ndarray) and sets.ndim == 2:
        rows = sets.astype(float)
        if rows.shape[1] != n_items:
            raise ValueError(f"sets has {rows.shape[1]} columns for {n_items} items.")
        outside = (rows < -1e-9) | (rows > 1 + 1e-9) | ~np.isfinite(rows)
        if outside.any():
            raise ValueError(f"sets must hold indicators in [0, 1], got {rows[outside][0]}.")
        return rows
    rows = np.zeros((len(sets), n_items))
    for row, members in zip(rows, sets, strict=True):
        index = np.asarray(members)
        if index.size and index.dtype.kind not in "iu":
            raise ValueError(f"A set must list item numbers, got {members!r}.")
        index = index.astype(np.intp)
        if index.size and (index.min() < 0 or index.max() >= n_items):
            raise ValueError(f"Items are numbered 0 to {n_items - 1}, got {members!r}.")
        if np.unique(index).size != index.size:
            raise ValueError(f"A set lists an item twice: {members!r}.")
        row[index] = 1.0
    return rows
