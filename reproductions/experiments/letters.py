"""Noisy letters (Figure 2 of the structured AUC paper): factored against pairwise ranking of pixels.

Training images show a noisy A of 20 x 17 pixels, test images three noisy letters of 20 x 45; every
pixel is flipped with probability 0.15. Pixels are ranked so that those of the letters come first. The
letters are drawn here from strokes; the paper's bitmaps are not published.

``python -m reproductions letters``
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.metrics import binned_auc_score
from aucuba.structured import BinnedAUC, Measure, RankingGraph, StructuredRanker
from reproductions.experiment import Cell, Experiment, Row
from reproductions.tables import markdown_table

HEIGHT = 20
FLIP = 0.15
N_BINS = 10
# Strokes from (row, column) to (row, column) in a box of height and width one.
STROKES = {
    "A": [(1, 0, 0, 0.5), (0, 0.5, 1, 1), (0.65, 0.18, 0.65, 0.82)],
    "U": [(0, 0, 0.75, 0), (0.75, 0, 1, 0.3), (1, 0.3, 1, 0.7), (1, 0.7, 0.75, 1), (0.75, 1, 0, 1)],
    "C": [(0.1, 1, 0, 0.6), (0, 0.6, 0.3, 0), (0.3, 0, 0.7, 0), (0.7, 0, 1, 0.6), (1, 0.6, 0.9, 1)],
}  # fmt: skip


@dataclass(frozen=True)
class Images:
    """True letters and what is seen of them."""

    truth: BoolArray
    seen: list[FloatArray]

    def graphs(self, *, pairs: bool) -> list[RankingGraph]:
        """One graph per image; without pairs the factored model."""
        graphs = [RankingGraph.from_image(image) for image in self.seen]
        return graphs if pairs else [RankingGraph(graph.node_features) for graph in graphs]

    def labels(self) -> list[BoolArray]:
        """Pixels of the letters, image by image."""
        return [self.truth.ravel()] * len(self.seen)


def draw(letter: str, width: int) -> BoolArray:
    """A letter of strokes about three pixels wide."""
    rows, columns = np.mgrid[0:HEIGHT, 0:width].astype(float)
    picture = np.zeros((HEIGHT, width), dtype=bool)
    box = np.array([HEIGHT - 4, width - 5])
    for row, column, end_row, end_column in STROKES[letter]:
        start = np.array([row, column]) * box + 2
        end = np.array([end_row, end_column]) * box + 2
        along = end - start
        along_stroke = ((rows - start[0]) * along[0] + (columns - start[1]) * along[1]) / (
            along @ along
        )
        along_stroke = np.clip(along_stroke, 0, 1)
        away = np.hypot(
            rows - start[0] - along_stroke * along[0],
            columns - start[1] - along_stroke * along[1],
        )
        picture |= away <= 1.3
    return picture


def make_images(letters: str, width: int, count: int, rng: np.random.Generator) -> Images:
    """Noisy copies of a word."""
    truth = np.hstack([draw(letter, width) for letter in letters])
    seen = [(truth ^ (rng.random(truth.shape) < FLIP)).astype(float) for _ in range(count)]
    return Images(truth, seen)


@dataclass(frozen=True)
class Settings:
    """Numbers of images."""

    n_train: int
    n_test: int
    max_iter: int


def images(settings: Settings) -> tuple[Images, Images]:
    """Draw the training images of an A and the test images of AUC."""
    rng = np.random.default_rng(0)
    train = make_images("A", 17, settings.n_train, rng)
    return train, make_images("AUC", 15, settings.n_test, rng)


def cells(settings: Settings) -> list[Cell]:
    """List the models and what they are trained for."""
    return [(model, goal) for model in ("factored", "pairwise") for goal in ("full", "binned")]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Train one model and rank the pixels of every test image; one row per image."""
    model, goal = cell
    train, test = images(settings)
    pairs = model == "pairwise"
    measure: str | Measure = "auc" if goal == "full" else BinnedAUC(34)
    ranker = StructuredRanker(measure, C=100.0, tol=1e-3, max_iter=settings.max_iter)
    start = time.perf_counter()
    ranker.fit(train.graphs(pairs=pairs), train.labels())
    seconds = time.perf_counter() - start
    truth = test.truth.ravel()
    size = bin_size(test)
    rows = []
    for image, score in enumerate(ranker.decision_function(test.graphs(pairs=pairs))):
        row: Row = {"model": model, "trained_for": goal, "image": image}
        row["auc"] = binned_auc_score(truth, score, bin_sizes=1)
        row["binned_auc"] = binned_auc_score(truth, score, bin_sizes=size)
        row["published_auc"] = binned_auc_score(truth, score, bin_sizes=size, in_bin_credit=1.0)
        row["seconds"] = seconds
        if image == 0:
            # The bin of every pixel, one digit each; the letter keeps the text from being a number.
            row["bins"] = "b" + "".join(str(int(b)) for b in (rankdata(-score) - 1) // size)
        rows.append(row)
    return rows


def bin_size(test: Images) -> int:
    """Pixels per bin, ten bins per image."""
    return int(np.ceil(test.truth.size / N_BINS))


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate means and standard errors over the test images."""
    table = []
    for model, goal in cells(settings):
        group = [row for row in rows if (row["model"], row["trained_for"]) == (model, goal)]
        line = [f"{model}, trained for the {goal} AUC"]
        for name in ("auc", "binned_auc", "published_auc"):
            values = [row[name] for row in group]
            error = np.std(values, ddof=1) / len(values) ** 0.5
            line.append(f"{100 * np.mean(values):.1f} ± {100 * error:.1f}")
        table.append([*line, f"{group[0]['seconds']:.1f}"])
    table.append(["paper, factored (one image)", "", "", "88.7", ""])
    table.append(["paper, pairwise (one image)", "", "", "97.5", ""])
    header = ["model", "AUC (%)", "in ten bins, credit 1/2 (%)", "in ten bins, as published (%)"]
    return "\n".join(
        [
            f"# Letters: {settings.n_train} noisy 20 x 17 images of an A for training, "
            f"{settings.n_test} of 20 x 45 for testing",
            "",
            markdown_table([*header, "training (s)"], table),
            "",
            "Letters are drawn from strokes, so the numbers are comparable with the paper's in kind "
            "only. ± is one standard error over the test images. Pairs of equal scores count one half; "
            "pairs inside a bin count one half, or 1 as in the paper's definition, by which they are "
            "no errors.",
        ]
    )


def draw_figure(rows: list[Row]) -> Any:
    """Draw the truth, one noisy image, and its ranking in ten bins by both models (Figure 2)."""
    import matplotlib.pyplot as plt

    first = [row for row in rows if row["image"] == 0 and row["trained_for"] == "full"]
    # The images of every size begin with the same draws only where as many were drawn before.
    n_test = 1 + max(row["image"] for row in rows)
    n_train = next(s.n_train for s in SETTINGS.values() if s.n_test == n_test)
    _, test = images(Settings(n_train, n_test, 0))
    panels = [("A. truth", test.truth.astype(float)), ("B. seen", test.seen[0])]
    for letter, row in zip("CD", first, strict=True):
        place = np.array([int(digit) for digit in row["bins"][1:]])
        title = f"{letter}. {row['model']}: binned AUC {100 * row['published_auc']:.1f}"
        panels.append((title, -place.reshape(test.truth.shape)))
    figure, axes = plt.subplots(2, 2, figsize=(8, 4.2), layout="constrained")
    for axis, (title, picture) in zip(axes.ravel(), panels, strict=True):
        axis.imshow(picture, cmap="Greys")
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
    return figure


SETTINGS = {
    "full": Settings(20, 20, 60),
    "quick": Settings(20, 10, 60),
    "tiny": Settings(2, 2, 10),
}
EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Section 6 and Figure 2: letters",
    settings=SETTINGS,
    cells=cells,
    compute=compute,
    report=report,
    draw=draw_figure,
)
