"""Access to matplotlib, which is imported only when something is drawn."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Drawing needs matplotlib: install it with `pip install matplotlib`."
        ) from None
    return plt


def axes_for(ax: Any, **figure_options: Any) -> Any:
    """Return ``ax``, or the axes of a new figure if it is None."""
    return pyplot().subplots(**figure_options)[1] if ax is None else ax
