"""The decorator of all compiled loops. It imports numba: import it only from a ``_loops.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# NumPy's division needs no checks for zero, and nothing calls the loops from C: both save compile time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a plain loop when it is first called, and keep the machine code on disk if possible.

    Numba cannot cache if neither the package's folder nor the user's cache folder is writable; every
    process then compiles the loop again. A private loop, which only other loops call, becomes part of
    their machine code and needs neither a file nor an entry point of its own.
    """
    if function.__name__.startswith("_"):
        options = _OPTIONS | {"no_cpython_wrapper": True}
        return njit(**options)(function)
    try:
        return njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        return njit(**_OPTIONS)(function)
