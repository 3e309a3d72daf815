"""Gradient descent on AUM with an exact line search in every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._step_rules import STEP_RULES, Line
from aucuba.aum._value import ErrorCurves, balanced_subgradient
from aucuba.design import Design
from aucuba.solvers._driver import Monitor, Solution, Status, iterate

# Thresholds that met in the last line search differ by rounding only; relative to their mean size.
_TIE = 1e-12

# A better AUC than this is better on paper, not by rounding.
_BETTER = 1e-12


@dataclass(frozen=True)
class LabelledData:
    """Error functions and the Design that predicts for their examples."""

    design: Design
    errors: ErrorFunctions

    def curves(self, predictions: FloatArray) -> ErrorCurves:
        threshold = self.errors.thresholds(predictions)
        errors = self.errors
        return ErrorCurves.of(threshold, errors.fp_diff, errors.fn_diff, tie_reach(threshold))


def norm(design: Design, model: FloatArray) -> float:
    return float(np.sqrt(design.inner(model, model)))


def tie_reach(threshold: FloatArray) -> float:
    """Thresholds this close are tied but for rounding."""
    return _TIE * float(np.mean(np.abs(threshold)))


@dataclass(frozen=True)
class _State:
    model: FloatArray
    predictions: FloatArray
    step: float
    aum: float
    auc: float
    validation_auc: float | None
    best_model: FloatArray
    best_score: float
    least_aum: float
    n_stalled: int
    is_stationary: bool = False

    @property
    def score(self) -> float:
        return self.auc if self.validation_auc is None else self.validation_auc


@dataclass(frozen=True)
class AUMDescent:
    r"""Descent on AUM: a direction, an exact step, and the iterate of best AUC is kept.

    For binary labels AUM is homogeneous, :math:`\mathrm{AUM}(kw) = k\,\mathrm{AUM}(w)`: shrinking
    the model lowers it and means nothing, and the zero model is its minimiser. There the descent
    is on the sphere :math:`|w| = 1`: the subgradient loses its component along ``w``, so that the
    norm can only grow along the direction, and every step ends by dividing by the norm. Error
    functions with breakpoints elsewhere have a scale of their own and are descended as they are.

    Parameters
    ----------
    step : str
        A name in `aucuba.aum._step_rules.STEP_RULES`.
    tol : float
        An iteration is stalled when AUM falls by less than this share and the best AUC does not
        rise by this much.
    n_iter_no_change : int
        Stop after so many stalled iterations in a row.
    max_iter : int
    """

    step: str = "first_min"
    tol: float = 1e-3
    n_iter_no_change: int = 5
    max_iter: int = 100

    def solve(
        self,
        subtrain: LabelledData,
        start: FloatArray,
        validation: LabelledData | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Descend from ``start``, which must not be zero for binary labels."""
        run = iterate(_Descent(self, subtrain, validation, start), self.max_iter, monitor)
        best = run.state.best_model
        objective = subtrain.curves(subtrain.design.scores(best)).aum
        return Solution(
            coef=best,
            status=run.status,
            n_iter=len(run.history),
            objective=objective,
            lower_bound=0.0,
            gap=float("nan"),
            history=run.history,
        )


class _Descent:
    """The iteration of `AUMDescent`, for the shared driver."""

    def __init__(
        self,
        options: AUMDescent,
        subtrain: LabelledData,
        validation: LabelledData | None,
        start: FloatArray,
    ) -> None:
        self.options = options
        self.subtrain, self.validation = subtrain, validation
        self.start = start
        self.on_sphere = not subtrain.errors.value.any()

    def init(self) -> _State:
        model = self._normalised(self.start)
        predictions = self.subtrain.design.scores(model)
        curves = self.subtrain.curves(predictions)
        held_out = self._validation_auc(model)
        score = curves.auc if held_out is None else held_out
        return _State(
            model, predictions, 0.0, curves.aum, curves.auc, held_out, model, score, curves.aum, 0
        )

    def step(self, state: _State) -> _State:
        design = self.subtrain.design
        direction = self._direction(state)
        change = design.scores(direction)
        line = Line(self.subtrain.errors, state.predictions, change)
        length = norm(design, direction)
        if line.is_level or length == 0.0:
            return self._advance(state, state.model, 0.0, is_stationary=True)
        size = norm(design, state.model) or 1.0
        held_out = None
        if self.validation is not None:
            moved = self.validation.design
            held_out = Line(
                self.validation.errors, moved.scores(state.model), moved.scores(direction)
            )
        step = STEP_RULES[self.options.step](line, held_out, size / length)
        return self._advance(state, state.model + step * direction, step, step == 0.0)

    def terminate(self, state: _State) -> Status | None:
        if state.is_stationary or state.n_stalled >= self.options.n_iter_no_change:
            return Status.CONVERGED
        return None

    def report(self, state: _State) -> dict[str, Any]:
        row = {"step": state.step, "aum": state.aum, "auc": state.auc}
        if state.validation_auc is not None:
            row["validation_auc"] = state.validation_auc
        return row

    def _direction(self, state: _State) -> FloatArray:
        errors, design = self.subtrain.errors, self.subtrain.design
        reach = tie_reach(errors.thresholds(state.predictions))
        gradient = design.adjoint(balanced_subgradient(errors, state.predictions, reach))
        if self.on_sphere:
            gradient = gradient - design.inner(gradient, state.model) * state.model
        return -gradient

    def _advance(
        self, state: _State, model: FloatArray, step: float, is_stationary: bool
    ) -> _State:
        model = self._normalised(model)
        predictions = self.subtrain.design.scores(model)
        curves = self.subtrain.curves(predictions)
        held_out = self._validation_auc(model)
        score = curves.auc if held_out is None else held_out
        is_better = score > state.best_score + _BETTER
        tol = self.options.tol
        progress = score > state.best_score + tol or curves.aum < (1 - tol) * state.least_aum
        return _State(
            model,
            predictions,
            step,
            curves.aum,
            curves.auc,
            held_out,
            best_model=model if is_better else state.best_model,
            best_score=max(score, state.best_score),
            least_aum=min(curves.aum, state.least_aum),
            n_stalled=0 if progress else state.n_stalled + 1,
            is_stationary=is_stationary,
        )

    def _normalised(self, model: FloatArray) -> FloatArray:
        if not self.on_sphere:
            return model
        length = norm(self.subtrain.design, model)
        if length == 0.0:
            return model
        return model / length

    def _validation_auc(self, model: FloatArray) -> float | None:
        if self.validation is None:
            return None
        return self.validation.curves(self.validation.design.scores(model)).auc
