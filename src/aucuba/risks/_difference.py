"""Ranges that start above zero as a difference of two convex risks."""

from __future__ import annotations

from aucuba._base._arrays import Vector
from aucuba._roc._region import RankWeights, Region
from aucuba._rows._sample import Sample
from aucuba.risks._prefix_hinge import TightHinge


class HingeDifference:
    r"""The hinge on the negatives of a range [alpha, beta] with alpha > 0, exactly:

    .. math::
        R(s) = \frac{1}{Z} \sum_i \sum_j c_j (1 + q_j - p_i)_+
             = \frac{\beta\, T_\beta(s) - \alpha\, T_\alpha(s)}{\beta - \alpha}

    with :math:`T_\beta` the convex `TightHinge` of the range [0, beta]. Not convex itself; `linearised`
    gives the convex risk of one round of the difference-of-convex program (Narasimhan and Agarwal,
    Neural Computation 2017).

    Parameters
    ----------
    sample : Sample
    fpr_range : (float, float)
        With a lower limit above 0.
    min_tpr : float, default=0.0
        Lowest true positive rate that counts.
    """

    is_convex = False
    lower_bound = 0.0

    def __init__(
        self, sample: Sample, fpr_range: tuple[float, float], min_tpr: float = 0.0
    ) -> None:
        alpha, beta = fpr_range
        self.outer = TightHinge(sample, RankWeights.from_range((0.0, beta)), min_tpr)
        self.inner = TightHinge(sample, RankWeights.from_range((0.0, alpha)), min_tpr)
        self.outer_factor, self.inner_factor = beta / (beta - alpha), alpha / (beta - alpha)

    @classmethod
    def from_region(cls, sample: Sample, region: Region) -> HingeDifference:
        """Build the difference of a range that starts above 0, for one query."""
        if not region.is_plain_range or region.fpr_range[0] == 0:
            raise ValueError(
                "loss='tight_dc' is for ranges that start above 0, without fpr_weight; use "
                "loss='tight', which is convex."
            )
        if sample.query is not None:
            raise ValueError("loss='tight_dc' does not take qid; use loss='tight'.")
        return cls(sample, region.fpr_range, region.min_tpr)

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        outer, outer_gradient = self.outer.value_and_gradient(scores)
        inner, inner_gradient = self.inner.value_and_gradient(scores)
        return (
            self.outer_factor * outer - self.inner_factor * inner,
            self.outer_factor * outer_gradient - self.inner_factor * inner_gradient,
        )

    def linearised(self, scores: Vector) -> TiltedHinge:
        """Return the convex upper bound that replaces the inner hinge by its tangent at the scores."""
        value, gradient = self.inner.value_and_gradient(scores)
        return TiltedHinge(
            self.outer,
            self.outer_factor,
            self.inner_factor * gradient,
            self.inner_factor * (value - float(gradient @ scores)),
        )


class TiltedHinge:
    """The convex risk ``factor * T(s) - tilt . s - offset``.

    It does not fall below 0 where the tilt is the tangent of a smaller hinge.
    """

    is_convex = True
    lower_bound = 0.0

    def __init__(self, hinge: TightHinge, factor: float, tilt: Vector, offset: float) -> None:
        self.hinge, self.factor, self.tilt, self.offset = hinge, factor, tilt, offset

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        value, gradient = self.hinge.value_and_gradient(scores)
        tilted = self.factor * value - float(self.tilt @ scores) - self.offset
        return tilted, self.factor * gradient - self.tilt
