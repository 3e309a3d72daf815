"""A Dask client that may be closed, or lose workers, while it holds a table: one error for each."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

# The key of Dask's configuration that says how long to wait for a lost worker.
LOST_WORKER_TIMEOUT = "aucuba.lost-worker-timeout"
_DEFAULT_TIMEOUT = "20s"
_LOOK_EVERY_S = 0.2
# The error of a neighbour may arrive a moment before the cluster knows that a worker is lost.
_LOOKS_AFTER_A_FAILURE = 5


def require_running(client: Any) -> None:
    """Raise if a client that holds the blocks of X is closed."""
    if client.status != "running":
        raise RuntimeError(
            f"The Dask client that holds X is {client.status}; open a client and fit again."
        )


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Wait for the results of tasks on blocks; raise if the blocks are lost."""
    # Cancelled futures raise an error of their own kind; it comes with distributed.
    from distributed.client import FutureCancelledError

    try:
        found: list[Any] = client.gather(futures)
    except FutureCancelledError as error:
        raise lost_blocks() from error
    return found


def lost_blocks() -> RuntimeError:
    """Return the error of blocks that were held by a client that is no more."""
    return RuntimeError(
        "Blocks of X are lost: the Dask client that held them is closed. Open a client, make X anew "
        "and fit again."
    )


def lost_worker_timeout() -> float:
    """Read from Dask's configuration for how many seconds work may wait for a lost worker."""
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get(LOST_WORKER_TIMEOUT, _DEFAULT_TIMEOUT)
    try:
        seconds = float(parse_timedelta(given))
    except (KeyError, TypeError, ValueError, AttributeError):
        seconds = -1.0
    if not seconds >= 0:
        raise ValueError(
            f"{LOST_WORKER_TIMEOUT} of Dask's configuration must be a time such as '20s', "
            f"got {given!r}."
        )
    return seconds


def watched(client: Any, work: Callable[[], Any], needed: Collection[str] = ()) -> Any:
    """Return the result of work on a cluster, or end it by one error soon after workers are lost.

    Lost are the workers that are ``needed`` when one of them is gone, and all of them when there is
    none. What waits for such a worker may wait for ever, so that it gets `lost_worker_timeout` to end
    by itself, counted from when the cluster knows of the loss. Time without a loss is not limited.
    """
    timeout = lost_worker_timeout()
    require_running(client)
    found, failure = list[Any](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failure.append(error)

    # The client in use is known by the context, which a thread does not have by itself.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    lost_since: float | None = None
    while thread.is_alive():
        thread.join(_LOOK_EVERY_S)
        require_running(client)
        if not _has_lost(client, needed):
            lost_since = None
        elif lost_since is None:
            lost_since = time.monotonic()
        elif thread.is_alive() and time.monotonic() - lost_since > timeout:
            raise _lost_workers()
    if found:
        return found[0]
    for _ in range(_LOOKS_AFTER_A_FAILURE):
        if _has_lost(client, needed):
            raise _lost_workers() from failure[0]
        time.sleep(_LOOK_EVERY_S)
    raise failure[0]


def _has_lost(client: Any, needed: Collection[str]) -> bool:
    try:
        present = client.nthreads()
    except Exception:
        # A client that closes while it is asked has an error of its own.
        require_running(client)
        raise
    return not present or not present.keys() >= set(needed)


def _lost_workers() -> RuntimeError:
    return RuntimeError(
        "A Dask worker was lost during a boosted fit, which cannot go on without it. Nothing was "
        "changed; fit again when the cluster has its workers."
    )
