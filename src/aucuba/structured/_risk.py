r"""The structured hinge loss, Eq. (6) of Rosenfeld et al. (2014): a difference of convex functions.

.. math::
    R(w) = \frac{1}{M} \sum_m \big[ A_m(w) - B_m(w) \big], \quad
    A_m = \max_z \big[ w \cdot \varphi_m(z) + \Delta_m(z) \big], \quad
    B_m = \max_{\hat z \sim y_m} w \cdot \varphi_m(\hat z)

With ``graph_weight="pairs"`` the joint features :math:`\varphi_m` are divided by :math:`P_m N_m`, so
that the loss :math:`\Delta_m = 1 - \mathrm{AUC}` lowers the score of a positive item by one; without
edges :math:`A_m - B_m` is the mean pairwise hinge with margin 1. With "printed" they are the plain sums
over the rows of Eq. (3), and the loss lowers a positive by :math:`1 / (P_m N_m)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.structured._inference import Ranking, RankingBatch
from aucuba.structured._measures import AUC
from aucuba.structured._terms import Terms


@dataclass(frozen=True)
class StructuredRisk:
    """R(w), its value and a subgradient.

    Attributes
    ----------
    batch : RankingBatch
    terms : Terms
    positive : array of bool, shape (n_nodes,)
        Every graph has both classes.
    weight : array of shape (n_graphs,)
        Weights of the graphs in the mean; they sum to one over the whole data set.
    objective : {"consistent", "fixed", "ramp"}
        The ranking whose score is subtracted: the best consistent one (7c), ``fixed`` (convex), or the
        prediction (7a), which gives the ramp loss.
    graph_weight : {"pairs", "printed"}
        Whether joint features are divided by the number of pairs of their graph.
    fixed : Ranking, optional
    """

    batch: RankingBatch
    terms: Terms
    positive: BoolArray
    weight: FloatArray
    objective: str = "consistent"
    graph_weight: str = "pairs"
    fixed: Ranking | None = None

    @property
    def is_convex(self) -> bool:
        """Whether the risk is convex: with a fixed reference, or for the AUC of items alone.

        The latter is the pairwise hinge. With bins, even the problem without edges is not convex.
        """
        structured = len(self.batch.edges) or self.batch.terms
        alone = self.objective == "consistent" and not structured
        return self.objective == "fixed" or (alone and self.batch.counts_every_pair)

    def reference(self, weights: FloatArray) -> Ranking:
        """Return the ranking whose score is subtracted."""
        if self.fixed is not None:
            return self.fixed
        score = self.terms.scores(weights)
        if self.objective == "ramp":
            return self.batch.predict(*score)
        return self.batch.consistent(score.unary, score.coupling, self.positive, score.strength)

    def with_fixed(self, reference: Ranking) -> StructuredRisk:
        """Return the convex risk that equals this one wherever ``reference`` is best."""
        return replace(self, objective="fixed", fixed=reference)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return R(w) and a subgradient (the difference of two, if R is not convex)."""
        loss, worst = self.worst(weights)
        psi = self.joint(self.reference(weights)) - worst
        return float(loss - weights @ psi), -psi

    def worst(self, weights: FloatArray) -> tuple[float, FloatArray]:
        r"""Return the mean loss and the mean joint feature of the loss-augmented rankings.

        A plane of the first part: :math:`A(v) \ge \text{loss} + v \cdot \varphi`, exact at
        ``weights``.
        """
        score = self.terms.scores(weights)
        graph, n_graphs = self.batch.node_graph, self.batch.n_graphs
        price = self.positive.astype(np.float64)
        if self.graph_weight == "printed":
            price /= self.n_pairs[graph]
        worst = self.batch.loss_augmented(score.unary, score.coupling, price, score.strength)
        positives = np.bincount(graph, self.positive, minlength=n_graphs)
        mass = np.bincount(graph, worst.node_mass * self.positive, minlength=n_graphs)
        # 1 - AUC = 1 - (mass of the positives - P^2 / 2) / (P N)
        per_pair = self.weight / self.n_pairs
        loss = self.weight.sum() + per_pair @ (positives**2 / 2 - mass)
        return float(loss), self.joint(worst)

    def joint(self, ranking: Ranking) -> FloatArray:
        """Return the weighted mean of the joint features of the graphs."""
        batch = self.batch
        scale = self.weight if self.graph_weight == "printed" else self.weight / self.n_pairs
        scaled = Ranking(
            ranking.node_mass * scale[batch.node_graph],
            ranking.edge_mass * scale[batch.edge_graph],
            ranking.value,
            ranking.term_mass * scale[batch.term_graph],
        )
        return self.terms.joint(scaled)

    def without_pairs(self) -> StructuredRisk:
        """Return the risk for the AUC of the items alone; the weights stay the same."""
        none = np.zeros(0, dtype=np.intp)
        batch = replace(
            self.batch,
            edges=self.batch.edges[:0],
            edge_graph=none,
            measure=AUC(),
            terms=(),
            term_graph=none,
        )
        alone = self.terms.nodes_only(self.batch.node_graph.size)
        return replace(self, batch=batch, terms=alone, objective="consistent")

    def split(self) -> list[StructuredRisk]:
        """Return one risk per graph; their values sum to this one's."""
        return [self._single(graph) for graph in range(self.batch.n_graphs)]

    def _single(self, graph: int) -> StructuredRisk:
        batch = self.batch
        nodes = np.flatnonzero(batch.node_graph == graph)
        edges = np.flatnonzero(batch.edge_graph == graph)
        terms = np.flatnonzero(batch.term_graph == graph)
        local = replace(
            batch,
            edges=batch.edges[edges] - (nodes[0] if nodes.size else 0),
            node_graph=np.zeros(nodes.size, dtype=np.intp),
            edge_graph=np.zeros(edges.size, dtype=np.intp),
            n_graphs=1,
            terms=tuple(batch.terms[index] for index in terms),
            term_graph=np.zeros(terms.size, dtype=np.intp),
        )
        return StructuredRisk(
            local,
            self.terms.take(nodes, edges, terms),
            self.positive[nodes],
            self.weight[[graph]],
            self.objective,
            self.graph_weight,
        )

    @cached_property
    def n_pairs(self) -> FloatArray:
        """Number of pairs of a positive and a negative, P N, of every graph."""
        graph = self.batch.node_graph
        positives = np.bincount(graph, self.positive, minlength=self.batch.n_graphs)
        negatives = np.bincount(graph, ~self.positive, minlength=self.batch.n_graphs)
        return (positives * negatives).astype(np.float64)
