"""Link prediction in co-author networks (bottom of Table 1 of the structured AUC paper).

For every focal author the candidates at distance two are ranked; those who become co-authors in the
next window are positive. Candidates who have written together are joined by an edge. The paper's four
scores are the basic features; the rich ones add activity, recency and strength of collaboration.

``python -m reproductions link_prediction``
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.linear_model import LogisticRegression

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker
from reproductions.baselines import (
    adamic_adar,
    common_neighbours,
    jaccard,
    katz,
    resource_allocation,
    svm_rank,
)
from reproductions.baselines.link_scores import entries
from reproductions.baselines.svm_rank import EXACT
from reproductions.data.coauthors import (
    Authorships,
    CoauthorNetwork,
    FocalAuthor,
    coauthor_network,
    focal_authors,
    load_coauthors,
)
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments._statistics import standard_error
from reproductions.paired import corrected_p, wilcoxon_p
from reproductions.tables import markdown_table

# (graph window, window of new links) for training, validation and test.
WINDOWS = {
    "acl": [
        ((2001, 2005), (2006, 2007)),
        ((2004, 2008), (2009, 2010)),
        ((2007, 2011), (2012, 2013)),
    ],
    "nips": [
        ((1998, 2002), (2003, 2007)),
        ((2003, 2007), (2008, 2012)),
        ((2008, 2012), (2013, 2017)),
    ],
}
BASIC = ("Adamic-Adar", "Katz", "Jaccard", "common neighbours")


@dataclass(frozen=True)
class Settings:
    """Networks with their values of C, and limits."""

    grids: tuple[tuple[str, tuple[float, ...]], ...]
    max_iter: int
    n_train: int | None = None

    def grid(self, network: str) -> tuple[float, ...]:
        """Look up the values of C of one network."""
        return dict(self.grids)[network]


@dataclass(frozen=True)
class Samples:
    """Ranking problems of one window with all features of nodes and edges."""

    nodes: list[FloatArray]
    edges: list[np.ndarray]
    edge_features: list[FloatArray]
    positive: list[BoolArray]
    node_names: list[str]

    def graphs(
        self, columns: Sequence[int], scale: tuple[FloatArray, FloatArray]
    ) -> list[RankingGraph]:
        """Graphs with the chosen node features, standardised by the training window."""
        centre, spread = scale
        return [
            RankingGraph(((node - centre) / spread)[:, columns], edges, features)
            for node, edges, features in zip(
                self.nodes, self.edges, self.edge_features, strict=True
            )
        ]

    def scale(self) -> tuple[FloatArray, FloatArray]:
        """Mean and spread of the node features."""
        stacked = np.concatenate(self.nodes)
        return stacked.mean(axis=0), stacked.std(axis=0) + 1e-12


def load_samples(data: Authorships, past: tuple[int, int], future: tuple[int, int]) -> Samples:
    """Build all ranking problems of one pair of windows."""
    network = coauthor_network(data.window(*past), data.n_authors)
    later = coauthor_network(data.window(*future), data.n_authors)
    problems = focal_authors(network, later)
    recent = coauthor_network(data.window(past[1] - 1, past[1]), data.n_authors)
    sizes = [problem.candidates.size for problem in problems]
    splits = np.cumsum(sizes)[:-1]
    pairs = np.concatenate(
        [np.stack([np.full(p.candidates.size, p.author), p.candidates], axis=1) for p in problems]
    )
    names, table = _node_features(network, recent, pairs, past[1])
    nodes = np.split(table, splits)
    return Samples(
        nodes,
        [problem.edges for problem in problems],
        [_edge_features(network, recent, problem) for problem in problems],
        [problem.positive for problem in problems],
        names,
    )


def _node_features(
    network: CoauthorNetwork, recent: CoauthorNetwork, pairs: np.ndarray, end: int
) -> tuple[list[str], FloatArray]:
    """The paper's four scores first, then activity, recency and strength."""
    graph = network.adjacency
    target = pairs[:, 1]
    degree, papers = graph.sum(axis=1), network.papers.sum(axis=1)
    strength = _weighted_paths(network.joint, degree, pairs)
    fresh = _weighted_paths(recent.joint, degree, pairs)
    columns: dict[str, FloatArray] = {
        "Adamic-Adar": np.log1p(adamic_adar(graph, pairs)),
        "Katz": np.log1p(katz(graph, pairs)),
        "Jaccard": np.sqrt(jaccard(graph, pairs)),
        "common neighbours": np.log1p(common_neighbours(graph, pairs)),
        "resource allocation": np.sqrt(resource_allocation(graph, pairs)),
        "degree": np.log1p(degree[target]),
        "papers": np.log1p(papers[target]),
        "recent papers": np.log1p(recent.papers.sum(axis=1)[target]),
        "years since last paper": end - network.last_year[target],
        "strength of paths": np.log1p(strength),
        "strength of recent paths": np.log1p(fresh),
        "papers per co-author": np.log1p(papers[target] / np.maximum(degree[target], 1.0)),
    }
    return list(columns), np.stack(list(columns.values()), axis=1)


