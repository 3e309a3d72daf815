"""The direct risk: a bounded, smooth loss on the pairs of the region."""

from __future__ import annotations

import numpy as np

from aucuba._base._arrays import Vector, arrays_of
from aucuba._roc._region import RankWeights
from aucuba._rows._sample import Sample
from aucuba.risks._base import tied_rank_weights, top

# Half-width of the ramp in units of the score's standard deviation; results are flat from .044 to .27.
RAMP_WIDTH = 0.133


class SmoothRamp:
    r"""A smooth count of the region's misordered pairs, close to ``1 - pAUC``:

    .. math::
        R(s) = \frac{1}{Z} \sum_{i=1}^{m} \sum_{j=1}^{n} b_i c_j \,\varphi(q_j - p_i),
        \qquad \varphi'(d) = \max(0, h - |d|) / h^2

    with :math:`\varphi` rising from 0 at :math:`-h` through 1/2 to 1 at :math:`h`; negatives are
    ranked anew at every evaluation. Bounded, so one outlier counts as one error, and not convex.

    A tied pair costs 1/2. Where most pairs of the region are misordered, such a loss falls when all
    scores are squeezed together. With a larger ``tie_loss`` t the argument of :math:`\varphi` is
    :math:`q_j - p_i + \delta` with :math:`\varphi(\delta) = t`, so that squeezing lowers the loss to t
    at most.

    Evaluation is exact in O((m + K) log(m + K)) for the K negatives in the range: on either half of
    the ramp the loss is a parabola in ``d``, so the sums over pairs are prefix sums of ``c``,
    ``c q`` and ``c q^2`` between the places of ``p - h``, ``p`` and ``p + h`` in the sorted negatives.

    Parameters
    ----------
    sample : Sample
    rank_weights : RankWeights, default=None
        All of the FPR axis by default.
    min_tpr : float, default=0.0
        Lowest true positive rate that counts (two-way partial AUC).
    width : float, default=0.133
        ``h``, in the unit of the scores.
    tie_loss : float, default=0.5
        Loss of a tied pair, from 1/2 to 1.
    """

    is_convex = False
    lower_bound = 0.0

    def __init__(
        self,
        sample: Sample,
        rank_weights: RankWeights | None = None,
        min_tpr: float = 0.0,
        width: float = RAMP_WIDTH,
        tie_loss: float = 0.5,
    ) -> None:
        self.rank_weights = rank_weights or RankWeights.from_range()
        self.bottom = RankWeights.from_range((0.0, 1.0 - min_tpr))
        self.width = width
        self.shift = ramp_shift(width, tie_loss)
        self.arrays = arrays_of(sample.positive)
        self.positive = self.arrays.places(sample.positive)
        self.negative = self.arrays.places(~sample.positive)
        self.weighted = sample.weight is not None
        self.rank_mass: Vector | None = None
        self.positive_weight = sample.weights[self.positive]
        self.negative_weight = sample.weights[self.negative]
        self.n = float(self.negative_weight.sum())
        self.total = float(self.positive_weight.sum() * (1.0 - min_tpr))
        self.total *= self.n * self.rank_weights.total
        if not self.weighted:
            ranks = self.arrays.running_sum(self.negative_weight)
            self.rank_mass = self.rank_weights.between(ranks, self.n)

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        h, arrays = self.width, self.arrays
        p, q = scores[self.positive] - self.shift, scores[self.negative]
        weight = self.negative_weight if self.weighted else None
        rows = top(q, self.n * self.rank_weights.last_rate, weight)
        up = arrays.order(p)
        rank_mass, counted = self._rank_masses(q, rows), self._counted(p, up)
        rows, rank_mass = arrays.flip(rows), arrays.flip(rank_mass)

        # Sums of squares lose digits far from zero; the loss depends on differences only.
        centre = q[rows[len(rows) // 2]]
        p, q = p[up] - centre, q[rows] - centre
        # On either half of the ramp the loss is (q - p + h)^2 / 2 h^2, or 1 minus such a square.
        sums = [arrays.running_sum(one) for one in (rank_mass, rank_mass * q, rank_mass * q**2)]
        low, middle, high = (arrays.search(q, p + shift, "right") for shift in (-h, 0.0, h))
        left, right = (
            [one[b] - one[a] for one in sums] for a, b in ((low, middle), (middle, high))
        )
        rising = _squared(left, h - p) / (2 * h**2)
        falling = right[0] - _squared(right, -h - p) / (2 * h**2)
        value = counted @ (rising + falling + (sums[0][-1] - sums[0][high])) / self.total

        slope_p = _tent(left, right, p, h)
        sums = [arrays.running_sum(one) for one in (counted, counted * p)]
        low, middle, high = (arrays.search(p, q + shift, "right") for shift in (-h, 0.0, h))
        left, right = (
            [one[b] - one[a] for one in sums] for a, b in ((low, middle), (middle, high))
        )
        slope_q = _tent(left, right, q, h)
        gradient = arrays.zeros(len(scores))
        gradient[self.positive[up]] = -counted * slope_p / self.total
        gradient[self.negative[rows]] = rank_mass * slope_q / self.total
        return float(value), gradient

    def _rank_masses(self, q: Vector, rows: Vector) -> Vector:
        """Return ``c`` of ranked negatives; equal scores divide theirs."""
        if self.rank_mass is not None:
            return self.arrays.mean_over_ties(q[rows], None, self.rank_mass[: len(rows)])
        mass = self.negative_weight[rows]
        rest = (self.n - mass.sum()).clip(0.0)
        weight = self.arrays.join([mass, rest.reshape(1)])
        return tied_rank_weights(q[rows], weight, self.rank_weights)

    def _counted(self, p: Vector, up: Vector) -> Vector:
        """Return ``b`` of positives in increasing order; without weights, 1 for all of them."""
        if self.bottom.is_uniform and not self.weighted:
            return self.positive_weight
        return tied_rank_weights(p[up], self.positive_weight[up], self.bottom)


def ramp_shift(width: float, tie_loss: float) -> float:
    """Return the ``delta`` at which the loss of a pair is ``tie_loss``."""
    return float(width * (1.0 - np.sqrt(2.0 * (1.0 - tie_loss))))


def _squared(sums: list[Vector], shift: Vector) -> Vector:
    """Compute ``sum c (x + shift)^2`` from the sums of ``c``, ``c x`` and ``c x^2``."""
    return sums[2] + shift * (2 * sums[1] + shift * sums[0])


def _tent(left: list[Vector], right: list[Vector], at: Vector, h: float) -> Vector:
    """Compute ``sum c max(0, h - |x - at|) / h^2`` from sums over either half."""
    return ((left[1] + (h - at) * left[0]) + ((h + at) * right[0] - right[1])) / h**2
