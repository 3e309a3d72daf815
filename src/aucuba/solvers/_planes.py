"""Cutting planes of a risk and the models that minimise them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dasum

from aucuba._base._arrays import Vector
from aucuba._base._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._qp import solve_simplex_qp

# A plane without weight in this many consecutive solutions may be dropped to make room; if it matters
# again, the solver finds it as a new plane.
_PATIENCE = 30
_FIRST_ROOM = 16
_EPS = float(np.finfo(np.float64).eps)


class Tangent(NamedTuple):
    """Risk and subgradient at some scores: ``R(t) >= offset + gradient @ t`` for all scores t.

    ``rounding`` is the size of what was added up for the offset.
    """

    value: float
    gradient: Vector
    offset: float
    rounding: float

    @classmethod
    def at(cls, risk: Risk, scores: Vector) -> Tangent:
        """Evaluate the risk."""
        value, gradient = risk.value_and_gradient(scores)
        size = (float(gradient @ gradient) * float(scores @ scores)) ** 0.5
        return cls(value, gradient, value - float(gradient @ scores), abs(value) + size)


class Minimum(NamedTuple):
    """The minimiser of the planes, its value, and a lower bound that allows for rounding."""

    model: FloatArray
    value: float
    lower_bound: float


class Target(NamedTuple):
    """A model to search towards, the planes' products with it and value there, and a bound.

    ``products`` are ``a_k . w``; ``minimum`` is the bound that the dual point of this target gives.
    """

    model: FloatArray
    products: FloatArray
    value: float
    minimum: Minimum


class Planes:
    r"""Planes ``R(w) >= a_k . w + b_k`` and the dual of ``min_w 1/2 |w|^2 + C max_k (a_k . w + b_k)``.

    The dual is ``max_u b'u - 1/2 u'Gu`` over ``u >= 0, sum u = C`` with ``G`` the Gram matrix of the
    planes; its solution gives ``w = -sum_k u_k a_k``, and its value is a lower bound of the problem.
    Plane 0 is the constant lower bound of the risk (``a = 0``), plane 1 the plane at the zero model.
    R does not depend on C, so the planes of one C serve another (`rescaled`).

    ``offset_error`` bounds the rounding error of every ``b_k``, ``slope_error`` that of every entry of
    ``a_k``. A plane is valid whatever scores it was taken at, so their rounding does not matter.

    Parameters
    ----------
    n_features : int
        Length of a model.
    lower_bound : float
        Constant lower bound of the risk.
    C : float
        Weight of the risk.
    """

    # Rows of ``_columns``, with one entry per plane. The first five are averaged by every dual point.
    _OFFSET, _SIZE, _NORM, _OFFSET_ERROR, _SLOPE_ERROR, _DUAL, _NEAR, _IDLE, _PRODUCT = range(9)

    def __init__(self, n_features: int, lower_bound: float, C: float) -> None:
        self.C = C
        self.size = 1
        self._slopes = np.zeros((_FIRST_ROOM, n_features))
        self._gram = np.zeros((_FIRST_ROOM, _FIRST_ROOM))
        self._columns = np.zeros((9, _FIRST_ROOM))
        self._columns[:, 0] = lower_bound, abs(lower_bound), 0, 0, 0, C, C, 0, 0
        # Subgradients, kept where products with the data are rounded: see `exact_minimum`.
        self._gradients: list[Vector] = []

    @classmethod
    def started(cls, design: Design, risk: Risk, C: float, at_zero: Tangent) -> Planes:
        """Begin with the constant bound and the plane at zero."""
        planes = cls(design.zeros().size, risk.lower_bound, C)
        planes.add(design, [at_zero])
        return planes

    @property
    def slopes(self) -> FloatArray:
        """``a``, one row per plane."""
        return self._slopes[: self.size]

    @property
    def gram(self) -> FloatArray:
        """``G``."""
        return self._gram[: self.size, : self.size]

    @property
    def offsets(self) -> FloatArray:
        """``b``."""
        return self._column(self._OFFSET)

    @property
    def dual(self) -> FloatArray:
        """``u`` of the last minimum."""
        return self._column(self._DUAL)

    @property
    def value_at_zero(self) -> float:
        """Risk of the zero model."""
        return float(self.offsets[1])

    @property
    def norm2_at_zero(self) -> float:
        """Squared norm of the risk's subgradient at the zero model."""
        return float(self._gram[1, 1])

    def _column(self, which: int) -> FloatArray:
        column: FloatArray = self._columns[which, : self.size]
        return column

    def add(
        self, design: Design, tangents: list[Tangent], centre_scores: Vector | None = None
    ) -> None:
        """Add planes, at the cost of one pass over the data.

        ``centre_scores`` are those of the centre of `near`, where there is one.
        """
        if self.size + len(tangents) > self._slopes.shape[0]:
            self._make_room(len(tangents))
        unit = _unit(design)
        slopes = design.adjoint([tangent.gradient for tangent in tangents])
        for tangent, slope in zip(tangents, slopes, strict=True):
            k = self.size
            self._slopes[k] = slope
            row = design.inner(self._slopes[: k + 1], self._slopes[k])
            self._gram[k, : k + 1] = self._gram[: k + 1, k] = row
            b, norm = tangent.offset, max(float(row[k]), 0.0) ** 0.5
            slope_error = unit * design.largest * float(abs(tangent.gradient).sum())
            self._columns[:5, k] = b, abs(b), norm, unit * tangent.rounding, slope_error
            self._columns[5:, k] = 0.0
            if centre_scores is not None:
                self._columns[self._PRODUCT, k] = float(tangent.gradient @ centre_scores)
            self.size = k + 1
            if not design.is_exact:
                self._gradients.append(tangent.gradient)

    def _make_room(self, n_more: int) -> None:
        """Drop planes that have long been idle; double the room if that does not suffice."""
        kept = self._column(self._IDLE) < _PATIENCE
        kept |= (self.dual > 0) | (self._column(self._NEAR) > 0)
        kept[:2] = True
        rows = np.flatnonzero(kept)
        room = self._slopes.shape[0]
        while rows.size + n_more > 3 * room // 4:
            room *= 2
        slopes, gram, columns = self._slopes, self._gram, self._columns
        self._slopes = np.zeros((room, slopes.shape[1]))
        self._gram, self._columns = np.zeros((room, room)), np.zeros((9, room))
        self._slopes[: rows.size] = slopes[rows]
        self._gram[: rows.size, : rows.size] = gram[np.ix_(rows, rows)]
        self._columns[:, : rows.size] = columns[:, rows]
        self.size = rows.size
        if self._gradients:
            self._gradients = [self._gradients[row - 1] for row in rows[1:]]

    def minimise(self, design: Design, tol: float = 0.0) -> Minimum:
        """Find the optimal dual point, to within ``tol``, and the minimum that it gives."""
        self.dual[:] = solve_simplex_qp(self.gram, self.offsets, self.C, self.dual, tol=tol)
        self._count_idle(self.dual)
        return self.minimum(design, self.dual)

    def _count_idle(self, dual: FloatArray) -> None:
        idle = self._column(self._IDLE)
        idle += 1
        idle[dual > 0] = 0

    def minimum(self, design: Design, dual: FloatArray) -> Minimum:
        """Compute ``w`` and the value of a dual point, lowered by what rounding may have added.

        If the slopes are off by ``d_k``, half the squared norm of ``w`` is off by
        ``sum_k u_k |d_k . w|``.
        """
        model = -dual @ self.slopes
        norm2 = max(float(design.inner(model, model)), 0.0)
        offset, size, norm, offset_error, slope_error = self._averages(dual)
        value = offset - norm2 / 2
        in_sums = size + norm2 + norm2**0.5 * norm
        in_planes = offset_error + slope_error * dasum(model)
        return Minimum(model, value, value - in_planes - 8 * _EPS * in_sums)

    def _averages(self, dual: FloatArray) -> list[float]:
        """Sum offsets, their sizes, norms, and the errors of offsets and slopes by a dual point."""
        sums: list[float] = (self._columns[: self._DUAL, : self.size] @ dual).tolist()
        return sums

    def exact_minimum(self, design: Design) -> Minimum:
        """Minimise the planes, with the slope of their optimal mixture in double precision.

        A plane is exact as a function of the scores; single precision rounds only its slope in the
        model, and the bound needs the slope of one mixture of the planes.
        """
        self.minimise(design)
        mixture = sum(
            float(weight) * gradient
            for weight, gradient in zip(self.dual[1:], self._gradients, strict=True)
            if weight > 0
        )
        if not self.dual[1:].any():
            return self.minimum(design, self.dual)
        exact = design.exact()
        model = -exact.adjoint(mixture)
        norm2 = float(exact.inner(model, model))
        offset, size, _, offset_error, _ = self._averages(self.dual)
        value = offset - norm2 / 2
        slope_error = _unit(exact) * exact.largest * float(abs(mixture).sum())
        in_planes = offset_error + slope_error * float(np.abs(model).sum())
        in_sums = size + norm2
        return Minimum(model, value, value - in_planes - 8 * _EPS * in_sums)

    def free(self, design: Design, tol: float = 0.0) -> Target:
        """Minimise the planes, as a model to search towards."""
        minimum = self.minimise(design, tol)
        return Target(minimum.model, -(self.gram @ self.dual), minimum.value, minimum)

    def set_centre(self, design: Design, centre: FloatArray) -> None:
        """Compute the planes' products with the model that targets are kept near."""
        self._column(self._PRODUCT)[:] = design.inner(self.slopes, centre) if centre.any() else 0.0

    def move_centre(self, place: float, target: Target) -> None:
        """Move the centre part of the way to a target, without a pass over the planes."""
        product = self._column(self._PRODUCT)
        product += place * (target.products - product)

    def near(
        self, design: Design, centre: FloatArray, stiffness: float, tol: float = 0.0
    ) -> Target:
        r"""Minimise ``1/2 |w|^2 + C max_k (a_k . w + b_k) + stiffness/2 |w - centre|^2``.

        Its dual, times ``1 + stiffness``, is the same program with ``1 + stiffness`` times the planes'
        values at the shrunken centre as the linear term; it is solved to within ``tol``. The centre is
        the one last set or moved to.
        """
        scale = 1.0 + stiffness
        linear = scale * self.offsets + stiffness * self._column(self._PRODUCT)
        dual, gram = self._column(self._NEAR), self.gram
        dual[:] = solve_simplex_qp(gram, linear, self.C, dual, tol=scale * tol)
        self._count_idle(dual)
        minimum = self.minimum(design, dual)
        model = stiffness * centre
        model += minimum.model
        model /= scale
        heights = (linear - gram @ dual) / scale
        value = float(design.inner(model, model)) / 2 + self.C * float(heights.max())
        return Target(model, heights - self.offsets, value, minimum)

    def rescaled(self, C: float) -> Planes:
        """Copy the planes for another C; for the same C return them as they are."""
        if self.C == C:
            return self
        copy = Planes.__new__(Planes)
        copy.C, copy.size = C, self.size
        copy._slopes, copy._gram = self._slopes.copy(), self._gram.copy()
        copy._columns, copy._gradients = self._columns.copy(), list(self._gradients)
        copy._columns[[self._DUAL, self._NEAR]] *= C / self.C
        return copy


def _unit(design: Design) -> float:
    """Bound the relative error of sums of n products, whose rounding errors partly cancel."""
    return float(_EPS * (8.0 + design.n_rows**0.5))
