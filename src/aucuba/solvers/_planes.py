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


@dataclass(frozen=True)
class Planes:
    r"""Planes ``R(w) >= a_k . w + b_k`` and the dual of ``min_w 1/2 |w|^2 + C max_k (a_k . w + b_k)``.

    The dual is ``max_u b'u - 1/2 u'Gu`` over ``u >= 0, sum u = C`` with ``G`` the Gram matrix of the
    planes; its solution gives ``w = -sum_k u_k a_k``, and its value is a lower bound of the problem.
    Plane 0 is the constant lower bound of the risk (``a = 0``), plane 1 the plane at the zero model.
    R does not depend on C, so the planes of one C serve another (`rescaled`).
    """

    slopes: FloatArray
    offsets: FloatArray
    gram: FloatArray
    dual: FloatArray
    idle: FloatArray

    @classmethod
    def empty(cls, n_features: int, lower_bound: float, C: float) -> Planes:
        """Only the constant lower bound."""
        return cls(
            slopes=np.zeros((1, n_features)),
            offsets=np.array([lower_bound]),
            gram=np.zeros((1, 1)),
            dual=np.array([C]),
            idle=np.zeros(1),
        )

    @classmethod
    def started(
        cls, design: Design, risk: Risk, C: float, planes: Planes | None = None
    ) -> tuple[Planes, float, FloatArray]:
        """Given planes for this C, or the plane at zero; and risk and subgradient at zero."""
        value, gradient = risk.value_and_gradient(np.zeros(design.n_rows))
        if planes is not None:
            return planes.rescaled(C), value, gradient
        planes = cls.empty(design.zeros().size, risk.lower_bound, C)
        planes = planes.added(design, design.adjoint([gradient]), np.array([value]))
        return planes, value, gradient

    @property
    def size(self) -> int:
        return int(self.offsets.size)

    @property
    def model(self) -> FloatArray:
        """``w = -sum_k u_k a_k``."""
        model: FloatArray = -(self.dual @ self.slopes)
        return model

    @property
    def norm2(self) -> float:
        """``|w|^2``, from the Gram matrix."""
        return max(float(self.dual @ self.gram @ self.dual), 0.0)

    @property
    def dual_value(self) -> float:
        """A lower bound of the problem, valid for every feasible dual point."""
        return float(self.offsets @ self.dual) - self.norm2 / 2

    @property
    def value_at_zero(self) -> float:
        """Risk of the zero model."""
        return float(self.offsets[1])

    @property
    def norm2_at_zero(self) -> float:
        """Squared norm of the risk's subgradient at the zero model."""
        return float(self.gram[1, 1])

    def added(self, design: Design, slopes: FloatArray, offsets: FloatArray) -> Planes:
        """With more planes, ``slopes`` of shape (k, size), and without those long idle."""
        kept = self.idle < _PATIENCE
        kept[:2] = True
        n_kept, n_new = int(kept.sum()), len(offsets)
        together = np.vstack([self.slopes[kept], slopes])
        gram = np.empty((n_kept + n_new, n_kept + n_new))
        gram[:n_kept, :n_kept] = self.gram[np.ix_(kept, kept)]
        for index in range(n_kept, n_kept + n_new):
            gram[index] = gram[:, index] = design.inner(together, together[index])
        return Planes(
            slopes=together,
            offsets=np.append(self.offsets[kept], offsets),
            gram=gram,
            dual=np.append(self.dual[kept], np.zeros(n_new)),
            idle=np.append(self.idle[kept], np.zeros(n_new)),
        )

    def minimised(self) -> Planes:
        """With the optimal dual point."""
        total = float(self.dual.sum())
        dual = solve_simplex_qp(self.gram, self.offsets, total, self.dual)
        return replace(self, dual=dual, idle=np.where(dual > 0, 0.0, self.idle + 1))

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
