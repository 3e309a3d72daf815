r"""Block-coordinate Frank-Wolfe inside the DC algorithm, as the structured AUC paper trains.

For a fixed reference the dual of :math:`\tfrac12 \lVert w \rVert^2 + C R(w)` has one block a graph,
a convex combination of corners

.. math:: w_s = C_m \psi_m(z), \quad l_s = C_m \Delta_m(z), \qquad C_m = C \cdot \text{share}_m,

and :math:`w = \sum_m w_m` with the weights that must not be negative clipped at zero. The block gaps
:math:`g_m = w \cdot (w_m - w_s) - l_m + l_s` at one ``w`` sum to primal minus dual.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._typing import BoolArray, FloatArray
from aucuba.structured.inference import Ranking
from aucuba.structured.risk import StructuredRisk

logger = logging.getLogger(__name__)

Record = dict[str, Any]


@dataclass(frozen=True)
class Solution:
    """Weights, objective, certificate (of the convex problem solved last) and the way there."""

    weights: FloatArray
    objective: float
    lower_bound: float | None
    n_iter: int
    status: str
    history: list[Record]

    @property
    def gap(self) -> float | None:
        """Objective minus lower bound, where there is one."""
        return None if self.lower_bound is None else self.objective - self.lower_bound


@dataclass(frozen=True)
class FrankWolfe:
    """min 1/2 |w|^2 + C R(w) by blocks.

    Parameters
    ----------
    C : float
    nonnegative : array of bool, shape (n_weights,)
        Weights kept at or above zero.
    tol : float
        The inner problem ends when the gap is below ``tol * max(1, objective)``, and the DC algorithm
        when a step improves the objective by less than that.
    max_iter : int
        Passes over the graphs, over all DC steps together.
    max_dc : int
        References, each with an inner problem.
    seed : int
        Of the order of the blocks.
    """

    C: float
    nonnegative: BoolArray
    tol: float = 1e-3
    max_iter: int = 200
    max_dc: int = 20
    seed: int = 0

    def solve(
        self,
        risk: StructuredRisk,
        start: FloatArray,
        callback: Callable[[Record], None] | None = None,
    ) -> Solution:
        """Run from ``start``, which chooses the first reference."""
        parts, rng = risk.split(), np.random.default_rng(self.seed)
        reference = risk.reference(start)
        blocks = _Blocks.at(parts, self._references(parts, start, reference, risk), start, self)
        best_weights, best = start, self._objective(risk, start)
        history: list[Record] = []
        n_iter, status, bound = 0, "the largest number of passes was reached", None
        for step in range(self.max_dc):
            convex = risk.with_fixed(reference)
            while n_iter < self.max_iter:
                n_iter += 1
                blocks.sweep(parts, rng)
                primal, bound = blocks.certificate(convex)
                weights = blocks.weights()
                objective = primal if risk.is_convex else self._objective(risk, weights)
                record = {
                    "iteration": n_iter,
                    "dc_step": step,
                    "objective": objective,
                    "gap": primal - bound,
                    "n_oracle": 2 * n_iter,
                }
                history.append(record)
                logger.info("pass %(iteration)d: objective %(objective).6g, gap %(gap).2g", record)
                if callback is not None:
                    callback(record)
                if primal - bound <= self.tol * max(1.0, primal):
                    break
            improved = best - objective
            if objective < best:
                best, best_weights = objective, weights
            if n_iter >= self.max_iter:
                break
            if risk.is_convex or improved <= self.tol * max(1.0, abs(best)):
                status = "converged"
                break
            fresh = risk.reference(best_weights)
            blocks.move(parts, self._references(parts, best_weights, fresh, risk))
            reference = fresh
        lower = bound if risk.is_convex else None
        return Solution(best_weights, best, lower, n_iter, status, history)

    def _objective(self, risk: StructuredRisk, weights: FloatArray) -> float:
        return float(weights @ weights / 2 + self.C * risk.value_and_gradient(weights)[0])

    @staticmethod
    def _references(
        parts: list[StructuredRisk], weights: FloatArray, whole: Ranking, risk: StructuredRisk
    ) -> list[Ranking]:
        """The reference of the data set, cut into its graphs."""
        return [
            Ranking(
                whole.node_mass[risk.batch.node_graph == graph],
                whole.edge_mass[risk.batch.edge_graph == graph],
                whole.value[[graph]],
            )
            for graph in range(len(parts))
        ]


class _Blocks:
    """The dual iterate: one weight vector and one loss a graph, and their sums."""

    def __init__(self, solver: FrankWolfe, references: list[Ranking]) -> None:
        self.solver = solver
        self.references = references
        self.vectors = np.zeros((len(references), solver.nonnegative.size))
        self.losses = np.zeros(len(references))
        self.total = np.zeros(solver.nonnegative.size)

    @classmethod
    def at(
        cls,
        parts: list[StructuredRisk],
        references: list[Ranking],
        weights: FloatArray,
        solver: FrankWolfe,
    ) -> _Blocks:
        """Every block at the corner that is worst for ``weights``."""
        blocks = cls(solver, references)
        for block, (part, reference) in enumerate(zip(parts, references, strict=True)):
            loss, psi = part.corner(weights, reference)
            blocks.losses[block] = solver.C * loss
            blocks.vectors[block] = solver.C * psi
        blocks.total = blocks.vectors.sum(axis=0)
        return blocks

    def weights(self) -> FloatArray:
        """The primal weights of the dual iterate."""
        clipped: FloatArray = np.where(
            self.solver.nonnegative, np.maximum(self.total, 0.0), self.total
        )
        return clipped

    def sweep(self, parts: list[StructuredRisk], rng: np.random.Generator) -> None:
        """One step in every block, in random order."""
        for block in rng.permutation(len(parts)):
            weights = self.weights()
            loss, psi = parts[block].corner(weights, self.references[block])
            direction = self.vectors[block] - self.solver.C * psi
            gap = weights @ direction - self.losses[block] + self.solver.C * loss
            length = direction @ direction
            step = float(np.clip(gap / length, 0.0, 1.0)) if length > 0 else float(gap > 0)
            self.vectors[block] -= step * direction
            self.losses[block] += step * (self.solver.C * loss - self.losses[block])
            self.total -= step * direction

    def certificate(self, convex: StructuredRisk) -> tuple[float, float]:
        """Primal and dual value at the current weights, in one batched call."""
        # The sum is formed anew: the running total gathers rounding over the sweeps.
        self.total = self.vectors.sum(axis=0)
        weights = self.weights()
        half = float(weights @ weights) / 2
        primal = half + self.solver.C * convex.value_and_gradient(weights)[0]
        return primal, float(self.losses.sum()) - half

    def move(self, parts: list[StructuredRisk], references: list[Ranking]) -> None:
        """Shift every corner to new references; losses do not depend on them."""
        for block, (part, old, new) in enumerate(
            zip(parts, self.references, references, strict=True)
        ):
            self.vectors[block] += self.solver.C * (part.joint(new) - part.joint(old))
        self.references = references
        self.total = self.vectors.sum(axis=0)
