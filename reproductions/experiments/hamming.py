"""Labels first, then a ranking (Rosenfeld et al. 2014, Section 3), the way the paper does not take.

The model is trained for labels, as a structured SVM with the Hamming loss (Eq. 2), and items are ranked
by their max-marginals. The paper names this alternative and prints no numbers for it. Here it stands
beside the model that is trained for the AUC, with the same features and pairs, C of both chosen on
validation graphs.

``python -m reproductions hamming``
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import BoolArray
from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker
from reproductions.baselines import HammingSVM
from reproductions.data.ohsumed import ohsumed_split
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments import letters, ohsumed
from reproductions.experiments._statistics import standard_error
from reproductions.paired import tests_of
from reproductions.tables import markdown_table

Part = tuple[list[RankingGraph], list[BoolArray]]


@dataclass(frozen=True)
class Settings:
    """Values of C, the number of graphs per part, and the limit on iterations."""

    tasks: tuple[str, ...]
    grid: tuple[float, ...]
    n_graphs: int
    max_iter: int


def load(task: str, n_graphs: int) -> list[Part]:
    """Return the training, validation and test graphs of a task."""
    if task == "OHSUMED":
        parts = [ohsumed.document_graphs(queries, n_graphs) for queries in ohsumed_split(1)]
    else:
        rng = np.random.default_rng(0)
        made = [letters.make_images(*image, n_graphs, rng) for image in LETTERS]
        parts = [(images.graphs(pairs=True), images.labels()) for images in made]
    return [(graphs[:n_graphs], labels[:n_graphs]) for graphs, labels in parts]


# Words and widths of the training, validation and test images.
LETTERS = (("A", 17), ("A", 17), ("AUC", 15))


def cells(settings: Settings) -> list[Cell]:
    """List tasks, models and whether they have pairs."""
    return [
        (task, model, pairs)
        for task in settings.tasks
        for model in ("AUC", "Hamming")
        for pairs in ("factored", "pairwise")
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Choose C on the validation graphs and test; one row per test graph."""
    task, model, pairs = cell
    parts = load(task, settings.n_graphs)
    if pairs == "factored":
        parts = [([RankingGraph(g.node_features) for g in part], y) for part, y in parts]
    (train, train_y), (valid, valid_y), (test, test_y) = parts
    best: tuple[float, float, StructuredRanker | HammingSVM] | None = None
    for C in settings.grid:
        ranker: StructuredRanker | HammingSVM
        if model == "AUC":
            ranker = StructuredRanker(C=C, tol=1e-3, max_iter=settings.max_iter)
        else:
            ranker = HammingSVM(C=C, tol=1e-2, max_iter=settings.max_iter)
        ranker.fit(train, train_y)
        reached = float(np.mean(aucs(ranker, valid, valid_y)))
        if best is None or reached > best[0]:
            best = (reached, C, ranker)
    assert best is not None
    start = time.perf_counter()
    values = aucs(best[2], test, test_y)
    seconds = time.perf_counter() - start
    row: Row = {"task": task, "model": model, "pairs": pairs, "C": best[1], "seconds": seconds}
    return [row | {"graph": graph, "auc": value} for graph, value in enumerate(values)]


def aucs(
    ranker: StructuredRanker | HammingSVM, graphs: list[RankingGraph], labels: list[BoolArray]
) -> list[float]:
    """Compute the AUC of every graph."""
    scores = ranker.decision_function(graphs)
    return [binned_auc_score(y, s, bin_sizes=1) for y, s in zip(labels, scores, strict=True)]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate means and standard errors over the test graphs."""

    def chosen(task: str, model: str, pairs: str) -> list[Row]:
        return [r for r in rows if (r["task"], r["model"], r["pairs"]) == (task, model, pairs)]

    table = []
    for task, model, pairs in cells(settings):
        group = chosen(task, model, pairs)
        values = 100 * np.array([row["auc"] for row in group])
        beside = ["", "", ""]
        if model != "AUC":
            others = 100 * np.array([row["auc"] for row in chosen(task, "AUC", pairs)])
            beside = [f"{(values - others).mean():+.2f}", *tests_of(values - others, 0.0)]
        how = "trained for the AUC" if model == "AUC" else "Hamming loss, max-marginals"
        line = [f"{task}, {pairs}: {how}", f"{values.mean():.1f} ± {standard_error(values):.1f}"]
        table.append([*line, *beside, f"{group[0]['C']:g}", f"{group[0]['seconds']:.2f}"])
    header = ["model", "AUC (%)", "minus trained for the AUC", "p, Wilcoxon", "p, t", "C"]
    return "\n\n".join(
        [
            "# Trained for the AUC, or for labels and ranked by max-marginals",
            markdown_table([*header, "ranking the test graphs (s)"], table),
            "± is one standard error over the test graphs; differences are tested over the same "
            "graphs, by Wilcoxon's and the paired t test (one training set: nothing to correct). C is "
            "chosen on validation graphs from "
            + ", ".join(f"{C:g}" for C in settings.grid)
            + ". Letters: as in `letters`, with validation images of their own. OHSUMED: fold 1 of "
            "LETOR, pairs by cosine as in `ohsumed`. A max-marginal takes one minimum cut per item, "
            "the ranking of the other model one total-variation problem for all.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Section 3: Hamming loss and max-marginals against the AUC (ours)",
    data=("ohsumed",),
    settings={
        "full": Settings(("letters", "OHSUMED"), (1.0, 10.0, 100.0, 1000.0), 20, 60),
        "quick": Settings(("letters",), (10.0, 100.0), 4, 30),
        "tiny": Settings(("OHSUMED",), (10.0,), 2, 3),
    },
    tolerance={"auc": 1e-6},
    cheap=("OHSUMED", "AUC", "pairwise"),
    cells=cells,
    compute=compute,
    report=report,
)
