"""The picture of a line-search path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aucuba._base._drawing import pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aucuba.aum._path import LineSearchPath

# More lines blur and are slow to draw.
_MOST_LINES = 500


def plot_path(path: LineSearchPath, max_step: float | None, axes: Any) -> Figure:
    """Draw AUC, AUM and thresholds in three panels that share the step axis."""
    end = 1.1 * float(path.step[-1]) or 1.0
    if max_step is not None:
        end = float(max_step)
    elif np.isfinite(path.valid_to):
        end = min(end, path.valid_to)
    if axes is None:
        _, axes = pyplot().subplots(3, 1, sharex=True, figsize=(6.4, 6.4), layout="constrained")
    auc_axes, aum_axes, line_axes = axes
    shown = path.step <= end
    edges = np.r_[path.step[shown], end]
    auc_axes.stairs(path.auc_after[shown], edges, baseline=None, color="black")
    auc_axes.plot(path.step[shown], path.auc_at[shown], "o", ms=3, mfc="white", color="black")
    auc_axes.set_ylabel("AUC")
    aum_axes.plot(edges, [path.evaluate(step).aum for step in edges], color="black")
    aum_axes.set_ylabel("AUM")
    _draw_lines(path, line_axes, edges, end)
    best = path.best_aum()
    if best.step <= end:
        for ax in (auc_axes, aum_axes, line_axes):
            ax.axvline(best.step, color="tab:red", lw=0.8, ls="--")
        aum_axes.annotate(
            "least AUM",
            (best.step, best.aum),
            xytext=(4, 10),
            textcoords="offset points",
            color="tab:red",
            fontsize="small",
        )
    figure: Figure = line_axes.figure
    return figure


def _draw_lines(path: LineSearchPath, ax: Any, edges: Any, end: float) -> None:
    lines = path.lines
    drawn = np.arange(0, lines.n_lines, -(-lines.n_lines // _MOST_LINES))
    intercept, slope = lines.intercept[drawn], lines.slope[drawn]
    # A line that changes only FP belongs to a negative row.
    color = np.where(lines.fp_diff[drawn] != 0, "tab:orange", "tab:blue")
    for i in range(drawn.size):
        ends = (intercept[i], intercept[i] + end * slope[i])
        ax.plot((0.0, end), ends, color=color[i], lw=0.9)
    for step in edges[:-1] if edges.size <= 60 else ():
        ax.axvline(step, color="0.85", lw=0.6, zorder=0)
    ax.set(xlabel="step size", ylabel="threshold", xlim=(0.0, end))
    ax.plot([], [], color="tab:orange", label="changes FP")
    ax.plot([], [], color="tab:blue", label="changes FN")
    ax.legend(fontsize="small", loc="best")
