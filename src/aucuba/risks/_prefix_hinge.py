"""Hinge risks of the partial AUC: the structural form, the tight form, and the full AUC."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from aucuba._base._arrays import Vector, arrays_of, scaled_by_power_of_two
from aucuba._roc._region import RankWeights
from aucuba._rows._sample import Sample
from aucuba.risks._base import (
    counted_unit,
    split_at,
    sum_of_first,
    tied_rank_weights,
    top,
)

# Width of a kink relative to the scores: margins this close to zero count as reached, because rounding
# would otherwise choose a side at random.
KINK = 1e-12
# Beyond this, doubles cannot represent the ends of a rank.
_MOST_RANKS = 2.0**52
# A density has one piece per rank. With more ranks than this, and than ten per row, one rank stands for
# several rows of weight 1; the density, which has 10,000 knots, does not tell these apart.
_MOST_PIECES = 20_000
# Sorting fewer negatives takes less time than searching for each of them.
_LONG_TAIL = 2_000


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
    of pool-adjacent-violators and one binary search per positive. Beyond the last rank that counts,
    where the structural form has :math:`c_j = 0` and :math:`u_j = 1`, the slopes are the scores
    themselves, and their order is not needed (``reach_from_below``).

    **Weights.** A negative of weight k stands for k negatives in a row, each with its own rank
    weight, so a row that straddles a limit of the range is split there. One negative is a weight of 1
    if all weights are whole numbers (and small enough to be counted), otherwise the mean weight of a
    negative, so that real-valued weights may have any scale.

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
        arrays = self.arrays = arrays_of(sample.positive)
        self.rank_weights, self.mass_weights = rank_weights, mass_weights
        self.positive = arrays.places(sample.positive)
        self.negative = arrays.places(~sample.positive)
        self.positive_weight = _of_unit_size(sample.weights[self.positive])
        self.bottom = RankWeights.from_range((0.0, 1.0 - min_tpr))
        self.is_ranked = self.has_tail = False
        self.last_rate = mass_weights.last_rate
        self.negative_weight: Vector | None = sample.weights[self.negative]
        unit = self._unit(self.negative_weight)
        self.n = float(self.negative_weight.sum()) / unit
        if bool((self.negative_weight == 1.0).all()):
            self.negative_weight = None
            self.has_tail = (
                mass_weights.is_uniform
                and rank_weights.last_rate < 1.0
                and len(self.negative) >= _LONG_TAIL
            )
            if self.has_tail:
                self.last_rate = rank_weights.last_rate
            ranks = arrays.running_sum(arrays.ones(math.ceil(self.n * self.last_rate)))
            self.mass = mass_weights.between(ranks, self.n)
            self.margin = rank_weights.between(ranks, self.n) / self.mass
            # If margins do not rise, the targets are in order and there is nothing to pool.
            self.is_ranked = bool((self.margin[1:] <= self.margin[:-1]).all())
        else:
            self.negative_weight = self.negative_weight / unit
        self.total = float(
            self.positive_weight.sum() * (1.0 - min_tpr) * self.n * rank_weights.total
        )

    def _unit(self, weight: Vector) -> float:
        """Return the weight that stands for one negative."""
        most = float(most_ranks(self.rank_weights, len(weight)))
        return max(counted_unit(weight), float(weight.sum()) / most)

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        arrays = self.arrays
        p, q = scores[self.positive], scores[self.negative]
        rows = top(q, self.n * self.last_rate, self.negative_weight)
        ranked = q[rows]
        piece, mass, margin = self._pieces(rows)
        target = margin + ranked[piece]
        slopes = target if self.is_ranked else arrays.decreasing_regression(target, mass)
        # Searching for sorted values is fast, so keep the positives in the order of their scores.
        by_score = arrays.order(p)
        p, counted = p[by_score], self._counted(p, by_score)
        lowest = q.min() if self.has_tail else ranked[-1]
        level = p - KINK * (1.0 + abs(ranked[0]) + abs(lowest))
        reached = len(slopes) - arrays.search(arrays.flip(slopes), level)
        below = arrays.running_sum(counted)
        on_pieces = below[arrays.search(level, slopes, "right")]
        on_pieces *= mass
        mass_above = sum_of_first(mass, reached)
        target *= mass
        value = float(counted @ (sum_of_first(target, reached) - mass_above * p))
        gradient = arrays.zeros(len(scores))
        if self.has_tail:
            beyond = arrays.vector(q < ranked[-1])
            n_ties, n_extra = int((ranked == ranked[-1]).sum()), len(rows) - len(mass)
            beyond[rows[len(rows) - n_ties :]] = n_extra / n_ties
            tail = reach_from_below(level, counted * p, below, q, beyond)
            value += tail.value
            mass_above += tail.mass_above
            gradient[self.negative] = tail.on_negatives
        gradient[self.positive[by_score]] = -counted * mass_above
        gradient[self.negative[rows]] += self._on_rows(rows, ranked, piece, on_pieces)
        gradient /= self.total
        return value / self.total, gradient

    def _on_rows(self, rows: Vector, ranked: Vector, piece: Any, on_pieces: Vector) -> Vector:
        """Sum the pieces of every row, and divide the sum of a tied block by weight."""
        arrays = self.arrays
        if self.negative_weight is None:
            if len(on_pieces) < len(rows):
                on_pieces = arrays.join([on_pieces, arrays.zeros(len(rows) - len(on_pieces))])
            return arrays.mean_over_ties(ranked, None, on_pieces)
        weight = self.negative_weight[rows]
        on_rows = arrays.sums_by_group(piece, on_pieces, len(rows))
        return weight * arrays.mean_over_ties(ranked, weight, on_rows / weight)

    def _counted(self, p: Vector, by_score: Vector) -> Vector:
        """Return ``b`` by score: the weights of the positives, in the two-way case of the lowest."""
        weight = self.positive_weight[by_score]
        if self.bottom.is_uniform:
            return weight
        return tied_rank_weights(p[by_score], weight, self.bottom)

    def _pieces(self, rows: Vector) -> tuple[Any, Vector, Vector]:
        """Cut ranked rows where masses or margins change: (row of a piece, mass, margin)."""
        if self.negative_weight is None:
            return slice(len(self.mass)), self.mass, self.margin
        arrays = self.arrays
        cuts = np.concatenate([self.rank_weights.cuts(self.n), self.mass_weights.cuts(self.n)])
        piece, size, middle = split_at(self.negative_weight[rows], cuts)
        # Every piece has the mean weight of the rank that it is a part of.
        rank = np.ceil(arrays.host(middle))
        edges = np.stack([rank - 1.0, rank], axis=1)
        mass = arrays.vector(self.mass_weights.between(edges, self.n)[:, 0])
        counts = arrays.vector(self.rank_weights.between(edges, self.n)[:, 0])
        kept = mass > 0
        return piece[kept], (size * mass)[kept], counts[kept] / mass[kept]


class StructuralHinge(PrefixHinge):
    r"""The structural hinge of the partial AUC SVM (OP1, Narasimhan and Agarwal, ICML 2013):

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} \max_{0 \le r \le n} \sum_{j=1}^{r} (c_j + q_j - p_i)

    The prefix hinge with unit masses: every negative stays in the margin term.

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
    :math:`\alpha > 0`. The prefix hinge with the smallest non-increasing masses above the rank weights,
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

    Without rank weights the order of the negatives does not matter: the evaluation sorts the positives
    and searches once for every negative.

    Parameters
    ----------
    sample : Sample
    """

    is_convex = True
    lower_bound = 0.0

    def __init__(self, sample: Sample) -> None:
        self.arrays = arrays_of(sample.positive)
        self.positive = self.arrays.places(sample.positive)
        self.negative = self.arrays.places(~sample.positive)
        self.positive_weight = _of_unit_size(sample.weights[self.positive])
        negative_weight = _of_unit_size(sample.weights[self.negative])
        total = float(self.positive_weight.sum() * negative_weight.sum())
        self.negative_weight = negative_weight / total

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        arrays = self.arrays
        p, q = scores[self.positive], scores[self.negative]
        by_score = arrays.order(p)
        ranked, weight = p[by_score], self.positive_weight[by_score]
        level = ranked - KINK * (1.0 + abs(ranked[0]) + abs(ranked[-1]))
        below = arrays.running_sum(weight)
        # Long vectors are changed in place: making a new one costs as much as filling it.
        q += 1.0
        pairs = reach_from_below(level, weight * ranked, below, q, self.negative_weight)
        gradient = arrays.empty(len(scores))
        gradient[self.positive[by_score]] = -weight * pairs.mass_above
        gradient[self.negative] = pairs.on_negatives
        return pairs.value, gradient


class Reach(NamedTuple):
    """Sums over the pairs of a negative and the positives that it reaches.

    ``value``: of ``b_i v_j (q_j - p_i)``; ``on_negatives``: of ``b_i v_j``, per negative;
    ``mass_above``: of ``v_j``, per positive in increasing order of score.
    """

    value: float
    on_negatives: Vector
    mass_above: Vector


def reach_from_below(
    level: Vector, weighted_p: Vector, below: Vector, q: Vector, mass: Vector
) -> Reach:
    """Let every negative reach the positives whose level is at or below its score.

    A negative that reaches k positives reaches the k lowest, so one search per negative suffices and
    the negatives need not be sorted.

    Parameters
    ----------
    level, weighted_p : vector of length m
        Levels of the positives, in increasing order, and their ``b_i p_i``.
    below : vector of length m + 1
        Running sums of their weights ``b_i``.
    q, mass : vector
        Scores and masses ``v_j`` of the negatives.
    """
    arrays = arrays_of(q)
    reached = arrays.count_at_or_below(level, q)
    on_negatives = below[reached]
    on_negatives *= mass
    by_reach = arrays.sums_by_group(reached, mass, len(level) + 1)
    mass_above = arrays.flip(arrays.running_sum(arrays.flip(by_reach)))[1:-1]
    value = float(on_negatives @ q) - float(weighted_p @ mass_above)
    return Reach(value, on_negatives, mass_above)


def most_ranks(rank_weights: RankWeights, n_rows: Any) -> Any:
    """Return the largest number of ranks that so many rows may stand for."""
    return _MOST_RANKS if rank_weights.density is None else np.maximum(_MOST_PIECES, 10 * n_rows)


def _of_unit_size(weight: Vector) -> Vector:
    """Divide the weights by a power of two to a sum in [1/2, 1), so that products stay finite."""
    return scaled_by_power_of_two(weight, -math.frexp(float(weight.sum()))[1])
