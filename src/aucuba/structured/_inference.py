r"""Prediction (7a), loss-augmented (7b) and consistent (7c) rankings of whole data sets.

A fractional ranking enters scores and features only through its masses

.. math:: m_i = \sum_k \omega_k z_{ki}, \qquad m_{ij} = \sum_k \omega_k z_{ki} z_{kj} = \min(m_i,
m_j),

so that its score is :math:`\sum_i m_i u_i + \sum_{ij} m_{ij} c_{ij}`. No n x n matrix is formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray, IntArray
from aucuba.structured._linear_program import solve_rows
from aucuba.structured._measures import Measure, Rows
from aucuba.structured._total_variation import solve_variation


@dataclass(frozen=True)
class Ranking:
    """Masses of items and pairs, and the score of every graph's ranking."""

    node_mass: FloatArray
    edge_mass: FloatArray
    value: FloatArray


@dataclass(frozen=True)
class RankingBatch:
    r"""Graphs laid end to end: one block-diagonal graph whose nodes know their graph.

    `predict` maximises the score of a ranking, `loss_augmented` adds :math:`P N (1 - \mathrm{AUC})` up
    to a constant, and `consistent` puts all positives first. Attractive graphs share one call of the
    total-variation solver; a graph with a repelling pair is solved by its linear program.

    Attributes
    ----------
    edges : array of shape (n_edges, 2)
        Node numbers count through all graphs.
    node_graph, edge_graph : arrays of int
        Graph of each node and edge; ``node_graph`` is non-decreasing.
    n_graphs : int
    measure : Measure
    backend : {"scipy", "ortools"}

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.structured import AUC, RankingBatch
    >>> batch = RankingBatch(np.array([[0, 1]]), np.array([0, 0, 1, 1]), np.array([0]), 2, AUC())
    >>> ranking = batch.predict(np.array([2.0, 0.0, 1.0, 3.0]), np.array([1.0]))
    >>> ranking.node_mass
    array([1.5, 0.5, 0.5, 1.5])
    >>> ranking.value
    array([3.5, 5. ])
    """

    edges: IntArray
    node_graph: IntArray
    edge_graph: IntArray
    n_graphs: int
    measure: Measure
    backend: str = "scipy"

    def sizes(self) -> IntArray:
        """Number of nodes of each graph."""
        return np.bincount(self.node_graph, minlength=self.n_graphs)

    @cached_property
    def position_weight(self) -> FloatArray:
        """Weight of every position, graph after graph."""
        sizes, number = np.unique(self.sizes(), return_inverse=True)
        weights = [self.measure.rows(int(size)).position_weight() for size in sizes]
        return np.concatenate([weights[index] for index in number]) if number.size else np.zeros(0)

    @property
    def counts_every_pair(self) -> bool:
        """Whether the measure is the AUC: every position is a bin of its own."""
        sizes = np.unique(self.sizes()).tolist()
        return all(self.measure.bin_sizes(size).max(initial=1.0) == 1.0 for size in sizes)

    def predict(self, unary: FloatArray, coupling: FloatArray) -> Ranking:
        """(7a): the best ranking of every graph."""
        return self._solve(unary, coupling, None)

    def loss_augmented(
        self, unary: FloatArray, coupling: FloatArray, positive: BoolArray
    ) -> Ranking:
        """(7b): the loss lowers the score of every positive by one."""
        return self._solve(unary - positive, coupling, None)

    def consistent(self, unary: FloatArray, coupling: FloatArray, positive: BoolArray) -> Ranking:
        """(7c): the best ranking with all positives above all negatives.

        Two problems without edges between them: positives alone, and negatives for which every
        positive neighbour is already there.
        """
        return self._solve(unary, coupling, positive)

    def _solve(
        self, unary: FloatArray, coupling: FloatArray, positive: BoolArray | None
    ) -> Ranking:
        inner, collapsed = self._collapse(unary, coupling, positive)
        repelled = np.zeros(self.n_graphs, dtype=bool)
        repelled[self.edge_graph[inner & (coupling < 0)]] = True
        easy = inner & ~repelled[self.edge_graph]
        score = solve_variation(
            collapsed, self.edges[easy], coupling[easy], np.ones(unary.size), self.backend
        )
        node_mass = ranking_mass(score, self.node_graph, self.position_weight, positive)
        edge_mass = node_mass[self.edges].min(axis=1)
        for graph in np.flatnonzero(repelled).tolist():
            self._solve_by_lp(graph, collapsed, coupling, positive, inner, node_mass, edge_mass)
        value: FloatArray = np.bincount(
            self.node_graph, node_mass * unary, minlength=self.n_graphs
        ).astype(np.float64)
        value += np.bincount(self.edge_graph, edge_mass * coupling, minlength=self.n_graphs)
        return Ranking(node_mass, edge_mass, value)

    def _collapse(
        self, unary: FloatArray, coupling: FloatArray, positive: BoolArray | None
    ) -> tuple[BoolArray, FloatArray]:
        """Edges that stay, and unary scores with the evidence of the others."""
        if positive is None:
            return np.ones(len(self.edges), dtype=bool), unary
        first, second = positive[self.edges[:, 0]], positive[self.edges[:, 1]]
        mixed = first != second
        negative_end = np.where(first, self.edges[:, 1], self.edges[:, 0])[mixed]
        added = np.bincount(negative_end, coupling[mixed], minlength=unary.size)
        return ~mixed, unary + added

    def _solve_by_lp(
        self,
        graph: int,
        unary: FloatArray,
        coupling: FloatArray,
        positive: BoolArray | None,
        inner: BoolArray,
        node_mass: FloatArray,
        edge_mass: FloatArray,
    ) -> None:
        """Overwrite the masses of one graph with repelling pairs."""
        nodes = np.flatnonzero(self.node_graph == graph)
        rows = self.measure.rows(nodes.size)
        if positive is None:
            parts = [(nodes, rows)]
        else:
            ahead, behind = nodes[positive[nodes]], nodes[~positive[nodes]]
            parts = [
                (ahead, Rows(np.minimum(rows.cardinality, ahead.size), rows.weight)),
                (behind, Rows(np.maximum(rows.cardinality - ahead.size, 0), rows.weight)),
            ]
        for members, part in parts:
            number = np.full(unary.size, -1)
            number[members] = np.arange(members.size)
            own = np.flatnonzero(inner & (number[self.edges] >= 0).all(axis=1))
            solved = solve_rows(
                unary[members],
                number[self.edges[own]],
                coupling[own],
                part,
                nested=self.measure.nested,
            )
            node_mass[members] = part.weight @ solved.rows
            edge_mass[own] = part.weight @ solved.pair_rows
        across = np.flatnonzero((self.edge_graph == graph) & ~inner)
        edge_mass[across] = node_mass[self.edges[across]].min(axis=1)


