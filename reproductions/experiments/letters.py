"""Noisy letters (Figure 2 of the structured AUC paper): factored against pairwise ranking of pixels.

Training images show a noisy A of 20 x 17 pixels, test images three noisy letters of 20 x 45; every
pixel is flipped with probability 0.15. Pixels are ranked so that those of the letters come first. The
letters are drawn here from strokes; the paper's bitmaps are not published. C is chosen on further
images of an A. The pairwise model is also trained with the ramp loss, which the paper calls comparable.

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
from reproductions.experiments._statistics import standard_error
from reproductions.paired import tests_of
from reproductions.tables import markdown_table

MODELS = ("factored", "pairwise")
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
    """Numbers of images, the limit on iterations and the values of C."""

    n_train: int
    n_test: int
    max_iter: int
    grid: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)


def images(settings: Settings) -> tuple[Images, Images, Images]:
    """Draw the training images of an A, the test images of AUC, and as many of an A for C."""
    rng = np.random.default_rng(0)
    train = make_images("A", 17, settings.n_train, rng)
    test = make_images("AUC", 15, settings.n_test, rng)
    return train, test, make_images("A", 17, settings.n_train, rng)


# What a model is trained for: the measure, and the objective.
GOALS: dict[str, tuple[str | Measure, str]] = {
    "the full AUC": ("auc", "consistent"),
    "the binned AUC": (BinnedAUC(34), "consistent"),
    "the full AUC, ramp loss": ("auc", "ramp"),
}


def cells(settings: Settings) -> list[Cell]:
    """List the models and what they are trained for."""
    full, binned, ramp = GOALS
    return [*((model, goal) for model in MODELS for goal in (full, binned)), ("pairwise", ramp)]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Train one model and rank the pixels of every test image; one row per image."""
    model, goal = cell
    train, test, valid = images(settings)
    pairs = model == "pairwise"
    measure, objective = GOALS[goal]
    start, best, reached = time.perf_counter(), None, -1.0
    for C in settings.grid:
        options = {"objective": objective, "tol": 1e-3, "max_iter": settings.max_iter}
        ranker = StructuredRanker(measure, C=C, **options)
        ranker.fit(train.graphs(pairs=pairs), train.labels())
        value = ranker.score(valid.graphs(pairs=pairs), valid.labels())
        if value > reached:
            best, reached = ranker, value
    assert best is not None
    seconds = time.perf_counter() - start
    truth = test.truth.ravel()
    size = bin_size(test)
    rows = []
    for image, score in enumerate(best.decision_function(test.graphs(pairs=pairs))):
        row: Row = {"model": model, "trained_for": goal, "image": image, "C": best.C}
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

    def values(model: str, goal: str, column: str) -> FloatArray:
        chosen = [row for row in rows if (row["model"], row["trained_for"]) == (model, goal)]
        return 100 * np.array([row[column] for row in chosen])

    table, reference = [], next(iter(GOALS))
    for model, goal in cells(settings):
        line = [f"{model}, trained for {goal}"]
        for column in ("auc", "binned_auc", "published_auc"):
            found = values(model, goal, column)
            line.append(f"{found.mean():.1f} ± {standard_error(found):.1f}")
        beside = ["", "", ""]
        if (model, goal) != ("pairwise", reference):
            apart = values(model, goal, "auc") - values("pairwise", reference, "auc")
            beside = [f"{apart.mean():+.2f}", *tests_of(apart, 0.0)]
        first = next(r for r in rows if (r["model"], r["trained_for"]) == (model, goal))
        table.append([*line, *beside, f"{first['C']:g}", f"{first['seconds']:.1f}"])
    table.append(["paper, factored (one image)", "", "", "88.7", *[""] * 5])
    table.append(["paper, pairwise (one image)", "", "", "97.5", *[""] * 5])
    header = ["model", "AUC (%)", "in ten bins, credit 1/2 (%)", "in ten bins, as published (%)"]
    header += ["AUC minus pairwise, full", "p, Wilcoxon", "p, t", "C", "all fits (s)"]
    return "\n\n".join(
        [
            f"# Letters: {settings.n_train} noisy 20 x 17 images of an A for training, "
            f"{settings.n_test} of 20 x 45 for testing",
            markdown_table(header, table),
            "Letters are drawn from strokes, so the numbers are comparable with the paper's in kind "
            "only. ± is one standard error over the test images; differences are tested over the same "
            "images, by Wilcoxon's and the paired t test (one training set: nothing to correct). Pairs "
            "of equal scores count one half; pairs inside a bin count one half, or 1 as in the paper's "
            "definition, by which they are no errors. C from "
            + ", ".join(f"{C:g}" for C in settings.grid)
            + f" by {settings.n_train} further images of an A (paper: by cross-validation).",
        ]
    )


def draw_figure(rows: list[Row]) -> Any:
    """Draw the truth, one noisy image, and its ranking in ten bins by both models (Figure 2)."""
    import matplotlib.pyplot as plt

    goal = next(iter(GOALS))
    first = [row for row in rows if row["image"] == 0 and row["trained_for"] == goal]
    # The images of every size begin with the same draws only where as many were drawn before.
    n_test = 1 + max(row["image"] for row in rows)
    n_train = next(s.n_train for s in SETTINGS.values() if s.n_test == n_test)
    _, test, _ = images(Settings(n_train, n_test, 0))
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
    "tiny": Settings(2, 2, 10, (100.0,)),
}
EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Section 6 and Figure 2: letters",
    settings=SETTINGS,
    tolerance=dict.fromkeys(("auc", "binned_auc", "published_auc"), 1e-6),
    cells=cells,
    compute=compute,
    report=report,
    draw=draw_figure,
)