def _weighted_paths(joint: csr_array, degree: FloatArray, pairs: np.ndarray) -> FloatArray:
    """Paths of length two, weighted by joint papers and by one over the degree between."""
    starts, row = np.unique(pairs[:, 0], return_inverse=True)
    middle = diags_array(1.0 / np.log(np.maximum(degree, 2.0)))
    paths = csr_array((joint[starts] @ middle) @ joint)
    return entries(paths, row, pairs[:, 1])


def _edge_features(
    network: CoauthorNetwork, recent: CoauthorNetwork, problem: FocalAuthor
) -> FloatArray:
    """Presence, balance of degrees, joint papers, and recent joint papers of two candidates."""
    edges = problem.edges
    one, other = problem.candidates[edges[:, 0]], problem.candidates[edges[:, 1]]
    degree = np.bincount(edges.ravel(), minlength=problem.candidates.size)
    balance = 1.0 / np.sqrt(degree[edges[:, 0]] * degree[edges[:, 1]])
    joint, fresh = entries(network.joint, one, other), entries(recent.joint, one, other)
    return np.stack([np.ones(len(edges)), balance, np.log1p(joint), np.log1p(fresh)], axis=1)


def aucs(positive: Sequence[BoolArray], scores: Sequence[FloatArray]) -> FloatArray:
    """AUC of every focal author, ties one half."""
    return np.array(
        [
            binned_auc_score(labels, score, bin_sizes=1)
            for labels, score in zip(positive, scores, strict=True)
        ]
    )


@lru_cache(maxsize=1)
def all_windows(network: str) -> list[Samples]:
    """Build the problems of the training, validation and test windows of one network."""
    data = load_coauthors(network)
    return [load_samples(data, *window) for window in WINDOWS[network]]


def cells(settings: Settings) -> list[Cell]:
    """List the networks and their sets of features."""
    return [(name, part) for name, _ in settings.grids for part in ("single", "basic", "rich")]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Test all methods of one set of features on one network; one row per method."""
    network, part = cell
    start = time.perf_counter()
    windows = all_windows(network)
    counts = {
        f"n_{k}": len(w.positive) for k, w in zip(("train", "valid", "test"), windows, strict=True)
    }
    if part == "single":
        found = [
            row_of(name, values)
            for name, values in single_scores(windows[2].nodes, windows[2].positive, BASIC).items()
        ]
        return [{"network": network, **counts, **row, "seconds": 0.0} for row in found]
    columns = list(range(len(BASIC) if part == "basic" else len(windows[0].node_names)))
    scale, grid = windows[0].scale(), settings.grid(network)
    graphs = [window.graphs(columns, scale) for window in windows]
    labels = [window.positive for window in windows]
    graphs[0], labels[0] = graphs[0][: settings.n_train], labels[0][: settings.n_train]
    reference = best_of_grid(graphs, labels, svm, grid)
    rows = [row_of("logistic regression", logistic(graphs, labels)), row_of("SVM-rank", reference)]
    for pair_score in ("together", "agree"):
        fitted: list[FloatArray] = []

        def learn(
            C: float,
            train: list[RankingGraph],
            y: list[BoolArray],
            score: str = pair_score,
            weights: list[FloatArray] = fitted,
        ) -> Scorer:
            ranker = StructuredRanker(C=C, pair_score=score, tol=1e-3, max_iter=settings.max_iter)
            weights.append(ranker.fit(train, y).edge_coef_)
            return ranker.decision_function

        values = best_of_grid(graphs, labels, learn, grid)
        shown = "; ".join(", ".join(f"{value:.2f}" for value in coef) for coef in fitted)
        rows.append(row_of(f"pairwise ({pair_score})", values, reference) | {"weights": shown})
    seconds = time.perf_counter() - start
    return [
        {"network": network, **counts, "features": part, **row, "seconds": seconds} for row in rows
    ]


def row_of(method: str, values: FloatArray, reference: FloatArray | None = None) -> Row:
    """Summarise the AUCs of the focal authors, and the paired difference from a reference."""
    row: Row = {"method": method, "auc": values.mean(), "auc_error": standard_error(values)}
    if reference is not None:
        difference = values - reference
        row["difference"], row["difference_error"] = difference.mean(), standard_error(difference)
        row["p"], row["p_t"] = wilcoxon_p(difference), corrected_p(difference, 0.0)
    return row


Scorer = Callable[[list[RankingGraph]], list[FloatArray]]
Learner = Callable[[float, list[RankingGraph], list[BoolArray]], Scorer]


def best_of_grid(
    graphs: list[list[RankingGraph]],
    labels: list[list[BoolArray]],
    learn: Learner,
    grid: Sequence[float],
) -> FloatArray:
    """Test AUCs of the model whose C is best on the validation window."""
    best, held_out = -1.0, np.zeros(0)
    for C in grid:
        scorer = learn(C, graphs[0], labels[0])
        validation = aucs(labels[1], scorer(graphs[1])).mean()
        if validation > best:
            best, held_out = validation, aucs(labels[2], scorer(graphs[2]))
    return held_out


def svm(C: float, graphs: list[RankingGraph], labels: list[BoolArray]) -> Scorer:
    qid = np.repeat(np.arange(len(graphs)), [graph.n_nodes for graph in graphs])
    X = np.concatenate([graph.node_features for graph in graphs])
    coef = svm_rank(X, np.concatenate(labels), qid, C=C, **EXACT).coef
    return lambda others: [graph.node_features @ coef for graph in others]


def logistic(graphs: list[list[RankingGraph]], labels: list[list[BoolArray]]) -> FloatArray:
    X = np.concatenate([graph.node_features for graph in graphs[0]])
    model = LogisticRegression(class_weight="balanced", max_iter=1000)
    model.fit(X, np.concatenate(labels[0]))
    return aucs(labels[2], [model.decision_function(graph.node_features) for graph in graphs[2]])


def single_scores(
    nodes: list[FloatArray], positive: list[BoolArray], names: tuple[str, ...]
) -> dict[str, FloatArray]:
    """Rank by single features; the transformations of the features keep their order."""
    return {
        name: aucs(positive, [node[:, column] for node in nodes])
        for column, name in enumerate(names)
    }


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate the networks one after another."""
    parts = ["# Link prediction: mean AUC over focal authors"]
    parts += [_network_report(name, rows, settings) for name, _ in settings.grids]
    return "\n\n".join(parts)