def ranking_mass(
    score: FloatArray,
    graph: IntArray,
    position_weight: FloatArray,
    ahead: BoolArray | None = None,
) -> FloatArray:
    """Mass of every item when each graph is ranked by score and ties share their positions.

    Parameters
    ----------
    score : array of shape (n_nodes,)
    graph : array of shape (n_nodes,)
        Non-decreasing graph numbers.
    position_weight : array of shape (n_nodes,)
        Weights of the positions 1, 2, ... of every graph, graph after graph.
    ahead : array of bool, optional
        Items that rank before all others of their graph, whatever their score.
    """
    behind = np.zeros(score.size, dtype=bool) if ahead is None else ~ahead
    order = np.lexsort((-score, behind, graph))
    changes = np.diff(graph[order]).astype(bool)
    changes |= np.diff(behind[order].astype(np.int8)).astype(bool)
    changes |= np.diff(score[order]).astype(bool)
    starts = np.append(0, np.flatnonzero(changes) + 1) if score.size else np.zeros(0, dtype=np.intp)
    lengths = np.diff(np.append(starts, score.size))
    mass = np.empty(score.size)
    if score.size:
        mass[order] = np.repeat(np.add.reduceat(position_weight, starts) / lengths, lengths)
    return mass


def ranking_rows(score: FloatArray, rows: Rows) -> FloatArray:
    """The fractional ranking matrix of one graph ranked by score, tied blocks sharing their places."""
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan))
    lengths = np.diff(np.append(starts, score.size))
    inside = (rows.cardinality[:, None] - starts) / lengths
    matrix = np.empty((rows.cardinality.size, score.size))
    matrix[:, order] = np.repeat(np.clip(inside, 0.0, 1.0), lengths, axis=1)
    return matrix


def merge_rounding_ties(score: FloatArray, graph: IntArray) -> FloatArray:
    """Give scores of one graph that differ by rounding alone one common value.

    Different parts of a graph reach equal scores through different sums; without this the order
    of the edges would break ties.
    """
    order = np.lexsort((score, graph))
    ranked, owner = score[order], graph[order]
    largest = np.zeros(int(graph.max(initial=-1)) + 1)
    np.maximum.at(largest, graph, np.abs(score))
    apart = np.diff(ranked) > 1e-12 * largest[owner[1:]]
    starts = (
        np.append(True, apart | (np.diff(owner) > 0)) if score.size else np.zeros(0, dtype=bool)
    )
    merged = np.empty_like(score)
    merged[order] = ranked[starts][np.cumsum(starts) - 1]
    return merged
