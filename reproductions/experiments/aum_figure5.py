"""Cost of gradient descent with exact searches (Fowler and Hocking 2024, Figure 5).

The first class is negative and all others positive. Plain gradient descent from standard normal
weights with one exact search per step, until AUM falls by less than 1e-3: the protocol of the paper, so
that AUM may also fall by shrinking the weights. Counted are the meetings of threshold lines that a
search passes, for the three variants of the path; `minimize_aum` passes none and has its evaluations
counted. Sets whose files are missing are left out; the digits of scikit-learn, which are not among the
paper's sets, are always there.

``python -m reproductions aum_figure5``
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from aucuba._base._typing import FloatArray
from aucuba.aum import ErrorFunctions, _path, aum, minimize_aum
from aucuba.aum._lines import Segment
from reproductions.data import data_home
from reproductions.data._home import data_file, reading
from reproductions.data.colour_images import load_cifar10, load_cifar10_jpeg, load_stl10
from reproductions.data.mnist import load_mnist
from reproductions.experiment import Cell, Experiment, Row
from reproductions.tables import markdown_table

MOST_STEPS = 2_000
Search = Callable[[ErrorFunctions, FloatArray, FloatArray], tuple[float, int]]


def first_min(errors: ErrorFunctions, scores: FloatArray, change: FloatArray) -> tuple[float, int]:
    """Follow the path to the first minimum."""
    segment = Segment.from_predictions(errors, scores, change)
    end = _path.follow(segment, "first_min", record=False)
    return end.best_aum().step, end.n_crossings


def linear(errors: ErrorFunctions, scores: FloatArray, change: FloatArray) -> tuple[float, int]:
    """Follow the path for as many crossings as there are breakpoints."""
    rows = _path.line_search_path(errors, scores, change, stop="linear")
    return rows.best_aum().step, rows.n_crossings


def quadratic(errors: ErrorFunctions, scores: FloatArray, change: FloatArray) -> tuple[float, int]:
    """Follow the whole path."""
    rows = _path.line_search_path(errors, scores, change, stop="all")
    return rows.best_aum().step, rows.n_crossings


def tangents(errors: ErrorFunctions, scores: FloatArray, change: FloatArray) -> tuple[float, int]:
    """Find the minimum without the path."""
    best = minimize_aum(errors, scores, change)
    return best.step, best.n_evaluations


SEARCHES: dict[str, Search] = {
    "minimize_aum": tangents,
    "linear": linear,
    "first min": first_min,
    "quadratic": quadratic,
}


def load_small_digits() -> Bunch:
    """Read the 1,797 digits of 8 x 8 pixels that scikit-learn ships."""
    found = load_digits()
    return Bunch(data=found.data / 16, target=found.target)


DIGITS = "scikit-learn's digits"
# Sets, their number of images, and the file without which they are left out.
LOADERS: dict[str, tuple[Callable[[], Any], int, str]] = {
    "MNIST": (load_mnist, 60_000, "mnist/train-images-idx3-ubyte.gz"),
    "Fashion-MNIST": (
        lambda: load_mnist("test", fashion=True),
        10_000,
        "fashion_mnist/t10k-images-idx3-ubyte.gz",
    ),
    "CIFAR10": (load_cifar10, 50_000, "cifar10/data_batch_1.bin"),
    "CIFAR10 (JPEG)": (load_cifar10_jpeg, 4_000, "cifar10/test_4000.npz"),
    "STL10": (load_stl10, 5_000, "stl10/train_X.bin"),
    DIGITS: (load_small_digits, 1_797, ""),
}
PUBLISHED = ("max_generalized_auc_results", "figure-line-search-complexity.csv.gz")


@dataclass(frozen=True)
class Settings:
    """Data sets, the largest n of each search, and the number of random starts."""

    sets: tuple[str, ...]
    largest: tuple[tuple[str, int], ...]
    n_seeds: int


@lru_cache(maxsize=1)
def load(name: str) -> tuple[FloatArray, np.ndarray]:
    """Read one image set in a fixed random order; the first class is negative."""
    data = LOADERS[name][0]()
    order = np.random.default_rng(0).permutation(data.target.size)
    return data.data[order].astype(np.float64), (data.target[order] != 0).astype(int)


@lru_cache(maxsize=1)
def compiled() -> None:
    """Compile every kernel outside the clock."""
    warm = ErrorFunctions.from_labels([0, 1, 0])
    for search in SEARCHES.values():
        search(warm, np.array([1.0, 0.0, 0.5]), np.array([-1.0, 0.0, 1.0]))


def sets_at_hand(settings: Settings) -> list[str]:
    """List the sets of the settings whose files are there."""
    files = {name: LOADERS[name][2] for name in settings.sets}
    return [name for name, file in files.items() if not file or (data_home() / file).exists()]


def cells(settings: Settings) -> list[Cell]:
    """List data sets, searches, sizes and random starts; sizes double from 100 on."""
    return [
        (name, search, int(n), seed)
        for name in sets_at_hand(settings)
        for search, largest in settings.largest
        for n in 100 * 2 ** np.arange(12)
        if n <= min(largest, LOADERS[name][1])
        for seed in range(settings.n_seeds)
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Descend once."""
    name, search, n, seed = cell
    compiled()
    X, y = load(name)
    row = descend(X[:n], ErrorFunctions.from_labels(y[:n]), SEARCHES[search], seed)
    return [{"set": name, "search": search, "n": n, "seed": seed, **row}]


