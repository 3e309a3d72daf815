"""How far to go along a descent direction: the paper's variants and a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._maximum import maximize_auc
from aucuba.aum._minimum import minimize_aum
from aucuba.aum._path import line_search_path
from aucuba.aum._value import aum

# A search for AUC goes this many times as far as the minimum of AUM, at least once the model's size.
_AUC_REACH = 4.0
_AUC_TOL = 1e-4

# AUM that is zero but for rounding, in units of the predictions.
_ZERO = 1e-12

# In units of the model's size; the paper's baseline tries powers of ten as well.
_GRID = 10.0 ** np.arange(-5.0, 2.0)


@dataclass(frozen=True)
class Line:
    """Predictions and their change for a unit step, on one data set."""

    errors: ErrorFunctions
    predictions: FloatArray
    direction: FloatArray

    @property
    def is_level(self) -> bool:
        return not self.direction[self.errors.example].any()


def first_min(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The first minimum of subtrain AUM; where that is zero, on to the greatest subtrain AUC.

    AUM is zero from the step on at which the last wrong pair is tied, and AUC is one only beyond.
    """
    best = minimize_aum(subtrain.errors, subtrain.predictions, subtrain.direction)
    if best.aum <= _ZERO * float(np.mean(np.abs(subtrain.predictions))):
        return _best_auc(subtrain, best.step, unit)
    return best.step


def linear(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The least subtrain AUM among as many rows of the path as there are lines."""
    return _best_on_path(subtrain, "linear")


def all_rows(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The least subtrain AUM on the whole path: quadratic in the number of examples."""
    return _best_on_path(subtrain, "all")


def subtrain_auc(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The greatest subtrain AUC."""
    least = minimize_aum(subtrain.errors, subtrain.predictions, subtrain.direction)
    return _best_auc(subtrain, least.step, unit)


def validation_auc(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The greatest validation AUC along the subtrain direction."""
    assert validation is not None
    least = minimize_aum(subtrain.errors, subtrain.predictions, subtrain.direction)
    return _best_auc(validation, least.step, unit)


def grid(subtrain: Line, validation: Line | None, unit: float) -> float:
    """The least subtrain AUM on a grid of steps, zero included."""
    steps = np.r_[0.0, unit * _GRID]
    values = [
        aum(subtrain.errors, subtrain.predictions + step * subtrain.direction).aum for step in steps
    ]
    return float(steps[int(np.argmin(values))])


def _best_on_path(line: Line, stop: str) -> float:
    return (
        line_search_path(line.errors, line.predictions, line.direction, stop=stop).best_aum().step
    )


def _best_auc(line: Line, least_aum: float, unit: float) -> float:
    if line.is_level:
        return 0.0
    end = max(_AUC_REACH * least_aum, unit)
    best = maximize_auc(line.errors, line.predictions, line.direction, max_step=end, tol=_AUC_TOL)
    return best.step


StepRule = Callable[[Line, Line | None, float], float]

STEP_RULES: dict[str, StepRule] = {
    "first_min": first_min,
    "linear": linear,
    "all": all_rows,
    "subtrain_auc": subtrain_auc,
    "validation_auc": validation_auc,
    "grid": grid,
}
