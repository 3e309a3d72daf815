"""Descent for smooth risks, convex or not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from aucuba._base._typing import BoolArray, FloatArray, Monitor
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._driver import Solution, Status


@dataclass(frozen=True)
class LBFGSSolver:
    r"""Minimise a smooth risk from a given model by SciPy's L-BFGS (memory 10).

    There is no certificate: ``lower_bound`` and ``gap`` are nan. The solver returns the model of lowest
    objective it has seen or, given a merit, the iterate of highest merit.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when no entry of the gradient exceeds it.
    objective_tol : float, default=1e-12
        Stop when an iteration lowers the objective by less, relative to its size.
    max_iter : int, default=100
        Limit on the number of iterations.
    """

    tol: float = 1e-6
    objective_tol: float = 1e-12
    max_iter: int = 100

    def solve(
        self,
        design: Design,
        risk: Risk,
        *,
        start: FloatArray | None = None,
        merit: Callable[[FloatArray], float] | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise from ``start`` (zero by default); ``merit`` is a function of the scores."""
        last: dict[bytes, FloatArray] = {}

        def objective(model: FloatArray) -> tuple[float, FloatArray]:
            scores = design.scores(model)
            last.clear()
            last[model.tobytes()] = scores
            value, gradient = risk.value_and_gradient(scores)
            return value, design.adjoint(gradient)

        def merit_of(model: FloatArray) -> float:
            # An iterate is usually the model that was evaluated last.
            scores = last.get(model.tobytes())
            assert merit is not None
            return merit(design.scores(model) if scores is None else scores)

        return minimize_lbfgs(
            objective,
            design.zeros() if start is None else start,
            tol=self.tol,
            objective_tol=self.objective_tol,
            max_iter=self.max_iter,
            merit=None if merit is None else merit_of,
            monitor=monitor,
        )


def minimize_lbfgs(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    *,
    nonnegative: BoolArray | None = None,
    tol: float = 1e-6,
    objective_tol: float = 1e-12,
    max_iter: int = 100,
    max_evaluations: int | None = None,
    merit: Callable[[FloatArray], float] | None = None,
    monitor: Monitor | None = None,
) -> Solution:
    """Minimise a function of the model by SciPy's L-BFGS-B (memory 10).

    Parameters
    ----------
    objective : callable
        Returns the value and the gradient at a model.
    start : ndarray
        The first model.
    nonnegative : ndarray of bool, default=None
        Entries of the model that must not fall below zero.
    tol : float, default=1e-6
        Stop when no entry of the (projected) gradient exceeds it.
    objective_tol : float, default=1e-12
        Stop when an iteration lowers the objective by less, relative to its size.
    max_iter : int, default=100
        Limit on the number of iterations.
    max_evaluations : int, default=None
        Limit on the number of evaluations, for expensive objectives with kinks, where one line search
        may take many.
    merit : callable, default=None
        Function of the model that chooses the iterate, higher is better; the history records it.
    monitor : callable, default=None
        Called with every row of the history; a true answer stops the descent.

    Returns
    -------
    Solution
        The model of lowest objective seen, or the iterate of highest merit (the last of equals, the
        start included), without a certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.solvers import minimize_lbfgs
    >>> def objective(model):
    ...     return float(np.sum((model - [1.0, -1.0]) ** 2)), 2 * (model - [1.0, -1.0])
    >>> minimize_lbfgs(objective, np.zeros(2), nonnegative=np.array([False, True])).coef
    array([1., 0.])
    """
    trace = _Trace(monitor, merit, start)

    def seen(model: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(model)
        trace.see(model, value)
        return value, gradient

    limits: dict[str, float] = {
        "maxcor": 10,
        "maxiter": max_iter,
        "gtol": tol,
        "ftol": objective_tol,
    }
    if max_evaluations is not None:
        limits["maxfun"] = max_evaluations
    bounds = None if nonnegative is None else [(0.0 if low else None, None) for low in nonnegative]
    try:
        result = minimize(
            seen,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=trace.iteration,
            options=limits,
        )
        status = _STATUS.get(int(result.status), Status.NO_PROGRESS)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if trace.stopped:
        status = Status.STOPPED_BY_CALLBACK
    if not trace.history:
        # SciPy ends before its first iteration if the start is stationary; record that start.
        trace.record()
    model, value = start if trace.model is None else trace.model, trace.value
    if merit is not None and status is not Status.INTERRUPTED:
        # An interrupted user does not wait for another evaluation.
        model, value = trace.chosen, objective(trace.chosen)[0]
    return Solution(
        coef=model,
        status=status,
        n_iter=len(trace.history),
        objective=value,
        lower_bound=np.nan,
        gap=np.nan,
        history=trace.history,
    )


# SciPy's codes: 0 converged, 1 limit of iterations or evaluations, 2 abnormal end of a line search.
_STATUS = {0: Status.CONVERGED, 1: Status.ITERATION_LIMIT}


class _Trace:
    """The best model seen, and one row of history per iteration."""

    def __init__(
        self,
        monitor: Monitor | None,
        merit: Callable[[FloatArray], float] | None,
        start: FloatArray,
    ) -> None:
        self.monitor, self.merit = monitor, merit
        self.model: FloatArray | None = None
        self.value = np.inf
        self.chosen, self.best_merit = start, -np.inf if merit is None else merit(start)
        self.n_evaluations = 0
        self.stopped = False
        self.history: list[dict[str, Any]] = []
        self.start = time.perf_counter()

    def see(self, model: FloatArray, value: float) -> None:
        self.n_evaluations += 1
        if value < self.value:
            self.model, self.value = model.copy(), value

    def iteration(self, model: FloatArray) -> None:
        found = {}
        if self.merit is not None:
            found = {"merit": self.merit(model)}
            if found["merit"] >= self.best_merit:
                self.chosen, self.best_merit = model.copy(), found["merit"]
        row = self.record(found)
        if self.monitor is not None and self.monitor(row):
            self.stopped = True
            raise StopIteration

    def record(self, found: dict[str, float] | None = None) -> dict[str, Any]:
        row = {
            "iteration": len(self.history) + 1,
            "objective": self.value,
            **(found or {}),
            "n_evaluations": self.n_evaluations,
            "seconds": time.perf_counter() - self.start,
        }
        self.history.append(row)
        return row
