"""The first minimum of AUM along a line, without following the path where errors are monotone."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba.aum import _path
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import PRODUCT_ROUNDING, Segment

# The best threshold is looked for this near to a straight line between those of neighbouring steps,
# relative to their distance.
_WINDOW = 0.25
# From so many lines the best threshold is known to less than this fraction of the spread of all.
_SAMPLED, _SPREADS, _WORTH_A_GUESS = 5000, 0.1, 20
# Fewer lines are not thinned further: where the best threshold then lies is less sure than worth it.
_FEW = 1000
# Relative rounding of a sum over all breakpoints: tangents closer than this have met.
_ROUNDING = 1e-13


# Intercepts, slopes, and steps of FP and FN.
Lines: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class AUMMinimum:
    """The first minimum of AUM along a line.

    Attributes
    ----------
    step : float
        The smallest step of that minimum.
    aum : float
        AUM there, evaluated directly.
    n_evaluations : int
        Evaluations of AUM (monotone errors) or crossings passed (otherwise).
    """

    step: float
    aum: float
    n_evaluations: int


@dataclass(frozen=True)
class _Tangent:
    """The line ``value + slope * (s - step)`` below a convex AUM."""

    step: float
    value: float
    slope: float

    def at(self, step: float) -> float:
        return self.value + self.slope * (step - self.step)

    def meets(self, other: _Tangent) -> float:
        """Compute the step at which two tangents cross."""
        return self.step + (other.at(self.step) - self.value) / (self.slope - other.slope)


class _MonotoneAUM:
    """AUM of a segment with monotone errors, as a convex function of the step."""

    def __init__(self, segment: Segment) -> None:
        self.fp, self.fn = segment.errors.fp_diff, segment.errors.fn_diff
        self.intercept, self.slope = segment.intercept, segment.slope
        self._ties = np.empty((3, self.intercept.size))
        self._scratch = np.empty((2, self.intercept.size))
        # Steps evaluated so far, in order, the best ``t`` at each, and AUM there.
        self._steps: list[float] = []
        self._centers: list[float] = []
        self.values: dict[float, float] = {}
        self.n_evaluations = 0
        self._take_all()

    def _take_all(self) -> None:
        self._lines: Lines = (self.intercept, self.slope, self.fp, self.fn)
        self._far = np.zeros(5)
        # The steps, and the values of ``t``, for which the other lines lie on known sides.
        self._reach, self._values = (-np.inf, np.inf), (-np.inf, np.inf)

    def tangents(self, step: float) -> tuple[_Tangent, _Tangent]:
        """Compute the left and right tangents at a step."""
        low, high = self._window(step)
        found = self._evaluate(self._lines, self._far, step, low, high)
        if not self._values[0] <= found[3] <= self._values[1]:
            # The best ``t`` is not where it was looked for; also nan.
            self._take_all()
            found = self._evaluate(self._lines, self._far, step, low, high)
        value, left, right, center = found
        place = bisect(self._steps, step)
        self._steps.insert(place, step)
        self._centers.insert(place, center)
        self.values[step] = value
        return _Tangent(step, value, left), _Tangent(step, value, right)

    def _window(self, step: float) -> tuple[float, float]:
        """Predict limits of the best ``t`` from those of the steps on either side.

        Lines that stay far from these limits between the two steps are left as sums.
        """
        from aucuba.aum import _loops

        after = bisect(self._steps, step)
        if not 0 < after < len(self._steps):
            self._take_all()
            return self._guess(self._lines, step)
        (a, b), (at_a, at_b) = (
            self._steps[after - 1 : after + 1],
            self._centers[after - 1 : after + 1],
        )
        middle = at_a + (at_b - at_a) * (step - a) / (b - a)
        reach = _WINDOW * abs(at_b - at_a)
        if not self._reach[0] <= a < b <= self._reach[1]:
            self._take_all()
        if self._lines[0].size > _FEW:
            self._reach, self._values = (a, b), (min(at_a, at_b) - reach, max(at_a, at_b) + reach)
            self._lines = _loops.lines_near(self._lines, *self._reach, *self._values, self._far)
        return middle - reach, middle + reach

    def asymptote(self) -> _Tangent:
        """Compute the tangent for large steps, ``s * AUM(slope) + AUM'(slope; intercept)``."""
        lines = (self.slope, self.intercept, self.fp, self.fn)
        value, _, right, _ = self._evaluate(lines, np.zeros(5), 0.0, *self._guess(lines, 0.0))
        return _Tangent(0.0, right, value)

    def _guess(self, lines: Lines, step: float) -> tuple[float, float]:
        """Predict limits of the best ``t`` from some of many lines."""
        from aucuba.aum import _loops

        intercept, slope, fp, fn = some = tuple(
            one[:: max(one.size // _SAMPLED, 1)].copy() for one in lines
        )
        if intercept.size * _WORTH_A_GUESS > lines[0].size or not (fp.any() and fn.any()):
            return -np.inf, np.inf
        scratch = self._ties, self._scratch
        center = _loops.monotone_tangents(some, np.zeros(5), step, -np.inf, np.inf, *scratch)[3]
        reach = _SPREADS * float(np.std(intercept + step * slope))
        return center - reach, center + reach

    def _evaluate(
        self, lines: Lines, far: FloatArray, step: float, low: float, high: float
    ) -> tuple[float, float, float, float]:
        from aucuba.aum import _loops

        self.n_evaluations += 1
        found = _loops.monotone_tangents(lines, far, step, low, high, self._ties, self._scratch)
        value, left, right, center = (float(one) for one in found)
        return value, left, right, center


def minimize_aum(
    errors: ErrorFunctions, predictions: ArrayLike, direction: ArrayLike
) -> AUMMinimum:
    r"""Find the first minimum of AUM over steps from 0 on, exactly.

    For monotone errors, such as those of binary labels, AUM is the class-weighted hinge loss of
    margin zero with the best intercept,

    .. math::
        \mathrm{AUM}(s) = \min_t \sum_b \Delta\mathrm{FP}_b\,(t - T_b(s))_+
        + |\Delta\mathrm{FN}_b|\,(T_b(s) - t)_+ ,

    convex and piecewise linear. The next trial is where a tangent on the falling side crosses one on
    the rising side; the search ends when a tangent touches there, after some 10 to 25 evaluations, of
    which a few go through all thresholds and the others through ever fewer, however many cross on the
    way. Other errors are searched along the path.

    Parameters
    ----------
    errors : ErrorFunctions
    predictions, direction : array-like of shape (n_examples,)

    Returns
    -------
    AUMMinimum

    Examples
    --------
    >>> from aucuba.aum import ErrorFunctions, minimize_aum
    >>> errors = ErrorFunctions.from_labels([0, 0, 1, 1])
    >>> best = minimize_aum(errors, [2.0, 0.0, 1.0, -1.0], [-1, 0, 0, 1])
    >>> best.step, best.aum
    (1.5, 0.0)
    """
    # A convex AUM is continuous, so ties broken by rounding do not move its minimum.
    tol = 0.0 if errors.is_monotone else PRODUCT_ROUNDING
    return first_minimum(Segment.from_predictions(errors, predictions, direction, tol))


def first_minimum(segment: Segment) -> AUMMinimum:
    """`minimize_aum` on a validated segment."""
    if segment.errors.is_monotone:
        function = _MonotoneAUM(segment)
        step = _tangent_search(function)
        return AUMMinimum(step, function.values[step], function.n_evaluations)
    step, count = _first_minimum_on_path(segment)
    return AUMMinimum(step, segment.at(step).aum, count)


def _tangent_search(function: _MonotoneAUM) -> float:
    """Kelley's cutting planes in one dimension: the smallest minimiser from 0 on."""
    _, falling = function.tangents(0.0)
    weight = min(function.fp.sum(), -function.fn.sum())
    flat = _ROUNDING * float(np.abs(function.slope).max()) * weight
    if falling.slope >= -flat:
        return 0.0
    rising = _never_falling(function.asymptote(), flat)
    while True:
        step = falling.meets(rising)
        if step <= falling.step:
            return falling.step
        left, right = function.tangents(step)
        scale = left.value + abs(falling.slope) * step
        touches = left.value - falling.at(step) <= _ROUNDING * scale
        if touches or (left.slope < -flat <= right.slope):
            return step
        if right.slope < -flat:
            falling = right
        elif step == rising.step:
            return step
        else:
            rising = _never_falling(left, flat)


def _never_falling(tangent: _Tangent, flat: float) -> _Tangent:
    """Set a slope that is zero except for rounding to zero, so that a plateau is met at its start."""
    return _Tangent(tangent.step, tangent.value, tangent.slope if tangent.slope > flat else 0.0)


def _first_minimum_on_path(segment: Segment) -> tuple[float, int]:
    path = _path.follow(segment, "first_min", record=False)
    return path.best_aum().step, path.n_crossings