def descend(X: FloatArray, errors: ErrorFunctions, search: Search, seed: int) -> Row:
    """Count steps and what a search passes, and time the searches and the whole descent."""
    w = np.random.default_rng(seed).normal(size=X.shape[1])
    scores = X @ w
    value, counts, searching, start = np.inf, [], 0.0, time.process_time()
    here = aum(errors, scores)
    while value - here.aum > 1e-3 and len(counts) < MOST_STEPS and here.gradient.any():
        value = here.aum
        direction = -(X.T @ here.gradient)
        change = X @ direction
        before = time.process_time()
        step, count = search(errors, scores, change)
        searching += time.process_time() - before
        counts.append(count)
        w = w + step * direction
        scores = X @ w
        here = aum(errors, scores)
    return {
        "steps": len(counts),
        "count": np.mean(counts),
        "search_ms": 1e3 * searching / len(counts),
        "seconds": time.process_time() - start,
        "aum": here.aum,
        "auc": here.auc,
    }


def means(rows: list[Row], name: str, search: str) -> dict[int, dict[str, float]]:
    """Average the random starts of one set and search by size."""
    chosen = [row for row in rows if (row["set"], row["search"]) == (name, search)]
    columns = ("steps", "count", "search_ms", "seconds", "aum", "auc")
    return {
        n: {key: float(np.mean([row[key] for row in chosen if row["n"] == n])) for key in columns}
        for n in dict.fromkeys(row["n"] for row in chosen)
    }


def slope(found: dict[int, dict[str, float]], column: str) -> str:
    """Fit the exponent of a column in n from n = 200 on."""
    sizes = [n for n in found if n >= 200]
    if len(sizes) < 2:
        return ""
    values = [found[n][column] for n in sizes]
    return f"{np.polyfit(np.log(sizes), np.log(values), 1)[0]:.2f}"


