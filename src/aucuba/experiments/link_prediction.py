"""Link prediction in co-author networks (bottom of Table 1 of the structured AUC paper).

For every focal author the candidates at distance two are ranked; those who become co-authors in the
next window are positive. Candidates who have written together are joined by an edge. The paper's four
scores are the basic features; the rich ones add activity, recency and strength of collaboration.

Run ``python -m aucuba.experiments.link_prediction [acl|nips] [FILE]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression

from aucuba._typing import BoolArray, FloatArray
from aucuba.baselines import (
    adamic_adar,
    common_neighbours,
    jaccard,
    katz,
    resource_allocation,
    svm_rank,
)
from aucuba.baselines.link_scores import entries
from aucuba.datasets.coauthors import (
    Authorships,
    CoauthorNetwork,
    FocalAuthor,
    coauthor_network,
    focal_authors,
    load_coauthors,
)
from aucuba.experiments._tables import markdown_table, write_result
from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker

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
C_GRID = (1.0, 10.0, 100.0, 1000.0)
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
