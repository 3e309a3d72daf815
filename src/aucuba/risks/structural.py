"""The structural hinge of the partial AUC SVM (Narasimhan and Agarwal, ICML 2013)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from aucuba._typing import FloatArray, IntArray
from aucuba.risks.base import Labels
from aucuba.risks.rank_weights import RankWeights

# Width of a kink relative to the scores: margins this close to zero count as reached.
_KINK = 1e-12


class StructuralHinge:
    r"""The structural hinge, an upper bound of ``1 - pAUC`` (OP1 of the paper):

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} \max_{0 \le r \le n} \sum_{j=1}^{r} (c_j + q_j - p_i)

    with positive scores :math:`p_i`, negative scores :math:`q_1 \ge \dots \ge q_n`, rank weights
    :math:`c_j` (`RankWeights`) and :math:`Z = m \sum_j c_j`; for the range (0, 1) it is the mean
    pairwise hinge of SVM-AUC.

    **The oracle.** The best r for a positive maximises :math:`S_r - r p_i`, with :math:`S_r` the
    partial sums of :math:`c_j + q_j`, so it lies on the least concave majorant of S, whose slopes
    are the decreasing isotonic regression of :math:`c_j + q_j`: :math:`r_i` is the number of slopes
    at or above :math:`p_i`. This replaces the paper's Algorithm 1, holds for any :math:`c \ge 0`, and
    costs one sort, one pass of pool-adjacent-violators and one binary search a positive.

    **Weights.** A negative of weight k stands for k negatives in a row, each with its own rank
    weight, so a row that straddles a limit of the range is split there. One negative is a weight of 1
    if all weights are whole numbers, otherwise the mean weight of a negative, so that real-valued
    weights may have any scale.

    Parameters
    ----------
    labels : Labels
        Classes and weights of the rows; both classes present, weights positive.
    rank_weights : RankWeights, default=None
        The part of the FPR axis that counts; all of it by default.
    """

    is_convex = True
    lower_bound = 0.0

    def __init__(self, labels: Labels, rank_weights: RankWeights | None = None) -> None:
        self.rank_weights = (
            RankWeights.from_range((0.0, 1.0)) if rank_weights is None else rank_weights
        )
        self.positive = np.flatnonzero(labels.positive)
        self.negative = np.flatnonzero(~labels.positive)
        self.n_rows = labels.positive.size
        weight = np.ones(self.n_rows) if labels.weight is None else labels.weight
        self.positive_weight = weight[self.positive]
        self.negative_weight = weight[self.negative] / _unit(weight[self.negative])
        self.total = float(self.positive_weight.sum() * self.negative_weight.sum())
        self.total *= self.rank_weights.total
        self.margin: FloatArray | None = None
        if np.all(self.negative_weight == 1.0):
            self.margin = self.rank_weights.between(np.arange(self.negative.size + 1.0))

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        p, q = scores[self.positive], scores[self.negative]
        order = np.argsort(-q)
        ranked = q[order]
        mass = self.negative_weight[order]
        source: IntArray | None = None
        if self.rank_weights.is_uniform:
            slopes = target = ranked + 1.0
        else:
            margin = self.margin
            if margin is None:
                source, mass, margin = self._split(mass)
                ranked = ranked[source]
            target = ranked + margin
            slopes = isotonic_regression(target, weights=mass, increasing=False).x

        # A positive exactly on a slope is a kink, where rounding would pick a side at random.
        slopes = slopes + _KINK * (1.0 + max(abs(ranked[0]), abs(ranked[-1])))
        by_score = np.argsort(p)
        reached = np.concatenate([[0.0], np.cumsum(self.positive_weight[by_score])])
        above = np.searchsorted(-slopes, -p, side="right")
        mass_above = np.concatenate([[0.0], np.cumsum(mass)])[above]
        sum_above = np.concatenate([[0.0], np.cumsum(mass * target)])[above]
        value = self.positive_weight @ (sum_above - mass_above * p) / self.total

        per_mass = reached[np.searchsorted(p[by_score], slopes, side="right")]
        on_negatives = mass * _mean_over_ties(ranked, mass, per_mass)
        if source is not None:
            on_negatives = np.bincount(source, on_negatives, q.size).astype(np.float64, copy=False)
        gradient = np.zeros(self.n_rows)
        gradient[self.positive] = -self.positive_weight * mass_above / self.total
        gradient[self.negative[order]] = on_negatives / self.total
        return float(value), gradient

    def _split(self, mass: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Split weighted negatives where the rank weight changes: (source row, mass, rank weight)."""
        ends = np.cumsum(mass)
        n = ends[-1]
        cuts = self._cuts(n)
        edges = np.unique(np.concatenate([ends, cuts[cuts < n]]))
        pieces = np.diff(edges, prepend=0.0)
        # Edges that differ by rounding only leave a sliver that belongs to either neighbour.
        kept = pieces > 1e-12 * n
        edges, pieces = edges[kept], pieces[kept]
        middle = edges - pieces / 2
        source = np.minimum(np.searchsorted(ends, middle), mass.size - 1)
        cell = np.ceil(middle)
        spans = self.rank_weights.cumulated(np.minimum(np.stack([cell - 1, cell]) / n, 1.0))
        width = np.minimum(cell, n) - (cell - 1)
        return source, pieces, n * (spans[1] - spans[0]) / width

    def _cuts(self, n: float) -> FloatArray:
        """Ranks where the rank weight of one negative may differ from its neighbour's."""
        if self.rank_weights.density is not None:
            return np.arange(1.0, n)
        limits = self.rank_weights.knots[1:-1] * n
        return np.unique(np.concatenate([np.floor(limits), np.ceil(limits)]))


def _unit(weight: FloatArray) -> float:
    return 1.0 if np.all(weight == np.floor(weight)) else float(weight.mean())


def _mean_over_ties(ranked: FloatArray, mass: FloatArray, values: FloatArray) -> FloatArray:
    """Average over blocks of equal score: all orders of a block give subgradients, so does the mean."""
    starts = np.flatnonzero(np.diff(ranked, prepend=np.nan) != 0)
    if starts.size == ranked.size:
        return values
    sizes = np.diff(starts, append=ranked.size)
    means = np.add.reduceat(mass * values, starts) / np.add.reduceat(mass, starts)
    return np.repeat(means, sizes)
