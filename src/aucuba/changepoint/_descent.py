"""Gradient descent on AUM for a linear function of features, with exact steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from aucuba._core._typing import FloatArray

if TYPE_CHECKING:
    from aucuba.aum import AreaUnderMin, ErrorFunctions
    from aucuba.solvers import Monitor

_GRID = 10.0 ** np.arange(-9, 1)


class DescentStatus(Enum):
    """Why the descent ended."""

    ZERO = "AUM is zero: some common shift of the predictions leaves no avoidable error."
    CONVERGED = "The last step improved by less than tol."
    NO_DESCENT = "No step along the gradient decreases AUM."
    MAX_ITER = "The number of steps reached max_iter; increase it to go on."
    STOPPED_BY_CALLBACK = "Stopped early by a callback; the best model so far is kept."
    INTERRUPTED = "Interrupted by the user; the best model so far is kept."


@dataclass(frozen=True)
class Part:
    """Features and error functions of one part of the data."""

    features: FloatArray
    errors: ErrorFunctions


@dataclass(frozen=True)
class Line:
    """Predictions of the subtrain and validation parts along one direction."""

    subtrain: ErrorFunctions
    start: FloatArray
    direction: FloatArray
    validation: ErrorFunctions | None = None
    validation_start: FloatArray | None = None
    validation_direction: FloatArray | None = None


@dataclass(frozen=True)
class Descent:
    """Result of `aum_descent`.

    Attributes
    ----------
    coef : ndarray
        The iterate with the best validation AUC (of the subtrain part without a validation part).
    best_step : int
        Its number; 0 is the start.
    status : DescentStatus
    history : list of dict
        One row an iterate: step, step_size, aum, auc, validation_auc, rows (of the line search).
    """

    coef: FloatArray
    best_step: int
    status: DescentStatus
    history: list[dict[str, float]]


def _path_step(stop: str) -> Callable[[Line], tuple[float, int]]:
    """The step of least subtrain AUM on the explored part of the path."""

    def search(line: Line) -> tuple[float, int]:
        from aucuba.aum import line_search_path

        path = line_search_path(line.subtrain, line.start, line.direction, stop=stop)
        return path.best_aum().step, path.step.size

    return search


def _grid_step(line: Line) -> tuple[float, int]:
    from aucuba.aum import aum

    values = [aum(line.subtrain, line.start + step * line.direction).aum for step in _GRID]
    return float(_GRID[int(np.argmin(values))]), _GRID.size


def _subtrain_auc_step(line: Line) -> tuple[float, int]:
    from aucuba.aum import line_search_path

    path = line_search_path(line.subtrain, line.start, line.direction, stop="linear")
    return path.best_auc().step, path.step.size


def _validation_auc_step(line: Line) -> tuple[float, int]:
    from aucuba.aum import line_search_path

    if (
        line.validation is None
        or line.validation_start is None
        or line.validation_direction is None
    ):
        raise ValueError(
            "step='validation_auc' needs a validation part; set validation_fraction, or take another "
            "step rule."
        )
    path = line_search_path(
        line.validation, line.validation_start, line.validation_direction, stop="linear"
    )
    return path.best_auc().step, path.step.size


STEP_RULES: dict[str, Callable[[Line], tuple[float, int]]] = {
    "first_min": _path_step("first_min"),
    "linear": _path_step("linear"),
    "all": _path_step("all"),
    "subtrain_auc": _subtrain_auc_step,
    "validation_auc": _validation_auc_step,
    "grid": _grid_step,
}
"""How far to go along the gradient: the step and the number of points looked at."""

# These rules may raise AUM on the way to a higher AUC, so AUM cannot tell them when to stop.
_AUC_RULES = {"subtrain_auc": "auc", "validation_auc": "validation_auc"}


def aum_descent(
    subtrain: Part,
    start: FloatArray,
    *,
    validation: Part | None = None,
    step: str = "first_min",
    tol: float = 1e-5,
    max_iter: int = 1000,
    monitor: Monitor | None = None,
) -> Descent:
    r"""Minimise the AUM of ``features @ coef`` by steepest descent.

    .. math::
        w_{k+1} = w_k - s_k X^\top \nabla \mathrm{AUM}(X w_k)

    with :math:`s_k` from the rule ``step``. Where thresholds tie, the mean of the two one-sided
    derivatives may point uphill; then the right and the left ones are tried. Ends when AUM (for AUC
    rules: AUC) improves by less than ``tol``. This is the published protocol for changepoints, whose
    error functions have a scale; `aucuba.aum.AUMDescent` is the one for labels, where AUM is
    homogeneous and the norm must be held.

    ``monitor`` hears every iterate and may stop the descent, and so may a keyboard interrupt; the best
    iterate so far is kept.
    """
    track = _Track(subtrain, validation, monitor)
    try:
        status = _descend(track, np.asarray(start, dtype=np.float64), step, tol, max_iter)
    except KeyboardInterrupt:
        if not track.history:
            raise
        status = DescentStatus.INTERRUPTED
    return Descent(track.best_coef, track.best_step, status, track.history)


class _Track:
    """Judges iterates: keeps the best and the history."""

    def __init__(self, subtrain: Part, validation: Part | None, monitor: Monitor | None) -> None:
        self.subtrain, self.validation, self.monitor = subtrain, validation, monitor
        self.history: list[dict[str, float]] = []
        self.best_coef = np.empty(0)
        self.best_step = 0

    def add(self, coef: FloatArray, step_size: float, rows: int) -> tuple[AreaUnderMin, bool]:
        """AUM of the next iterate, and whether the monitor asks to stop."""
        from aucuba.aum import aum

        area = aum(self.subtrain.errors, self.subtrain.features @ coef)
        row = {"step": len(self.history), "step_size": step_size, "rows": rows}
        row |= {"aum": area.aum, "auc": area.auc, "validation_auc": area.auc}
        if self.validation is not None:
            held_out = aum(self.validation.errors, self.validation.features @ coef)
            row["validation_auc"] = held_out.auc
        if (
            not self.history
            or row["validation_auc"] > self.history[self.best_step]["validation_auc"]
        ):
            self.best_coef, self.best_step = coef, len(self.history)
        self.history.append(row)
        return area, self.monitor is not None and bool(self.monitor(row))


def _descend(
    track: _Track, coef: FloatArray, step: str, tol: float, max_iter: int
) -> DescentStatus:
    previous, step_size, rows = np.inf, 0.0, 0
    for iteration in range(max_iter + 1):
        area, stop = track.add(coef, step_size, rows)
        criterion = -track.history[-1][_AUC_RULES[step]] if step in _AUC_RULES else area.aum
        if area.aum <= 0.0 and step not in _AUC_RULES:
            return DescentStatus.ZERO
        if previous - criterion < tol:
            return DescentStatus.CONVERGED
        if stop:
            return DescentStatus.STOPPED_BY_CALLBACK
        if iteration == max_iter:
            break
        previous = criterion
        step_size, rows, direction = _downhill(
            area, STEP_RULES[step], track.subtrain, track.validation, coef
        )
        if step_size <= 0:
            return DescentStatus.NO_DESCENT
        coef = coef + step_size * direction
    return DescentStatus.MAX_ITER


def _downhill(
    area: AreaUnderMin,
    rule: Callable[[Line], tuple[float, int]],
    subtrain: Part,
    validation: Part | None,
    coef: FloatArray,
) -> tuple[float, int, FloatArray]:
    """The first of three gradients with a positive step: step, points looked at, direction."""
    for gradient in (area.gradient, area.right, area.left):
        direction = -(subtrain.features.T @ gradient)
        if not np.any(direction):
            continue
        line = Line(subtrain.errors, subtrain.features @ coef, subtrain.features @ direction)
        if validation is not None:
            held_out = validation.features @ np.column_stack([coef, direction])
            line = Line(line.subtrain, line.start, line.direction, validation.errors, *held_out.T)
        step_size, rows = rule(line)
        if step_size > 0:
            return step_size, rows, direction
    return 0.0, 0, np.zeros_like(coef)
