"""Watch work on a Dask client: one error if the client closes, one if workers are lost."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

import dask
from dask.utils import parse_timedelta

# Key of Dask's configuration: how long to wait for lost workers.
LOST_WORKER_TIMEOUT = "aucuba.lost-worker-timeout"
_DEFAULT_TIMEOUT = "20s"
_LOOK_EVERY_S = 0.2
# A neighbour may fail a moment before the scheduler notices that a worker is gone.
_LOOKS_AFTER_A_FAILURE = 5


def current_client() -> Any:
    """Return the distributed client in use; None without one."""
    try:
        import distributed
    except ImportError:
        return None
    find: Any = distributed.default_client
    try:
        return find()
    except ValueError:
        return None


def require_running(client: Any) -> None:
    """Raise if a client that holds the blocks of X is closed."""
    if client.status != "running":
        raise RuntimeError(
            f"The Dask client that holds X is {client.status}; open a client and fit again."
        )


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Wait for the results of tasks on blocks; raise if the blocks are lost."""
    # Cancelled futures raise an error of distributed, which Dask alone does not have.
    from distributed.client import FutureCancelledError

    try:
        found: list[Any] = client.gather(futures)
    except FutureCancelledError as error:
        raise lost_blocks() from error
    return found


def lost_blocks() -> RuntimeError:
    """Return the error for blocks whose client is gone."""
    return RuntimeError(
        "Blocks of X are lost: the Dask client that held them is closed. Open a client, make X anew "
        "and fit again."
    )


def lost_worker_timeout() -> float:
    """Read from Dask's configuration how many seconds work may wait for lost workers."""
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
    """Return the result of work on a cluster; raise one error if it waits for lost workers.

    Workers are lost if one of those ``needed`` is gone, or if none is left. The work may then wait
    for ever, so it gets `lost_worker_timeout` seconds to end by itself, counted from when the
    scheduler notices the loss. While no worker is lost, time is not limited.
    """
    timeout = lost_worker_timeout()
    require_running(client)
    found, failure = list[Any](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failure.append(error)

    # A new thread has an empty context, and the context knows which client is in use.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    lost_since: float | None = None
    while True:
        thread.join(_LOOK_EVERY_S)
        if not thread.is_alive():
            break
        require_running(client)
        if not _has_lost(client, needed):
            lost_since = None
        elif lost_since is None:
            lost_since = time.monotonic()
        elif time.monotonic() - lost_since > timeout:
            raise _lost_workers(client, timeout)
    if found:
        return found[0]
    require_running(client)
    for _ in range(_LOOKS_AFTER_A_FAILURE if needed else 0):
        if _has_lost(client, needed):
            raise _lost_workers(client, timeout) from failure[0]
        time.sleep(_LOOK_EVERY_S)
    raise failure[0]


def _has_lost(client: Any, needed: Collection[str]) -> bool:
    present = _workers(client)
    return not present or not present >= set(needed)


def _workers(client: Any) -> set[str]:
    try:
        return set(client.nthreads())
    except Exception:
        # A client that is closed during the call raises an error of distributed.
        require_running(client)
        raise


def _lost_workers(client: Any, timeout: float) -> RuntimeError:
    if _workers(client):
        return RuntimeError(
            "A Dask worker was lost during a boosted fit, which cannot go on without it. Nothing was "
            "changed; fit again when the cluster has its workers."
        )
    return RuntimeError(
        f"The Dask cluster has no workers, and none came within {timeout:g} seconds "
        f"({LOST_WORKER_TIMEOUT} of Dask's configuration). Nothing was changed; fit again when the "
        "cluster has workers."
    )
