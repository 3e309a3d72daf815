"""Gradient descent on AUM with an exact line search in every step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, Monitor
from aucuba._base._validation import check_choice, check_positive_number
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._step_rules import STEP_RULES, Line, StepRule
from aucuba.aum._value import ErrorCurves, area_under_min, balanced_subgradient
from aucuba.design import Design
from aucuba.solvers import Solution, Status, iterate

# Thresholds that met in the last line search differ by rounding alone; relative to their mean size.
_TIE = 1e-12

# Smaller improvements in AUC are rounding error.
_BETTER = 1e-12


@dataclass(frozen=True)
class LabelledData:
    """Error functions and the Design that predicts for their examples."""

    design: Design
    errors: ErrorFunctions

    def curves(self, predictions: FloatArray) -> ErrorCurves:
        """Compute the total errors as functions of the constant added to the predictions."""
        errors, threshold = self.errors, self.errors.thresholds(predictions)
        return ErrorCurves.from_thresholds(
            threshold, errors.fp_diff, errors.fn_diff, self._reach(threshold)
        )

    def difference_of_means(self) -> FloatArray:
        """Compute the mean of the positives minus that of the negatives: the descent from zero."""
        level = np.zeros(self.errors.n_examples)
        return self.upright(-self.design.adjoint(2 * balanced_subgradient(self.errors, level)))

    def upright(self, model: FloatArray) -> FloatArray:
        """Return the model or its negative, whichever has the better AUC: outliers turn signs."""
        turned = self.curves(self.design.scores(model)).auc < 0.5
        return -model if turned else model

    def gradients(self, predictions: FloatArray) -> list[FloatArray]:
        """Compute gradients of AUM in the model, the most promising first.

        If errors are not monotone and thresholds tie, the mean of the one-sided derivatives may point
        uphill, so the right and the left derivatives follow it.
        """
        if self.errors.is_monotone:
            reach = self._reach(self.errors.thresholds(predictions))
            candidates = [balanced_subgradient(self.errors, predictions, reach)]
        else:
            area = area_under_min(self.errors, predictions)
            candidates = [area.gradient, area.right, area.left]
        return [self.design.adjoint(candidate) for candidate in candidates]

    def line(self, predictions: FloatArray, direction: FloatArray) -> Line:
        """Return the predictions as the model moves along a direction."""
        return Line(self.errors, predictions, self.design.scores(direction))

    def norm(self, model: FloatArray) -> float:
        """Compute the length of a model."""
        return float(np.sqrt(self.design.inner(model, model)))

    def _reach(self, threshold: FloatArray) -> float:
        """Return the distance up to which thresholds are tied except for rounding."""
        return _TIE * float(np.mean(np.abs(threshold)))


@dataclass(frozen=True)
class AUMSolution(Solution):
    """The iterate of best AUC.

    ``best_iteration`` is its number, 0 for the start, whose row of the history is ``start``.
    """

    best_iteration: int = 0
    start: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class _DescentState:
    model: FloatArray
    predictions: FloatArray
    step: float
    aum: float
    auc: float
    validation_auc: float | None
    iteration: int = 0
    best: _DescentState | None = None
    least_aum: float = np.inf
    n_stalled: int = 0
    is_stationary: bool = False

    @property
    def score(self) -> float:
        return self.auc if self.validation_auc is None else self.validation_auc


@dataclass(frozen=True)
class AUMDescent:
    r"""Descend on AUM by exact line searches, and keep the iterate of best AUC.

    .. math::
        w_{k+1} = w_k - s_k X^\top \nabla \mathrm{AUM}(X w_k)

    For binary labels AUM is homogeneous, :math:`\mathrm{AUM}(kw) = k\,\mathrm{AUM}(w)`: shrinking
    the model lowers AUM without changing the ranking, and the zero model minimises it. The descent
    therefore stays on the sphere :math:`|w| = 1`: the component of the subgradient along ``w`` is
    removed, so that the norm can only grow along the direction, and every step ends by dividing by
    the norm. Error functions with breakpoints elsewhere, such as label errors of changepoints, have a
    scale of their own and are minimised as they are.

    Parameters
    ----------
    step : str or callable
        "first_min", "linear", "all", "first_max_auc", "subtrain_auc", "validation_auc" or "grid"; or a
        function that takes the line of the training rows, that of the held-out rows (None without
        them) and a unit of length, and returns a step.
    tol : float
        An iteration is stalled if AUM falls by less than this fraction of it and the best AUC rises by
        less than this.
    n_iter_no_change : int
        Stop after this many stalled iterations in a row.
    max_iter : int
        Limit on the number of steps.
    """

    step: str | StepRule = "first_min"
    tol: float = 1e-3
    n_iter_no_change: int = 5
    max_iter: int = 100

    def __post_init__(self) -> None:
        if not callable(self.step):
            check_choice(self.step, "step", list(STEP_RULES))
        check_positive_number(self.tol, "tol")
        check_positive_number(self.n_iter_no_change, "n_iter_no_change", integer=True)
        check_positive_number(self.max_iter, "max_iter", integer=True)

    @property
    def rule(self) -> StepRule:
        """The step rule itself."""
        return STEP_RULES[self.step] if isinstance(self.step, str) else self.step

    def solve(
        self,
        subtrain: LabelledData,
        start: FloatArray,
        validation: LabelledData | None = None,
        monitor: Monitor | None = None,
    ) -> AUMSolution:
        """Descend from ``start``, which must not be zero for binary labels."""
        algorithm = _Descent(self, subtrain, validation, start)
        run = iterate(algorithm, int(self.max_iter), monitor)
        best = run.state.best or run.state
        return AUMSolution(
            coef=best.model,
            status=run.status,
            n_iter=len(run.history),
            objective=best.aum,
            lower_bound=0.0,
            gap=float("nan"),
            history=run.history,
            best_iteration=best.iteration,
            start=algorithm.report(algorithm.first),
        )

    def first_step(self, data: LabelledData, model: FloatArray) -> tuple[Line, float] | None:
        """Return the line and the length of the first step from ``model``; None if it is stationary.

        `solve` takes this step first if there are no validation data.
        """
        algorithm = _Descent(self, data, None, model)
        line, _, step = algorithm.search(algorithm.first)
        return None if line.is_level else (line, step)


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

    @cached_property
    def first(self) -> _DescentState:
        state = self._evaluated(self.start, 0.0)
        return replace(state, least_aum=state.aum)

    def init(self) -> _DescentState:
        return self.first

    def step(self, state: _DescentState) -> _DescentState:
        _, direction, step = self.search(state)
        reached = self._evaluated(state.model + step * direction, step)
        best, tol = state.best or state, self.options.tol
        progress = reached.score > best.score + tol or reached.aum < (1 - tol) * state.least_aum
        reached = replace(
            reached,
            iteration=state.iteration + 1,
            least_aum=min(reached.aum, state.least_aum),
            n_stalled=0 if progress else state.n_stalled + 1,
            is_stationary=step == 0.0,
        )
        is_better = reached.score > best.score + _BETTER
        return reached if is_better else replace(reached, best=best)

    def search(self, state: _DescentState) -> tuple[Line, FloatArray, float]:
        """Find the first direction with a positive step; return its line, itself and the step."""
        for gradient in self.subtrain.gradients(state.predictions):
            direction = -self._tangential(gradient, state.model)
            line = self.subtrain.line(state.predictions, direction)
            length = self.subtrain.norm(direction)
            if line.is_level or length == 0.0:
                continue
            unit = (self.subtrain.norm(state.model) or 1.0) / length
            step = self.options.rule(line, self._held_out(state.model, direction), unit)
            if step > 0.0:
                return line, direction, step
        return line, direction, 0.0

    def terminate(self, state: _DescentState) -> Status | None:
        if state.is_stationary or state.n_stalled >= self.options.n_iter_no_change:
            return Status.CONVERGED
        return None

    def report(self, state: _DescentState) -> dict[str, Any]:
        row = {"step": state.step, "aum": state.aum, "auc": state.auc}
        if state.validation_auc is not None:
            row["validation_auc"] = state.validation_auc
        return row

    def _evaluated(self, model: FloatArray, step: float) -> _DescentState:
        model = self._normalised(model)
        predictions = self.subtrain.design.scores(model)
        curves = self.subtrain.curves(predictions)
        held_out = None
        if self.validation is not None:
            held_out = self.validation.curves(self.validation.design.scores(model)).auc
        return _DescentState(model, predictions, step, curves.aum, curves.auc, held_out)

    def _tangential(self, gradient: FloatArray, model: FloatArray) -> FloatArray:
        if not self.on_sphere:
            return gradient
        return gradient - self.subtrain.design.inner(gradient, model) * model

    def _held_out(self, model: FloatArray, direction: FloatArray) -> Line | None:
        if self.validation is None:
            return None
        return self.validation.line(self.validation.design.scores(model), direction)

    def _normalised(self, model: FloatArray) -> FloatArray:
        length = self.subtrain.norm(model) if self.on_sphere else 0.0
        return model / length if length > 0.0 else model
