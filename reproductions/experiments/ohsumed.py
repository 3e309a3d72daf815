"""Document retrieval on OHSUMED (top of Table 1 of the structured AUC paper).

Documents of a query are ranked; labels 1 and 2 are relevant. The unstructured model is the SVM for the
mean AUC of the queries. The paper joins the 100 most similar pairs of documents of a query by text;
that relation is not available, so pairs are joined by the cosine of their feature vectors, which is all
that can be computed here.

``python -m reproductions ohsumed``
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray
from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker
from reproductions.baselines import svm_rank
from reproductions.data.ohsumed import N_FOLDS, Queries, ohsumed_split
from reproductions.experiment import Cell, Experiment, Row
from reproductions.tables import markdown_table

N_PAIRS = 100
PAPER = {"SVM-rank": (63.1, 64.9, 65.1, 60.9, 61.6), "pairwise": (65.2, 67.5, 68.3, 61.0, 62.0)}


@dataclass(frozen=True)
class Settings:
    """Values of C, folds and limits."""

    grid: tuple[float, ...]
    n_folds: int
    max_iter: int
    n_queries: int


def document_graphs(
    queries: Queries, n_queries: int | None = None
) -> tuple[list[RankingGraph], list[BoolArray]]:
    """Make one graph per query with both classes, its most similar documents joined.

    Edge features are the cosine above the weakest kept pair, 1, and 1 over the root of the degrees.
    """
    graphs, labels = [], []
    for query in np.unique(queries.qid)[:n_queries]:
        rows = queries.qid == query
        relevant = queries.grade[rows] > 0
        if relevant.all() or not relevant.any():
            continue
        X = queries.X[rows]
        graphs.append(RankingGraph(X, *_similar_pairs(X)))
        labels.append(relevant)
    return graphs, labels


def _similar_pairs(X: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The pairs with the largest cosine, and their features."""
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    cosine = unit @ unit.T
    first, second = np.triu_indices(len(X), k=1)
    values = cosine[first, second]
    best = np.argsort(-values, kind="stable")[:N_PAIRS]
    edges = np.stack([first[best], second[best]], axis=1)
    degree = np.bincount(edges.ravel(), minlength=len(X))
    balance = 1.0 / np.sqrt(degree[edges[:, 0]] * degree[edges[:, 1]])
    above = values[best] - values[best].min()
    return edges, np.stack([np.ones(best.size), above, balance], axis=1)


def mean_auc(labels: list[BoolArray], scores: list[FloatArray]) -> float:
    """Mean AUC of the queries, ties one half."""
    values = [
        binned_auc_score(relevant, score, bin_sizes=1)
        for relevant, score in zip(labels, scores, strict=True)
    ]
    return float(np.mean(values))


def cells(settings: Settings) -> list[Cell]:
    """List the folds of LETOR."""
    return [(fold,) for fold in range(1, settings.n_folds + 1)]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Test both models in one fold, with C chosen on the validation queries."""
    (fold,) = cell
    start = time.perf_counter()
    parts = [document_graphs(queries, settings.n_queries) for queries in ohsumed_split(fold)]
    (train, train_y), (valid, valid_y), (test, test_y) = parts
    X = np.concatenate([graph.node_features for graph in train])
    qid = np.repeat(np.arange(len(train)), [graph.n_nodes for graph in train])
    y = np.concatenate(train_y)
    best: dict[str, tuple[float, float, float]] = {}
    for C in settings.grid:
        coef = svm_rank(X, y, qid, C=C, tol=1e-3).coef
        ranker = StructuredRanker(C=C, tol=1e-3, max_iter=settings.max_iter).fit(train, train_y)
        results = {
            "SVM-rank": [
                mean_auc(labels, [graph.node_features @ coef for graph in graphs])
                for graphs, labels in ((valid, valid_y), (test, test_y))
            ],
            "pairwise": [
                mean_auc(labels, ranker.decision_function(graphs))
                for graphs, labels in ((valid, valid_y), (test, test_y))
            ],
        }
        for name, (validation, held_out) in results.items():
            weight = float(ranker.edge_coef_.sum()) if name == "pairwise" else 0.0
            best[name] = max(best.get(name, (0.0, 0.0, 0.0)), (validation, held_out, weight))
    row: Row = {"fold": fold, "SVM-rank": best["SVM-rank"][1], "pairwise": best["pairwise"][1]}
    return [row | {"edge weight": best["pairwise"][2], "seconds": time.perf_counter() - start}]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate the folds beside the paper's numbers."""
    table = [
        [
            f"Fold {row['fold']}",
            f"{100 * row['SVM-rank']:.1f}",
            f"{100 * row['pairwise']:.1f}",
            f"{row['edge weight']:.3f}",
            *(str(PAPER[name][row["fold"] - 1]) for name in PAPER),
        ]
        for row in rows
    ]
    mean = {name: np.mean([row[name] for row in rows]) for name in (*PAPER, "edge weight")}
    shown = [f"{100 * mean[name]:.1f}" for name in PAPER]
    table.append(["Average", *shown, f"{mean['edge weight']:.3f}", "63.1", "64.8"])
    header = [
        "OHSUMED",
        "SVM-rank",
        "pairwise",
        "edge weights",
        "paper SVM-rank",
        "paper pairwise",
    ]
    return "\n".join(
        [
            "# OHSUMED: mean AUC of the queries, test parts of the five LETOR folds",
            "",
            markdown_table(header, table),
            "",
            "C is chosen on the validation part of each fold from "
            + ", ".join(f"{C:g}" for C in settings.grid)
            + ". The paper joins documents by a text similarity that is not available; here the 100 "
            "pairs of a query with the largest cosine of the 45 features are joined. Run time "
            f"{sum(row['seconds'] for row in rows):.0f} s.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Table 1 (a): document retrieval on OHSUMED",
    data=("ohsumed",),
    settings={
        "full": Settings((10.0, 100.0, 1000.0), N_FOLDS, 100, 106),
        "quick": Settings((10.0, 100.0), 2, 30, 106),
        "tiny": Settings((100.0,), 1, 5, 8),
    },
    cells=cells,
    compute=compute,
    report=report,
)
