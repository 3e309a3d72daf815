"""The fit of a convex loss, or of a difference of two: which solver, from where, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from aucuba._base._typing import Monitor
from aucuba._base._warnings import ConvergenceAdvice, Remedy
from aucuba._roc._region import Region
from aucuba.design import Design, RowDesign
from aucuba.linear._anchored_fit import anchor_direction
from aucuba.risks import HingeDifference, Sample, make_risk
from aucuba.solvers import BundleSolver, CuttingPlaneSolver, DCSolver, Solution, Start, Status

LOSSES = ("structural", "tight", "tight_dc")
SOLVERS: dict[str, type[BundleSolver] | type[CuttingPlaneSolver]] = {
    "bundle": BundleSolver,
    "cutting_plane": CuttingPlaneSolver,
}


@dataclass(frozen=True)
class ConvexFit:
    """Settings of a fit, named after the parameters of `PartialAUCSVC`."""

    loss: str
    solver: str
    C: float
    tol: float
    rtol: float | None
    max_iter: int

    def _solver(self) -> BundleSolver | CuttingPlaneSolver:
        return SOLVERS[self.solver](self.C, self.tol, self.max_iter, self.rtol)

    def start(self, design: RowDesign, sample: Sample, region: Region) -> Start:
        """Choose where the fit of a table begins; a kernel begins at zero."""
        if self.loss == "tight_dc":
            return Start(anchor_direction(design, sample, self.C)[0])
        if self.solver == "bundle" and region.is_whole_curve and sample.query is None:
            return self._solver().start_on_pairs(design, sample)
        return Start()

    def solve(
        self,
        design: Design,
        sample: Sample,
        region: Region,
        start: Start,
        monitor: Monitor | None,
    ) -> Solution:
        """Fit from a given start."""
        if self.loss == "tight_dc":
            dc = DCSolver(self.C, self.tol, self.max_iter, rtol=None)
            difference = HingeDifference.from_region(sample, region)
            return dc.solve(design, difference, start=start.model, monitor=monitor)
        risk = make_risk(self.loss, sample, region)
        return self._solver().solve(
            design, risk, start=start.model, warm_start=start.planes, monitor=monitor
        )


def convergence_advice(
    solution: Solution, loss: str, C: float, tol: float, rtol: float | None
) -> ConvergenceAdvice | None:
    """Return the warning that a fit deserves; None where it ended as asked for."""
    if solution.status is Status.ZERO_AS_GOOD:
        return ConvergenceAdvice(
            f"At C={C:g} the {loss} loss hardly ranks: its lower bound "
            f"{solution.lower_bound:.6g} certifies that no model has an objective below that of the "
            f"zero model by more than the tolerance (tol={tol:g}, rtol={rtol}). The "
            "minimiser of its cutting planes is returned; other values of C rarely help.",
            Remedy("use PartialAUCClassifier", "model"),
            Remedy("widen fpr_range", "fpr_range"),
            Remedy("use a kernel", "kernel"),
        )
    if solution.status is Status.ITERATION_LIMIT:
        reached = (
            f"with a gap of {solution.gap:.2g} above tol={tol:g} or a relative gap of "
            f"{solution.relative_gap:.2g} above rtol={rtol}"
        )
        if loss == "tight_dc":
            reached = f"before a round lowered the objective by less than tol={tol:g} times C"
        return ConvergenceAdvice(
            f"Stopped after {solution.n_iter} iterations {reached}.",
            Remedy("raise max_iter", "max_iter"),
            Remedy("raise the tolerance", "tol"),
            Remedy("lower C", "C"),
        )
    if solution.status is Status.NO_PROGRESS:
        reached = (
            f"at a gap of {solution.gap:.2g} (tol={tol:g}) and a relative gap of "
            f"{solution.relative_gap:.2g} (rtol={rtol})"
        )
        if loss == "tight_dc":
            reached = f"before a round of it reached tol={tol:g}"
        return ConvergenceAdvice(
            f"Rounding errors stopped the fit {reached}.",
            Remedy("centre and scale the columns of X", "pipeline"),
            Remedy("raise the tolerance", "tol"),
            Remedy("lower C", "C"),
        )
    return None
