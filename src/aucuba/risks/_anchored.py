"""A risk tied to reference scores."""

from __future__ import annotations

from aucuba._base._arrays import Vector, arrays_of
from aucuba.risks._base import Risk


class Anchored:
    r"""A risk tied to reference scores ``a``:

    .. math::
        R(s) + \frac{\lambda}{2} \sum_i v_i (s_i - a_i)^2 \Big/ \sum_i v_i

    The anchor is what keeps a bounded loss from fitting the few top negatives of the sample.

    Parameters
    ----------
    risk : Risk
    reference : ndarray
        ``a``.
    strength : float
        ``lambda``.
    weight : ndarray or None
        Row weights ``v``; equal by default.
    """

    def __init__(
        self, risk: Risk, reference: Vector, strength: float, weight: Vector | None = None
    ) -> None:
        self.risk, self.reference, self.strength = risk, reference, strength
        if weight is None:
            weight = arrays_of(reference).ones(len(reference))
        self.row_weight = weight / weight.sum()

    @property
    def is_convex(self) -> bool:
        return self.risk.is_convex

    @property
    def lower_bound(self) -> float:
        return self.risk.lower_bound

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        value, gradient = self.risk.value_and_gradient(scores)
        pull = self.strength * self.row_weight * (scores - self.reference)
        return value + float(pull @ (scores - self.reference)) / 2, gradient + pull
