"""Training from a start that is not stuck."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucuba._core._typing import BoolArray
from aucuba.solvers import Monitor, Solution, Status
from aucuba.structured._descent import Direct
from aucuba.structured._frank_wolfe import FrankWolfe
from aucuba.structured._measures import AUC
from aucuba.structured._risk import StructuredRisk, Terms


def train(
    risk: StructuredRisk,
    node_terms: Terms,
    nonnegative: BoolArray,
    *,
    C: float,
    solver: str,
    tol: float,
    max_iter: int,
    seed: int,
    monitor: Monitor | None,
) -> tuple[Solution, float]:
    """Solve for the AUC without edges, then the problem itself from there.

    At ``w = 0`` every consistent ranking is as good as any other, the first reference is arbitrary
    and the DC algorithm never leaves zero. The problem of the AUC without edges is convex, and its
    optimum gives a reference that means something.

    Returns
    -------
    Solution, and the objective of the full problem at the start.
    """
    empty = np.zeros(0, dtype=np.intp)
    alone = replace(
        risk,
        batch=replace(risk.batch, edges=risk.batch.edges[:0], edge_graph=empty, measure=AUC()),
        terms=node_terms,
        objective="consistent",
    )
    first = Direct(C, nonnegative, tol, max_iter).solve(
        alone, np.zeros(nonnegative.size), _in_stage(monitor, "without edges")
    )
    if risk.objective == "fixed":
        risk = risk.with_fixed(risk.reference(first.coef))
    chosen: Direct | FrankWolfe = Direct(C, nonnegative, tol, max_iter)
    if solver == "frank_wolfe":
        chosen = FrankWolfe(C, nonnegative, tol, max_iter, seed)
    value = risk.value_and_gradient(first.coef)[0]
    start = float(first.coef @ first.coef) / 2 + C * value
    cut_short = first.status in (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED)
    solved = solver == "direct" and risk.objective == "consistent" and risk.is_convex
    if solved:
        solution = first
    elif cut_short:
        unknown = float("nan")
        solution = replace(first, objective=start, lower_bound=unknown, gap=unknown)
    else:
        solution = chosen.solve(risk, first.coef, monitor)
    if solution.status is Status.ITERATION_LIMIT:
        warnings.warn(
            f"Training stopped at max_iter={max_iter} with objective {solution.objective:.6g} before "
            f"tol={tol:g} was reached. Set max_iter={2 * max_iter}, or a larger tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return solution, start


def _in_stage(monitor: Monitor | None, stage: str) -> Monitor | None:
    """The monitor, told in every row which stage it comes from."""
    return None if monitor is None else lambda row: monitor({**row, "stage": stage})
