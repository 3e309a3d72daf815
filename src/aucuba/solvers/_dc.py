"""Difference-of-convex programming (Narasimhan and Agarwal, Neural Computation 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, Monitor
from aucuba.design import Design
from aucuba.risks import HingeDifference
from aucuba.solvers._bundle import BundleSolver
from aucuba.solvers._driver import Solution, Status, joined


@dataclass(frozen=True)
class DCSolver:
    r"""Minimise a difference of two convex risks, and a norm, by a sequence of convex problems.

    .. math:: \min_w \ \tfrac12 |w|^2 + C\, (F(Aw) - G(Aw))

    Every round replaces G by its tangent at the current model. The convex problem that results is an
    upper bound of the objective, equal to it at that model; `BundleSolver` minimises it, so the
    objective never rises. The result is a stationary point without a certificate: ``lower_bound`` and
    ``gap`` are nan.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Gap of the convex problems, and the decrease in units of C below which rounds end.
    max_iter : int, default=1000
        Limit on the number of bundle iterations over all rounds.
    rtol : float or None, default=1e-3
        Relative gap of the convex problems.
    max_rounds : int, default=30
        Limit on the number of rounds.
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    rtol: float | None = 1e-3
    max_rounds: int = 30

    def solve(
        self,
        design: Design,
        risk: HingeDifference,
        *,
        start: FloatArray | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise from ``start`` (zero by default)."""
        model = design.zeros() if start is None else start
        objective = self._objective(design, risk, model)
        history: list[dict[str, Any]] = []
        status = Status.ITERATION_LIMIT
        for _ in range(self.max_rounds):
            convex = risk.linearised(design.scores(model))
            left = self.max_iter - len(history)
            inner = BundleSolver(self.C, self.tol, left, self.rtol)
            solution = inner.solve(design, convex, start=model, monitor=monitor)
            history = joined(history, solution.history)
            reached = self._objective(design, risk, solution.coef)
            progress = objective - reached
            if progress > 0:
                model, objective = solution.coef, reached
            if solution.status not in (Status.CONVERGED, Status.ZERO_AS_GOOD):
                status = solution.status
                break
            if progress <= self.tol * self.C:
                status = Status.CONVERGED
                break
        return Solution(model, status, len(history), objective, np.nan, np.nan, history)

    def _objective(self, design: Design, risk: HingeDifference, model: FloatArray) -> float:
        value = risk.value_and_gradient(design.scores(model))[0]
        return float(design.inner(model, model)) / 2 + self.C * value
