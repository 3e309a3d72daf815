"""The picture of a monitored rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aucuba._base._drawing import axes_for

if TYPE_CHECKING:
    from aucuba.threshold._monitor import RateMonitor


def draw_history(monitor: RateMonitor, ax: Any = None) -> Any:
    """Draw the observed rate, its confidence sequences and the limit against the counted rows."""
    ax = axes_for(ax, layout="constrained")
    rows = [row for row in monitor.history if row["n_counted"]]
    n, observed, lower, upper = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("n_counted", "observed", "lower", "upper")
    )
    ax.plot(n, observed, color="C0", label=f"observed {monitor.rate}")
    label = f"confidence sequences, {monitor.confidence:.0%} each"
    ax.fill_between(n, lower, upper, color="C0", alpha=0.2, linewidth=0, label=label)
    ax.axhline(monitor.limit, color="black", linestyle="--", label=f"limit {monitor.limit:g}")
    for name, color, happened in (
        ("broken", "C3", [row["status"] == "broken" for row in rows]),
        ("changed", "C1", [row["changed"] for row in rows]),
    ):
        if any(happened):
            first = n[int(np.argmax(happened))]
            ax.axvline(
                first, color=color, linestyle=":", label=f"{name} after {first:,.0f} counted"
            )
    ax.set(xlabel="counted rows", ylabel=monitor.rate, xlim=(0, None))
    ax.legend()
    return ax
