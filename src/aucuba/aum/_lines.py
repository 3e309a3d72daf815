"""Thresholds as linear functions of the step size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._value import ErrorCurves

# The rounding of a product X @ w, relative to the typical size of its entries.
PRODUCT_ROUNDING = 1e-14


@dataclass(frozen=True)
class Segment:
    """Thresholds ``intercept + step * slope`` of all breakpoints, for steps from zero on."""

    errors: ErrorFunctions
    intercept: FloatArray
    slope: FloatArray

    @classmethod
    def from_predictions(
        cls,
        errors: ErrorFunctions,
        predictions: ArrayLike,
        direction: ArrayLike,
        tol: float = PRODUCT_ROUNDING,
    ) -> Segment:
        """Validate what a user gave; see `from_line`."""
        start = errors.check_predictions(predictions)
        change = errors.check_predictions(direction, "direction")
        if not change[errors.example].any():
            raise ValueError(
                "direction is zero for every example that has a breakpoint, so every step gives "
                "the same predictions. At a minimum of AUM the gradient vanishes: stop there."
            )
        return cls.from_line(errors, start, change, tol)

    @classmethod
    def from_line(
        cls,
        errors: ErrorFunctions,
        predictions: FloatArray,
        direction: FloatArray,
        tol: float = PRODUCT_ROUNDING,
    ) -> Segment:
        """Join coefficients that differ by no more than ``tol`` times their mean size."""
        slope = -direction[errors.example]
        return cls(errors, join_close(errors.thresholds(predictions), tol), join_close(slope, tol))

    @property
    def last_meeting(self) -> float:
        """Step of the last meeting of two lines, 0 if none meet after step 0.

        The two that meet last are neighbours in the order of large steps.
        """
        order = np.lexsort((self.intercept, self.slope))
        parting = np.diff(self.slope[order])
        moves = parting > 0
        steps = -np.diff(self.intercept[order])[moves] / parting[moves]
        return float(steps.max(initial=0.0))

    def at(self, step: float) -> ErrorCurves:
        """Compute FP and FN at a step, by a sort; thresholds that meet there tie despite rounding."""
        threshold = self.intercept + step * self.slope
        size = np.mean(np.abs(self.intercept)) + step * np.mean(np.abs(self.slope))
        reach = PRODUCT_ROUNDING * float(size)
        return ErrorCurves.from_thresholds(
            threshold, self.errors.fp_diff, self.errors.fn_diff, reach
        )


@dataclass(frozen=True)
class ThresholdLines:
    """``T_b(s) = intercept + s * slope`` in increasing order just after a step, 0 by default.

    Lines that coincide are merged, with the sum of their steps in FP and FN: no step separates them.
    """

    intercept: FloatArray
    slope: FloatArray
    fp_diff: FloatArray
    fn_diff: FloatArray

    @classmethod
    def from_segment(cls, segment: Segment, start: float = 0.0) -> ThresholdLines:
        """Sort the lines of a segment by their values just after ``start``."""
        threshold = segment.intercept + start * segment.slope
        order = np.lexsort((segment.slope, threshold))
        intercept, slope = segment.intercept[order], segment.slope[order]
        new = (intercept[1:] != intercept[:-1]) | (slope[1:] != slope[:-1])
        first = np.flatnonzero(np.r_[True, new])
        return cls(
            intercept[first],
            slope[first],
            np.add.reduceat(segment.errors.fp_diff[order], first),
            np.add.reduceat(segment.errors.fn_diff[order], first),
        )

    @property
    def n_lines(self) -> int:
        return int(self.intercept.size)

    def at(self, step: float) -> FloatArray:
        """Compute the thresholds at a step, in the order of the lines."""
        threshold: FloatArray = self.intercept + step * self.slope
        return threshold

    def errors_between(self) -> tuple[FloatArray, FloatArray]:
        """Compute FP and FN below the first line, between neighbours, and above the last."""
        fp = np.r_[0.0, np.cumsum(self.fp_diff)]
        gone = np.r_[0.0, np.cumsum(self.fn_diff)]
        return fp, gone - gone[-1]


def join_close(values: FloatArray, tol: float) -> FloatArray:
    """Give neighbours closer than ``tol`` times the mean magnitude the smallest of their values.

    Equal rows then stay tied even if a matrix product rounds them differently.
    """
    if tol == 0:
        return values
    reach = tol * float(np.mean(np.abs(values)))
    order = np.argsort(values)
    ranked = values[order]
    first = np.r_[True, np.diff(ranked) > reach]
    joined = np.empty_like(values)
    joined[order] = ranked[first][np.cumsum(first) - 1]
    return joined
