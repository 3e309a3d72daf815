"""Learning a penalty from features: interval regression and descent on AUM, kept if they pay off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, IntArray, Monitor
from aucuba.aum import AUMDescent, AUMSolution, LabelledData
from aucuba.changepoint._held_out import (
    Comparison,
    ErrorMeasure,
    splits_of,
    total_by_unit,
    units_of,
)
from aucuba.changepoint._interval_regression_cv import IntervalRegressionCV
from aucuba.changepoint._interval_solver import IntervalProblem, fit_path
from aucuba.changepoint._label_errors import (
    ErrorTotals,
    LabelErrors,
    error_functions,
    target_intervals,
)
from aucuba.design import TableDesign

# Coefficients that are only compared on held-out rows need few digits.
_FOLD_TOL = 1e-5
_FOLD_ITERATIONS = 1000


@dataclass(frozen=True)
class LearnedPenalty:
    """Coefficients of ``f = -log(penalty)``, and how they were found."""

    coef: FloatArray
    intercept: float
    constant: float
    regression: IntervalRegressionCV
    status: str
    history: list[dict[str, Any]] = field(default_factory=list)
    best_step: int = 0


@dataclass(frozen=True)
class PenaltyLearner:
    """Settings of the procedure.

    ``descent`` is None to keep the interval regression; ``validation_fraction`` of the sequences are
    held out to choose the iterate of the descent.
    """

    cv: Any
    descent: AUMDescent | None
    validation_fraction: float | None

    def learn(
        self,
        X: FloatArray,
        errors: Sequence[LabelErrors],
        groups: IntArray | None,
        monitor: Monitor | None,
    ) -> LearnedPenalty:
        """Learn from clean features and label errors of sequences in random order."""
        limits = target_intervals(errors)
        if not np.isfinite(limits).any():
            raise ValueError(
                f"No penalty gets a label of the {len(errors)} sequences wrong, so nothing can be "
                "learned. Label real changes, and regions without changes."
            )
        regression = IntervalRegressionCV(cv=self.cv)
        regression.fit(X, limits, errors=errors, groups=groups)
        if monitor is not None:
            monitor({"step": "interval regression"})
        totals = ErrorTotals.from_tables(errors)
        constant = -totals.best_shift(np.zeros(len(errors)))
        # Interval regression predicts the log penalty, of which f is the negative.
        start = -regression.coef_
        said = regression.status_
        found = None
        if not regression.is_constant_ and self.descent is not None:
            scale = X.std(axis=0)
            scale[scale == 0] = 1.0
            standard = (X - X.mean(axis=0)) / scale
            begin = start * scale
            found, reason = self._descend(standard, begin, errors, groups, regression, monitor)
            said += f" {reason}"
        if found is None:
            return LearnedPenalty(start, -regression.intercept_, constant, regression, said)
        coef = found.coef / scale
        return LearnedPenalty(
            coef,
            totals.best_shift(X @ coef),
            constant,
            regression,
            said,
            [{"iteration": 0, **found.start}, *found.history],
            found.best_iteration,
        )

    def _descend(
        self,
        X: FloatArray,
        start: FloatArray,
        errors: Sequence[LabelErrors],
        groups: IntArray | None,
        regression: IntervalRegressionCV,
        monitor: Monitor | None,
    ) -> tuple[AUMSolution | None, str]:
        """Return the descent, or None if it does not pay off on held-out sequences, and the reason."""
        try:
            parts = self._parts(X, errors)
            gain = self._cross_validated_gain(X, errors, groups, regression.regularization_)
        except ValueError as problem:
            return None, f"No descent: {problem} The interval regression is kept."
        if not gain.pays(1.0):
            return None, (
                f"Descent on AUM does not pay ({gain.describe('errors')}): the interval regression is "
                "kept."
            )
        found = self._solve(parts, start, monitor)
        return found, f"Descent on AUM pays ({gain.describe('errors')}). {found.status}"

    def _cross_validated_gain(
        self,
        X: FloatArray,
        errors: Sequence[LabelErrors],
        groups: IntArray | None,
        regularization: float,
    ) -> Comparison:
        """Compare the held-out label errors before and after the descent."""
        measure = ErrorMeasure(ErrorTotals.from_tables(errors))
        limits = target_intervals(errors)
        costs: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        splits = splits_of(self.cv, X, groups)
        for train, test in splits:
            problem = IntervalProblem(X[train], limits[train], None, 1.0)
            rho = np.array([regularization])
            start = -fit_path(problem, rho, _FOLD_TOL, _FOLD_ITERATIONS)[0].coef
            reached = start
            if start.any():
                parts = self._parts(X[train], [errors[i] for i in train])
                reached = self._solve(parts, start, None).coef
            for coef, listed in zip((start, reached), costs, strict=True):
                known, held_out = -(X[train] @ coef), -(X[test] @ coef)
                listed.append(measure.costs(known, train, held_out, test))
        unit = np.concatenate([units_of(test, groups) for _, test in splits])
        rows = total_by_unit(np.stack([np.concatenate(part) for part in costs]), unit)
        return Comparison.from_rows(*rows)

    def _solve(
        self, parts: list[LabelledData], start: FloatArray, monitor: Monitor | None
    ) -> AUMSolution:
        assert self.descent is not None
        validation = parts[1] if len(parts) > 1 else None
        solution = self.descent.solve(parts[0], start, validation, monitor)
        solution.raise_interrupt()
        return solution

    def _parts(self, X: FloatArray, errors: Sequence[LabelErrors]) -> list[LabelledData]:
        """Return the sequences for descent and for validation."""
        return [
            LabelledData(TableDesign(X[rows]), error_functions([errors[i] for i in rows]))
            for rows in self._split(errors)
        ]

    def _split(self, errors: Sequence[LabelErrors]) -> list[IntArray]:
        """Split the rows for descent and for validation, stratified by the kinds of their errors."""
        if self.validation_fraction is None:
            return [np.arange(len(errors))]
        kind = np.array([2 * np.any(e.fp != 0) + np.any(e.fn != 0) for e in errors])
        ranked = np.argsort(kind, kind="stable")
        held_out = np.diff(np.floor(np.arange(ranked.size + 1) * self.validation_fraction)) > 0
        if not held_out.any():
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {ranked.size} sequences holds out "
                f"none; use more than 1/{ranked.size}, or None."
            )
        return [np.sort(ranked[~held_out]), np.sort(ranked[held_out])]
