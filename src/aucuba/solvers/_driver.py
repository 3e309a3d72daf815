"""One loop for all solvers: init, step, terminate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from aucuba._base._typing import FloatArray, Monitor

State = TypeVar("State")

# Columns of a history that count up from its first row.
COUNTS = ("iteration", "n_evaluations", "seconds")


class Status(Enum):
    """Say why a solver stopped; the value of a member is the sentence shown to users."""

    CONVERGED = "Converged: the stopping rule is met."
    ZERO_AS_GOOD = (
        "Converged, but zero is as good: the lower bound certifies that at this C no model has an "
        "objective below that of the zero model by more than the tolerance."
    )
    ITERATION_LIMIT = "Stopped at max_iter before the stopping rule was met."
    NO_PROGRESS = "Stopped short of the stopping rule: rounding errors prevent further progress."
    STOPPED_BY_CALLBACK = "Stopped early by a callback; the best model so far is kept."
    INTERRUPTED = "Interrupted by the user; the best model so far is kept."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Solution:
    """What a solver returns.

    ``gap`` is the certified distance from the optimum in the solver's own unit (nan if the problem is
    not convex). ``history`` has one dict per iteration, ready for a DataFrame. ``warm_start`` lets the
    same solver continue from here, and ``scores`` are those of the model if the solver knows them.
    """

    coef: FloatArray
    status: Status
    n_iter: int
    objective: float
    lower_bound: float
    gap: float
    history: list[dict[str, Any]] = field(repr=False)
    warm_start: Any = field(default=None, repr=False)
    scores: FloatArray | None = field(default=None, repr=False)

    @property
    def relative_gap(self) -> float:
        """Certified distance from the optimum over the objective."""
        distance = self.objective - self.lower_bound
        return distance / self.objective if self.objective > 0 else distance

    def after(
        self,
        history: list[dict[str, Any]],
        counts: Sequence[str] = COUNTS,
    ) -> Solution:
        """Prepend the history of an earlier run; the columns ``counts`` continue from its last row."""
        rows = joined(history, self.history, counts)
        return replace(self, n_iter=len(rows), history=rows)

    def raise_interrupt(self) -> None:
        """Raise the keyboard interrupt that ended the solver, where one did.

        Procedures that consist of many fits cannot use one that was cut short.
        """
        if self.status is Status.INTERRUPTED:
            raise KeyboardInterrupt


class Algorithm(Protocol, Generic[State]):
    """What the driver needs of a solver: an iteration whose state is kept apart from it."""

    def init(self) -> State: ...
    def step(self, state: State) -> State: ...
    def terminate(self, state: State) -> Status | None: ...
    def report(self, state: State) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Run(Generic[State]):
    """The last state of an iteration, why it stopped, and its history."""

    state: State
    status: Status
    history: list[dict[str, Any]]


def iterate(
    algorithm: Algorithm[State], max_iter: int, monitor: Monitor | None = None
) -> Run[State]:
    """Step until the algorithm terminates, reaches the limit, or is asked to stop.

    A keyboard interrupt ends the run with the last complete state and `Status.INTERRUPTED`; the
    estimator stores the model and raises the interrupt again.
    """
    start = time.perf_counter()
    state = algorithm.init()
    history: list[dict[str, Any]] = []
    status = algorithm.terminate(state)
    try:
        while status is None:
            if len(history) >= max_iter:
                status = Status.ITERATION_LIMIT
                break
            state = algorithm.step(state)
            row = {"iteration": len(history) + 1, **algorithm.report(state)}
            row["seconds"] = time.perf_counter() - start
            history.append(row)
            status = algorithm.terminate(state)
            if monitor is not None and monitor(row) and status is None:
                status = Status.STOPPED_BY_CALLBACK
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Run(state, status, history)


def joined(
    history: list[dict[str, Any]], more: list[dict[str, Any]], counts: Sequence[str] = COUNTS
) -> list[dict[str, Any]]:
    """Join the rows of two runs, counting the named columns on from the end of the first."""
    last = history[-1] if history else {}
    known = [key for key in counts if key in last]
    return history + [{**row, **{key: row[key] + last[key] for key in known}} for row in more]