def _network_report(name: str, rows: list[Row], settings: Settings) -> str:
    rows = [row for row in rows if row["network"] == name]
    table, notes = [], []
    for row in rows:
        features = f", {row['features']}" if "features" in row else ""
        shown = [row["method"] + features, f"{100 * row['auc']:.1f} ± {100 * row['auc_error']:.1f}"]
        if "difference" in row:
            error = 100 * row["difference_error"]
            shown.append(f"{100 * row['difference']:+.1f} ± {error:.1f}")
            shown += [f"{row[name]:.2g}" for name in ("p", "p_t")]
            notes.append(f"{row['method']}{features}: {row['weights']}")
        table.append(shown + [""] * (5 - len(shown)))
    counts = " / ".join(str(rows[0][f"n_{part}"]) for part in ("train", "valid", "test"))
    periods = "; ".join(f"{a}-{b} then {c}-{d}" for (a, b), (c, d) in WINDOWS[name])
    header = [name.upper(), "test AUC (%)", "minus SVM-rank, same features"]
    header += ["p, Wilcoxon", "p, t"]
    fewer = (
        f" Training on the first {settings.n_train} focal authors only." if settings.n_train else ""
    )
    seconds = sum({row["cell"]: row["seconds"] for row in rows}.values())
    return "\n".join(
        [
            f"## {name.upper()}: {counts} focal authors for training / validation / test",
            "",
            markdown_table(header, table),
            "",
            f"Graph window, then window of new links, for training, validation and test: {periods}. "
            "Papers with at most 25 authors. A focal author counts if it has two or more candidates at "
            "distance two and new links to some but not all of them. C from "
            + ", ".join(f"{C:g}" for C in settings.grid(name))
            + ", chosen on the validation window. ± is one standard error over focal authors; "
            "differences are paired, tested by Wilcoxon's and the t test (one training window: nothing "
            f"to correct).{fewer}",
            "",
            "Edge weights by C (presence, balance of degrees, joint papers, recent joint papers): "
            + " | ".join(notes)
            + ".",
            "",
            f"Run time {seconds:.0f} s.",
        ]
    )


EXPERIMENT = Experiment(
    reproduces="AISTATS 2014, Table 1 (b): link prediction in co-author networks",
    data=("nips_coauthor", "acl_coauthor"),
    settings={
        "full": Settings((("nips", (0.1, 1.0, 10.0, 100.0)), ("acl", (1.0, 10.0, 100.0))), 80),
        "quick": Settings((("nips", (1.0, 10.0)),), 40),
        "tiny": Settings((("nips", (1.0,)),), 2, 8),
    },
    # On another processor BLAS adds in another order, and learners stop elsewhere: by up to .0032 on
    # three sets of vector instructions.
    tolerance={
        "auc": 0.005,
        "auc_error": 0.001,
        "difference": 0.005,
        "difference_error": 0.001,
        "p": 0.2,
        "p_t": 0.2,
    },
    cheap=("nips", "basic"),
    cells=cells,
    compute=compute,
    report=report,
)