def published_exponents() -> str:
    """Fit the growth of the first minimum in the authors' own table of changepoint sets, if there."""
    try:
        path = data_file(*PUBLISHED)
    except FileNotFoundError:
        return ""
    with reading(path), gzip.open(path, "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["maxIterations"] == "min.aum"]
    fits = []
    for kind in ("count", "rate"):
        group = [row for row in rows if row["aum.type"] == kind]
        n = np.log([float(row["n.subtrain.diffs"]) for row in group])
        count = np.log([float(row["mean.iterations"]) for row in group])
        fits.append(f"{np.polyfit(n, count, 1)[0]:.2f} ({kind}s, {len(group):,} runs)")
    return (
        " The authors' own table of changepoint sets (`figure-line-search-complexity.csv`) has, for "
        f"the first minimum, the exponents {' and '.join(fits)} by the same fit."
    )


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate exponents and all sizes."""
    exponents, table = [], []
    sets = list(dict.fromkeys(row["set"] for row in rows))
    for name in sets:
        for search, _ in settings.largest:
            found = means(rows, name, search)
            fits = [slope(found, key) for key in ("count", "search_ms", "steps", "seconds")]
            exponents.append([f"{name}, {search}", *fits])
            for n, mean in found.items():
                shown = [f"{n:,}", f"{mean['steps']:.1f}", f"{mean['count']:,.0f}"]
                shown += [f"{mean['search_ms']:.2f}", f"{mean['seconds']:.2f}"]
                shown += [f"{mean['aum']:.4f}", f"{mean['auc']:.4f}"]
                table.append([f"{name}, {search}", *shown])
    head = ["set, search", "iterations per step", "search time per step", "descent steps"]
    wide = ["set, search", "n", "descent steps", "iterations per step", "ms per search"]
    absent = [name for name in LOADERS if name not in sets and "JPEG" not in name]
    missing = f" Not at hand and not run: {', '.join(absent)}." if absent else ""
    return "\n\n".join(
        [
            f"# Figure 5: cost of gradient descent with exact searches on {', '.join(sets)}",
            f"First class against the rest, means over {settings.n_seeds} random starts (paper: 4), "
            "stopped when AUM (rates) falls by less than 1e-3. Iterations are meetings of threshold "
            "lines that a search passes; for `minimize_aum`, evaluations of AUM. Processor time of one "
            "thread. Fashion-MNIST: its 10,000 test images. CIFAR10 (JPEG): 4,000 of its test images, "
            f"from lossy copies. {DIGITS} are not among the paper's sets.{missing} The paper calls the "
            "first minimum nearly log-linear; an exponent of 1 would be that, 2 is the whole "
            f"path.{published_exponents()}",
            "## Exponents in n (log-log fits from n = 200 on)",
            markdown_table([*head, "total time"], exponents),
            "## All sizes",
            markdown_table([*wide, "total s", "final AUM", "final AUC"], table),
        ]
    )


def draw(rows: list[Row]) -> Any:
    """Draw iterations per step (top) and steps (bottom) against n, as in Figure 5."""
    import matplotlib.pyplot as plt

    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure, axes = plt.subplots(
        2,
        len(sets),
        figsize=(4 * len(sets), 6),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for column, name in zip(axes.T, sets, strict=True):
        for search in dict.fromkeys(row["search"] for row in rows):
            found = means(rows, name, search)
            for axis, key in zip(column, ("count", "steps"), strict=True):
                axis.plot(list(found), [mean[key] for mean in found.values()], "o-", label=search)
        n = np.array(sorted({row["n"] for row in rows}), dtype=float)
        column[0].plot(n, n * (n - 1) / 2, color="black", label="max: n (n - 1) / 2")
        column[0].set(title=name, xscale="log", yscale="log")
        column[1].set(xlabel="n", yscale="log")
    axes[0, 0].set_ylabel("line search iterations per step")
    axes[1, 0].set_ylabel("gradient descent steps")
    axes[0, 0].legend(fontsize=8)
    return figure


EXPERIMENT = Experiment(
    reproduces="AUM 2024, Section 5.1 and Figure 5: complexity on image sets",
    optional=("mnist", "fashion_mnist", "cifar10", "stl10", "max_generalized_auc_results"),
    settings={
        "full": Settings(
            tuple(LOADERS),
            (
                ("minimize_aum", 6_400),
                ("linear", 3_200),
                ("first min", 6_400),
                ("quadratic", 1_600),
            ),
            4,
        ),
        "quick": Settings(
            tuple(LOADERS),
            (("minimize_aum", 1_600), ("linear", 800), ("first min", 800), ("quadratic", 400)),
            2,
        ),
        "tiny": Settings((DIGITS,), tuple((name, 200) for name in SEARCHES), 1),
    },
    tolerance={"count": 1e-6, "aum": 1e-6, "auc": 1e-6},
    cheap=("MNIST", "first min", 800, 0),
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
