r"""The structured hinge loss of a data set, a difference of convex functions.

.. math::
    R(w) = \frac{1}{M} \sum_m \big[ A_m(w) - B_m(w) \big], \quad
    A_m = \max_z \big[ w \cdot \varphi_m(z) + \Delta_m(z) \big], \quad
    B_m = \max_{\hat z \sim y_m} w \cdot \varphi_m(\hat z)

The joint features :math:`\varphi_m` are divided by :math:`P_m N_m`, so that the loss
:math:`\Delta_m = 1 - \mathrm{AUC}` lowers the score of a positive item by exactly one. Without edges
:math:`A_m - B_m` is the mean pairwise hinge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray, IntArray
from aucuba.structured._inference import Ranking, RankingBatch


class Terms(Protocol):
    """How weights become scores of items and pairs, and masses become features."""

    def unary(self, weights: FloatArray) -> FloatArray: ...

    def coupling(self, weights: FloatArray) -> FloatArray: ...

    def joint(self, node_mass: FloatArray, edge_mass: FloatArray) -> FloatArray: ...

    def take(self, nodes: IntArray, edges: IntArray) -> Terms: ...


@dataclass(frozen=True)
class FeatureTerms:
    """Linear scores of node features, then of edge features."""

    node_features: FloatArray
    edge_features: FloatArray

    def unary(self, weights: FloatArray) -> FloatArray:
        return self.node_features @ weights[: self.node_features.shape[1]]

    def coupling(self, weights: FloatArray) -> FloatArray:
        return self.edge_features @ weights[self.node_features.shape[1] :]

    def joint(self, node_mass: FloatArray, edge_mass: FloatArray) -> FloatArray:
        return np.append(self.node_features.T @ node_mass, self.edge_features.T @ edge_mass)

    def take(self, nodes: IntArray, edges: IntArray) -> FeatureTerms:
        return FeatureTerms(self.node_features[nodes], self.edge_features[edges])


@dataclass(frozen=True)
class AgreementTerms:
    r"""Pairs that pay for being apart, :math:`-\tfrac12 c_{ij} \lvert z_i - z_j \rvert`.

    The same as a pair that gains :math:`c_{ij} z_i z_j` after half of every coupling is taken from
    both of its ends, so that an item does not rise only because it has many neighbours.
    """

    terms: Terms
    edges: IntArray

    def unary(self, weights: FloatArray) -> FloatArray:
        own = self.terms.unary(weights)
        half = np.repeat(self.terms.coupling(weights) / 2, 2)
        return own - np.bincount(self.edges.ravel(), half, minlength=own.size)

    def coupling(self, weights: FloatArray) -> FloatArray:
        return self.terms.coupling(weights)

    def joint(self, node_mass: FloatArray, edge_mass: FloatArray) -> FloatArray:
        apart = edge_mass - node_mass[self.edges].mean(axis=1)
        return self.terms.joint(node_mass, apart)

    def take(self, nodes: IntArray, edges: IntArray) -> AgreementTerms:
        number = np.zeros(int(nodes.max(initial=-1)) + 1, dtype=np.intp)
        number[nodes] = np.arange(nodes.size)
        return AgreementTerms(self.terms.take(nodes, edges), number[self.edges[edges]])


@dataclass(frozen=True)
class StructuredRisk:
    """R(w), its value and a subgradient.

    Attributes
    ----------
    batch : RankingBatch
    terms : Terms
    positive : array of bool, shape (n_nodes,)
        Every graph has both classes.
    share : array of shape (n_graphs,)
        Weight of every graph in the mean; they sum to one over the whole data set.
    objective : {"consistent", "fixed", "ramp"}
        What is subtracted: the best consistent ranking (7c), the ranking ``fixed`` (convex), or the
        prediction (7a), which makes the ramp loss.
    fixed : Ranking, optional
    """

    batch: RankingBatch
    terms: Terms
    positive: BoolArray
    share: FloatArray
    objective: str = "consistent"
    fixed: Ranking | None = None

    @property
    def is_convex(self) -> bool:
        """True for a fixed reference, and for the AUC without edges (the pairwise hinge).

        With coarser bins even a problem without edges is a difference of convex functions.
        """
        alone = self.objective == "consistent" and len(self.batch.edges) == 0
        return self.objective == "fixed" or (alone and self.batch.counts_every_pair)

    def reference(self, weights: FloatArray) -> Ranking:
        """The ranking whose score is subtracted."""
        if self.fixed is not None:
            return self.fixed
        unary, coupling = self.terms.unary(weights), self.terms.coupling(weights)
        if self.objective == "ramp":
            return self.batch.predict(unary, coupling)
        return self.batch.consistent(unary, coupling, self.positive)

    def with_fixed(self, reference: Ranking) -> StructuredRisk:
        """The convex risk that touches this one where ``reference`` is best."""
        return replace(self, objective="fixed", fixed=reference)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """R(w) and a subgradient (where R is not convex, the difference of two)."""
        loss, worst = self.worst(weights)
        psi = self.joint(self.reference(weights)) - worst
        return float(loss - weights @ psi), -psi

    def worst(self, weights: FloatArray) -> tuple[float, FloatArray]:
        r"""Mean loss and mean joint feature of the loss-augmented rankings.

        A plane of the first part: :math:`A(v) \ge \text{loss} + v \cdot \varphi`, exact at
        ``weights``.
        """
        unary, coupling = self.terms.unary(weights), self.terms.coupling(weights)
        worst = self.batch.loss_augmented(unary, coupling, self.positive)
        graph, n_graphs = self.batch.node_graph, self.batch.n_graphs
        positives = np.bincount(graph, self.positive, minlength=n_graphs)
        mass = np.bincount(graph, worst.node_mass * self.positive, minlength=n_graphs)
        # 1 - AUC = 1 - (mass of the positives - P^2 / 2) / (P N)
        loss = self.share.sum() + self.scale @ (positives**2 / 2 - mass)
        return float(loss), self.joint(worst)

    def joint(self, ranking: Ranking) -> FloatArray:
        """Weighted mean of the joint features of the graphs."""
        scale, batch = self.scale, self.batch
        return self.terms.joint(
            ranking.node_mass * scale[batch.node_graph],
            ranking.edge_mass * scale[batch.edge_graph],
        )

    def split(self) -> list[StructuredRisk]:
        """One risk a graph; their values sum to this one's."""
        return [self._single(graph) for graph in range(self.batch.n_graphs)]

    def _single(self, graph: int) -> StructuredRisk:
        batch = self.batch
        nodes = np.flatnonzero(batch.node_graph == graph)
        edges = np.flatnonzero(batch.edge_graph == graph)
        local = replace(
            batch,
            edges=batch.edges[edges] - (nodes[0] if nodes.size else 0),
            node_graph=np.zeros(nodes.size, dtype=np.intp),
            edge_graph=np.zeros(edges.size, dtype=np.intp),
            n_graphs=1,
        )
        return StructuredRisk(
            local,
            self.terms.take(nodes, edges),
            self.positive[nodes],
            self.share[[graph]],
            self.objective,
        )

    @cached_property
    def scale(self) -> FloatArray:
        """Weight of every graph over its number of pairs."""
        graph = self.batch.node_graph
        positives = np.bincount(graph, self.positive, minlength=self.batch.n_graphs)
        negatives = np.bincount(graph, ~self.positive, minlength=self.batch.n_graphs)
        return self.share / (positives * negatives)
