"""Generated contours: pairs that repel, sets that need not be nested (Rosenfeld et al., Section 5).

The paper names contour detection as the use of the unnested AUC ("as the number of contour edges grows,
different objects might be discriminated") and shows no experiment. This is a small task of that kind,
not a reproduction. A graph has four candidate contours of three to five segments. Neighbouring segments
of one contour are joined. Two contours overlap with probability 0.6, and then each segment of the first
is joined to one of the second by a conflict: contours that overlap are never both real. The real ones
are a random maximal set without overlap, the evidence for a segment is its label plus normal noise.

``python -m reproductions contours``
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.metrics import auc_at_k_score, binned_auc_score
from aucuba.structured import (
    AUC,
    AUCAtK,
    BinnedAUC,
    Measure,
    RankingGraph,
    StructuredRanker,
    UnnestedAUC,
)
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments._statistics import standard_error
from reproductions.paired import tests_of
from reproductions.tables import markdown_table

N_CONTOURS = 4
OVERLAP = 0.6
SIZE = 4
GOALS: dict[str, Measure] = {
    "AUC": AUC(),
    "binned": BinnedAUC(SIZE),
    "AUC@k": AUCAtK(SIZE),
    "unnested": UnnestedAUC(),
}
COLUMNS = ("AUC", "binned, 1/2", "binned, 1", "AUC@k, 1/2", "AUC@k, 1", "unnested")


@dataclass(frozen=True)
class Settings:
    """Numbers of graphs, the limit on iterations and the values of C."""

    n_train: int
    n_test: int
    max_iter: int
    grid: tuple[float, ...] = (1.0, 10.0, 100.0)


def contour_graph(rng: np.random.Generator) -> tuple[RankingGraph, BoolArray]:
    """Generate one graph; edge features say whether a pair is one contour's or a conflict."""
    lengths = rng.integers(3, 6, size=N_CONTOURS)
    starts = np.cumsum(lengths) - lengths
    edges, kinds = [], []
    for start, length in zip(starts, lengths, strict=True):
        edges += [(start + step, start + step + 1) for step in range(length - 1)]
        kinds += [(1.0, 0.0)] * (length - 1)
    overlap = np.triu(rng.random((N_CONTOURS, N_CONTOURS)) < OVERLAP, 1)
    for one, other in np.argwhere(overlap):
        ends = starts[other] + rng.integers(lengths[other], size=lengths[one])
        edges += list(zip(starts[one] + np.arange(lengths[one]), ends, strict=True))
        kinds += [(0.0, 1.0)] * lengths[one]
    overlap |= overlap.T
    real = np.zeros(N_CONTOURS, dtype=bool)
    for contour in rng.permutation(N_CONTOURS):
        real[contour] = not overlap[contour, real].any()
    if real.all():
        real[rng.integers(N_CONTOURS)] = False
    positive = np.repeat(real, lengths)
    return RankingGraph(positive + rng.normal(size=positive.size), edges, kinds), positive


def graphs(settings: Settings) -> tuple[list[RankingGraph], list[BoolArray]]:
    """Generate the training graphs, after them the test graphs, and then as many more to choose C."""
    rng = np.random.default_rng(0)
    made = [contour_graph(rng) for _ in range(2 * settings.n_train + settings.n_test)]
    return [graph for graph, _ in made], [labels for _, labels in made]


