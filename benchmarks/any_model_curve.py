"""Quality against cost: the presets of the stack and their rivals in one picture.

    python -m benchmarks any_model_curve

Reads the cells of ``any_model_presets``, ``any_model_quality`` and ``any_model_cost``; the picture is
``docs/_static/any_model_curve.png``.

Quality is the mean of pAUC x 100 on held-out halves over the cells (set, split and range) that every
method has; cost is the geometric mean over three tables of the processor seconds of a fit, in units of
one LightGBM fit with tuned rounds.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
TABLE = RESULTS / "any_model_curve.md"
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "any_model_curve.png"
UNIT = "LightGBM, rounds by log-loss CV"
# A method as the cells of the studies call it, and as those of the costs do.
METHODS = {
    "LightGBM": UNIT,
    "CatBoost": "CatBoost",
    "StackingClassifier": "StackingClassifier",
    "plain default": "plain stack of the default's members",
    "plain best": "plain stack of the best's members",
    "fast": "RegionStack, fast",
    "default": "RegionStack, default",
    "best": "RegionStack, best",
}
PRESETS = ("fast", "default", "best")


def qualities() -> tuple[dict[str, float], int]:
    """Mean pAUC x 100 of every method over the cells that all have, and the number of these cells."""
    values: dict[str, dict[tuple[str, str, str], float]] = defaultdict(dict)
    for study, wanted in (
        ("any_model_quality", {"LightGBM"}),
        ("any_model_presets", METHODS.keys() - {"LightGBM"}),
    ):
        with (RESULTS / f"{study}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["method"] in wanted:
                    cell = row["set"], row["split"], row["range"]
                    values[row["method"]][cell] = 100 * float(row["pauc"])
    known = [method for method in METHODS if method in values]
    common = set.intersection(*(set(values[method]) for method in known))
    mean = {m: float(np.mean([values[m][cell] for cell in sorted(common)])) for m in known}
    return mean, len(common)


def costs() -> dict[str, float]:
    """Geometric mean of the cost of every method in units of one LightGBM fit."""
    seconds: dict[str, dict[str, float]] = defaultdict(dict)
    with (RESULTS / "any_model_cost.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seconds[row["method"]][row["set"]] = float(row["seconds"])
    return {
        method: float(
            np.exp(
                np.mean([np.log(seconds[name][one] / seconds[UNIT][one]) for one in seconds[UNIT]])
            )
        )
        for method, name in METHODS.items()
    }


def draw(quality: dict[str, float], cost: dict[str, float], path: Path = PICTURE) -> plt.Figure:
    """Draw one dot per method, those of the presets joined."""
    figure, ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
    joined = [preset for preset in PRESETS if preset in quality]
    ours = {"color": "#0b3d6b", "marker": "o"}
    ax.plot([cost[m] for m in joined], [quality[m] for m in joined], **ours)
    for method, value in quality.items():
        is_ours = method in PRESETS
        if not is_ours:
            ax.plot(cost[method], value, "s", color="#d1791f")
        label = f"RegionStack, {method}" if is_ours else method
        # A plain stack lies close to its preset, which has the other side or lies above it.
        shift, side = ((-6, 6), "right") if is_ours else ((8, -5), "left")
        if method == "best":
            shift, side = (8, 4), "left"
        place = {"textcoords": "offset points", "ha": side, "fontsize": 9}
        ax.annotate(label, (cost[method], value), xytext=shift, **place)
    ax.set(xscale="log", xlabel="cost of a fit, in LightGBM fits with tuned rounds")
    ax.set(ylabel="mean test pAUC x 100", xlim=(0.5, 3.0 * max(cost[m] for m in quality)))
    ax.margins(y=0.18)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    return figure


def main() -> None:
    """Write the table and the picture."""
    (quality, n_cells), cost = qualities(), costs()
    draw(quality, cost)
    rows = [[method, f"{value:.2f}", f"{cost[method]:.1f}"] for method, value in quality.items()]
    text = "\n\n".join(
        [
            "# Quality against cost",
            __doc__.rsplit("\n\n", 1)[1].replace("\n", " ").strip(),
            f"{n_cells} cells are common to all methods below; those of the stacks are of commit "
            "9d2a9f4 and before, and the rule that weighs a lead has changed since "
            "(`one_comparison.md`).",
            markdown_table(["method", "mean pAUC x 100", "cost"], rows),
        ]
    )
    write_signed(TABLE, text, "benchmarks any_model_curve")


if __name__ == "__main__":
    main()
