"""Train for one measure, test by all (Rosenfeld et al. 2014, Sections 5 and 6).

The pairwise model is trained for the AUC, the AUC in bins, the AUC of the top k or the unnested AUC,
and every model is tested by all of them: pairs inside a bin (below the top k: one bin) count one half,
or 1 as published. The paper has this study in a supplement that is not available, so there are no
printed numbers. Its statements: the generalised measures are higher than the AUC, and training for one
of them sometimes gives a better AUC.

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
from reproductions.tables import markdown_table

Part = tuple[list[RankingGraph], list[BoolArray]]


@dataclass(frozen=True)
class Task:
    """Training and test graphs, with the bin size and k that suit their number of items."""

    train: Part
    test: Part
    bin_size: int
    k: int
    C: float

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
    """Tasks, the limit on iterations, and how many training and test graphs are kept."""

    tasks: tuple[str, ...]
    max_iter: int
    n_graphs: int | None = None


@lru_cache(maxsize=1)
def load(name: str) -> Task:
    """Make the graphs of one task."""
    if name == "letters":
        train, test = letters.images(letters.SETTINGS["full"])
        parts = [(one.graphs(pairs=True), one.labels()) for one in (train, test)]
        return Task(parts[0], parts[1], 90, 50, 100.0)
    if name == "OHSUMED":
        split = ohsumed_split(1)
        return Task(
            ohsumed.document_graphs(split[0]), ohsumed.document_graphs(split[2]), 20, 10, 100.0
        )
    windows = link_prediction_published.load("before the window")
    scale = windows[0].scale()
    first, last = ((window.graphs(scale), window.positive) for window in (windows[0], windows[2]))
    return Task(first, last, 5, 5, 10.0)


def cells(settings: Settings) -> list[Cell]:
    """List tasks and what is trained for."""
    return [
        (task, goal) for task in settings.tasks for goal in ("AUC", "binned", "AUC@k", "unnested")
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Train for one measure and test by all."""
    name, goal = cell
    task = load(name)
    start = time.perf_counter()
    ranker = StructuredRanker(task.measures()[goal], C=task.C, tol=1e-3, max_iter=settings.max_iter)
    graphs, labels = (one[: settings.n_graphs] for one in task.train)
    ranker.fit(graphs, labels)
    graphs, labels = (one[: settings.n_graphs] for one in task.test)
    scores = ranker.decision_function(graphs)
    row: Row = {"task": name, "trained_for": goal, "n_test": len(labels)}
    for measure, score in task.scores_by().items():
        values = [score(y, s) for y, s in zip(labels, scores, strict=True)]
        row[measure] = float(np.mean(values))
    return [row | {"seconds": time.perf_counter() - start}]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate tasks and goals against the measures."""
    measures = ("AUC", "binned, 1/2", "binned, 1", "AUC@k, 1/2", "AUC@k, 1")
    table = [
        [f"{row['task']}, {row['trained_for']}", *(f"{100 * row[name]:.2f}" for name in measures)]
        for row in rows
    ]
    sizes = "; ".join(
        f"{name}: bins of {load(name).bin_size}, k = {load(name).k}, C = {load(name).C:g}"
        for name in settings.tasks
    )
    better = [
        f"{row['task']} ({row['trained_for']})"
        for row in rows
        for base in rows
        if (base["task"], base["trained_for"]) == (row["task"], "AUC")
        and row["AUC"] >= base["AUC"] + 1e-3
    ]
    shown = ", ".join(better) or "nowhere"
    return "\n\n".join(
        [
            "# Trained for one measure, tested by all",
            markdown_table(["task, trained for", *(f"{name} (%)" for name in measures)], table),
            f"Means over the test graphs. {sizes}. OHSUMED: fold 1 of LETOR. NIPS links: as in "
            "`link_prediction_published`, the network before the window. Pairs inside a bin count "
            "one half or, as published, 1; then the generalised measures are higher than the AUC, as "
            "the paper says. The unnested AUC of a nested ranking is its AUC, and with attractive "
            "pairs the best sets are nested, so that training for it is training for the AUC. "
            f"Training for another measure gave an AUC higher by 0.1 points or more: {shown}.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Sections 5 and 6: train for one measure, test by all",
    data=("ohsumed", "nips_coauthor"),
    settings={
        "full": Settings(("letters", "OHSUMED", "NIPS links"), 60),
        "quick": Settings(("letters", "NIPS links"), 20),
        "tiny": Settings(("NIPS links",), 2, 6),
    },
    cells=cells,
    compute=compute,
    report=report,
)
