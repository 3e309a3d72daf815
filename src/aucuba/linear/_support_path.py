"""Draw the coefficients of small supports against their size."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._drawing import axes_for
from aucuba._base._typing import AnyArray, IntArray

# Columns that get a line of their own colour and a name.
_MOST_NAMED = 12


def draw_support_path(
    path: list[dict[str, Any]], chosen: IntArray, names: AnyArray | None, ax: Any
) -> Any:
    """Draw one line per column that any support uses; those chosen in the end are drawn thick."""
    ax = axes_for(ax)
    sizes = [step["size"] for step in path]
    used = sorted({int(column) for step in path for column in step["columns"]})
    values = np.zeros((len(path), len(used)))
    for row, step in zip(values, path, strict=True):
        row[np.searchsorted(used, step["columns"])] = step["coef"]
    order = np.argsort(-np.abs(values[-1]), kind="stable")
    for rank, place in enumerate(order):
        column = used[place]
        label = f"column {column}" if names is None else str(names[column])
        ax.plot(
            sizes,
            values[:, place],
            marker=".",
            linewidth=2.5 if column in chosen else 1.0,
            color=None if rank < _MOST_NAMED else "0.7",
            label=label if rank < _MOST_NAMED else None,
        )
    ax.axhline(0.0, color="0.5", linewidth=0.8)
    ax.set(xlabel="number of columns (or groups)", ylabel="coefficient of the log-odds")
    ax.set_xticks(sizes)
    ax.legend(fontsize="small")
    return ax
