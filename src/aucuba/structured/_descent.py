r"""Direct minimisation of the structured objective.

.. math:: J(w) = \tfrac12 \lVert w \rVert^2 + C\,[A(w) - B(w)]

Every evaluation solves both inference problems at the same ``w``. L-BFGS-B makes the way; where it
stalls at a kink, cutting planes of A (all that were met) and the tangent of B go on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from aucuba._core._typing import BoolArray, FloatArray
from aucuba.solvers import Monitor, Solution, Status, iterate
from aucuba.solvers._driver import joined
from aucuba.solvers._qp import solve_simplex_qp
from aucuba.structured._risk import StructuredRisk

# Planes kept for the second phase; those with weight in the last model always stay.
_MAX_PLANES = 150
# After null steps trials stay near the best point, but not so near that planes repeat.
_SMALLEST_SHARE = 0.1


@dataclass(frozen=True)
class Direct:
    """min 1/2 |w|^2 + C R(w) by L-BFGS-B and a DC bundle method.

    Parameters
    ----------
    C : float
    nonnegative : array of bool, shape (n_weights,)
        Weights kept at or above zero.
    tol : float
        Ends when the cutting planes promise to lower the objective by at most
        ``tol * C``; where the risk is convex this is a certificate.
    max_iter : int
        Evaluations of the objective in each of the two phases.
    """

    C: float
    nonnegative: BoolArray
    tol: float = 1e-4
    max_iter: int = 200

    def solve(
        self, risk: StructuredRisk, start: FloatArray, monitor: Monitor | None = None
    ) -> Solution:
        """Run from ``start``."""
        trace = _Trace(self, risk, monitor)
        bounds = [(0.0 if low else None, None) for low in self.nonnegative]
        options = {"maxfun": self.max_iter, "ftol": 1e-9, "gtol": 1e-8 * self.C}
        ended: Status | None = None
        try:
            minimize(trace, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        except StopIteration:
            ended = Status.STOPPED_BY_CALLBACK
        except KeyboardInterrupt:
            if trace.best is None:
                raise
            ended = Status.INTERRUPTED
        bundle = _DCBundle(self, risk, trace.state())
        run = iterate(bundle, self.max_iter if ended is None else 0, monitor)
        state = run.state
        # The second phase goes on with the number of evaluations by itself.
        history = joined(trace.history, run.history, ("iteration", "seconds"))
        certified = risk.is_convex
        return Solution(
            coef=state.best.weights,
            status=run.status if ended is None else ended,
            n_iter=len(history),
            objective=state.best.objective,
            lower_bound=state.lower_bound if certified else float("nan"),
            gap=(state.best.objective - state.lower_bound) / self.C if certified else float("nan"),
            history=history,
        )

    def evaluate(self, risk: StructuredRisk, weights: FloatArray) -> _Point:
        """Both inference problems at one point.

        Where R is convex as a whole its own planes take the place of those of A; they bound J, while
        planes of A with the tangent of B only bound a function above it.
        """
        loss, worst = risk.worst(weights)
        reference = risk.joint(risk.reference(weights))
        if risk.is_convex:
            worst, reference = worst - reference, np.zeros(weights.size)
        value = loss + float(weights @ (worst - reference))
        objective = float(weights @ weights) / 2 + self.C * value
        return _Point(weights, objective, loss, worst, reference)


@dataclass(frozen=True)
class _Point:
    """A model, its objective, the plane of A and the tangent of B there."""

    weights: FloatArray
    objective: float
    loss: float
    worst: FloatArray
    reference: FloatArray


class _Trace:
    """The objective for L-BFGS-B; keeps the best point, the planes and the history."""

    def __init__(self, solver: Direct, risk: StructuredRisk, monitor: Monitor | None) -> None:
        self.solver, self.risk, self.monitor = solver, risk, monitor
        self.best: _Point | None = None
        self.points: list[_Point] = []
        self.history: list[dict[str, Any]] = []
        self.start = time.perf_counter()

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        point = self.solver.evaluate(self.risk, weights.copy())
        if self.best is None or point.objective < self.best.objective:
            self.best = point
        self.points.append(point)
        row = {
            "iteration": len(self.history) + 1,
            "phase": "l-bfgs-b",
            "objective": self.best.objective,
            "n_evaluations": len(self.points),
            "seconds": time.perf_counter() - self.start,
        }
        self.history.append(row)
        if self.monitor is not None and self.monitor(row):
            raise StopIteration
        gradient = weights + self.solver.C * (point.worst - point.reference)
        return point.objective, gradient

    def state(self) -> _State:
        """Where the cutting planes go on."""
        assert self.best is not None
        recent = self.points[-_MAX_PLANES // 2 :]
        planes = _Planes(
            np.array([point.worst for point in recent]),
            np.array([point.loss for point in recent]),
            np.full(len(recent), self.solver.C / len(recent)),
        )
        return _State(self.best, planes, -np.inf, 1.0, len(self.points))


@dataclass(frozen=True)
class _Planes:
    """Planes of A with the dual weights of the last model; the weights sum to C."""

    slopes: FloatArray
    offsets: FloatArray
    dual: FloatArray

    def added(self, point: _Point) -> _Planes:
        """With the plane at a point, without the oldest idle ones."""
        kept = np.ones(self.dual.size, dtype=bool)
        surplus = self.dual.size + 1 - _MAX_PLANES
        if surplus > 0:
            kept[np.flatnonzero(self.dual == 0)[:surplus]] = False
        return _Planes(
            np.vstack([self.slopes[kept], point.worst]),
            np.append(self.offsets[kept], point.loss),
            np.append(self.dual[kept], 0.0),
        )

    def minimised(
        self, reference: FloatArray, nonnegative: BoolArray
    ) -> tuple[_Planes, FloatArray, float]:
        r"""Minimise :math:`\tfrac12 |w|^2 + C [\max_t (l_t + w \cdot \varphi_t) - w \cdot b]`.

        Signs are found by pivoting: weights that would turn negative are held at zero, and let go
        when the planes push them up. Any dual point gives a valid lower bound.
        """
        slopes = self.slopes - reference
        total, dual = float(self.dual.sum()), self.dual
        free = np.ones(nonnegative.size, dtype=bool)
        best = (-np.inf, dual)
        for _ in range(20):
            part = slopes[:, free]
            dual = solve_simplex_qp(part @ part.T, self.offsets, total, dual)
            pushed = -(dual @ slopes)
            weights = np.where(nonnegative, np.maximum(pushed, 0.0), pushed)
            value = float(dual @ self.offsets - weights @ weights / 2)
            best = max(best, (value, dual), key=lambda pair: pair[0])
            wanted = ~nonnegative | (pushed > 0)
            if np.array_equal(wanted, free):
                break
            free = wanted
        value, dual = best
        pushed = -(dual @ slopes)
        weights = np.where(nonnegative, np.maximum(pushed, 0.0), pushed)
        return replace(self, dual=dual), weights, value


@dataclass(frozen=True)
class _State:
    best: _Point
    planes: _Planes
    lower_bound: float
    share: float
    n_evaluations: int


@dataclass(frozen=True)
class _DCBundle:
    """Cutting planes of A against the tangent of B at the best point.

    The model lies below the convex function that touches J at the best point, so its minimum bounds
    what this tangent can still gain; where B is linear, it bounds J itself.
    """

    solver: Direct
    risk: StructuredRisk
    start: _State

    def init(self) -> _State:
        return self._modelled(self.start)[0]

    def step(self, state: _State) -> _State:
        state, target = self._modelled(state)
        best = state.best
        trial = best.weights + state.share * (target - best.weights)
        point = self.solver.evaluate(self.risk, trial)
        planes = state.planes.added(point)
        better = point.objective < best.objective
        # A null step teaches the planes; the next trial stays closer to the best point.
        share = min(1.0, 2 * state.share) if better else max(state.share / 2, _SMALLEST_SHARE)
        return replace(
            state,
            best=point if better else best,
            planes=planes,
            share=share,
            n_evaluations=state.n_evaluations + 1,
        )

    def terminate(self, state: _State) -> Status | None:
        if state.best.objective - state.lower_bound <= self.solver.tol * self.solver.C:
            return Status.CONVERGED
        return None

    def report(self, state: _State) -> dict[str, Any]:
        return {
            "phase": "planes",
            "objective": state.best.objective,
            "promised": state.best.objective - state.lower_bound,
            "n_evaluations": state.n_evaluations,
        }

    def _modelled(self, state: _State) -> tuple[_State, FloatArray]:
        planes, target, bound = state.planes.minimised(
            state.best.reference, self.solver.nonnegative
        )
        return replace(state, planes=planes, lower_bound=bound), target
