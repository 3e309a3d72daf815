"""Bundle method with line search for convex risks (OCAS, Franc and Sonnenburg 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers.driver import Monitor, Solution, Status, iterate
from aucuba.solvers.planes import Planes

# Share of the way from the best point to the master's minimiser at which the next plane is taken;
# 0.1 is the value recommended by the authors of OCAS.
_PLANE_SHARE = 0.1
# The line search stops once it is known to within this share of the current gap.
_SEARCH_SHARE = 0.1
_SEARCH_LIMIT = 8


@dataclass(frozen=True)
class Point:
    """A model with what was computed at it: scores, objective, risk and the risk's subgradient."""

    model: FloatArray
    scores: FloatArray
    norm2: float
    objective: float
    risk: float
    gradient: FloatArray


@dataclass(frozen=True)
class BundleState:
    """Best point so far, the planes, and the best lower bound."""

    best: Point
    planes: Planes
    lower_bound: float
    n_evaluations: int


@dataclass(frozen=True)
class BundleSolver:
    r"""``min_w 1/2 |w|^2 + C R(A w)`` by cutting planes of R and a line search on the scores.

    Every iteration (1) minimises ``1/2 |w|^2 + C max_k (a_k . w + b_k)`` over the planes seen so far,
    a small quadratic program whose value is a lower bound of the problem; (2) searches the line from
    the best point to that minimiser, which needs the two score vectors but no pass over the data;
    (3) adds a plane of R a tenth of the way beyond the best point. Two passes over the data an
    iteration. It stops when ``(objective - lower bound) / C <= tol``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    tol : float, default=1e-3
        Certified gap at which to stop, in units of the risk.
    max_iter : int, default=1000
        Limit on the number of iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.design import TableDesign
    >>> from aucuba.risks import Labels, StructuralHinge
    >>> from aucuba.solvers import BundleSolver
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([False, True, False, True])
    >>> solution = BundleSolver(C=10.0).solve(TableDesign(X), StructuralHinge(Labels(y)))
    >>> solution.gap < 1e-3
    True
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000

    def solve(
        self,
        design: Design,
        risk: Risk,
        *,
        warm_start: Planes | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise; ``warm_start`` holds the planes of an earlier solve of the same risk and data."""
        if not risk.is_convex:
            raise ValueError(
                f"{type(self).__name__} needs a convex risk; {type(risk).__name__} is not. Use a "
                "descent solver for it."
            )
        run = iterate(_Bundle(self, design, risk, warm_start), self.max_iter, monitor)
        state = run.state
        status, model, objective = run.status, state.best.model, state.best.objective
        at_zero = self.C * state.planes.value_at_zero
        if status is Status.CONVERGED and self._collapsed(state, at_zero):
            status, model, objective = Status.COLLAPSED, design.zeros(), at_zero
        # Where the two meet, rounding may leave the bound a last bit above the objective.
        lower_bound = min(state.lower_bound, objective)
        return Solution(
            coef=model,
            status=status,
            n_iter=len(run.history),
            objective=objective,
            lower_bound=lower_bound,
            gap=(objective - lower_bound) / self.C,
            history=run.history,
            warm_start=state.planes,
        )

    def _collapsed(self, state: BundleState, at_zero: float) -> bool:
        """Whether the zero model is optimal to within tol though C leaves room for progress.

        A first step along the plane at zero promises to lower the objective by ``C^2 |a_0|^2 / 2``.
        Where even that is below the tolerance, C is merely small and the direction found is good.
        """
        slack = self.tol * self.C
        promised = self.C**2 * state.planes.norm2_at_zero / 2
        return at_zero - state.lower_bound <= slack and (
            promised > slack or state.planes.norm2_at_zero == 0.0
        )


@dataclass(frozen=True)
class _Bundle:
    """The iteration of `BundleSolver` on one problem."""

    options: BundleSolver
    design: Design
    risk: Risk
    warm_start: Planes | None

    def init(self) -> BundleState:
        zero, C = self.design.zeros(), self.options.C
        scores = np.zeros(self.design.n_rows)
        value, gradient = self.risk.value_and_gradient(scores)
        if self.warm_start is None:
            planes = Planes.empty(zero.size, self.risk.lower_bound, C)
            planes = planes.added(self.design, self.design.adjoint(gradient), value)
        else:
            planes = self.warm_start.rescaled(C)
        best = Point(zero, scores, 0.0, C * value, value, gradient)
        return BundleState(best, planes, lower_bound=-np.inf, n_evaluations=1)

    def step(self, state: BundleState) -> BundleState:
        planes = state.planes.minimised()
        lower = max(state.lower_bound, planes.dual_value)
        model = planes.model
        line = _Line(
            self.options.C,
            self.risk,
            state.best,
            model,
            self.design.scores(model),
            planes.norm2,
            float(self.design.inner(state.best.model, model)),
        )
        best, n_search = _search(line, lower)
        # A plane at the best point itself would only repeat the search's last tangent.
        at = line.evaluate(best.share + _PLANE_SHARE * (1.0 - best.share))
        offset = at.risk - float(at.gradient @ line.scores_at(at.share))
        planes = planes.added(self.design, self.design.adjoint(at.gradient), offset)
        best = min(best, at, key=_objective)
        return BundleState(line.point_at(best), planes, lower, state.n_evaluations + n_search + 1)

    def terminate(self, state: BundleState) -> Status | None:
        if state.best.objective - state.lower_bound <= self.options.tol * self.options.C:
            return Status.CONVERGED
        return None

    def report(self, state: BundleState) -> dict[str, Any]:
        return {
            "objective": state.best.objective,
            "lower_bound": state.lower_bound,
            "gap": (state.best.objective - state.lower_bound) / self.options.C,
            "n_planes": state.planes.size,
            "n_evaluations": state.n_evaluations,
        }


