"""Results that do not depend on the number of threads."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Run BLAS on one thread inside the context.

    A threaded product sums in an order that depends on the number of threads, and a solver carries
    the difference in the last bits into its result.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context
