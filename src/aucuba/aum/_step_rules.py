"""How far to go along a descent direction: the paper's variants and a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba.aum import _path
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import PRODUCT_ROUNDING, Segment
from aucuba.aum._maximum import greatest_auc
from aucuba.aum._minimum import AUMMinimum, first_minimum

# AUC is constant beyond the last meeting; this far beyond it, rounding of that step does not matter.
_BEYOND = 1.001
_AUC_TOL = 1e-4

# AUM that is zero except for rounding, in units of the predictions.
_ZERO = 1e-12

# In units of the model's size; the paper's baseline tries powers of ten as well.
_GRID = 10.0 ** np.arange(-5.0, 2.0)


@dataclass(frozen=True)
class Line:
    """Predictions of one data set and their change for a unit step.

    Attributes
    ----------
    errors : ErrorFunctions
    predictions, direction : ndarray of shape (n_examples,)
        Both already validated.
    """

    errors: ErrorFunctions
    predictions: FloatArray
    direction: FloatArray

    @property
    def is_level(self) -> bool:
        """Whether no step changes anything."""
        return not self.direction[self.errors.example].any()

    def aum(self, step: float) -> float:
        """Compute AUM at a step."""
        return self.segment(0.0).at(step).aum

    def least_aum(self) -> AUMMinimum:
        """Find the first minimum of AUM."""
        # A convex AUM is continuous, so ties broken by rounding do not move its minimum.
        return first_minimum(self.segment(0.0 if self.errors.is_monotone else PRODUCT_ROUNDING))

    def greatest_auc(self, max_step: float | None = None) -> float:
        """Find the step of greatest AUC up to ``max_step``, by default on the whole line."""
        if self.is_level:
            return 0.0
        segment = self.segment()
        end = _BEYOND * (segment.last_meeting or 1.0) if max_step is None else max_step
        return greatest_auc(segment, end, _AUC_TOL).step

    def segment(self, tol: float = PRODUCT_ROUNDING) -> Segment:
        """Return the thresholds as lines in the step."""
        return Segment.from_line(self.errors, self.predictions, self.direction, tol)


def first_min(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the first minimum of subtrain AUM; if that is zero, on to the greatest subtrain AUC.

    AUM is zero from the step at which the last wrong pair ties, and AUC is one only beyond it.
    """
    best = subtrain.least_aum()
    if best.aum <= _ZERO * float(np.mean(np.abs(subtrain.predictions))):
        return subtrain.greatest_auc(max(4.0 * best.step, unit))
    return best.step


def linear(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the least subtrain AUM among as many rows of the path as there are lines."""
    return _least_on_path(subtrain, "linear")


def all_rows(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the least subtrain AUM on the whole path: quadratic in the number of examples."""
    return _least_on_path(subtrain, "all")


def first_max_auc(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The middle of the first stretch from which subtrain AUC falls: a step of few crossings."""
    return _path.follow(subtrain.segment(), "first_max_auc", record=False).best_auc().step


def subtrain_auc(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the greatest subtrain AUC on the whole line."""
    return subtrain.greatest_auc()


def validation_auc(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the greatest validation AUC on the whole line along the subtrain direction."""
    if validation is None:
        raise ValueError("The step rule 'validation_auc' needs validation data.")
    return validation.greatest_auc()


def grid(subtrain: Line, validation: Line | None, unit: float) -> float:
    """Go to the least subtrain AUM on a grid of steps that includes zero."""
    steps = np.r_[0.0, unit * _GRID]
    return float(steps[int(np.argmin([subtrain.aum(step) for step in steps]))])


def _least_on_path(line: Line, stop: str) -> float:
    return _path.follow(line.segment(), stop, record=False).best_aum().step


StepRule = Callable[[Line, Line | None, float], float]

STEP_RULES: dict[str, StepRule] = {
    "first_min": first_min,
    "linear": linear,
    "all": all_rows,
    "first_max_auc": first_max_auc,
    "subtrain_auc": subtrain_auc,
    "validation_auc": validation_auc,
    "grid": grid,
}
"""Step rules by name: functions of the training line, the held-out line and a unit of length."""
