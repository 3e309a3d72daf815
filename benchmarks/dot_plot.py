"""One picture of every cell of the two studies of quality, wins and losses.

    python -m benchmarks dot_plot

Reads the committed cells of ``any_model_quality`` and ``partial_auc_quality`` and writes
``docs/_static/all_cells.png``, the picture of the README and of "How to choose". A cell is a data set
and a range of false positive rates; a dot is the mean paired gain of a model of ours over a rival on
the five splits, filled where its paired t-test has p < .01. A rival is drawn once its cells are there.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from scipy import stats

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "all_cells.png"
N_SPLITS = 5
# Study, method of ours as the cells call it, its name, and rivals with their names.
PANELS = [
    (
        "any_model_quality",
        "stack",
        "RegionStack",
        {
            "LightGBM": "LightGBM",
            "XGBoost": "XGBoost",
            "CatBoost": "CatBoost",
            "HGB": "histogram boosting",
            "forest": "random forest",
            "plain stack": "plain stack",
        },
    ),
    (
        "partial_auc_quality",
        "direct CV",
        "PartialAUCClassifierCV",
        {"logistic CV": "logistic regression"},
    ),
]
# Colours that differ in lightness too.
RANGES = {
    "(0.0, 0.05)": ("FPR 0 to .05", "#0b3d6b", "o"),
    "(0.0, 0.1)": ("FPR 0 to .1", "#d1791f", "s"),
    "(0.02, 0.05)": ("FPR .02 to .05", "#3f9b76", "^"),
}


@dataclass(frozen=True)
class Cell:
    """The gain of one model over another on a data set, in one range."""

    name: str
    limits: str
    gain: float
    p_value: float

    @property
    def is_clear(self) -> bool:
        return self.p_value < 0.01


def compared_cells(path: Path, method: str, rival: str) -> list[Cell]:
    """Gains in points of pAUC x 100, of the cells that have every split of both."""
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(
        lambda: {method: {}, rival: {}}
    )
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["method"] in (method, rival):
                found = values[row["set"], row["range"]][row["method"]]
                found[row["split"]] = 100 * float(row["pauc"])
    cells = []
    for (name, limits), found in values.items():
        splits = sorted(set(found[method]) & set(found[rival]))
        if len(splits) == N_SPLITS:
            gain = np.array([found[method][split] - found[rival][split] for split in splits])
            p = stats.ttest_1samp(gain, 0.0).pvalue if np.ptp(gain) > 0 else 1.0
            cells.append(Cell(name, limits, float(gain.mean()), float(p)))
    return cells


def panels(results: Path = RESULTS) -> dict[str, list[Cell]]:
    """Cells of every comparison that the committed studies have, by title."""
    found = {}
    for study, method, ours, rivals in PANELS:
        for rival, name in rivals.items():
            cells = compared_cells(results / f"{study}.csv", method, rival)
            if cells:
                found[f"{ours}\nminus {name}"] = cells
    return found


def counts(cells: list[Cell]) -> str:
    """Wins and losses in words."""
    won = sum(cell.is_clear and cell.gain > 0 for cell in cells)
    lost = sum(cell.is_clear and cell.gain < 0 for cell in cells)
    mean = np.mean([cell.gain for cell in cells])
    return f"{won} won, {lost} lost of {len(cells)}\nmean {mean:+.1f}"


def draw(found: dict[str, list[Cell]], path: Path = PICTURE) -> plt.Figure:
    """Draw one panel per comparison, one row per data set, and save the picture."""
    gains = defaultdict(list)
    for cells in found.values():
        for cell in cells:
            gains[cell.name].append(cell.gain)
    names = sorted(gains, key=lambda name: np.mean(gains[name]))
    every = [cell.gain for cells in found.values() for cell in cells]
    figure, axes = plt.subplots(
        1, len(found), figsize=(1.4 + 2.5 * len(found), 5.4), sharey=True, layout="constrained"
    )
    for ax, (title, cells) in zip(np.atleast_1d(axes), found.items(), strict=True):
        for cell in cells:
            _, colour, marker = RANGES[cell.limits]
            # The ranges of a set stand under each other, so that no dot hides another.
            shift = 0.22 * (1 - list(RANGES).index(cell.limits))
            face = colour if cell.is_clear else "white"
            ax.plot(cell.gain, names.index(cell.name) + shift, marker, color=colour, mfc=face, ms=5)
        ax.axvline(0, color="0.2", linewidth=1)
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)
        ax.set(xlim=(min(every) - 1, max(every) + 1), ylim=(-0.6, len(names) - 0.4))
        ax.set_title(title, fontsize=9.5)
        place = {"ha": "right", "va": "bottom", "transform": ax.transAxes}
        ax.text(0.97, 0.02, counts(cells), fontsize=9, **place)
        ax.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].set_yticks(range(len(names)), names)
    figure.supxlabel(
        "points gained on held-out rows, pAUC x 100 (left of the line: lost)", fontsize=10
    )
    keys = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=label)
        for label, colour, marker in RANGES.values()
    ]
    keys.append(Line2D([], [], color="0.4", marker="o", mfc="white", ls="", label="p at least .01"))
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), frameon=False)
    figure.savefig(path, dpi=150)
    return figure


def main() -> None:
    found = panels()
    draw(found)
    for title, cells in found.items():
        print(" ".join(title.split()), "|", " ".join(counts(cells).split()))
    print(f"Picture: {PICTURE}")


if __name__ == "__main__":
    main()
