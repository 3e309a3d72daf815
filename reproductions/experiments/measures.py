"""Train for one measure, test by all (Rosenfeld et al. 2014, Sections 5 and 6).

The pairwise model is trained for the AUC, the AUC in bins, the AUC of the top k or the unnested AUC,
and every model is tested by all of them: pairs inside a bin (below the top k: one bin) count one half,
or 1 as published. The paper has this study in a supplement that is not available, so there are no
printed numbers. Its statements: the generalised measures are higher than the AUC, and training for one
of them sometimes gives a better AUC. C is chosen by the AUC of validation graphs.

``python -m reproductions measures``
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.metrics import auc_at_k_score, binned_auc_score
from aucuba.structured import AUC, AUCAtK, BinnedAUC, Measure, RankingGraph, StructuredRanker
from aucuba.structured import UnnestedAUC as Unnested
from reproductions.data.ohsumed import ohsumed_split
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments import letters, link_prediction_published, ohsumed
from reproductions.paired import corrected_p, wilcoxon_p
from reproductions.tables import markdown_table

GOALS = ("AUC", "binned", "AUC@k", "unnested")
MEASURES = ("AUC", "binned, 1/2", "binned, 1", "AUC@k, 1/2", "AUC@k, 1")
Part = tuple[list[RankingGraph], list[BoolArray]]


@dataclass(frozen=True)
class Task:
    """Training, test and validation graphs, with a bin size and a k that suit their number of items.

    ``grid`` has the values of C.
    """

    train: Part
    test: Part
    valid: Part
    bin_size: int
    k: int
    grid: tuple[float, ...]

    def measures(self) -> dict[str, Measure]:
        """Name the measures to train for."""
        return {
            "AUC": AUC(),
            "binned": BinnedAUC(self.bin_size),
            "AUC@k": AUCAtK(self.k),
            "unnested": Unnested(),
        }

    def scores_by(self) -> dict[str, Callable[[BoolArray, FloatArray], float]]:
        """Name the measures to test by."""
        size, k = self.bin_size, self.k
        return {
            "AUC": lambda y, s: binned_auc_score(y, s, bin_sizes=1),
            "binned, 1/2": lambda y, s: binned_auc_score(y, s, bin_sizes=size),
            "binned, 1": lambda y, s: binned_auc_score(y, s, bin_sizes=size, in_bin_credit=1.0),
            "AUC@k, 1/2": lambda y, s: auc_at_k_score(y, s, k=k),
            "AUC@k, 1": lambda y, s: auc_at_k_score(y, s, k=k, in_bin_credit=1.0),
        }


@dataclass(frozen=True)
class Settings:
    """Tasks, folds of OHSUMED, the limit on iterations; how many graphs and values of C are kept."""

    tasks: tuple[str, ...]
    n_folds: int
    max_iter: int
    n_graphs: int | None = None
    n_values: int | None = None


@lru_cache(maxsize=1)
def load(name: str, fold: int) -> Task:
    """Make the graphs of one task; only OHSUMED has folds."""
    if name == "letters":
        made = letters.images(letters.SETTINGS["full"])
        parts = [(one.graphs(pairs=True), one.labels()) for one in made]
        return Task(*parts, 90, 50, (1.0, 10.0, 100.0, 1000.0))
    if name == "OHSUMED":
        train, valid, test = (ohsumed.document_graphs(part) for part in ohsumed_split(fold))
        return Task(train, test, valid, 20, 10, (10.0, 100.0, 1000.0))
    windows = link_prediction_published.load("before the window")
    scale = windows[0].scale()
    train, valid, test = ((window.graphs(scale), window.positive) for window in windows)
    return Task(train, test, valid, 5, 5, (0.1, 1.0, 10.0, 100.0))


def cells(settings: Settings) -> list[Cell]:
    """List tasks, folds and what is trained for."""
    return [
        (task, fold, goal)
        for task in settings.tasks
        for fold in range(1, (settings.n_folds if task == "OHSUMED" else 1) + 1)
        for goal in GOALS
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Train for one measure, with C by the validation graphs, and test by all; one row per graph."""
    name, fold, goal = cell
    task = load(name, fold)
    start = time.perf_counter()
    train, valid, test = (
        (graphs[: settings.n_graphs], labels[: settings.n_graphs])
        for graphs, labels in (task.train, task.valid, task.test)
    )
    best, reached = None, -1.0
    for C in task.grid[: settings.n_values]:
        options = {"C": C, "tol": 1e-3, "max_iter": settings.max_iter}
        ranker = StructuredRanker(task.measures()[goal], **options).fit(*train)
        scores = ranker.decision_function(valid[0])
        value = float(
            np.mean([task.scores_by()["AUC"](*p) for p in zip(valid[1], scores, strict=True)])
        )
        if value > reached:
            best, reached = ranker, value
    assert best is not None
    kept = {"C": best.C, "seconds": time.perf_counter() - start}
    rows = []
    for graph, pair in enumerate(zip(test[1], best.decision_function(test[0]), strict=True)):
        row: Row = {"task": name, "fold": fold, "trained_for": goal, "graph": graph}
        row |= {measure: score(*pair) for measure, score in task.scores_by().items()}
        rows.append(row | kept)
    return rows


