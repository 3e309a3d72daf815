"""The base of the plane methods: settings, stopping rule and certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from aucuba._base._typing import FloatArray, Monitor
from aucuba.design import Design, RowDesign
from aucuba.risks import Risk, Sample
from aucuba.solvers._driver import Run, Solution, Status
from aucuba.solvers._few_pairs import Start, start_on_pairs
from aucuba.solvers._planes import Minimum, Planes

# C leaves room for progress if the plane at zero promises a gain of this many tolerances.
_ROOM = 10.0
# If products with the data are rounded to single precision, the method stops at this fraction of the
# tolerances, to leave room for the final check in double precision.
_STRICTER = 0.98


class Bound(NamedTuple):
    """The best lower bound so far: as computed, and lowered by what rounding may have added."""

    value: float = -np.inf
    certified: float = -np.inf

    def raised(self, minimum: Minimum) -> Bound:
        """Raise the bound to the minimum over the present planes, if that is higher."""
        return Bound(max(self.value, minimum.value), max(self.certified, minimum.lower_bound))


class PlaneState(Protocol):
    """What a plane method knows after an iteration."""

    @property
    def model(self) -> FloatArray: ...
    @property
    def scores(self) -> FloatArray: ...
    @property
    def objective(self) -> float: ...
    @property
    def planes(self) -> Planes: ...
    @property
    def bound(self) -> Bound: ...


@dataclass(frozen=True)
class PlaneSolver(ABC):
    """Base of the solvers of ``min_w 1/2 |w|^2 + C R(A w)`` by planes of a convex R.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Certified gap ``(objective - lower bound) / C`` at which to stop, in units of the risk.
    max_iter : int, default=1000
        Limit on the number of iterations.
    rtol : float or None, default=1e-3
        Certified gap relative to the objective, which must be reached too; None switches it off.
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000
    rtol: float | None = 1e-3

    def solve(
        self,
        design: Design,
        risk: Risk,
        *,
        start: FloatArray | None = None,
        warm_start: Planes | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise ``1/2 |w|^2 + C R(A w)``.

        If the zero model is certified to be as good as any within the tolerance, the solution is that
        of the paper's Algorithm 2: the minimiser of the planes, as soon as its own objective is within
        the tolerance of the bound. Its objective may exceed that of zero, but unlike zero it ranks.

        Parameters
        ----------
        design : Design
        risk : Risk
            Convex.
        start : ndarray, default=None
            A model to begin from instead of zero.
        warm_start : Planes, default=None
            Planes of an earlier solve of the same risk and data, for any C.
        monitor : callable, default=None
            Called with every row of the history; a true answer stops the solver.

        Returns
        -------
        Solution
        """
        if not risk.is_convex:
            raise ValueError(
                f"{type(self).__name__} needs a convex risk; {type(risk).__name__} is not. Use "
                "LBFGSSolver for it."
            )
        if not design.is_exact:
            stricter = replace(
                self, tol=_STRICTER * self.tol, rtol=self.rtol and _STRICTER * self.rtol
            )
            found = stricter._solve(design, risk, start, warm_start, monitor)
            return self._rechecked(found, design, risk)
        return self._solve(design, risk, start, warm_start, monitor)

    def _solve(
        self,
        design: Design,
        risk: Risk,
        start: FloatArray | None,
        planes: Planes | None,
        monitor: Monitor | None,
    ) -> Solution:
        run = self._run(design, risk, start, planes, monitor)
        status = run.status
        if status is Status.CONVERGED and self._zero_is_as_good(run.state):
            run = self._at_minimiser(run, design, risk, monitor)
            status = Status.ZERO_AS_GOOD if run.status is Status.CONVERGED else run.status
        return self._certified(run, status)

    def _rechecked(self, found: Solution, design: Design, risk: Risk) -> Solution:
        """Recompute objective and lower bound with products in double precision."""
        exact = design.exact()
        scores = exact.scores(found.coef)
        value = risk.value_and_gradient(scores)[0]
        objective = float(exact.inner(found.coef, found.coef)) / 2 + self.C * value
        lower_bound = found.warm_start.exact_minimum(design).lower_bound
        status, distance = found.status, objective - lower_bound
        if distance > self.slack(objective):
            is_done = status in (Status.CONVERGED, Status.ZERO_AS_GOOD)
            status = Status.NO_PROGRESS if is_done else status
        elif status is Status.NO_PROGRESS:
            status = Status.CONVERGED
        return replace(
            found,
            status=status,
            objective=objective,
            lower_bound=lower_bound,
            # Below 0 by rounding alone.
            gap=max(distance / self.C, 0.0),
            scores=scores,
        )

    @abstractmethod
    def _run(
        self,
        design: Design,
        risk: Risk,
        start: FloatArray | None,
        planes: Planes | None,
        monitor: Monitor | None,
    ) -> Run[Any]:
        """Iterate until the stopping rule is met."""

    @abstractmethod
    def _at_minimiser(
        self, run: Run[Any], design: Design, risk: Risk, monitor: Monitor | None
    ) -> Run[Any]:
        """Continue until the model is the minimiser of its planes, with a gap within the tolerance."""

    def start_on_pairs(self, design: RowDesign, sample: Sample) -> Start:
        """Find a model and planes to begin from where a small table is ranked by the full AUC.

        An interior point method on the pairs finds both. With many pairs or columns the start is empty.

        Examples
        --------
        >>> import numpy as np
        >>> from aucuba.design import TableDesign
        >>> from aucuba.risks import PairwiseHinge, Sample
        >>> from aucuba.solvers import BundleSolver
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([False, True, False, True])
        >>> design, sample, solver = TableDesign(X), Sample(y), BundleSolver(C=10.0)
        >>> model, planes = solver.start_on_pairs(design, sample)
        >>> solver.solve(design, PairwiseHinge(sample), start=model, warm_start=planes).n_iter
        1
        """
        return start_on_pairs(design, sample, self.C, self.slack)

    def slack(self, objective: float) -> float:
        """Return the largest distance from the lower bound that the stopping rule accepts."""
        absolute = self.tol * self.C
        return absolute if self.rtol is None else min(absolute, self.rtol * objective)

    def terminate(self, state: PlaneState) -> Status | None:
        """Say why the method ends: it has converged, or only rounding of the bound is in the way."""
        slack = self.slack(state.objective)
        if state.objective - state.bound.certified <= slack:
            return Status.CONVERGED
        return Status.NO_PROGRESS if state.objective - state.bound.value <= slack else None

    def report(self, state: PlaneState) -> dict[str, Any]:
        """Write the row of the history that all plane methods have in common."""
        return {
            "objective": state.objective,
            "lower_bound": state.bound.certified,
            "gap": (state.objective - state.bound.certified) / self.C,
            "n_planes": state.planes.size,
        }

    def _zero_is_as_good(self, state: PlaneState) -> bool:
        """Tell whether zero meets the stopping rule although C leaves room for progress.

        If C is merely small, the first step along the plane at zero promises to lower the objective by
        little, ``C^2 |a_0|^2 / 2``, but its direction is good.
        """
        at_zero = self.C * state.planes.value_at_zero
        slack = self.slack(at_zero)
        promised = self.C**2 * state.planes.norm2_at_zero / 2
        has_room = promised > _ROOM * slack or promised == 0.0 or not state.model.any()
        return has_room and at_zero - state.bound.certified <= slack

    def _certified(self, run: Run[Any], status: Status) -> Solution:
        """Return the model with its certificate."""
        state = run.state
        gap = (state.objective - state.bound.certified) / self.C
        return Solution(
            coef=state.model,
            status=Status.NO_PROGRESS if gap < 0 else status,
            n_iter=len(run.history),
            objective=state.objective,
            lower_bound=state.bound.certified,
            gap=max(gap, 0.0),
            history=run.history,
            warm_start=state.planes,
            scores=state.scores,
        )