def cells(settings: Settings) -> list[Cell]:
    """List the models: two simpler ones, then one per measure to train for."""
    return [("no pairs", "AUC"), ("attracting", "AUC"), *(("all pairs", goal) for goal in GOALS)]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Train for one measure and test by all, each with the ranking that is inferred for it."""
    pairs, goal = cell
    made, labels = graphs(settings)
    if pairs == "no pairs":
        made = [RankingGraph(graph.node_features) for graph in made]
    start = time.perf_counter()
    known, last = slice(settings.n_train), slice(settings.n_train + settings.n_test, None)
    held_out = slice(settings.n_train, settings.n_train + settings.n_test)
    fits = [
        StructuredRanker(
            GOALS[goal],
            C=C,
            edge_weights="free" if pairs == "all pairs" else "nonnegative",
            tol=1e-2,
            max_iter=settings.max_iter,
        ).fit(made[known], labels[known])
        for C in settings.grid
    ]
    by_auc = [copy.copy(fit).set_params(measure=AUC()) for fit in fits]
    ranker = fits[int(np.argmax([fit.score(made[last], labels[last]) for fit in by_auc]))]
    seconds = time.perf_counter() - start
    test, truth = made[held_out], labels[held_out]
    scores = {
        name: copy.copy(ranker).set_params(measure=GOALS[name]).decision_function(test)
        for name in ("AUC", "binned", "AUC@k")
    }
    sets = copy.copy(ranker).set_params(measure=UnnestedAUC())
    rows = []
    for graph, y in enumerate(truth):
        full, binned, top = (scores[name][graph] for name in ("AUC", "binned", "AUC@k"))
        row: Row = {"pairs": pairs, "trained_for": goal, "graph": graph, "C": ranker.C}
        row["AUC"] = binned_auc_score(y, full, bin_sizes=1)
        for name, credit in (("1/2", 0.5), ("1", 1.0)):
            row[f"binned, {name}"] = binned_auc_score(
                y, binned, bin_sizes=SIZE, in_bin_credit=credit
            )
            row[f"AUC@k, {name}"] = auc_at_k_score(y, top, k=SIZE, in_bin_credit=credit)
        row["unnested"] = sets.score([test[graph]], [y])
        row["seconds"] = seconds
        rows.append(row)
    return rows


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate means and standard errors over the test graphs."""

    def values(pairs: str, goal: str, column: str) -> FloatArray:
        chosen = [row for row in rows if (row["pairs"], row["trained_for"]) == (pairs, goal)]
        return 100 * np.array([row[column] for row in chosen])

    table = []
    for pairs, goal in cells(settings):
        line = [f"{pairs}, trained for {goal}"]
        for name in COLUMNS:
            found = values(pairs, goal, name)
            line.append(f"{found.mean():.1f} ± {standard_error(found):.1f}")
        beside = ["", "", ""]
        if (pairs, goal) != ("all pairs", "AUC"):
            apart = values(pairs, goal, "AUC") - values("all pairs", "AUC", "AUC")
            beside = [f"{apart.mean():+.2f}", *tests_of(apart, 0.0)]
        first = next(r for r in rows if (r["pairs"], r["trained_for"]) == (pairs, goal))
        table.append([*line, *beside, f"{first['C']:g}", f"{first['seconds']:.1f}"])
    header = ["model", *(f"{name} (%)" for name in COLUMNS), "AUC minus all pairs, AUC"]
    return "\n\n".join(
        [
            f"# Generated contours: {settings.n_train} graphs for training, {settings.n_test} for "
            "testing",
            markdown_table([*header, "p, Wilcoxon", "p, t", "C", "all fits (s)"], table),
            "A task of the kind for which the paper proposes the unnested AUC; it has no printed "
            f"numbers. Bins of {SIZE}, k = {SIZE}. C from {', '.join(f'{C:g}' for C in settings.grid)} "
            f"by the AUC of {settings.n_train} further graphs. ± is one standard error over "
            "the test graphs; differences of AUC are tested over the same graphs, by Wilcoxon's and "
            "the paired t test (one training set: nothing to correct). Pairs inside a bin count one "
            "half or, as published, 1. Every column ranks anew with the trained weights: conflicts "
            "repel, so that rankings are local optima and unnested sets, solved size by size, need not "
            "be nested.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Section 5: unnested AUC on generated contours (ours)",
    settings={
        "full": Settings(12, 40, 12),
        "quick": Settings(6, 12, 8),
        "tiny": Settings(2, 2, 2, (10.0,)),
    },
    tolerance=dict.fromkeys(COLUMNS, 1e-6),
    cheap=("attracting", "AUC"),
    cells=cells,
    compute=compute,
    report=report,
)
