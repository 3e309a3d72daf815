"""The fit of a convex surrogate, or of a difference of two: which solver, and from where."""

from __future__ import annotations

from dataclasses import dataclass

from aucuba._core._typing import FloatArray, Monitor
from aucuba._roc._region import Region
from aucuba.design import KernelDesign, RowDesign
from aucuba.linear._anchored_fit import anchor_direction
from aucuba.risks import HingeDifference, Sample, make_risk
from aucuba.solvers import (
    BundleSolver,
    CuttingPlaneSolver,
    DCSolver,
    Solution,
    start_on_pairs,
)

SOLVERS: dict[str, type[BundleSolver] | type[CuttingPlaneSolver]] = {
    "bundle": BundleSolver,
    "cutting_plane": CuttingPlaneSolver,
}


@dataclass(frozen=True)
class ConvexFit:
    """Settings of a fit; the names are those of the parameters of `PartialAUCClassifier`."""

    surrogate: str
    tight_form: str
    solver: str
    C: float
    tol: float
    rtol: float | None
    max_iter: int

    def solve(
        self,
        design: RowDesign | KernelDesign,
        sample: Sample,
        region: Region,
        start: FloatArray | None,
        monitor: Monitor | None,
    ) -> Solution:
        """Fit from a given model, or from where the solver begins best."""
        if self.surrogate == "tight" and self.tight_form == "dc":
            if not isinstance(design, KernelDesign) and start is None:
                start = anchor_direction(design, sample, self.C)[0]
            dc = DCSolver(self.C, self.tol, self.max_iter)
            difference = HingeDifference.from_region(sample, region)
            return dc.solve(design, difference, start=start, monitor=monitor)
        risk = make_risk(self.surrogate, sample, region)
        solver = SOLVERS[self.solver](self.C, self.tol, self.max_iter, self.rtol)
        planes = None
        if self.solver == "bundle" and start is None and not isinstance(design, KernelDesign):
            start, planes = start_on_pairs(design, risk, self.C, solver.slack)
        return solver.solve(design, risk, start=start, warm_start=planes, monitor=monitor)
