r"""Algorithm 1 of Rosenfeld et al. (AISTATS 2014) with block-coordinate Frank-Wolfe inside.

The convex problems of the DC algorithm are solved as by Lacoste-Julien et al. (ICML 2013). For a fixed
reference the dual of :math:`\tfrac12 \lVert w \rVert^2 + C R(w)` has one block per graph, a convex
combination of corners

.. math:: w_s = C_m \psi_m(z), \quad l_s = C_m \Delta_m(z), \qquad
          \psi_m(z) = \varphi_m(\hat z_m) - \varphi_m(z), \quad C_m = C \cdot \text{weight}_m,

and :math:`w = \sum_m w_m`, where weights that must not be negative are clipped at zero. The block gaps
:math:`g_m = w \cdot (w_m - w_s) - l_m + l_s` at one ``w`` sum to primal minus dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, Monitor
from aucuba.solvers import Solution, Status, iterate
from aucuba.structured._inference import Ranking
from aucuba.structured._risk import StructuredRisk


@dataclass(frozen=True)
class FrankWolfe:
    """Solver that minimises 1/2 |w|^2 + C R(w) by blocks.

    Parameters
    ----------
    C : float
    nonnegative : array of bool, shape (n_weights,)
        Weights kept at or above zero.
    tol : float
        A convex problem is solved when its gap is below ``tol * C``; the DC algorithm stops when a new
        reference improves the objective by less than that.
    max_iter : int
        Passes over the graphs, over all DC steps together.
    seed : int
        Seed of the order of the blocks.
    """

    C: float
    nonnegative: BoolArray
    tol: float = 1e-3
    max_iter: int = 200
    seed: int = 0

    def solve(
        self, risk: StructuredRisk, start: FloatArray, monitor: Monitor | None = None
    ) -> Solution:
        """Run from ``start``, which chooses the first reference."""
        run = iterate(_Passes(self, risk, start), self.max_iter, monitor)
        state = run.state
        certified = risk.fixed is not None
        bound = state.lower_bound if certified else float("nan")
        return Solution(
            coef=state.best_weights,
            status=run.status,
            n_iter=len(run.history),
            objective=state.best_objective,
            lower_bound=bound,
            gap=max((state.best_objective - bound) / self.C, 0.0),
            history=run.history,
        )

    def objective(self, risk: StructuredRisk, weights: FloatArray) -> float:
        """Evaluate J(w)."""
        return float(weights @ weights) / 2 + self.C * risk.value_and_gradient(weights)[0]


class _Blocks:
    """The dual iterate: a vector, a loss and a reference per graph, and the sum of the vectors."""

    def __init__(self, solver: FrankWolfe, risk: StructuredRisk, weights: FloatArray) -> None:
        self.solver, self.risk = solver, risk
        self.parts = risk.split()
        self.rng = np.random.default_rng(solver.seed)
        self.references = self._joint(risk.reference(weights))
        corners = [part.worst(weights) for part in self.parts]
        self.losses = solver.C * np.array([loss for loss, _ in corners])
        self.vectors = solver.C * (self.references - np.array([worst for _, worst in corners]))
        self.total = self.vectors.sum(axis=0)

    def weights(self) -> FloatArray:
        """Return the primal weights of the dual iterate."""
        positive = np.maximum(self.total, 0.0)
        weights: FloatArray = np.where(self.solver.nonnegative, positive, self.total)
        return weights

    def sweep(self) -> None:
        """Step once in every block, in random order."""
        C = self.solver.C
        for block in self.rng.permutation(len(self.parts)):
            weights = self.weights()
            loss, worst = self.parts[block].worst(weights)
            direction = self.vectors[block] - C * (self.references[block] - worst)
            gap = weights @ direction - self.losses[block] + C * loss
            length = direction @ direction
            step = float(np.clip(gap / length, 0.0, 1.0)) if length > 0 else float(gap > 0)
            self.vectors[block] -= step * direction
            self.losses[block] += step * (C * loss - self.losses[block])
            self.total -= step * direction
        # Rounding errors accumulate in the running total.
        self.total = self.vectors.sum(axis=0)

    def bounds(self) -> tuple[float, float]:
        """Return the primal and the dual value of the convex problem, by one batched call."""
        weights = self.weights()
        loss, worst = self.risk.worst(weights)
        half = float(weights @ weights) / 2
        value = loss + weights @ (worst - self.references.sum(axis=0))
        return half + self.solver.C * float(value), float(self.losses.sum()) - half

    def refer(self, weights: FloatArray) -> None:
        """Move every corner to the reference that is best for ``weights``."""
        fresh = self._joint(self.risk.reference(weights))
        self.vectors += self.solver.C * (fresh - self.references)
        self.references = fresh
        self.total = self.vectors.sum(axis=0)

    def _joint(self, ranking: Ranking) -> FloatArray:
        """Return the joint features of the graphs, one row each."""
        return np.array(
            [
                part.joint(one)
                for part, one in zip(self.parts, self.risk.batch.rankings(ranking), strict=True)
            ]
        )


@dataclass(frozen=True)
class _PassState:
    best_weights: FloatArray
    best_objective: float
    primal: float
    lower_bound: float
    dc_step: int
    improved: float


class _Passes:
    """One pass over the blocks per step; a new reference once the convex problem is solved."""

    def __init__(self, solver: FrankWolfe, risk: StructuredRisk, start: FloatArray) -> None:
        self.solver, self.risk, self.start = solver, risk, start
        self.slack = solver.tol * solver.C

    def init(self) -> _PassState:
        self.blocks = _Blocks(self.solver, self.risk, self.start)
        objective = self.solver.objective(self.risk, self.start)
        return _PassState(self.start, objective, np.inf, -np.inf, 0, np.inf)

    def step(self, state: _PassState) -> _PassState:
        dc_step, before = state.dc_step, state.best_objective
        if self._solved(state):
            self.blocks.refer(state.best_weights)
            dc_step, state = dc_step + 1, replace(state, improved=0.0)
        self.blocks.sweep()
        primal, bound = self.blocks.bounds()
        weights = self.blocks.weights()
        convex = self.risk.fixed is not None
        objective = primal if convex else self.solver.objective(self.risk, weights)
        improved = state.improved + max(before - objective, 0.0)
        if objective < state.best_objective:
            return _PassState(weights, objective, primal, bound, dc_step, improved)
        return _PassState(state.best_weights, before, primal, bound, dc_step, improved)

    def terminate(self, state: _PassState) -> Status | None:
        if not self._solved(state):
            return None
        stuck = self.risk.fixed is not None or state.improved <= self.slack
        return Status.CONVERGED if stuck else None

    def report(self, state: _PassState) -> dict[str, Any]:
        return {
            "dc_step": state.dc_step,
            "objective": state.best_objective,
            "gap": (state.primal - state.lower_bound) / self.solver.C,
        }

    def _solved(self, state: _PassState) -> bool:
        return state.primal - state.lower_bound <= self.slack
