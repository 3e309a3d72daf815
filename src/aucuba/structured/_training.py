"""Training of both estimators: parameters, stages and result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from aucuba._base._callbacks import CallbackSupport, logged
from aucuba._base._parallel import draw_seed
from aucuba._base._typing import BoolArray, FloatArray, Monitor
from aucuba._base._validation import check_choice, check_positive_number
from aucuba._base._warnings import warn_user
from aucuba.solvers import Solution, Status
from aucuba.structured._descent import Descent
from aucuba.structured._frank_wolfe import FrankWolfe
from aucuba.structured._measures import as_measure
from aucuba.structured._risk import StructuredRisk

_SOLVERS = ("lbfgs", "frank_wolfe")


@dataclass(frozen=True)
class Training:
    """Checked parameters of a training."""

    C: float
    solver: str
    tol: float
    max_iter: int
    random_state: Any
    verbose: int

    @classmethod
    def from_estimator(cls, estimator: Any, pair_scores: tuple[str, ...]) -> Training:
        """Check the parameters that all structured estimators have."""
        as_measure(estimator.measure)
        check_choice(estimator.pair_score, "pair_score", pair_scores)
        return cls(
            check_positive_number(estimator.C, "C"),
            check_choice(estimator.solver, "solver", _SOLVERS),
            check_positive_number(estimator.tol, "tol"),
            int(check_positive_number(estimator.max_iter, "max_iter", integer=True)),
            estimator.random_state,
            estimator.verbose,
        )

    @property
    def limit(self) -> int:
        """Largest number of iterations: two phases, without edges and with them."""
        return 4 * self.max_iter

    def solve(
        self, risk: StructuredRisk, nonnegative: BoolArray, monitor: Monitor | None
    ) -> tuple[Solution, float]:
        """Solve for the AUC without edges, then the problem itself from there.

        At ``w = 0`` all consistent rankings are equally good, so the first reference of the paper's
        Algorithm 1, and with it the result, depends on tie-breaking: with items in an arbitrary order
        it can stay at zero; with ties that share their positions (as here) it leaves zero. The problem
        of the AUC without edges is convex, and its optimum gives a reference without tie-breaking.

        Returns
        -------
        Solution, and the objective of the full problem at the start.
        """
        report = logged(monitor, self.verbose)
        descent = Descent(self.C, nonnegative, self.tol, self.max_iter)
        first = descent.solve(
            risk.without_pairs(), np.zeros(nonnegative.size), _in_stage(report, "without edges")
        )
        if risk.objective == "fixed":
            risk = risk.with_fixed(risk.reference(first.coef))
        start = descent.evaluate(risk, first.coef).objective
        if first.status in (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED):
            unknown = float("nan")
            solution = replace(first, objective=start, lower_bound=unknown, gap=unknown)
        elif self.solver == "lbfgs" and risk.objective == "consistent" and risk.is_convex:
            solution = first
        else:
            solution = self._second(descent, risk, first.coef, report)
        if solution.status is Status.ITERATION_LIMIT:
            warn_user(
                f"Training stopped at max_iter={self.max_iter} with objective "
                f"{solution.objective:.6g} before tol={self.tol:g} was reached. Set "
                f"max_iter={2 * self.max_iter}, or a larger tol.",
                ConvergenceWarning,
            )
        return solution, start

    def _second(
        self, descent: Descent, risk: StructuredRisk, start: FloatArray, report: Monitor | None
    ) -> Solution:
        if self.solver == "lbfgs":
            return descent.solve(risk, start, report)
        seed = draw_seed(self.random_state)
        blocks = FrankWolfe(self.C, descent.nonnegative, self.tol, self.max_iter, seed)
        return blocks.solve(risk, start, report)


class TrainedEstimator(CallbackSupport, BaseEstimator):
    """Base of the estimators, which record how training ended."""

    def _adopt_run(self, solution: Solution) -> None:
        self.objective_, self.gap_ = solution.objective, solution.gap
        self.status_, self.n_iter_ = str(solution.status), solution.n_iter
        self.history_ = solution.history


def _in_stage(monitor: Monitor | None, stage: str) -> Monitor | None:
    """Add the name of a stage to every row that a monitor gets."""
    return None if monitor is None else lambda row: monitor({**row, "stage": stage})
