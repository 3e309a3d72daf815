"""Ranges that start above zero as a difference of two convex risks."""

from __future__ import annotations

import numpy as np

from aucuba._typing import FloatArray
from aucuba.risks.base import Labels
from aucuba.risks.prefix_hinge import TightHinge
from aucuba.risks.rank_weights import RankWeights


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
    labels : Labels
    fpr_range : (float, float)
        With a lower limit above 0.
    min_tpr : float, default=0.0
        Lowest true positive rate that counts.
    """

    is_convex = False
    lower_bound = 0.0

    def __init__(
        self, labels: Labels, fpr_range: tuple[float, float], min_tpr: float = 0.0
    ) -> None:
        alpha, beta = fpr_range
        self.outer = TightHinge(labels, RankWeights.from_range((0.0, beta)), min_tpr)
        self.inner = TightHinge(labels, RankWeights.from_range((0.0, alpha)), min_tpr)
        self.outer_share, self.inner_share = beta / (beta - alpha), alpha / (beta - alpha)

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        outer, outer_gradient = self.outer.value_and_gradient(scores)
        inner, inner_gradient = self.inner.value_and_gradient(scores)
        return (
            self.outer_share * outer - self.inner_share * inner,
            self.outer_share * outer_gradient - self.inner_share * inner_gradient,
        )

    def linearised(self, scores: FloatArray) -> TiltedHinge:
        """The convex upper bound that replaces the inner hinge by its tangent at the scores."""
        value, gradient = self.inner.value_and_gradient(scores)
        return TiltedHinge(
            self.outer,
            self.outer_share,
            self.inner_share * gradient,
            self.inner_share * (value - float(gradient @ scores)),
        )


class TiltedHinge:
    """``share * T(s) - tilt . s - offset``, convex; not below 0 for a tangent of a smaller hinge."""

    is_convex = True
    lower_bound = 0.0

    def __init__(self, hinge: TightHinge, share: float, tilt: FloatArray, offset: float) -> None:
        self.hinge, self.share, self.tilt, self.offset = hinge, share, tilt, offset

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.hinge.value_and_gradient(scores)
        tilted = self.share * value - float(self.tilt @ scores) - self.offset
        return tilted, self.share * np.asarray(gradient) - self.tilt
