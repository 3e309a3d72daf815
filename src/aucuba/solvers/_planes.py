"""Cutting planes of a risk and the model that minimises them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._qp import solve_simplex_qp

# A plane that has had no weight in this many consecutive solutions is dropped; it comes back as a
# new plane if it is ever needed.
_PATIENCE = 30
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Tangent:
    """Risk and subgradient at some scores: ``R(t) >= offset + gradient @ t`` for all scores t.

    ``size`` is ``sum_i |gradient_i|`` and ``rounding`` the size of what was added up for the offset;
    both measure how exactly the plane is known.
    """

    value: float
    gradient: FloatArray
    offset: float
    size: float
    rounding: float

    @classmethod
    def at(cls, risk: Risk, scores: FloatArray) -> Tangent:
        value, gradient = risk.value_and_gradient(scores)
        size = float(np.abs(gradient).sum())
        largest = max(float(scores.max()), -float(scores.min()))
        offset = value - float(gradient @ scores)
        return cls(value, gradient, offset, size, abs(value) + size * largest)


@dataclass(frozen=True)
class Minimum:
    """The minimiser of the planes, its value, and a bound of the problem that allows for rounding."""

    model: FloatArray
    value: float
    lower_bound: float


@dataclass(frozen=True)
class Planes:
    r"""Planes ``R(w) >= a_k . w + b_k`` and the dual of ``min_w 1/2 |w|^2 + C max_k (a_k . w + b_k)``.

    The dual is ``max_u b'u - 1/2 u'Gu`` over ``u >= 0, sum u = C`` with ``G`` the Gram matrix of the
    planes; its solution gives ``w = -sum_k u_k a_k``, and its value is a lower bound of the problem.
    Plane 0 is the constant lower bound of the risk (``a = 0``), plane 1 the plane at the zero model.
    R does not depend on C, so the planes of one C serve another (`rescaled`).

    ``offset_error`` bounds the rounding error of every ``b_k``, ``slope_error`` that of every entry of
    ``a_k``. A plane is true of whatever scores it was taken at, so errors of the scores do not count.
    """

    slopes: FloatArray
    offsets: FloatArray
    gram: FloatArray
    dual: FloatArray
    idle: FloatArray
    offset_error: FloatArray
    slope_error: FloatArray

    @classmethod
    def empty(cls, n_features: int, lower_bound: float, C: float) -> Planes:
        """Only the constant lower bound."""
        return cls(
            slopes=np.zeros((1, n_features)),
            offsets=np.array([lower_bound]),
            gram=np.zeros((1, 1)),
            dual=np.array([C]),
            idle=np.zeros(1),
            offset_error=np.zeros(1),
            slope_error=np.zeros(1),
        )

    @classmethod
    def started(
        cls, design: Design, risk: Risk, C: float, planes: Planes | None = None
    ) -> tuple[Planes, Tangent]:
        """Given planes for this C, or the plane at zero; and the tangent at zero."""
        at_zero = Tangent.at(risk, np.zeros(design.n_rows))
        if planes is not None:
            return planes.rescaled(C), at_zero
        planes = cls.empty(design.zeros().size, risk.lower_bound, C)
        return planes.with_tangents(design, [at_zero]), at_zero

    @property
    def size(self) -> int:
        return int(self.offsets.size)

    @property
    def value_at_zero(self) -> float:
        """Risk of the zero model."""
        return float(self.offsets[1])

    @property
    def norm2_at_zero(self) -> float:
        """Squared norm of the risk's subgradient at the zero model."""
        return float(self.gram[1, 1])

    def with_tangents(self, design: Design, tangents: list[Tangent]) -> Planes:
        """With more planes, and without those long idle."""
        kept = self.idle < _PATIENCE
        kept[:2] = True
        n_kept, n_new = int(kept.sum()), len(tangents)
        slopes = design.adjoint([tangent.gradient for tangent in tangents])
        together = np.vstack([self.slopes[kept], slopes])
        gram = np.empty((n_kept + n_new, n_kept + n_new))
        gram[:n_kept, :n_kept] = self.gram[np.ix_(kept, kept)]
        for index in range(n_kept, n_kept + n_new):
            gram[index] = gram[:, index] = design.inner(together, together[index])
        # Sums of n products, of errors that do not all point the same way.
        unit = _EPS * (8.0 + np.sqrt(design.n_rows))
        return Planes(
            slopes=together,
            offsets=np.append(self.offsets[kept], [tangent.offset for tangent in tangents]),
            gram=gram,
            dual=np.append(self.dual[kept], np.zeros(n_new)),
            idle=np.append(self.idle[kept], np.zeros(n_new)),
            offset_error=np.append(
                self.offset_error[kept], [unit * tangent.rounding for tangent in tangents]
            ),
            slope_error=np.append(
                self.slope_error[kept],
                [unit * design.largest * tangent.size for tangent in tangents],
            ),
        )

    def minimised(self, design: Design) -> tuple[Planes, Minimum]:
        """With the optimal dual point, and the minimum over the planes that it gives."""
        total = float(self.dual.sum())
        dual = solve_simplex_qp(self.gram, self.offsets, total, self.dual)
        planes = replace(self, dual=dual, idle=np.where(dual > 0, 0.0, self.idle + 1))
        return planes, planes.minimum(design)

    def minimum(self, design: Design) -> Minimum:
        """``w`` and the value of the dual point, and by how much rounding may have raised it.

        With slopes that are wrong by ``d_k``, half the squared norm of ``w`` is wrong by
        ``sum_k u_k |d_k . w|``.
        """
        dual = self.dual
        model = -(dual @ self.slopes)
        norm2 = max(float(design.inner(model, model)), 0.0)
        value = float(self.offsets @ dual) - norm2 / 2
        in_sums = float(np.abs(self.offsets) @ dual) + norm2
        in_sums += norm2**0.5 * float(np.sqrt(self.gram.diagonal()) @ dual)
        in_planes = float(self.offset_error @ dual)
        in_planes += float(self.slope_error @ dual) * float(np.abs(model).sum())
        return Minimum(model, value, value - in_planes - 8 * _EPS * in_sums)

    def near(
        self, design: Design, centre: FloatArray, stiffness: float
    ) -> tuple[FloatArray, Planes]:
        r"""``argmin_w 1/2 |w|^2 + C max_k (a_k . w + b_k) + stiffness/2 |w - centre|^2``.

        Its dual is the same program with the Gram matrix divided by ``1 + stiffness`` and the planes'
        values at the shrunken centre as the linear term. Planes that it uses count as used.
        """
        shrunk = stiffness / (1.0 + stiffness)
        linear = self.offsets + shrunk * design.inner(self.slopes, centre)
        total = float(self.dual.sum())
        dual = solve_simplex_qp(self.gram / (1.0 + stiffness), linear, total, self.dual)
        model = shrunk * centre - (dual @ self.slopes) / (1.0 + stiffness)
        return model, replace(self, idle=np.where(dual > 0, 0.0, self.idle))

    def rescaled(self, C: float) -> Planes:
        """The same planes for another C."""
        return replace(self, dual=self.dual * (C / self.dual.sum()))
