r"""Prediction (7a), loss-augmented (7b) and consistent (7c) rankings of Rosenfeld et al. (2014).

A fractional ranking enters scores and features only through its masses

.. math:: m_i = \sum_k \omega_k z_{ki}, \qquad m_{ij} = \sum_k \omega_k z_{ki} z_{kj} = \min(m_i,
m_j),

so that its score is :math:`\sum_i m_i u_i + \sum_{ij} m_{ij} c_{ij}`. No n x n matrix is formed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba.structured._high_order import CliqueTerm, TermLayout
from aucuba.structured._measures import Measure, Rows, merge_rounding_ties, ranking_mass
from aucuba.structured._mixed_signs import mixed_sign_scores, solve_rows
from aucuba.structured._total_variation import solve_variation


@dataclass(frozen=True)
class Ranking:
    """Masses of items, pairs and high-order terms, and the score of every graph's ranking."""

    node_mass: FloatArray
    edge_mass: FloatArray
    value: FloatArray
    term_mass: FloatArray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class RankingBatch:
    r"""Graphs laid end to end: one block-diagonal graph that records the graph of each node.

    `predict` maximises the score of a ranking, `loss_augmented` adds :math:`P N (1 - \mathrm{AUC})` up
    to a constant, and `consistent` puts all positives first. One call of the total-variation solver
    solves all attractive graphs; a graph with a repelling pair is solved by its linear program.

    Attributes
    ----------
    edges : array of shape (n_edges, 2)
        Node numbers count through all graphs.
    node_graph, edge_graph : arrays of int
        Graph of each node and edge, both non-decreasing.
    n_graphs : int
    measure : Measure
    terms : tuple of CliqueTerm
        Their item numbers count within their graph.
    term_graph : array of int
        Graph of each term, non-decreasing.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.structured import AUC
    >>> from aucuba.structured._inference import RankingBatch
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
    terms: tuple[CliqueTerm, ...] = ()
    term_graph: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of nodes of each graph."""
        return np.bincount(self.node_graph, minlength=self.n_graphs)

    @cached_property
    def first_node(self) -> IntArray:
        """First node of each graph."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def position_weight(self) -> FloatArray:
        """Weight of every position, graph after graph."""
        sizes, number = np.unique(self.sizes, return_inverse=True)
        weights = [self.measure.rows(int(size)).position_weight() for size in sizes]
        return np.concatenate([weights[index] for index in number]) if number.size else np.zeros(0)

    @property
    def counts_every_pair(self) -> bool:
        """Whether the measure is the AUC: every position is a bin of its own."""
        sizes = np.unique(self.sizes).tolist()
        return all(self.measure.bin_sizes(size).max(initial=1.0) == 1.0 for size in sizes)

    def predict(
        self, unary: FloatArray, coupling: FloatArray, strength: FloatArray | None = None
    ) -> Ranking:
        """Find the best ranking of every graph, Eq. (7a).

        Parameters
        ----------
        unary : array of shape (n_nodes,)
            Scores of the items.
        coupling : array of shape (n_edges,)
            What a pair adds to a row that contains both items.
        strength : array of shape (n_terms,), optional
            Non-negative factors of the high-order terms; ones by default.
        """
        return self._solve(unary, coupling, None, strength)

    def loss_augmented(
        self,
        unary: FloatArray,
        coupling: FloatArray,
        price: FloatArray,
        strength: FloatArray | None = None,
    ) -> Ranking:
        """Find the best ranking with the loss added, Eq. (7b), which lowers the score of positives.

        It lowers them by 1 if joint features are divided by P N, else by 1 / (P N).
        """
        return self._solve(unary - price, coupling, None, strength)

    def consistent(
        self,
        unary: FloatArray,
        coupling: FloatArray,
        positive: BoolArray,
        strength: FloatArray | None = None,
    ) -> Ranking:
        """Find the best ranking with all positives above all negatives, Eq. (7c).

        This splits into two problems: the positives alone, and the negatives once all positives are in
        the row.
        """
        return self._solve(unary, coupling, positive, strength)

    def scores(
        self, unary: FloatArray, coupling: FloatArray, strength: FloatArray | None = None
    ) -> FloatArray:
        """Score the items so that their order is the predicted ranking, with tied blocks.

        A graph with a repelling pair gets the scores of `mixed_sign_scores`.
        """
        repelled = self._repelled(coupling)
        easy = ~repelled[self.edge_graph]
        scores = self._item_scores(unary, coupling, easy, None, strength)
        merged = merge_rounding_ties(scores, self.node_graph)
        for graph in np.flatnonzero(repelled).tolist():
            merged[self.node_graph == graph] = mixed_sign_scores(
                *self.problem(graph, unary, coupling), measure=self.measure
            )
        return merged

    def problem(
        self, graph: int, unary: FloatArray, coupling: FloatArray
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return unary scores, edges and couplings of one graph."""
        first, last = np.searchsorted(self.node_graph, [graph, graph + 1])
        low, high = np.searchsorted(self.edge_graph, [graph, graph + 1])
        return unary[first:last], self.edges[low:high] - first, coupling[low:high]

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Cut one number per node into one array per graph."""
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def rankings(self, ranking: Ranking) -> list[Ranking]:
        """Cut a ranking of the batch into those of the graphs."""
        count = np.arange(self.n_graphs + 1)
        nodes, edges, terms = (
            np.searchsorted(graph, count)
            for graph in (self.node_graph, self.edge_graph, self.term_graph)
        )
        return [
            Ranking(
                ranking.node_mass[nodes[graph] : nodes[graph + 1]],
                ranking.edge_mass[edges[graph] : edges[graph + 1]],
                ranking.value[[graph]],
                ranking.term_mass[terms[graph] : terms[graph + 1]],
            )
            for graph in range(self.n_graphs)
        ]

    def _solve(
        self,
        unary: FloatArray,
        coupling: FloatArray,
        positive: BoolArray | None,
        strength: FloatArray | None,
    ) -> Ranking:
        inner, collapsed = self._collapse(unary, coupling, positive)
        repelled = self._repelled(np.where(inner, coupling, 0.0))
        easy = inner & ~repelled[self.edge_graph]
        score = self._item_scores(collapsed, coupling, easy, positive, strength)
        node_mass = ranking_mass(score, self.node_graph, self.position_weight, positive)
        edge_mass = node_mass[self.edges].min(axis=1)
        for graph in np.flatnonzero(repelled).tolist():
            for members, rows in self._parts(graph, positive):
                own, edges = self._inner_edges(members, inner)
                solved = solve_rows(
                    collapsed[members], edges, coupling[own], rows, nested=self.measure.nested
                )
                node_mass[members] = rows.weight @ solved.rows
                edge_mass[own] = rows.weight @ solved.pair_rows
            across = np.flatnonzero((self.edge_graph == graph) & ~inner)
            edge_mass[across] = node_mass[self.edges[across]].min(axis=1)
        value: FloatArray = np.bincount(
            self.node_graph, node_mass * unary, minlength=self.n_graphs
        ).astype(np.float64)
        value += np.bincount(self.edge_graph, edge_mass * coupling, minlength=self.n_graphs)
        term_mass = self._term_mass(node_mass)
        if self.terms:
            gained = term_mass if strength is None else term_mass * strength
            value += np.bincount(self.term_graph, gained, minlength=self.n_graphs)
        return Ranking(node_mass, edge_mass, value, term_mass)

    def _repelled(self, coupling: FloatArray) -> BoolArray:
        """Return a mask of the graphs with a repelling pair."""
        repelled = np.zeros(self.n_graphs, dtype=bool)
        repelled[self.edge_graph[coupling < 0]] = True
        both = np.flatnonzero(repelled[self.term_graph])
        if both.size:
            raise ValueError(
                f"Graph {self.term_graph[both[0]]} has pairs that repel and high-order terms; only "
                "attractive pairs and terms together are ranked exactly. Use "
                "edge_weights='nonnegative', or leave out the terms."
            )
        return repelled

    def _item_scores(
        self,
        unary: FloatArray,
        coupling: FloatArray,
        used: BoolArray,
        positive: BoolArray | None,
        strength: FloatArray | None,
    ) -> FloatArray:
        """Solve the attractive problem of the used edges and all terms."""
        edges, bonds = self.edges[used], coupling[used]
        if not self.terms:
            return solve_variation(unary, edges, bonds, np.ones(unary.size))
        factors = np.ones(len(self.terms)) if strength is None else strength
        if factors.min() < 0:
            raise ValueError(
                f"strength[{int(factors.argmin())}] is {factors.min():g}: a high-order term of "
                "negative strength is not supermodular and cannot be ranked exactly."
            )
        layout = self._whole_terms if positive is None else self._split_terms(positive)
        return layout.scores(unary, edges, bonds, factors)

    @cached_property
    def _whole_terms(self) -> TermLayout:
        return self._layout(list(self.terms), list(range(len(self.terms))))

    @cached_property
    def _split_layouts(self) -> dict[bytes, TermLayout]:
        return {}

    def _split_terms(self, positive: BoolArray) -> TermLayout:
        """Lay out what positives gain alone and what negatives add to them."""
        # Training passes the same labels at every evaluation.
        key = positive.tobytes()
        if key not in self._split_layouts:
            halves: list[CliqueTerm] = []
            for term, graph in zip(self.terms, self.term_graph, strict=True):
                first, size = self.first_node[graph], self.sizes[graph]
                halves += term.split(positive[first : first + size])
            number = np.repeat(np.arange(len(self.terms)), 2).tolist()
            self._split_layouts[key] = self._layout(halves, number)
        return self._split_layouts[key]

    def _layout(self, terms: list[CliqueTerm], number: list[int]) -> TermLayout:
        first = self.first_node[self.term_graph[number]].tolist()
        return TermLayout.from_terms(terms, first, number, self.node_graph.size)

    def _term_mass(self, node_mass: FloatArray) -> FloatArray:
        parts = [
            term.extension(node_mass[first : first + size])
            for term, first, size in zip(
                self.terms,
                self.first_node[self.term_graph],
                self.sizes[self.term_graph],
                strict=True,
            )
        ]
        return np.array(parts, dtype=float)

    def _collapse(
        self, unary: FloatArray, coupling: FloatArray, positive: BoolArray | None
    ) -> tuple[BoolArray, FloatArray]:
        """Return the edges that remain, and unary scores that include the effect of the others."""
        if positive is None:
            return np.ones(len(self.edges), dtype=bool), unary
        first, second = positive[self.edges[:, 0]], positive[self.edges[:, 1]]
        mixed = first != second
        negative_end = np.where(first, self.edges[:, 1], self.edges[:, 0])[mixed]
        added = np.bincount(negative_end, coupling[mixed], minlength=unary.size)
        return ~mixed, unary + added

    def _parts(self, graph: int, positive: BoolArray | None) -> list[tuple[IntArray, Rows]]:
        """Return the problems of a graph with repelling pairs: all of it, or class by class."""
        nodes = np.flatnonzero(self.node_graph == graph)
        rows = self.measure.rows(nodes.size)
        if positive is None:
            return [(nodes, rows)]
        ahead, behind = nodes[positive[nodes]], nodes[~positive[nodes]]
        parts = [
            (ahead, Rows(np.minimum(rows.cardinality, ahead.size), rows.weight)),
            (behind, Rows(np.maximum(rows.cardinality - ahead.size, 0), rows.weight)),
        ]
        # A class without members has no problem.
        return [(members, part) for members, part in parts if members.size]

    def _inner_edges(self, members: IntArray, inner: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the edges between members, and the same in the members' own numbers."""
        number = np.full(self.node_graph.size, -1)
        number[members] = np.arange(members.size)
        own = np.flatnonzero(inner & (number[self.edges] >= 0).all(axis=1))
        return own, number[self.edges[own]]
