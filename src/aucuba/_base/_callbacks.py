"""The only module that uses ``sklearn.callback`` (scikit-learn 1.9, experimental).

Estimators inherit `CallbackSupport`, decorate ``fit`` with `with_callbacks` and pass the monitor of
`fit_monitor` to their solver. On older releases of scikit-learn all three do nothing.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from aucuba._base._typing import Monitor

# scikit-learn provides two of these in releases that have callbacks.
__all__ = [
    "HAS_CALLBACKS",
    "LOG",
    "CallbackSupport",
    "Progress",
    "fit_monitor",
    "logged",
    "with_callbacks",
]

Item = TypeVar("Item")
LOG = logging.getLogger("aucuba")

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks

    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupport:  # type: ignore[no-redef]
        """Stand-in for scikit-learn's mixin in releases without it."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


@contextmanager
def fit_monitor(estimator: Any, X: Any, y: Any, max_iter: int) -> Iterator[Monitor | None]:
    """Yield a monitor that reports every iteration to the estimator's callbacks.

    Yields None if no callback is set, so that a fit without callbacks costs nothing.
    """
    # A meta-estimator with callbacks of its own follows the fits below it, whether these have any.
    watched = ("_skl_callbacks", "_parent_callback_ctx")
    if not HAS_CALLBACKS or not any(hasattr(estimator, one) for one in watched):
        yield None
        return
    context = estimator._init_callback_context(max_subtasks=max_iter)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    n_reported = itertools.count(1)

    def report(row: dict[str, Any]) -> bool:
        # A line search may exceed its limit by a few evaluations, which scikit-learn would refuse.
        context.max_subtasks = max(context.max_subtasks, next(n_reported))
        iteration = context.subcontext(task_name=row.get("stage") or "iteration")
        iteration.call_on_fit_task_begin(estimator=estimator)
        return bool(iteration.call_on_fit_task_end(estimator=estimator))

    yield report if getattr(estimator, "_skl_callbacks", None) else None
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def logged(monitor: Monitor | None, verbose: int) -> Monitor | None:
    """Wrap a monitor so that every iteration is logged too, if ``verbose`` is above 0."""
    if not verbose:
        return monitor

    def log_and_report(row: dict[str, Any]) -> Any:
        stage = f"{row['stage']}, " if "stage" in row else ""
        gap = f", gap {row['gap']:.2e}" if "gap" in row else ""
        LOG.info("%siteration %d: objective %.6g%s", stage, row["iteration"], row["objective"], gap)
        return None if monitor is None else monitor(row)

    return log_and_report


class Progress:
    """A monitor that remembers a request to stop and is not called after it.

    ``stage`` names the part of a fit that is under way; callbacks get it as the name of their task.
    """

    def __init__(self, monitor: Monitor | None) -> None:
        self.monitor = monitor
        self.stopped = False
        self.stage = ""

    def report(self, row: dict[str, Any]) -> None:
        """Pass a row on to the monitor."""
        if self.monitor is not None and not self.stopped:
            self.stopped = bool(self.monitor({"stage": self.stage, **row}))

    def until_stopped(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items until a callback asks to stop."""
        return itertools.takewhile(lambda _: not self.stopped, items)
