"""From the last state of a plane method to a solution with its certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from aucuba._core._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._driver import Solution, Status, joined
from aucuba.solvers._planes import Planes

# Before the zero model is called optimal the gap is closed to this share of the tolerance.
_FINER = 0.01
# A lower bound that lies above the objective by more than this share is no rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PlaneRun:
    """How a plane method ended: the best model, the bound and the planes."""

    status: Status
    history: list[dict[str, Any]]
    model: FloatArray
    lower_bound: float
    planes: Planes


def require_convex(solver: Any, risk: Risk) -> None:
    """Plane methods are only valid for convex risks."""
    if not risk.is_convex:
        raise ValueError(
            f"{type(solver).__name__} needs a convex risk; {type(risk).__name__} is not. Use "
            "LBFGSSolver for it."
        )


def certified_solution(
    solver: Any,
    design: Design,
    risk: Risk,
    run: Callable[[Any, FloatArray | None, Planes | None], PlaneRun],
    start: FloatArray | None,
    warm_start: Planes | None,
) -> Solution:
    """Run a plane method; its solution, evaluated afresh, with a collapse to zero recognised.

    Where the zero model is optimal to within ``tol``, the method goes on to a hundredth of it: either
    a better model appears, or zero is as good as any and is returned exactly. (Not where C is merely
    small: there a first step along the plane at zero promises to lower the objective by
    ``C^2 |a_0|^2 / 2``, which is below the tolerance, and the direction found is good.)
    """
    C = solver.C
    found = run(solver, start, warm_start)
    history = found.history
    status, model = found.status, found.model
    if _zero_is_close(solver, found):
        left = max(solver.max_iter - len(history), 1)
        finer = replace(solver, tol=_FINER * solver.tol, max_iter=left)
        found = run(finer, found.model, found.planes)
        counts = ("iteration", "n_evaluations", "seconds")
        history, model = joined(history, found.history, counts), found.model
        if found.status in (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED):
            status = found.status
        elif _zero_is_close(finer, found):
            status, model = Status.COLLAPSED, design.zeros()
    value, _ = risk.value_and_gradient(design.precise_scores(model))
    objective = float(design.inner(model, model)) / 2 + C * value
    lower_bound = found.lower_bound
    if lower_bound > objective:
        # Where the two meet, rounding may leave the bound a last bit above the objective.
        beyond = lower_bound - objective > _ROUNDING * max(abs(objective), C * abs(value))
        status = Status.NO_PROGRESS if beyond else status
        lower_bound = objective
    return Solution(
        coef=model,
        status=status,
        n_iter=len(history),
        objective=objective,
        lower_bound=lower_bound,
        gap=(objective - lower_bound) / C,
        history=history,
        warm_start=found.planes,
    )


def _zero_is_close(solver: Any, found: PlaneRun) -> bool:
    """Whether zero is optimal to within the tolerance although C leaves room for progress."""
    C, planes = solver.C, found.planes
    slack = solver.tol * C
    is_close = found.status is Status.CONVERGED and (
        C * planes.value_at_zero - found.lower_bound <= slack
    )
    promised = C**2 * planes.norm2_at_zero / 2
    return bool(is_close and (promised > slack or planes.norm2_at_zero == 0.0))