def gain(rows: list[Row], task: str, goal: str) -> list[str]:
    """Say how much AUC is gained over training for the AUC, with both tests."""

    def values(trained_for: str) -> list[FloatArray]:
        chosen = [row for row in rows if (row["task"], row["trained_for"]) == (task, trained_for)]
        folds = dict.fromkeys(row["fold"] for row in chosen)
        return [100 * np.array([r["AUC"] for r in chosen if r["fold"] == fold]) for fold in folds]

    apart = [mine - theirs for mine, theirs in zip(values(goal), values("AUC"), strict=True)]
    together = np.concatenate(apart)
    if len(apart) > 1:
        second = corrected_p([part.mean() for part in apart], 1 / 3)
    else:
        second = corrected_p(together, 0.0)
    return [f"{together.mean():+.2f}", f"{wilcoxon_p(together):.2g}", f"{second:.2g}"]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate tasks and goals against the measures."""
    table = []
    for task in settings.tasks:
        for goal in GOALS:
            group = [row for row in rows if (row["task"], row["trained_for"]) == (task, goal)]
            means = [f"{100 * np.mean([row[name] for row in group]):.2f}" for name in MEASURES]
            beside = gain(rows, task, goal) if goal != "AUC" else ["", "", ""]
            table.append([f"{task}, {goal}", *means, *beside])
    tasks = {name: load(name, 1) for name in settings.tasks}
    sizes = "; ".join(
        f"{name}: bins of {task.bin_size}, k = {task.k}, C from "
        + ", ".join(f"{C:g}" for C in task.grid)
        for name, task in tasks.items()
    )
    header = ["task, trained for", *(f"{name} (%)" for name in MEASURES)]
    return "\n\n".join(
        [
            "# Trained for one measure, tested by all",
            markdown_table([*header, "AUC gained", "p, Wilcoxon", "p, corrected"], table),
            f"Means over the test graphs. {sizes}; by the AUC of validation graphs. OHSUMED: "
            f"{settings.n_folds} folds of LETOR. NIPS links: as in `link_prediction_published`, the "
            "network before the window. Pairs inside a bin count one half or, as published, 1; then "
            "the generalised measures are higher than the AUC, as the paper says. The unnested AUC of "
            "a nested ranking is its AUC, and with attractive pairs the best sets are nested, so that "
            "training for it is training for the AUC. AUC gained: over training for the AUC, tested "
            "over the same graphs by Wilcoxon's test, and by Nadeau and Bengio's over the folds of "
            "OHSUMED, else by the paired t test.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Sections 5 and 6: train for one measure, test by all",
    data=("ohsumed", "nips_coauthor"),
    settings={
        "full": Settings(("letters", "OHSUMED", "NIPS links"), 5, 60),
        "quick": Settings(("letters", "NIPS links"), 1, 20),
        "tiny": Settings(("NIPS links",), 1, 2, 6, 1),
    },
    tolerance=dict.fromkeys(MEASURES, 1e-6),
    cheap=("NIPS links", 1, "AUC"),
    cells=cells,
    compute=compute,
    report=report,
)
