"""The fit of a convex surrogate, or of a difference of two: which solver, and from where."""

from __future__ import annotations

from dataclasses import dataclass

from aucuba._base._typing import Monitor
from aucuba._roc._region import Region
from aucuba.design import Design, RowDesign
from aucuba.linear._anchored_fit import anchor_direction
from aucuba.risks import HingeDifference, Sample, make_risk
from aucuba.solvers import (
    BundleSolver,
    CuttingPlaneSolver,
    DCSolver,
    Solution,
    Start,
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

    @property
    def _is_difference(self) -> bool:
        return self.surrogate == "tight" and self.tight_form == "dc"

    def _solver(self) -> BundleSolver | CuttingPlaneSolver:
        return SOLVERS[self.solver](self.C, self.tol, self.max_iter, self.rtol)

    def start(self, design: RowDesign, sample: Sample, region: Region) -> Start:
        """Find where the fit of a table begins best; a kernel begins at zero."""
        if self._is_difference:
            return Start(anchor_direction(design, sample, self.C)[0])
        if self.solver == "bundle" and region.is_whole_curve and sample.query is None:
            return start_on_pairs(design, sample, self.C, self._solver().slack)
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
        if self._is_difference:
            dc = DCSolver(self.C, self.tol, self.max_iter)
            difference = HingeDifference.from_region(sample, region)
            return dc.solve(design, difference, start=start.model, monitor=monitor)
        risk = make_risk(self.surrogate, sample, region)
        return self._solver().solve(
            design, risk, start=start.model, warm_start=start.planes, monitor=monitor
        )
