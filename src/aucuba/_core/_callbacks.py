"""The one place that speaks to ``sklearn.callback`` (scikit-learn 1.9, experimental).

Estimators inherit `CallbackSupport`, decorate ``fit`` with `with_callbacks` and hand the monitor of
`fit_monitor` to their solver. On older releases of scikit-learn all three do nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucuba.solvers._driver import Monitor

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks

    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin where that does not exist."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


@contextmanager
def fit_monitor(estimator: Any, X: Any, y: Any, max_iter: int) -> Iterator[Monitor | None]:
    """A monitor for `iterate` that reports every iteration to the estimator's callbacks.

    Yields None where no callback is set, so that a fit without callbacks costs nothing.
    """
    if not HAS_CALLBACKS:
        yield None
        return
    context = estimator._init_callback_context(max_subtasks=max_iter)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    n_reported = itertools.count(1)

    def report(row: dict[str, Any]) -> bool:
        # A line search may end a few evaluations after its limit; scikit-learn would refuse those.
        context.max_subtasks = max(context.max_subtasks, next(n_reported))
        iteration = context.subcontext(task_name="iteration")
        iteration.call_on_fit_task_begin(estimator=estimator)
        return bool(iteration.call_on_fit_task_end(estimator=estimator))

    yield report if getattr(estimator, "_skl_callbacks", None) else None
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


class Progress:
    """A monitor that remembers whether it has asked to stop, and is left alone from then on."""

    def __init__(self, monitor: Monitor | None) -> None:
        self.monitor = monitor
        self.stopped = False

    def report(self, row: dict[str, Any]) -> None:
        if self.monitor is not None and not self.stopped:
            self.stopped = bool(self.monitor(row))