@dataclass(frozen=True)
class _Probe:
    """The objective at one share of the line: value, slope, and the tangent of the risk."""

    share: float
    objective: float
    slope: float
    risk: float
    risk_slope: float
    gradient: FloatArray


def _objective(probe: _Probe) -> float:
    return probe.objective


class _Line:
    """``f(t) = 1/2 |w(t)|^2 + C R(s(t))`` along ``w(t) = (1-t) start + t target``.

    On the line the objective is a known parabola plus C times a convex function of one variable. Two
    score vectors are all it needs of the data.
    """

    def __init__(
        self,
        C: float,
        risk: Risk,
        start: Point,
        target: FloatArray,
        target_scores: FloatArray,
        target_norm2: float,
        cross: float,
    ) -> None:
        self.C, self.risk, self.start, self.target = C, risk, start, target
        self.direction = target_scores - start.scores
        # 1/2 |w(t)|^2 = (a + 2 b t + c t^2) / 2
        self.a, self.b = start.norm2, cross - start.norm2
        self.c = start.norm2 - 2 * cross + target_norm2

    def norm2_at(self, share: float) -> float:
        return max(self.a + 2 * self.b * share + self.c * share**2, 0.0)

    def scores_at(self, share: float) -> FloatArray:
        return self.start.scores + share * self.direction

    def evaluate(self, share: float) -> _Probe:
        if share == 0.0:
            return self._probe(share, self.start.risk, self.start.gradient)
        return self._probe(share, *self.risk.value_and_gradient(self.scores_at(share)))

    def _probe(self, share: float, value: float, gradient: FloatArray) -> _Probe:
        risk_slope = float(gradient @ self.direction)
        slope = self.b + self.c * share + self.C * risk_slope
        objective = self.norm2_at(share) / 2 + self.C * value
        return _Probe(share, objective, slope, value, risk_slope, gradient)

    def point_at(self, probe: _Probe) -> Point:
        if probe.share == 0.0:
            return self.start
        return Point(
            (1.0 - probe.share) * self.start.model + probe.share * self.target,
            self.scores_at(probe.share),
            self.norm2_at(probe.share),
            probe.objective,
            probe.risk,
            probe.gradient,
        )

    def model_minimum(self, left: _Probe, right: _Probe) -> tuple[float, float]:
        """Minimiser and minimum of the parabola plus C times the larger of two tangents."""
        crossing = right.share
        if right.risk_slope > left.risk_slope:
            rise = (left.risk - left.risk_slope * left.share) - (
                right.risk - right.risk_slope * right.share
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
            probe.risk + probe.risk_slope * (share - probe.share) for probe in (left, right)
        )
        return self.norm2_at(share) / 2 + self.C * tangent


def _search(line: _Line, lower: float) -> tuple[_Probe, int]:
    """The best probe on the line, and the number of evaluations of the risk.

    Each evaluation gives a tangent of the risk; the next probe is the minimiser of the parabola plus
    the two tangents that bracket the minimum, until what is left to gain on the line is a small share
    of the gap.
    """
    left, right, n_evaluations = line.evaluate(0.0), line.evaluate(1.0), 1
    while right.slope < 0 and n_evaluations < _SEARCH_LIMIT:
        left, right = right, line.evaluate(2 * right.share)
        n_evaluations += 1
    best = min(line.evaluate(0.0), left, right, key=_objective)
    while left.slope < 0 < right.slope and n_evaluations < _SEARCH_LIMIT:
        share, bound = line.model_minimum(left, right)
        if best.objective - bound <= _SEARCH_SHARE * (best.objective - lower):
            break
        probe = line.evaluate(share)
        n_evaluations += 1
        best = min(best, probe, key=_objective)
        left, right = (probe, right) if probe.slope < 0 else (left, probe)
    return best, n_evaluations
