"""One picture of every cell of the two studies of quality, wins and losses.

    python -m benchmarks dot_plot

Reads the committed cells of the studies named below and writes a table and
``docs/_static/all_cells.png``, the picture of "How to choose", and two of its panels for the README,
``two_comparisons.png``. A cell is a data set
and a range of false positive rates; a dot is the mean paired gain of a model of ours over a rival on
the five splits, filled where a t-test that is corrected for the overlap of the splits has p < .05. A
rival is drawn once its cells are there.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from reproductions.paired import corrected_p
from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "all_cells.png"
TABLE = RESULTS / "dot_plot.md"
# The picture of the README: the model that most tables want, and the linear one.
HEADLINE_PICTURE = PICTURE.with_name("two_comparisons.png")
HEADLINES = [("RegionStack", "LightGBM"), ("PartialAUCClassifierCV", "logistic regression")]
N_SPLITS = 5
# The studies have the same sets, splits and ranges, so that their cells can be compared in pairs.
STUDIES = ("any_model_quality", "any_model_presets", "partial_auc_quality")
_SINGLE = {"LightGBM": "LightGBM", "HGB": "histogram boosting", "forest": "random forest"}
_OTHERS = {
    "CatBoost": "CatBoost",
    "StackingClassifier": "StackingClassifier",
    "plain default": "plain stack",
    "direct CV": "PartialAUCClassifierCV",
}
# A method of ours as the cells call it, its name, and rivals with their names. The stack of today comes
# before the one of the earlier study.
PANELS = [
    ("default", "RegionStack", {**_SINGLE, **_OTHERS}),
    ("stack", "RegionStack", {**_SINGLE, **_OTHERS}),
    ("direct CV", "PartialAUCClassifierCV", {"logistic CV": "logistic regression"}),
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
        return self.p_value < 0.05


def compared_cells(paths: Iterable[Path], method: str, rival: str) -> list[Cell]:
    """Gains in points of pAUC x 100, of the cells that have every split of both."""
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(
        lambda: {method: {}, rival: {}}
    )
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                # The linear study has another range, which the others lack.
                if row["method"] in (method, rival) and row["range"] in RANGES:
                    found = values[row["set"], row["range"]][row["method"]]
                    found[row["split"]] = 100 * float(row["pauc"])
    cells = []
    for (name, limits), found in values.items():
        splits = sorted(set(found[method]) & set(found[rival]))
        if len(splits) == N_SPLITS:
            gain = np.array([found[method][split] - found[rival][split] for split in splits])
            cells.append(Cell(name, limits, float(gain.mean()), corrected_p(gain)))
    return cells


def panels(results: Path = RESULTS) -> dict[tuple[str, str], list[Cell]]:
    """Cells of every comparison that the committed studies have, by model and rival."""
    paths = [results / f"{study}.csv" for study in STUDIES]
    paths = [path for path in paths if path.exists()]
    found: dict[tuple[str, str], list[Cell]] = {}
    for method, ours, rivals in PANELS:
        for rival, name in rivals.items():
            cells = compared_cells(paths, method, rival)
            if cells:
                found.setdefault((ours, name), cells)
    return found


def against_rivals(found: dict[tuple[str, str], list[Cell]]) -> dict[tuple[str, str], list[Cell]]:
    """Leave out comparisons among models of ours, whose gains are on another scale."""
    ours = {model for _, model, _ in PANELS}
    return {pair: cells for pair, cells in found.items() if pair[1] not in ours}


def won_and_lost(cells: list[Cell]) -> tuple[int, int]:
    """Count the cells with a clear gain and with a clear loss."""
    clear = [cell.gain for cell in cells if cell.is_clear]
    return sum(gain > 0 for gain in clear), sum(gain < 0 for gain in clear)


def counts(cells: list[Cell]) -> str:
    """Wins and losses in words."""
    won, lost = won_and_lost(cells)
    mean = np.mean([cell.gain for cell in cells])
    return f"{won} won, {lost} lost of {len(cells)}\nmean {mean:+.1f}"


def summary(found: dict[tuple[str, str], list[Cell]]) -> str:
    """Tabulate the comparisons, with the sets where they turn out best and worst."""
    rows = []
    for (ours, name), cells in found.items():
        by_set = defaultdict(list)
        for cell in cells:
            by_set[cell.name].append(cell.gain)
        means = sorted((float(np.mean(gains)), name) for name, gains in by_set.items())
        ends = [
            "; ".join(f"{one} {gain:+.1f}" for gain, one in part)
            for part in (means[:-4:-1], means[:3])
        ]
        gains = [cell.gain for cell in cells]
        points = [f"{value:+.1f}" for value in (np.mean(gains), np.median(gains))]
        rows.append([ours, name, len(cells), *won_and_lost(cells), *points, *ends])
    header = [
        "model",
        "minus",
        "cells",
        "won",
        "lost",
        "mean",
        "median",
        "most gained",
        "least gained",
    ]
    return markdown_table(header, rows)


def draw(
    found: dict[tuple[str, str], list[Cell]], path: Path = PICTURE, panel: float = 2.5
) -> plt.Figure:
    """Draw one panel per comparison, so many inches wide, one row per data set; save the picture."""
    gains = defaultdict(list)
    for cells in found.values():
        for cell in cells:
            gains[cell.name].append(cell.gain)
    names = sorted(gains, key=lambda name: np.mean(gains[name]))
    every = [cell.gain for cells in found.values() for cell in cells]
    figure, axes = plt.subplots(
        1, len(found), figsize=(1.4 + panel * len(found), 5.4), sharey=True, layout="constrained"
    )
    for ax, ((ours, rival), cells) in zip(np.atleast_1d(axes), found.items(), strict=True):
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
        ax.set_title(f"{ours}\nminus {rival}", fontsize=9.5)
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
    keys.append(Line2D([], [], color="0.4", marker="o", mfc="white", ls="", label="p at least .05"))
    figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), frameon=False)
    figure.savefig(path, dpi=150)
    return figure


def main() -> None:
    found = panels()
    draw(against_rivals(found))
    draw({pair: found[pair] for pair in HEADLINES}, HEADLINE_PICTURE, panel=3.8)
    lines = [
        "# All cells of the studies of quality",
        "",
        "Points of pAUC x 100 on held-out rows, paired over five splits; a cell is a data set and a",
        "range of false positive rates, won or lost if p < .05 in a t-test that is corrected for the",
        "overlap of the splits (Nadeau and Bengio 2003). The last columns have the means over the",
        "ranges of the three sets where most and least was gained. The picture is",
        "`docs/_static/all_cells.png`; when and by what the cells were measured is in",
        "`benchmarks/results/any_model_quality.md` and `benchmarks/results/partial_auc_quality.md`.",
        "",
        summary(found),
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks dot_plot")


if __name__ == "__main__":
    main()
