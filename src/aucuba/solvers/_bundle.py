"""Bundle method with a line search, after OCAS (Franc and Sonnenburg 2009), for convex risks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._cutting_plane import CuttingPlanes
from aucuba.solvers._driver import Monitor, Run, Status, iterate, joined
from aucuba.solvers._plane_solver import Bound, PlaneSolver
from aucuba.solvers._planes import Planes, Tangent

# One of the planes is taken this share of the way beyond the best point towards the target, as
# recommended by the authors of OCAS.
_PLANE_SHARE = 0.1
# The line search stops once its minimum is known to within this share of the current gap.
_SEARCH_SHARE = 0.01
_SEARCH_LIMIT = 8
# After a first free step the stiffness starts at this multiple of C / |w|^2, so that a step as long as
# the model costs about half the risk. It then follows the line search, which should end near the
# target, and falls fast when the gap hardly closes: without stiffness the method always converges.
_FIRST_STIFFNESS = 0.5
_ADAPT = 1.5
_LITTLE_PROGRESS = 0.95
_RELAX = 4.0


@dataclass(frozen=True)
class Point:
    """A model with what was computed at it: scores, objective and the tangent of the risk."""

    model: FloatArray
    scores: FloatArray
    norm2: float
    objective: float
    tangent: Tangent


@dataclass(frozen=True)
class BundleState:
    """Best point so far, the planes, the best lower bound, and the stiffness of the next step."""

    best: Point
    planes: Planes
    bound: Bound
    stiffness: float
    n_evaluations: int

    @property
    def model(self) -> FloatArray:
        return self.best.model

    @property
    def objective(self) -> float:
        return self.best.objective


@dataclass(frozen=True)
class BundleSolver(PlaneSolver):
    r"""``min_w 1/2 |w|^2 + C R(A w)`` by cutting planes of R and a line search on the scores.

    Every iteration (1) minimises ``1/2 |w|^2 + C max_k (a_k . w + b_k)`` over the planes seen so far,
    a small quadratic program whose value is a lower bound of the problem; (2) does the same with a
    term that keeps the solution near the best point, which gives a steadier target than the minimiser
    itself (a proximal bundle); (3) searches the line from the best point through the target, which
    needs two score vectors but no pass over the data; (4) adds planes of R at the ends of the search's
    bracket and a little beyond the best point. Two passes over the data per iteration. It stops when
    ``(objective - lower bound) / C <= tol`` and ``objective - lower bound <= rtol * objective``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Certified gap at which to stop, in units of the risk.
    max_iter : int, default=1000
        Limit on the number of iterations.
    rtol : float or None, default=1e-3
        Certified gap relative to the objective, which must be reached too; None switches it off.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.design import TableDesign
    >>> from aucuba.risks import Sample, StructuralHinge
    >>> from aucuba.solvers import BundleSolver
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([False, True, False, True])
    >>> solution = BundleSolver(C=10.0).solve(TableDesign(X), StructuralHinge(Sample(y)))
    >>> solution.gap < 1e-3
    True
    """

    def _run(
        self,
        design: Design,
        risk: Risk,
        start: FloatArray | None,
        planes: Planes | None,
        monitor: Monitor | None,
    ) -> Run[BundleState]:
        return iterate(_Bundle(self, design, risk, start, planes), self.max_iter, monitor)

    def _at_minimiser(
        self, run: Run[Any], design: Design, risk: Risk, monitor: Monitor | None
    ) -> Run[Any]:
        method = CuttingPlanes(self, design, risk, None, run.state.planes)
        more = iterate(method, max(self.max_iter - len(run.history), 1), monitor)
        counts = ("iteration", "n_evaluations", "seconds")
        return replace(more, history=joined(run.history, more.history, counts))


@dataclass(frozen=True)
class _Bundle:
    """The iteration of `BundleSolver` on one problem."""

    options: BundleSolver
    design: Design
    risk: Risk
    start: FloatArray | None
    warm_start: Planes | None

    def init(self) -> BundleState:
        zero, C = self.design.zeros(), self.options.C
        planes, at_zero = Planes.started(self.design, self.risk, C, self.warm_start)
        best = Point(zero, np.zeros(self.design.n_rows), 0.0, C * at_zero.value, at_zero)
        if self.start is not None and self.start.any():
            given = self._point(self.start)
            planes = planes.with_tangents(self.design, [given.tangent])
            best = min(best, given, key=lambda point: point.objective)
        return BundleState(best, planes, Bound(), stiffness=0.0, n_evaluations=1)

    def _point(self, model: FloatArray) -> Point:
        scores = self.design.scores(model)
        norm2 = float(self.design.inner(model, model))
        tangent = Tangent.at(self.risk, scores)
        return Point(model, scores, norm2, norm2 / 2 + self.options.C * tangent.value, tangent)

    def step(self, state: BundleState) -> BundleState:
        planes, minimum = state.planes.minimised(self.design)
        bound = state.bound.raised(minimum)
        target, planes = planes.near(self.design, state.best.model, state.stiffness)
        # Steps get small as the method converges, and the search goes up to a hundred times as far:
        # their scores and products must not be differences of larger numbers.
        step = target - state.best.model
        norm2, cross = self.design.inner(np.stack([step, state.best.model]), step)
        line = _Line(
            self.options.C,
            self.risk,
            state.best,
            step,
            self.design.scores(step),
            float(norm2),
            float(cross),
        )
        best, probes, n_search = _search(line, bound.value)
        beyond = line.evaluate(best.share + _PLANE_SHARE * abs(1.0 - best.share))
        probes.append(beyond)
        planes = planes.with_tangents(self.design, [probe.tangent for probe in probes])
        point = line.point_at(min(best, beyond, key=_objective))
        n_evaluations = state.n_evaluations + n_search + 1
        stiffness = self._stiffness(state, best.share, point, bound.value)
        return BundleState(point, planes, bound, stiffness, n_evaluations)

    def _stiffness(self, state: BundleState, share: float, point: Point, lower: float) -> float:
        """How strongly the next target is held near the best point."""
        if state.stiffness == 0.0:
            return _FIRST_STIFFNESS * self.options.C / point.norm2 if point.norm2 > 0 else 0.0
        gap, old_gap = point.objective - lower, state.best.objective - state.bound.value
        if gap > _LITTLE_PROGRESS * old_gap:
            return state.stiffness / _RELAX
        if share < 0.5:
            return state.stiffness * _ADAPT
        return state.stiffness / _ADAPT if share > 0.9 else state.stiffness

    def terminate(self, state: BundleState) -> Status | None:
        return self.options.terminate(state)

    def report(self, state: BundleState) -> dict[str, Any]:
        return {**self.options.report(state), "n_evaluations": state.n_evaluations}


@dataclass(frozen=True)
class _Probe:
    """The objective at one share of the line: value, slope, and the tangent of the risk."""

    share: float
    objective: float
    slope: float
    risk_slope: float
    tangent: Tangent


def _objective(probe: _Probe) -> float:
    return probe.objective


class _Line:
    """``f(t) = 1/2 |w(t)|^2 + C R(s(t))`` along ``w(t) = start + t step``.

    On the line the objective is a known parabola plus C times a convex function of one variable. Two
    score vectors are all it needs of the data.
    """

    def __init__(
        self,
        C: float,
        risk: Risk,
        start: Point,
        step: FloatArray,
        direction: FloatArray,
        step_norm2: float,
        cross: float,
    ) -> None:
        self.C, self.risk, self.start, self.step = C, risk, start, step
        self.direction = direction
        # 1/2 |w(t)|^2 = (a + 2 b t + c t^2) / 2
        self.a, self.b, self.c = start.norm2, cross, step_norm2

    def norm2_at(self, share: float) -> float:
        return max(self.a + 2 * self.b * share + self.c * share**2, 0.0)

    def scores_at(self, share: float) -> FloatArray:
        return self.start.scores + share * self.direction

    def evaluate(self, share: float) -> _Probe:
        at_start = share == 0.0
        tangent = self.start.tangent if at_start else Tangent.at(self.risk, self.scores_at(share))
        risk_slope = float(tangent.gradient @ self.direction)
        slope = self.b + self.c * share + self.C * risk_slope
        objective = self.norm2_at(share) / 2 + self.C * tangent.value
        return _Probe(share, objective, slope, risk_slope, tangent)

    def point_at(self, probe: _Probe) -> Point:
        if probe.share == 0.0:
            return self.start
        return Point(
            self.start.model + probe.share * self.step,
            self.scores_at(probe.share),
            self.norm2_at(probe.share),
            probe.objective,
            probe.tangent,
        )

    def model_minimum(self, left: _Probe, right: _Probe) -> tuple[float, float]:
        """Minimiser and minimum of the parabola plus C times the larger of two tangents."""
        crossing = right.share
        if right.risk_slope > left.risk_slope:
            rise = (left.tangent.value - left.risk_slope * left.share) - (
                right.tangent.value - right.risk_slope * right.share
            )
            crossing = rise / (right.risk_slope - left.risk_slope)
            crossing = min(max(crossing, left.share), right.share)
        shares = [crossing]
        if self.c > 0:
            for probe, low, high in ((left, left.share, crossing), (right, crossing, right.share)):
                vertex = -(self.b + self.C * probe.risk_slope) / self.c
                shares.append(min(max(vertex, low), high))
        values = [self._model(share, left, right) for share in shares]
        lowest = int(np.argmin(values))
        return shares[lowest], values[lowest]

    def _model(self, share: float, left: _Probe, right: _Probe) -> float:
        tangent = max(
            probe.tangent.value + probe.risk_slope * (share - probe.share)
            for probe in (left, right)
        )
        return self.norm2_at(share) / 2 + self.C * tangent


def _search(line: _Line, lower: float) -> tuple[_Probe, list[_Probe], int]:
    """The best probe on the line, the bracket around it, and the number of evaluations.

    Each evaluation gives a tangent of the risk; the next probe is the minimiser of the parabola plus
    the two tangents that bracket the minimum, until what is left to gain on the line is a small share
    of the gap.
    """
    start = line.evaluate(0.0)
    left, right, n_evaluations = start, line.evaluate(1.0), 1
    while right.slope < 0 and n_evaluations < _SEARCH_LIMIT:
        left, right = right, line.evaluate(2 * right.share)
        n_evaluations += 1
    best = min(start, left, right, key=_objective)
    while left.slope < 0 < right.slope and n_evaluations < _SEARCH_LIMIT:
        share, bound = line.model_minimum(left, right)
        if best.objective - bound <= _SEARCH_SHARE * (best.objective - lower):
            break
        probe = line.evaluate(share)
        n_evaluations += 1
        best = min(best, probe, key=_objective)
        left, right = (probe, right) if probe.slope < 0 else (left, probe)
    return best, [probe for probe in (left, right) if probe.share > 0], n_evaluations
