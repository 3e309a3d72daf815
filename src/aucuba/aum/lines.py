"""Thresholds as lines in the step size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._typing import ArrayLike, FloatArray
from aucuba.aum.errors import ErrorFunctions

# The rounding of a product X @ w, relative to the typical size of its entries.
_PRODUCT_ROUNDING = 1e-14


@dataclass(frozen=True)
class Segment:
    """Validated ``predictions + step * direction`` for steps from zero on."""

    errors: ErrorFunctions
    predictions: FloatArray
    direction: FloatArray

    @classmethod
    def of(cls, errors: ErrorFunctions, predictions: ArrayLike, direction: ArrayLike) -> Segment:
        start = errors.check_predictions(predictions)
        change = errors.check_predictions(direction, "direction")
        if not change[errors.example].any():
            raise ValueError(
                "direction is zero for every example that has a breakpoint, so every step gives "
                "the same predictions. At a minimum of AUM the gradient vanishes: stop there."
            )
        return cls(errors, start, change)

    @property
    def intercept(self) -> FloatArray:
        return self.errors.thresholds(self.predictions)

    @property
    def slope(self) -> FloatArray:
        slope: FloatArray = -self.direction[self.errors.example]
        return slope

    def at(self, step: float) -> FloatArray:
        """Predictions after ``step``."""
        moved: FloatArray = self.predictions + step * self.direction
        return moved


@dataclass(frozen=True)
class ThresholdLines:
    """``T_b(s) = intercept + s * slope`` in increasing order just after step 0.

    Lines that coincide are one line with the sum of their steps in FP and FN, since no step ever
    separates them.
    """

    intercept: FloatArray
    slope: FloatArray
    fp_diff: FloatArray
    fn_diff: FloatArray

    @classmethod
    def of(cls, segment: Segment, tol: float) -> ThresholdLines:
        rounding = min(tol, _PRODUCT_ROUNDING)
        intercept = join_close(segment.intercept, rounding)
        slope = join_close(segment.slope, rounding)
        order = np.lexsort((slope, intercept))
        intercept, slope = intercept[order], slope[order]
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

    def table(self) -> FloatArray:
        """Rows ``(intercept, slope, fp_diff, fn_diff)`` for the compiled loops, a fresh copy."""
        return np.column_stack([self.intercept, self.slope, self.fp_diff, self.fn_diff])

    def errors_between(self) -> tuple[FloatArray, FloatArray]:
        """FP and FN below the first line, between neighbours, and above the last."""
        fp = np.r_[0.0, np.cumsum(self.fp_diff)]
        gone = np.r_[0.0, np.cumsum(self.fn_diff)]
        return fp, gone - gone[-1]


def join_close(values: FloatArray, tol: float) -> FloatArray:
    """Give neighbours closer than ``tol`` times the mean magnitude the smallest of their values.

    Rows that are equal on paper then stay tied although a matrix product rounded them differently.
    """
    reach = tol * float(np.mean(np.abs(values)))
    order = np.argsort(values)
    ranked = values[order]
    first = np.r_[True, np.diff(ranked) > reach]
    joined = np.empty_like(values)
    joined[order] = ranked[first][np.cumsum(first) - 1]
    return joined
