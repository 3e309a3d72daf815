"""Hinge risks of the partial AUC: the structural form, the tight form, and the full AUC."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._rank_weights import RankWeights
from aucuba._roc._sample import Sample
from aucuba.risks._ranking import (
    count_at_or_below,
    counted_unit,
    mean_over_ties,
    split_at,
    sum_of_first,
    tied_rank_weights,
    top,
)

# Width of a kink relative to the scores: margins this close to zero count as reached, since rounding
# would otherwise pick a side at random.
_KINK = 1e-12
# Whole numbers beyond this have no room for the ends of a rank.
_MOST_RANKS = 2.0**52
# A density has a piece for every rank. With more of them than this, and than ten per row, a rank stands
# for several rows of weight 1, which the density does not tell apart: it has 10,000 knots.
_MOST_PIECES = 20_000


class PrefixHinge:
    r"""Hinge over prefixes of the ranked negatives:

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} b_i \max_{0 \le r \le n}
               \sum_{j=1}^{r} u_j \Bigl(\frac{c_j}{u_j} + q_j - p_i\Bigr),
        \qquad Z = \sum_i b_i \sum_j c_j

    with positive scores :math:`p_i`, negative scores :math:`q_1 \ge \dots \ge q_n`, rank weights
    :math:`c_j` of the region, and masses :math:`u_j \ge c_j` that do not increase with the rank, so
    that R is convex and at least ``1 - pAUC``. `StructuralHinge` takes :math:`u_j = 1`,
    `TightHinge` the smallest masses allowed.

    **The oracle.** The best r for a positive maximises :math:`S_r - U_r p_i`, with :math:`S_r` and
    :math:`U_r` the partial sums of :math:`c_j + u_j q_j` and :math:`u_j`. It lies on the least concave
    majorant of S over U, whose slopes are the decreasing isotonic regression of
    :math:`c_j/u_j + q_j` with weights u: :math:`r_i` is the number of slopes at or above :math:`p_i`.
    This replaces the paper's Algorithm 1, holds for any :math:`c \ge 0`, and costs one sort, one pass
    of pool-adjacent-violators and one binary search per positive.

    **Weights.** A negative of weight k stands for k negatives in a row, each with its own rank
    weight, so a row that straddles a limit of the range is split there. One negative is a weight of 1
    if all weights are whole numbers (and not so large that counting them is in vain), otherwise the
    mean weight of a negative, so that real-valued weights may have any scale.

    **Two-way.** With ``min_tpr`` only the lowest positives count, ``b_i`` being the overlap of their
    ranks from the bottom with ``[0, m (1 - min_tpr)]``: a sum of largest terms, still convex.

    Parameters
    ----------
    sample : Sample
        Classes and weights of the rows; both classes present, weights positive.
    rank_weights : RankWeights
        ``c``: the part of the FPR axis that counts.
    mass_weights : RankWeights
        ``u``: non-increasing, at or above ``rank_weights``.
    min_tpr : float, default=0.0
        Lowest true positive rate that counts.
    """

    is_convex = True
    lower_bound = 0.0

    def __init__(
        self,
        sample: Sample,
        rank_weights: RankWeights,
        mass_weights: RankWeights,
        min_tpr: float = 0.0,
    ) -> None:
        self.rank_weights, self.mass_weights = rank_weights, mass_weights
        self.positive = np.flatnonzero(sample.positive)
        self.negative = np.flatnonzero(~sample.positive)
        weight = np.ones(sample.positive.size) if sample.weight is None else sample.weight
        self.positive_weight = _of_unit_size(weight[self.positive])
        self.bottom = RankWeights.from_range((0.0, 1.0 - min_tpr))
        self.is_ranked = False
        self.negative_weight: FloatArray | None = weight[self.negative]
        unit = self._unit(self.negative_weight)
        self.n = float(self.negative_weight.sum() / unit)
        if np.all(self.negative_weight == 1.0):
            self.negative_weight = None
            ranks = np.arange(np.ceil(self.n * mass_weights.last_rate) + 1.0)
            self.mass = mass_weights.between(ranks, self.n)
            self.margin = rank_weights.between(ranks, self.n) / self.mass
            # Margins that do not rise keep the targets in order; nothing is left to pool.
            self.is_ranked = bool(np.all(np.diff(self.margin) <= 0))
        else:
            self.negative_weight = self.negative_weight / unit
        self.total = float(
            self.positive_weight.sum() * (1.0 - min_tpr) * self.n * rank_weights.total
        )

    def _unit(self, weight: FloatArray) -> float:
        """Return the weight that stands for one negative."""
        most = _MOST_RANKS
        if self.rank_weights.density is not None:
            most = float(max(_MOST_PIECES, 10 * weight.size))
        return max(counted_unit(weight), float(weight.sum()) / most)

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        p, q = scores[self.positive], scores[self.negative]
        rows = top(q, self.n * self.mass_weights.last_rate, self.negative_weight)
        ranked = q[rows]
        del q
        piece, mass, margin = self._pieces(rows)
        target = margin + ranked[piece]
        slopes = target
        if not self.is_ranked:
            slopes = isotonic_regression(target, weights=mass, increasing=False).x
        by_score = np.argsort(p)
        counted = self._counted(p, by_score)
        level = p - _KINK * (1.0 + abs(ranked[0]) + abs(ranked[-1]))
        reached = slopes.size - np.searchsorted(slopes[::-1], level, side="left")
        below = np.concatenate([[0.0], np.cumsum(counted[by_score])])
        on_pieces = below[np.searchsorted(level[by_score], slopes, side="right")]
        del slopes
        on_pieces *= mass
        mass_above = sum_of_first(mass, reached)
        excess = sum_of_first(np.multiply(mass, target, out=target), reached) - mass_above * p
        del target
        on_rows = self._on_rows(rows, ranked, piece, on_pieces)
        del ranked, on_pieces
        on_rows /= self.total
        gradient = np.zeros_like(scores)
        gradient[self.positive] = -counted * mass_above / self.total
        gradient[self.negative[rows]] = on_rows
        return float(counted @ excess) / self.total, gradient

    def _on_rows(
        self, rows: IntArray, ranked: FloatArray, piece: Any, on_pieces: FloatArray
    ) -> FloatArray:
        """Sum the pieces of every row, and divide the sum of a tied block by weight."""
        if self.negative_weight is None:
            on_rows = on_pieces
            if on_pieces.size < rows.size:
                on_rows = np.concatenate([on_pieces, np.zeros(rows.size - on_pieces.size)])
            return mean_over_ties(ranked, None, on_rows)
        weight = self.negative_weight[rows]
        on_rows = np.bincount(piece, on_pieces, rows.size).astype(np.float64, copy=False)
        return weight * mean_over_ties(ranked, weight, on_rows / weight)

    def _counted(self, p: FloatArray, by_score: IntArray) -> FloatArray:
        """Return ``b``: the weights of the positives, of the lowest only in the two-way case."""
        if self.bottom.is_uniform:
            return self.positive_weight
        counted = np.empty_like(p)
        counted[by_score] = tied_rank_weights(
            p[by_score], self.positive_weight[by_score], self.bottom
        )
        return counted

    def _pieces(self, rows: IntArray) -> tuple[Any, FloatArray, FloatArray]:
        """Cut ranked rows where masses or margins change: (row of a piece, mass, margin)."""
        if self.negative_weight is None:
            return slice(self.mass.size), self.mass, self.margin
        cuts = np.concatenate([self.rank_weights.cuts(self.n), self.mass_weights.cuts(self.n)])
        piece, size, middle = split_at(self.negative_weight[rows], cuts)
        # Every piece has the mean weight of the rank that it is a part of.
        rank = np.stack([np.ceil(middle) - 1.0, np.ceil(middle)], axis=1)
        mass = self.mass_weights.between(rank, self.n)[:, 0]
        counts = self.rank_weights.between(rank, self.n)[:, 0]
        kept = mass > 0
        return piece[kept], (size * mass)[kept], counts[kept] / mass[kept]


class StructuralHinge(PrefixHinge):
    r"""The structural hinge of the partial AUC SVM (OP1, Narasimhan and Agarwal, ICML 2013):

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} \max_{0 \le r \le n} \sum_{j=1}^{r} (c_j + q_j - p_i)

    `PrefixHinge` with unit masses: every negative stays in the margin term.

    Parameters
    ----------
    sample : Sample
    rank_weights : RankWeights, default=None
        All of the FPR axis by default.
    """

    def __init__(self, sample: Sample, rank_weights: RankWeights | None = None) -> None:
        everything = RankWeights.from_range()
        super().__init__(sample, rank_weights or everything, everything)


class TightHinge(PrefixHinge):
    r"""The tight hinge (Narasimhan and Agarwal, KDD 2013): hinge on the range's negatives only,

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} \sum_{j=1}^{n} c_j (1 + q_j - p_i)_+
        \quad\text{for ranges } [0, \beta],

    and its convex bound, a hinge over prefixes of the top :math:`\beta` negatives, for
    :math:`\alpha > 0`. `PrefixHinge` with the smallest non-increasing masses above the rank weights,
    which also covers any other weighting of the FPR axis.

    Parameters
    ----------
    sample : Sample
    rank_weights : RankWeights, default=None
        All of the FPR axis by default.
    min_tpr : float, default=0.0
        Lowest true positive rate that counts (two-way partial AUC).
    """

    def __init__(
        self, sample: Sample, rank_weights: RankWeights | None = None, min_tpr: float = 0.0
    ) -> None:
        rank_weights = rank_weights or RankWeights.from_range()
        super().__init__(sample, rank_weights, rank_weights.envelope(), min_tpr)


class PairwiseHinge:
    r"""The mean pairwise hinge of SVM-AUC (Joachims 2005), both hinges above on the range (0, 1):

    .. math::
        R(s) = \frac{1}{m n} \sum_{i=1}^{m} \sum_{j=1}^{n} (1 + q_j - p_i)_+

    Without rank weights nothing needs the order of the negatives: one sort of the positives and a
    binary search for every negative.

    Parameters
    ----------
    sample : Sample
    """

    is_convex = True
    lower_bound = 0.0

    def __init__(self, sample: Sample) -> None:
        self.positive = np.flatnonzero(sample.positive)
        self.negative = np.flatnonzero(~sample.positive)
        weight = np.ones(sample.positive.size) if sample.weight is None else sample.weight
        self.positive_weight = _of_unit_size(weight[self.positive])
        self.negative_weight = _of_unit_size(weight[self.negative])
        self.total = float(self.positive_weight.sum() * self.negative_weight.sum())

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        p, q = scores[self.positive], scores[self.negative]
        by_score = np.argsort(p)
        ranked, weight = p[by_score], self.positive_weight[by_score]
        width = _KINK * (1.0 + abs(ranked[0]) + abs(ranked[-1]))
        reached = count_at_or_below(ranked, q + (1.0 + width))
        weight_below = np.concatenate([[0.0], np.cumsum(weight)])[reached]
        sum_below = np.concatenate([[0.0], np.cumsum(weight * ranked)])[reached]
        value = self.negative_weight @ (weight_below * (1.0 + q) - sum_below) / self.total

        # A negative that reaches k positives reaches the k lowest of them.
        by_reach = np.bincount(reached, self.negative_weight, ranked.size + 1)
        above = np.cumsum(by_reach[::-1])[::-1][1:]
        gradient = np.empty_like(scores)
        gradient[self.positive[by_score]] = -weight * above / self.total
        gradient[self.negative] = self.negative_weight * weight_below / self.total
        return float(value), gradient


def _of_unit_size(weight: FloatArray) -> FloatArray:
    """Divide the weights by a power of two to a sum in [1/2, 1), so that products stay finite."""
    scaled: FloatArray = np.ldexp(weight, -np.frexp(weight.sum())[1])
    return scaled
