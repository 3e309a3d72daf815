"""A Dask client that may be closed while it holds the blocks of a table: one error, with what to do."""

from __future__ import annotations

from typing import Any


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
