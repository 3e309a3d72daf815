"""Search of the objective along a line of models, by tangents of the risk."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aucuba._base._arrays import Vector
from aucuba._base._typing import FloatArray
from aucuba.design import Design
from aucuba.risks import Risk
from aucuba.solvers._planes import Tangent

# The search stops once its minimum is known to within this fraction of the gap: a finer search costs
# more evaluations of the risk than it saves iterations.
_PART_OF_GAP = 0.3
_MOST_EVALUATIONS = 4
# If the search finds nothing better than its start, take one plane this far along the line.
_NEAR_START = 0.3


class Point(NamedTuple):
    """A model with what was computed at it: scores, objective and the tangent of the risk."""

    model: FloatArray
    scores: Vector
    norm2: float
    objective: float
    tangent: Tangent


class LineProbe(NamedTuple):
    """The objective at one place of the line: value, slope, and the tangent of the risk."""

    place: float
    scores: Vector
    objective: float
    slope: float
    risk_slope: float
    tangent: Tangent


class ObjectiveLine:
    """The objective ``1/2 |w(t)|^2 + C R(s(t))`` along ``w(t) = start + t step``.

    On the line the objective is a known parabola plus C times a convex function of one variable, and
    evaluating it needs only two score vectors.
    """

    def __init__(
        self, design: Design, risk: Risk, C: float, start: Point, target: FloatArray
    ) -> None:
        self.risk, self.C, self.start, self.target = risk, C, start, target
        self.from_zero = start.norm2 == 0.0
        # Steps shrink as the method converges, and the search may go a hundred times as far: computing
        # their scores and products as differences of larger numbers would lose digits.
        self.step = target if self.from_zero else target - start.model
        self.direction = design.scores(self.step)
        # 1/2 |w(t)|^2 = (a + 2 b t + c t^2) / 2
        self.a, self.c = start.norm2, float(design.inner(self.step, self.step))
        self.b = 0.0 if self.from_zero else float(design.inner(start.model, self.step))

    def norm2_at(self, place: float) -> float:
        return max(self.a + 2 * self.b * place + self.c * place**2, 0.0)

    def evaluate(self, place: float) -> LineProbe:
        """Evaluate the risk at a place of the line."""
        scores = place * self.direction
        if not self.from_zero:
            scores += self.start.scores
        return self._probe(place, scores, Tangent.at(self.risk, scores))

    def _probe(self, place: float, scores: Vector, tangent: Tangent) -> LineProbe:
        risk_slope = float(tangent.gradient @ self.direction)
        slope = self.b + self.c * place + self.C * risk_slope
        objective = self.norm2_at(place) / 2 + self.C * tangent.value
        return LineProbe(place, scores, objective, slope, risk_slope, tangent)

    def point_at(self, probe: LineProbe) -> Point:
        """Build the model of a probe."""
        if probe.place == 0.0:
            return self.start
        model = self.target
        if probe.place != 1.0:
            model = probe.place * self.step
            model += self.start.model
        return Point(
            model,
            probe.scores,
            self.norm2_at(probe.place),
            probe.objective,
            probe.tangent,
        )

    def search(
        self, lower: float, is_done: Callable[[float], bool], *, near_start: bool
    ) -> tuple[LineProbe, list[LineProbe]]:
        """Find a good place from 0 on; return it and all places visited.

        Each evaluation gives a tangent of the risk. The next probe minimises the parabola plus the two
        tangents that bracket the minimum, until the line has less left to gain than a fraction of the
        distance to the problem's lower bound. The target itself comes first; if its objective ends the
        solver, nothing else is evaluated. With ``near_start``, the search visits a place near the start
        if no other place is better than the start.
        """
        right = self.evaluate(1.0)
        visited = [right]
        if is_done(right.objective):
            return right, visited
        left = start = self._probe(0.0, self.start.scores, self.start.tangent)
        while right.slope < 0 and len(visited) < _MOST_EVALUATIONS:
            left, right = right, self.evaluate(2 * right.place)
            visited.append(right)
        best = min(start, *visited, key=_objective)
        while left.slope < 0 < right.slope and len(visited) < _MOST_EVALUATIONS:
            place, bound = self._model_minimum(left, right)
            if best.objective - bound <= _PART_OF_GAP * (best.objective - lower):
                break
            probe = self.evaluate(place)
            visited.append(probe)
            best = min(best, probe, key=_objective)
            left, right = (probe, right) if probe.slope < 0 else (left, probe)
        if best is start and near_start:
            visited.append(self.evaluate(_NEAR_START * right.place))
            best = min(best, visited[-1], key=_objective)
        return best, visited

    def _model_minimum(self, left: LineProbe, right: LineProbe) -> tuple[float, float]:
        """Minimise the parabola plus C times the larger of two tangents: place and value."""
        crossing = right.place
        if right.risk_slope > left.risk_slope:
            rise = (left.tangent.value - left.risk_slope * left.place) - (
                right.tangent.value - right.risk_slope * right.place
            )
            crossing = rise / (right.risk_slope - left.risk_slope)
            crossing = min(max(crossing, left.place), right.place)
        place = crossing
        if self.c > 0:
            # Vertices of the parabola with either tangent; the left one is never the smaller.
            on_left = -(self.b + self.C * left.risk_slope) / self.c
            on_right = -(self.b + self.C * right.risk_slope) / self.c
            place = on_left if on_left < crossing else max(crossing, on_right)
            place = min(max(place, left.place), right.place)
        tangent = max(
            left.tangent.value + left.risk_slope * (place - left.place),
            right.tangent.value + right.risk_slope * (place - right.place),
        )
        return place, self.norm2_at(place) / 2 + self.C * tangent


def _objective(probe: LineProbe) -> float:
    return probe.objective
