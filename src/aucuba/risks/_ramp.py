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
        self.positive_weight = sample.weights[self.positive]
        self.negative_weight = sample.weights[self.negative]
        self.n = float(self.negative_weight.sum())
        self.total = float(self.positive_weight.sum() * (1.0 - min_tpr))
        self.total *= self.n * self.rank_weights.total

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        h, arrays = self.width, self.arrays
        p, q = scores[self.positive] - self.shift, scores[self.negative]
        weight = self.negative_weight if self.weighted else None
        rows = top(q, self.n * self.rank_weights.last_rate, weight)
        mass = self.negative_weight[rows]
        rest = (self.n - mass.sum()).clip(0.0)
        rank_mass = tied_rank_weights(
            q[rows], arrays.join([mass, rest.reshape(1)]), self.rank_weights
        )
        rows, rank_mass = arrays.flip(rows), arrays.flip(rank_mass)
        up = arrays.order(p)
        counted = tied_rank_weights(p[up], self.positive_weight[up], self.bottom)

        # Sums of squares lose digits far from zero; the loss depends on differences only.
        centre = q[rows[len(rows) // 2]]
        p, q = p[up] - centre, q[rows] - centre
        negatives = _Prefix(q, rank_mass)
        low, middle, high = (arrays.search(q, p + shift, "right") for shift in (-h, 0.0, h))
        rising = negatives.squared(low, middle, h - p) / (2 * h**2)
        falling = negatives.mass(middle, high) - negatives.squared(middle, high, -h - p) / (
            2 * h**2
        )
        value = counted @ (rising + falling + negatives.mass_from(high)) / self.total

        slope_p = negatives.tent(low, middle, high, p, h)
        positives = _Prefix(p, counted)
        low, middle, high = (arrays.search(p, q + shift, "right") for shift in (-h, 0.0, h))
        slope_q = positives.tent(low, middle, high, q, h)
        gradient = arrays.zeros(len(scores))
        gradient[self.positive[up]] = -counted * slope_p / self.total
        gradient[self.negative[rows]] = rank_mass * slope_q / self.total
        return float(value), gradient


def ramp_shift(width: float, tie_loss: float) -> float:
    """Return the ``delta`` at which the loss of a pair is ``tie_loss``."""
    return float(width * (1.0 - np.sqrt(2.0 * (1.0 - tie_loss))))


class _Prefix:
    """Sums over ranges of sorted points ``x`` with weights ``c``, from prefix sums."""

    def __init__(self, x: Vector, c: Vector) -> None:
        self.sums = [arrays_of(x).running_sum(c * x**power) for power in range(3)]

    def _between(self, power: int, start: Vector, stop: Vector) -> Vector:
        return self.sums[power][stop] - self.sums[power][start]

    def mass(self, start: Vector, stop: Vector) -> Vector:
        """Compute ``sum c``."""
        return self._between(0, start, stop)

    def mass_from(self, start: Vector) -> Vector:
        """Compute ``sum c`` to the end."""
        return self.sums[0][-1] - self.sums[0][start]

    def squared(self, start: Vector, stop: Vector, shift: Vector) -> Vector:
        """Compute ``sum c (x + shift)^2``."""
        zeroth, first, second = (self._between(power, start, stop) for power in range(3))
        return second + shift * (2 * first + shift * zeroth)

    def tent(self, low: Vector, middle: Vector, high: Vector, at: Vector, h: float) -> Vector:
        """Compute ``sum c max(0, h - |x - at|) / h^2``."""
        left = self._between(1, low, middle) + (h - at) * self._between(0, low, middle)
        right = (h + at) * self._between(0, middle, high) - self._between(1, middle, high)
        return (left + right) / h**2
