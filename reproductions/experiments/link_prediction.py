"""Link prediction in co-author networks (bottom of Table 1 of the structured AUC paper).

For every focal author the candidates at distance two are ranked; those who become co-authors in the
next window are positive. Candidates who have written together are joined by an edge. The paper's four
scores are the basic features; the rich ones add activity, recency and strength of collaboration.

Run ``python -m reproductions.experiments.link_prediction --networks nips acl --output FILE``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression

from aucuba._core._typing import BoolArray, FloatArray
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
from reproductions.data.coauthors import (
    Authorships,
    CoauthorNetwork,
    FocalAuthor,
    coauthor_network,
    focal_authors,
    load_coauthors,
)
from reproductions.experiments._tables import markdown_table, result_parser, write_result

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
C_GRID = {"acl": (1.0, 10.0, 100.0), "nips": (0.1, 1.0, 10.0, 100.0)}
BASIC = ("Adamic-Adar", "Katz", "Jaccard", "common neighbours")


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


def run(name: str) -> str:
    """All methods on one network; the table as text."""
    start = time.perf_counter()
    data = load_coauthors(name)
    windows = [load_samples(data, *window) for window in WINDOWS[name]]
    scale = windows[0].scale()
    results, grid = _single_scores(windows[2]), C_GRID[name]
    notes = []
    for features, columns in (("basic", range(4)), ("rich", range(len(windows[0].node_names)))):
        graphs = [window.graphs(list(columns), scale) for window in windows]
        labels = [window.positive for window in windows]
        results[f"logistic regression, {features}"] = _logistic(graphs, labels)
        results[f"SVM-rank, {features}"] = _best_of_grid(graphs, labels, _svm, grid)
        for pair_score in ("together", "agree"):
            fitted: list[FloatArray] = []

            def learn(C: float, train: list[RankingGraph], y: list[BoolArray]) -> Scorer:
                ranker = StructuredRanker(C=C, pair_score=pair_score, tol=1e-3, max_iter=80)  # noqa: B023
                fitted.append(ranker.fit(train, y).edge_coef_)  # noqa: B023
                return ranker.decision_function

            results[f"pairwise ({pair_score}), {features}"] = _best_of_grid(
                graphs, labels, learn, grid
            )
            shown = "; ".join(", ".join(f"{value:.2f}" for value in coef) for coef in fitted)
            notes.append(f"{pair_score}, {features}: {shown}")
    return _report(name, windows, results, notes, time.perf_counter() - start)


Scorer = Callable[[list[RankingGraph]], list[FloatArray]]
Learner = Callable[[float, list[RankingGraph], list[BoolArray]], Scorer]


def _best_of_grid(
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


def _svm(C: float, graphs: list[RankingGraph], labels: list[BoolArray]) -> Scorer:
    qid = np.repeat(np.arange(len(graphs)), [graph.n_nodes for graph in graphs])
    X = np.concatenate([graph.node_features for graph in graphs])
    coef = svm_rank(X, np.concatenate(labels), qid, C=C, tol=1e-3).coef
    return lambda others: [graph.node_features @ coef for graph in others]


def _logistic(graphs: list[list[RankingGraph]], labels: list[list[BoolArray]]) -> FloatArray:
    X = np.concatenate([graph.node_features for graph in graphs[0]])
    model = LogisticRegression(class_weight="balanced", max_iter=1000)
    model.fit(X, np.concatenate(labels[0]))
    return aucs(labels[2], [model.decision_function(graph.node_features) for graph in graphs[2]])


def _single_scores(window: Samples) -> dict[str, FloatArray]:
    """The unsupervised baselines; the transformations of the features keep their order."""
    return {
        name: aucs(window.positive, [node[:, column] for node in window.nodes])
        for column, name in enumerate(BASIC)
    }


def _report(
    name: str,
    windows: list[Samples],
    results: dict[str, FloatArray],
    notes: list[str],
    seconds: float,
) -> str:
    rows = []
    for method, values in results.items():
        row = [
            method,
            f"{100 * values.mean():.1f} ± {100 * values.std(ddof=1) / len(values) ** 0.5:.1f}",
        ]
        kind = method.rpartition(", ")[2]
        reference = results.get(f"SVM-rank, {kind}")
        if method.startswith("pairwise") and reference is not None:
            difference = values - reference
            error = difference.std(ddof=1) / len(difference) ** 0.5
            moved = difference != 0
            p = wilcoxon(difference[moved]).pvalue if moved.any() else 1.0
            row += [f"{100 * difference.mean():+.1f} ± {100 * error:.1f}", f"{p:.1g}"]
        else:
            row += ["", ""]
        rows.append(row)
    counts = " / ".join(str(len(window.positive)) for window in windows)
    periods = "; ".join(f"{a}-{b} then {c}-{d}" for (a, b), (c, d) in WINDOWS[name])
    header = [name.upper(), "test AUC (%)", "minus SVM-rank, same features", "Wilcoxon p"]
    return "\n".join(
        [
            f"## {name.upper()}: {counts} focal authors for training / validation / test",
            "",
            markdown_table(header, rows),
            "",
            f"Graph window, then window of new links, for training, validation and test: {periods}. "
            "Papers with at most 25 authors. A focal author counts if it has two or more candidates at "
            "distance two and new links to some but not all of them. C from "
            + ", ".join(f"{C:g}" for C in C_GRID[name])
            + ", chosen on the validation window. ± is one standard error over focal authors; "
            "differences are paired.",
            "",
            "Edge weights by C (presence, balance of degrees, joint papers, recent joint papers): "
            + " | ".join(notes)
            + ".",
            "",
            f"Run time {seconds:.0f} s.",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the networks named and write their tables."""
    parser = result_parser(__doc__)
    parser.add_argument("--networks", nargs="+", choices=("nips", "acl"), default=["nips", "acl"])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)
    parts = ["# Link prediction: mean AUC over focal authors"]
    parts += [run(name) for name in options.networks]
    write_result("\n\n".join(parts), "link_prediction", options.output)


if __name__ == "__main__":
    main()
