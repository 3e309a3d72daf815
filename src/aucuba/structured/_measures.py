r"""The AUC and its generalisations (Rosenfeld et al., AISTATS 2014, Section 5) as weighted rows.

A ranking of n items is a chain of sets: row ``k`` holds the :math:`\kappa_k` top-ranked items and
counts with weight :math:`\omega_k`. With bins of sizes :math:`b_1, \dots, b_K`

.. math::
    \kappa_k = b_1 + \dots + b_k, \quad \omega_k = \tfrac12 (b_k + b_{k+1}), \; b_{K+1} = 0, \qquad
    P N \,\mathrm{AUC} = \sum_k \omega_k P_k - \tfrac12 P^2

where :math:`P_k` is the number of positives in row k and pairs inside one bin count one half. All
measures here are of this form, so one set of scores solves all of them and only the weights change.
The last row holds everything: its weight moves every value by the same constant and no ranking.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._validation import check_choice, check_positive_number
from aucuba.metrics import auc_at_k_score, binned_auc_score


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
    """An AUC of binned rankings; subclasses say how n items are cut into bins."""

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
        One size for all bins (the last one smaller), or the sizes in order, best bin first. Sizes
        that do not reach the number of items end with one bin for the rest; sizes beyond it are
        cut off, so that one choice fits graphs of all sizes.
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
    """AUC in which only the order of the top ``k`` counts: k bins of one item, one of the rest."""

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
    """AUC of sets that need not be nested: for every size its own best set.

    With attractive pairs the relaxed rows are nested by themselves, and the measure equals the AUC;
    with mixed signs they may not be, and nestedness is not asked for.

    Parameters
    ----------
    sizes : int, default=1
        Difference between the sizes of two following sets.
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
    """Return a measure object, given itself or one of the names "auc" and "unnested"."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(
            f"measure must be 'auc', 'unnested' or a Measure such as BinnedAUC(20), got "
            f"{measure!r}."
        )
    return _NAMED[check_choice(measure, "measure", tuple(_NAMED))]
