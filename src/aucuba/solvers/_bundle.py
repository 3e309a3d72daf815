"""Bundle method with a line search, after OCAS (Franc and Sonnenburg 2009), for convex risks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from aucuba._base._arrays import Vector
from aucuba._base._typing import FloatArray, Monitor
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._cutting_plane import CuttingPlanes
from aucuba.solvers._driver import Run, Status, iterate, joined
from aucuba.solvers._line_search import ObjectiveLine, Point
from aucuba.solvers._plane_solver import Bound, PlaneSolver
from aucuba.solvers._planes import Planes, Tangent, Target

# Start with plain cutting planes, and keep to them while every step leaves at most this fraction of the
# gap: for a small C nothing more is needed, and a line search costs more than it gains.
_FAST = 0.7
# Then leave the steps free until the best point has gained this fraction of what the lower bound allows
# over the zero model: a point barely better than zero is not worth staying near.
_GAINED = 0.1
# The stiffness starts at this multiple of C / |w|^2, so that a step as long as the model costs about
# half the risk. It adapts so that line searches end near their targets, and drops quickly when the gap
# hardly closes: without stiffness the method always converges.
_FIRST_STIFFNESS = 0.5
_ADAPT = 1.5
_LITTLE_PROGRESS = 0.95
_RELAX = 4.0
# The program of a bound is solved to this fraction of the tolerance, that of a target to this fraction
# of the gap.
_EXACT = 0.05
_TARGET = 0.01


class BundleState(NamedTuple):
    """Best point so far, the planes, the best lower bound, and the stiffness of the next step.

    ``is_minimiser`` tells whether the point is the minimiser of the planes, ``is_plain`` whether the
    next step is one of plain cutting planes.
    """

    best: Point
    planes: Planes
    bound: Bound
    stiffness: float
    n_evaluations: int
    is_minimiser: bool = False
    is_plain: bool = False

    @property
    def model(self) -> FloatArray:
        return self.best.model

    @property
    def scores(self) -> Vector:
        return self.best.scores

    @property
    def objective(self) -> float:
        return self.best.objective


@dataclass(frozen=True)
class BundleSolver(PlaneSolver):
    r"""Minimise a convex risk and a norm by cutting planes and a line search on the scores.

    .. math:: \min_w \ \tfrac12 |w|^2 + C\, R(Aw)

    The solver begins with plain cutting planes and keeps to them while they close the gap fast. Then
    every iteration (1) minimises ``1/2 |w|^2 + C max_k (a_k . w + b_k)`` over the planes seen so far,
    with a term that keeps the solution near the best point (a proximal bundle): a small quadratic
    program, whose dual gives a lower bound of the problem; (2) searches the line from the best point
    through the solution, which needs two score vectors but no pass over the data; (3) adds planes of R
    at the places visited. The program without that term, which gives the best bound, is solved only
    where it may end the method. An iteration passes over the data twice. The solver stops when
    ``(objective - lower bound) / C <= tol`` and ``objective - lower bound <= rtol * objective``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Certified gap at which to stop, in units of the risk.
    max_iter : int, default=1000
        Limit on the number of iterations.
    rtol : float or None, default=1e-3
        Certified gap relative to the objective, which must be reached too; None switches it off.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.design import TableDesign
    >>> from aucuba.risks import Sample, StructuralHinge
    >>> from aucuba.solvers import BundleSolver
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([False, True, False, True])
    >>> solution = BundleSolver(C=10.0).solve(TableDesign(X), StructuralHinge(Sample(y)))
    >>> solution.gap < 1e-3
    True
    """

    def _run(
        self,
        design: Design,
        risk: Risk,
        start: FloatArray | None,
        planes: Planes | None,
        monitor: Monitor | None,
    ) -> Run[BundleState]:
        return iterate(_Bundle(self, design, risk, start, planes), self.max_iter, monitor)

    def _at_minimiser(
        self, run: Run[Any], design: Design, risk: Risk, monitor: Monitor | None
    ) -> Run[Any]:
        if run.state.is_minimiser:
            return run
        method = CuttingPlanes(self, design, risk, None, run.state.planes)
        more = iterate(method, max(self.max_iter - len(run.history), 1), monitor)
        return replace(more, history=joined(run.history, more.history))


@dataclass(frozen=True)
class _Bundle:
    """The iteration of `BundleSolver` on one problem."""

    options: BundleSolver
    design: Design
    risk: Risk
    start: FloatArray | None
    warm_start: Planes | None

    def init(self) -> BundleState:
        zero, C = self.design.zeros(), self.options.C
        scores = self.design.arrays.zeros(self.design.n_rows)
        at_zero = Tangent.at(self.risk, scores)
        if self.warm_start is None:
            planes = Planes.started(self.design, self.risk, C, at_zero)
        else:
            planes = self.warm_start.rescaled(C)
        best = Point(zero, scores, 0.0, C * at_zero.value, at_zero)
        if self.start is not None and self.start.any():
            given = self._point(self.start)
            planes.add(self.design, [given.tangent])
            best = min(best, given, key=lambda point: point.objective)
        planes.set_centre(self.design, best.model)
        return BundleState(best, planes, Bound(), stiffness=0.0, n_evaluations=1, is_plain=True)

    def _point(self, model: FloatArray) -> Point:
        scores = self.design.scores(model)
        norm2 = float(self.design.inner(model, model))
        tangent = Tangent.at(self.risk, scores)
        return Point(model, scores, norm2, norm2 / 2 + self.options.C * tangent.value, tangent)

    def step(self, state: BundleState) -> BundleState:
        target, bound = self._target(state)
        bounded = state._replace(bound=bound)
        # With a small C the method could stop at zero, although one step still finds a direction.
        if state.best.norm2 > 0 and self.terminate(bounded) is not None:
            return bounded
        take = self._plain_step if state.is_plain else self._searched_step
        place, point, tangents = take(state.best, target.model, bound)
        gap = point.objective - bound.value
        is_plain = state.is_plain and gap <= _FAST * (state.objective - state.bound.value)
        stiffness = 0.0 if is_plain else self._stiffness(state, place, point, gap)
        is_minimiser = state.stiffness == 0.0 and place == 1.0
        n_evaluations = state.n_evaluations + len(tangents)
        state.planes.move_centre(place, target)
        reached = BundleState(
            point, state.planes, bound, stiffness, n_evaluations, is_minimiser, is_plain
        )
        # If the method ends at zero, `_at_minimiser` still searches the planes for a direction.
        if self.terminate(reached) is None or point.norm2 == 0:
            state.planes.add(self.design, tangents, point.scores)
        return reached

    def _plain_step(
        self, best: Point, target: FloatArray, bound: Bound
    ) -> tuple[float, Point, list[Tangent]]:
        """Evaluate the target alone; return the place on the line, the point and the plane there."""
        point = self._point(target)
        is_taken = self._ends(bound, point.objective) or point.objective < best.objective
        return (1.0, point, [point.tangent]) if is_taken else (0.0, best, [point.tangent])

    def _searched_step(
        self, best: Point, target: FloatArray, bound: Bound
    ) -> tuple[float, Point, list[Tangent]]:
        """Search the line through the target; return the place, the point and all planes seen."""
        line = ObjectiveLine(self.design, self.risk, self.options.C, best, target)
        probe, visited = line.search(
            bound.value, lambda value: self._ends(bound, value), near_start=best.norm2 > 0
        )
        return probe.place, line.point_at(probe), [other.tangent for other in visited]

    def _ends(self, bound: Bound, objective: float) -> bool:
        """Tell whether an objective is close enough to the bound."""
        return objective - bound.certified <= self.options.slack(objective)

    def _target(self, state: BundleState) -> tuple[Target, Bound]:
        """Find the model to search towards, and raise the lower bound by what its program gives."""
        planes, bound = state.planes, state.bound
        if state.stiffness == 0.0:
            target = planes.free(self.design, _EXACT * self.options.slack(state.objective))
            return target, bound.raised(target.minimum)
        gap = state.objective - bound.value
        target = planes.near(self.design, state.best.model, state.stiffness, _TARGET * gap)
        bound = bound.raised(target.minimum)
        # The minimum over the planes is at most their value at the target: while that value promises
        # more than the tolerance, no bound can end the method.
        slack = self.options.slack(state.objective)
        if state.objective - target.value <= slack:
            bound = bound.raised(planes.minimise(self.design, _EXACT * slack))
        return target, bound

    def _stiffness(self, state: BundleState, place: float, point: Point, gap: float) -> float:
        """Choose how strongly the next target is held near the point reached."""
        C = self.options.C
        if state.stiffness == 0.0:
            gained = C * state.planes.value_at_zero - point.objective
            is_free = point.norm2 == 0 or gained <= _GAINED * (gained + gap)
            return 0.0 if is_free else _FIRST_STIFFNESS * C / point.norm2
        if gap > _LITTLE_PROGRESS * (state.objective - state.bound.value):
            return state.stiffness / _RELAX
        if place < 0.5:
            return state.stiffness * _ADAPT
        return state.stiffness / _ADAPT if place > 0.9 else state.stiffness

    def terminate(self, state: BundleState) -> Status | None:
        return self.options.terminate(state)

    def report(self, state: BundleState) -> dict[str, Any]:
        return {**self.options.report(state), "n_evaluations": state.n_evaluations}
