r"""Training by L-BFGS-B, then by cutting planes if that stalls at a kink.

.. math:: J(w) = \tfrac12 \lVert w \rVert^2 + C\,[A(w) - B(w)]

Every evaluation solves both inference problems at the same ``w``. The model of the second phase is the
maximum of the planes of A found so far, minus the tangent of B at the best point (compare Joki,
Bagirov, Karmitsa, Makela, "A proximal bundle method for nonsmooth DC optimization", 2017; the quadratic
term of J replaces their proximal term). Unlike the planes of `aucuba.solvers.BundleSolver`, these
respect the signs of the weights, and their slopes change with the tangent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, Monitor
from aucuba.solvers import (
    Solution,
    Status,
    iterate,
    minimize_lbfgs,
    solve_simplex_qp,
)
from aucuba.structured._risk import StructuredRisk

# Planes kept in the second phase, besides those with weight in the last model.
_MAX_PLANES = 150
# Null steps shorten the next trial, but not enough to repeat planes.
_SMALLEST_STEP = 0.1
# Signs settle within a few pivots; the limit guards against cycling by rounding errors.
_MAX_PIVOTS = 20


@dataclass(frozen=True)
class Descent:
    """Solver that minimises 1/2 |w|^2 + C R(w) by L-BFGS-B and a DC bundle method.

    Parameters
    ----------
    C : float
    nonnegative : array of bool, shape (n_weights,)
        Weights kept at or above zero.
    tol : float
        The solver stops when the cutting planes can lower the objective by at most ``tol * C``; for a
        convex risk this is a certificate.
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
        seen: list[_Point] = []

        def objective(weights: FloatArray) -> tuple[float, FloatArray]:
            point = self.evaluate(risk, weights.copy())
            seen.append(point)
            return point.objective, weights + self.C * (point.worst - point.reference)

        way = minimize_lbfgs(
            objective,
            start,
            nonnegative=self.nonnegative,
            tol=1e-8 * self.C,
            objective_tol=1e-9,
            max_iter=self.max_iter,
            max_evaluations=self.max_iter,
            monitor=monitor,
        )
        if not seen:
            raise KeyboardInterrupt
        cut_short = way.status in (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED)
        bundle = _DCBundle(self, risk, self._first_state(seen))
        run = iterate(bundle, 0 if cut_short else self.max_iter, monitor)
        state = run.state
        bound = state.lower_bound if risk.is_convex else float("nan")
        return Solution(
            coef=state.best.weights,
            status=way.status if cut_short else run.status,
            n_iter=len(run.history),
            objective=state.best.objective,
            lower_bound=bound,
            gap=max((state.best.objective - bound) / self.C, 0.0),
            history=run.history,
            # The second phase continues the count of evaluations.
        ).after(way.history, counts=("iteration", "seconds"))

    def evaluate(self, risk: StructuredRisk, weights: FloatArray) -> _Point:
        """Solve both inference problems at one point.

        If R itself is convex, its own planes replace those of A: they bound J, whereas planes of A
        with the tangent of B bound only a function above J.
        """
        loss, worst = risk.worst(weights)
        reference = risk.joint(risk.reference(weights))
        if risk.is_convex:
            worst, reference = worst - reference, np.zeros(weights.size)
        value = loss + float(weights @ (worst - reference))
        objective = float(weights @ weights) / 2 + self.C * value
        return _Point(weights, objective, loss, worst, reference)

    def _first_state(self, seen: list[_Point]) -> _BundleState:
        """Start the second phase at the best point, with the planes of the latest points."""
        recent = seen[-_MAX_PLANES // 2 :]
        planes = _SignedPlanes(
            np.array([point.worst for point in recent]),
            np.array([point.loss for point in recent]),
            np.full(len(recent), self.C / len(recent)),
        )
        best = min(seen, key=lambda point: point.objective)
        return _BundleState(best, planes, -np.inf, 1.0, len(seen))


@dataclass(frozen=True)
class _Point:
    """A model, its objective, the plane of A and the tangent of B there."""

    weights: FloatArray
    objective: float
    loss: float
    worst: FloatArray
    reference: FloatArray


@dataclass(frozen=True)
class _SignedPlanes:
    """Planes of A with the dual weights of the last model; the weights sum to C."""

    slopes: FloatArray
    offsets: FloatArray
    dual: FloatArray

    def added(self, point: _Point) -> _SignedPlanes:
        """Add the plane at a point and drop the oldest idle ones."""
        kept = np.ones(self.dual.size, dtype=bool)
        surplus = self.dual.size + 1 - _MAX_PLANES
        if surplus > 0:
            kept[np.flatnonzero(self.dual == 0)[:surplus]] = False
        return _SignedPlanes(
            np.vstack([self.slopes[kept], point.worst]),
            np.append(self.offsets[kept], point.loss),
            np.append(self.dual[kept], 0.0),
        )

    def minimised(
        self, reference: FloatArray, nonnegative: BoolArray
    ) -> tuple[_SignedPlanes, FloatArray, float]:
        r"""Minimise :math:`\tfrac12 |w|^2 + C [\max_t (l_t + w \cdot \varphi_t) - w \cdot b]`.

        Signs are found by pivoting: weights that would become negative are fixed at zero, and freed
        when the planes push them up. Every dual point gives a valid lower bound.
        """
        slopes = self.slopes - reference
        total, dual = float(self.dual.sum()), self.dual
        free = np.ones(nonnegative.size, dtype=bool)
        best = (-np.inf, dual, np.zeros(nonnegative.size))
        for _ in range(_MAX_PIVOTS):
            part = slopes[:, free]
            dual = solve_simplex_qp(part @ part.T, self.offsets, total, dual)
            pushed = -(dual @ slopes)
            weights = np.where(nonnegative, np.maximum(pushed, 0.0), pushed)
            value = float(dual @ self.offsets - weights @ weights / 2)
            best = max(best, (value, dual, weights), key=lambda found: found[0])
            wanted = ~nonnegative | (pushed > 0)
            if np.array_equal(wanted, free):
                break
            free = wanted
        value, dual, weights = best
        return replace(self, dual=dual), weights, value


@dataclass(frozen=True)
class _BundleState:
    best: _Point
    planes: _SignedPlanes
    lower_bound: float
    step: float
    n_evaluations: int


@dataclass(frozen=True)
class _DCBundle:
    """Cutting planes of A against the tangent of B at the best point.

    The model lies below the convex function that touches J at the best point, so its minimum bounds
    the gain that this tangent can still give; if B is linear, it bounds J itself.
    """

    solver: Descent
    risk: StructuredRisk
    start: _BundleState

    def init(self) -> _BundleState:
        return self._modelled(self.start)[0]

    def step(self, state: _BundleState) -> _BundleState:
        state, target = self._modelled(state)
        best = state.best
        point = self.solver.evaluate(self.risk, best.weights + state.step * (target - best.weights))
        better = point.objective < best.objective
        # A null step adds a plane; the next trial stays closer to the best point.
        step = min(1.0, 2 * state.step) if better else max(state.step / 2, _SMALLEST_STEP)
        return replace(
            state,
            best=point if better else best,
            planes=state.planes.added(point),
            step=step,
            n_evaluations=state.n_evaluations + 1,
        )

    def terminate(self, state: _BundleState) -> Status | None:
        if state.best.objective - state.lower_bound <= self.solver.tol * self.solver.C:
            return Status.CONVERGED
        return None

    def report(self, state: _BundleState) -> dict[str, Any]:
        return {
            "objective": state.best.objective,
            "promised": state.best.objective - state.lower_bound,
            "n_evaluations": state.n_evaluations,
        }

    def _modelled(self, state: _BundleState) -> tuple[_BundleState, FloatArray]:
        planes, target, bound = state.planes.minimised(
            state.best.reference, self.solver.nonnegative
        )
        return replace(state, planes=planes, lower_bound=bound), target
