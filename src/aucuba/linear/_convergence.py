"""What a user should know about how a fit ended."""

from __future__ import annotations

from aucuba._base._warnings import ConvergenceAdvice, FewRowsAdvice, Remedy
from aucuba.solvers import Solution, Status


def convergence_advice(
    solution: Solution, surrogate: str, C: float, tol: float, rtol: float | None
) -> ConvergenceAdvice | None:
    """Return the warning that a convex fit deserves; None where it ended as asked for."""
    if solution.status is Status.ZERO_AS_GOOD:
        return ConvergenceAdvice(
            f"At C={C:g} the {surrogate} surrogate hardly ranks: its lower bound "
            f"{solution.lower_bound:.6g} certifies that no model has an objective below that of the "
            f"zero model by more than the tolerance (tol={tol:g}, rtol={rtol}). The "
            "minimiser of its cutting planes is returned; other values of C rarely help.",
            Remedy("use surrogate='direct'", "surrogate"),
            Remedy("widen fpr_range", "fpr_range"),
            Remedy("use a kernel", "kernel"),
        )
    if solution.status is Status.ITERATION_LIMIT:
        return ConvergenceAdvice(
            f"Stopped after {solution.n_iter} iterations with a gap of {solution.gap:.2g} above "
            f"tol={tol:g} or a relative gap of {solution.relative_gap:.2g} above rtol={rtol}.",
            Remedy("raise max_iter", "max_iter"),
            Remedy("raise the tolerance", "tol"),
            Remedy("lower C", "C"),
        )
    if solution.status is Status.NO_PROGRESS:
        return ConvergenceAdvice(
            f"Rounding errors stopped the fit at a gap of {solution.gap:.2g} (tol={tol:g}) and a "
            f"relative gap of {solution.relative_gap:.2g} (rtol={rtol}).",
            Remedy("centre and scale the columns of X", "pipeline"),
            Remedy("raise the tolerance", "tol"),
            Remedy("lower C", "C"),
        )
    return None


def chosen_zero_advice(surrogate: str, C: float, tol: float) -> ConvergenceAdvice:
    """Return the warning for a C that cross-validation chose and at which zero is as good."""
    return ConvergenceAdvice(
        f"At C={C:g}, the best in cross-validation, the {surrogate} surrogate hardly ranks: its lower "
        "bound certifies that no model has an objective below that of the zero model by more than "
        f"tol={tol:g}.",
        Remedy("use surrogate='direct'", "surrogate"),
        Remedy("widen fpr_range", "fpr_range"),
    )


def few_rows_advice(consequence: str) -> FewRowsAdvice:
    """Return the warning for data that cannot be cross-validated."""
    return FewRowsAdvice(
        "Too few rows (or queries) of each class for cross-validation, in the training or the test "
        f"parts: {consequence}.",
        Remedy("add data"),
        Remedy("give other splits as cv", "splitter"),
    )
