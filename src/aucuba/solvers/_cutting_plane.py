"""The plain cutting-plane method of the paper (Algorithm 2), for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._certificate import PlaneRun, certified_solution, require_convex
from aucuba.solvers._driver import Monitor, Solution, Status, iterate
from aucuba.solvers._planes import Planes


@dataclass(frozen=True)
class CuttingPlaneState:
    """The current model with its objective, the planes, and the best lower bound."""

    model: FloatArray
    objective: float
    planes: Planes
    lower_bound: float


@dataclass(frozen=True)
class CuttingPlaneSolver:
    r"""``min_w 1/2 |w|^2 + C R(A w)``: minimise the planes, add the plane at the minimiser, repeat.

    It stops when the most violated constraint at the current model is violated by at most ``tol``,
    which is ``(objective - lower bound) / C <= tol`` for that model. Without a line search the iterates
    jump, and `BundleSolver` reaches the same gap in a fraction of the iterations.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Certified gap at which to stop, in units of the risk.
    max_iter : int, default=1000
        Limit on the number of iterations.
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000

    def solve(
        self,
        design: Design,
        risk: Risk,
        *,
        start: FloatArray | None = None,
        warm_start: Planes | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise, from the planes ``warm_start`` or the plane at the model ``start``."""
        require_convex(self, risk)

        def run(
            options: CuttingPlaneSolver, begin: FloatArray | None, planes: Planes | None
        ) -> PlaneRun:
            method = _CuttingPlane(options, design, risk, begin, planes)
            found = iterate(method, options.max_iter, monitor)
            state = found.state
            return PlaneRun(
                found.status, found.history, state.model, state.lower_bound, state.planes
            )

        return certified_solution(self, design, risk, run, start, warm_start)


@dataclass(frozen=True)
class _CuttingPlane:
    """The iteration of `CuttingPlaneSolver` on one problem."""

    options: CuttingPlaneSolver
    design: Design
    risk: Risk
    start: FloatArray | None
    warm_start: Planes | None

    def init(self) -> CuttingPlaneState:
        zero, C = self.design.zeros(), self.options.C
        planes, at_zero, _ = Planes.started(self.design, self.risk, C, self.warm_start)
        if self.start is None:
            return CuttingPlaneState(zero, C * at_zero, planes, -np.inf)
        return self._visit(self.start, planes, -np.inf)

    def step(self, state: CuttingPlaneState) -> CuttingPlaneState:
        planes = state.planes.minimised()
        return self._visit(planes.model, planes, max(state.lower_bound, planes.dual_value))

    def _visit(self, model: FloatArray, planes: Planes, lower_bound: float) -> CuttingPlaneState:
        """Move to a model and add the plane there."""
        scores = self.design.scores(model)
        value, gradient = self.risk.value_and_gradient(scores)
        objective = float(self.design.inner(model, model)) / 2 + self.options.C * value
        offset = np.array([value - float(gradient @ scores)])
        planes = planes.added(self.design, self.design.adjoint([gradient]), offset)
        return CuttingPlaneState(model, objective, planes, lower_bound)

    def terminate(self, state: CuttingPlaneState) -> Status | None:
        if state.objective - state.lower_bound <= self.options.tol * self.options.C:
            return Status.CONVERGED
        return None

    def report(self, state: CuttingPlaneState) -> dict[str, Any]:
        return {
            "objective": state.objective,
            "lower_bound": state.lower_bound,
            "gap": (state.objective - state.lower_bound) / self.options.C,
            "n_planes": state.planes.size,
        }
