"""From the last state of a plane method to a solution with its certificate."""

from __future__ import annotations

from typing import Any, Protocol

from aucuba._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers.driver import Run, Solution, Status
from aucuba.solvers.planes import Planes


class _Options(Protocol):
    @property
    def C(self) -> float: ...
    @property
    def tol(self) -> float: ...


def require_convex(solver: Any, risk: Risk) -> None:
    """Plane methods are only valid for convex risks."""
    if not risk.is_convex:
        raise ValueError(
            f"{type(solver).__name__} needs a convex risk; {type(risk).__name__} is not. Use "
            "LBFGSSolver for it."
        )


def certified_solution(
    options: _Options,
    design: Design,
    run: Run[Any],
    model: FloatArray,
    objective: float,
    lower_bound: float,
    planes: Planes,
) -> Solution:
    """The solution, with a collapse to the zero model recognised.

    The zero model is returned where it is optimal to within ``tol`` although C leaves room for
    progress: a first step along the plane at zero promises to lower the objective by
    ``C^2 |a_0|^2 / 2``, and where even that is below the tolerance, C is merely small and the
    direction found is good.
    """
    C, status = options.C, run.status
    slack = options.tol * C
    at_zero = C * planes.value_at_zero
    if status is Status.CONVERGED and at_zero - lower_bound <= slack:
        promised = C**2 * planes.norm2_at_zero / 2
        if promised > slack or planes.norm2_at_zero == 0.0:
            status, model, objective = Status.COLLAPSED, design.zeros(), at_zero
    # Where the two meet, rounding may leave the bound a last bit above the objective.
    lower_bound = min(lower_bound, objective)
    return Solution(
        coef=model,
        status=status,
        n_iter=len(run.history),
        objective=objective,
        lower_bound=lower_bound,
        gap=(objective - lower_bound) / C,
        history=run.history,
        warm_start=planes,
    )
