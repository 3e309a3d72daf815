"""Descent for smooth risks, convex or not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from aucuba._core._typing import FloatArray
from aucuba.design import TableDesign
from aucuba.risks import Risk
from aucuba.solvers._driver import Monitor, Solution, Status


@dataclass(frozen=True)
class LBFGSSolver:
    r"""``min_w R(A w)`` from a given model, by SciPy's L-BFGS (memory 10).

    There is no certificate: ``lower_bound`` and ``gap`` are nan. The best model seen is returned.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds it.
    max_iter : int, default=100
        Limit on the number of iterations.
    """

    tol: float = 1e-6
    max_iter: int = 100

    def solve(
        self,
        design: TableDesign,
        risk: Risk,
        *,
        start: FloatArray | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise from ``start`` (zero by default)."""
        trace = _Trace(monitor)

        def objective(model: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = risk.value_and_gradient(design.scores(model))
            trace.see(model, value)
            return value, design.adjoint(gradient)

        begin = design.zeros() if start is None else start
        try:
            result = minimize(
                objective,
                begin,
                jac=True,
                method="L-BFGS-B",
                callback=trace.iteration,
                options={"maxcor": 10, "maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12},
            )
            status = _STATUS.get(int(result.status), Status.NO_PROGRESS)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if trace.stopped:
            status = Status.STOPPED_BY_CALLBACK
        if not trace.history:
            # A stationary start ends SciPy's loop before its first iteration; it was looked at.
            trace.record()
        return Solution(
            coef=begin if trace.model is None else trace.model,
            status=status,
            n_iter=len(trace.history),
            objective=trace.value,
            lower_bound=np.nan,
            gap=np.nan,
            history=trace.history,
        )


# SciPy's codes: 0 converged, 1 limit of iterations or evaluations, 2 abnormal end of a line search.
_STATUS = {0: Status.CONVERGED, 1: Status.ITERATION_LIMIT}


class _Trace:
    """The best model seen, and one row of history an iteration."""

    def __init__(self, monitor: Monitor | None) -> None:
        self.monitor = monitor
        self.model: FloatArray | None = None
        self.value = np.inf
        self.n_evaluations = 0
        self.stopped = False
        self.history: list[dict[str, Any]] = []
        self.start = time.perf_counter()

    def see(self, model: FloatArray, value: float) -> None:
        self.n_evaluations += 1
        if value < self.value:
            self.model, self.value = model.copy(), value

    def iteration(self, _: FloatArray) -> None:
        row = self.record()
        if self.monitor is not None and self.monitor(row):
            self.stopped = True
            raise StopIteration

    def record(self) -> dict[str, Any]:
        row = {
            "iteration": len(self.history) + 1,
            "objective": self.value,
            "n_evaluations": self.n_evaluations,
            "seconds": time.perf_counter() - self.start,
        }
        self.history.append(row)
        return row
