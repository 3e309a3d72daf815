"""Limits on threads, so that results do not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController, threadpool_limits


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run BLAS on one thread inside the context, or inside the decorated function.

    A threaded product sums in an order that depends on the number of threads, and a solver carries
    the difference in the last bits into its result.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS and OpenMP on one thread inside the context.

    Libraries are looked up anew each time, since a classifier may load its own OpenMP late.
    """
    with threadpool_limits(1):
        yield
