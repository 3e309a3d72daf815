"""Cutting planes as published: Algorithm 2 of Narasimhan and Agarwal (ICML 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from aucuba._base._arrays import Vector
from aucuba._base._typing import FloatArray, Monitor
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._driver import Run, Status, iterate
from aucuba.solvers._plane_solver import Bound, PlaneSolver
from aucuba.solvers._planes import Planes, Tangent

# The minimum over the planes is found to this fraction of the tolerance.
_EXACT = 0.05


class CuttingPlaneState(NamedTuple):
    """The current model with its objective, the planes, and the best lower bound."""

    model: FloatArray
    scores: Vector
    objective: float
    planes: Planes
    bound: Bound
    n_evaluations: int


@dataclass(frozen=True)
class CuttingPlaneSolver(PlaneSolver):
    r"""Minimise the cutting planes, add the plane at the minimiser, and repeat.

    .. math:: \min_w \ \tfrac12 |w|^2 + C\, R(Aw)

    The solver stops when the most violated constraint at the current model is violated by at most
    ``tol``, which is ``(objective - lower bound) / C <= tol`` for that model. Without a line search the
    iterates jump; `BundleSolver` reaches the same gap in a fraction of the iterations.

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
    """

    def _run(
        self,
        design: Design,
        risk: Risk,
        start: FloatArray | None,
        planes: Planes | None,
        monitor: Monitor | None,
    ) -> Run[CuttingPlaneState]:
        return iterate(CuttingPlanes(self, design, risk, start, planes), self.max_iter, monitor)

    def _at_minimiser(
        self, run: Run[Any], design: Design, risk: Risk, monitor: Monitor | None
    ) -> Run[Any]:
        return run


@dataclass(frozen=True)
class CuttingPlanes:
    """The iteration of `CuttingPlaneSolver` on one problem."""

    options: PlaneSolver
    design: Design
    risk: Risk
    start: FloatArray | None
    warm_start: Planes | None

    def init(self) -> CuttingPlaneState:
        zero, C = self.design.zeros(), self.options.C
        scores = self.design.arrays.zeros(self.design.n_rows)
        if self.warm_start is None:
            planes = Planes.started(self.design, self.risk, C, Tangent.at(self.risk, scores))
        else:
            planes = self.warm_start.rescaled(C)
        if self.start is not None:
            return self._visit(self.start, planes, Bound(), 2)
        return CuttingPlaneState(zero, scores, C * planes.value_at_zero, planes, Bound(), 1)

    def step(self, state: CuttingPlaneState) -> CuttingPlaneState:
        tol = _EXACT * self.options.slack(max(state.bound.value, 0.0))
        minimum = state.planes.minimise(self.design, tol)
        bound = state.bound.raised(minimum)
        return self._visit(minimum.model, state.planes, bound, state.n_evaluations + 1)

    def _visit(
        self, model: FloatArray, planes: Planes, bound: Bound, n_evaluations: int
    ) -> CuttingPlaneState:
        """Move to a model and, unless it is the solution, add the plane there."""
        scores = self.design.scores(model)
        tangent = Tangent.at(self.risk, scores)
        objective = float(self.design.inner(model, model)) / 2 + self.options.C * tangent.value
        state = CuttingPlaneState(model, scores, objective, planes, bound, n_evaluations)
        if self.terminate(state) is None:
            planes.add(self.design, [tangent])
        return state

    def terminate(self, state: CuttingPlaneState) -> Status | None:
        return self.options.terminate(state)

    def report(self, state: CuttingPlaneState) -> dict[str, Any]:
        return {**self.options.report(state), "n_evaluations": state.n_evaluations}
