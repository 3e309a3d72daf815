"""Linear maps from weights to scores of items, pairs and high-order terms, and their transposes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.structured._inference import Ranking

# Rows: both ends, neither, one of them; columns: the coordinates t and f.
_BASIS = np.array([[1, 1], [1, -1], [-2, 0]]) / np.sqrt([6, 2])


class RowScores(NamedTuple):
    """Scores of items, couplings of pairs and strengths of high-order terms."""

    unary: FloatArray
    coupling: FloatArray
    strength: FloatArray


class Terms(ABC):
    """The linear map from weights to `RowScores`, and its transpose."""

    @abstractmethod
    def scores(self, weights: FloatArray) -> RowScores:
        """Score items, pairs and terms."""

    @abstractmethod
    def joint(self, ranking: Ranking) -> FloatArray:
        """Return the joint feature, the gradient of the score of a ranking by the weights."""

    @abstractmethod
    def take(self, nodes: IntArray, edges: IntArray, terms: IntArray) -> Terms:
        """Restrict to some nodes, edges and terms; the weights stay the same."""

    def nodes_only(self, n_nodes: int) -> Terms:
        """Drop all edges and terms."""
        none = np.zeros(0, dtype=np.intp)
        return self.take(np.arange(n_nodes), none, none)


@dataclass(frozen=True)
class FeatureTerms(Terms):
    """Linear scores of the features of nodes, edges and high-order terms, weights in that order."""

    node_features: FloatArray
    edge_features: FloatArray
    term_features: FloatArray

    def parts(self, weights: FloatArray) -> list[FloatArray]:
        """Cut the weights into those of nodes, edges and terms."""
        n_node, n_edge = self.node_features.shape[1], self.edge_features.shape[1]
        return np.split(weights, [n_node, n_node + n_edge])

    def scores(self, weights: FloatArray) -> RowScores:
        node, edge, term = self.parts(weights)
        return RowScores(
            self.node_features @ node, self.edge_features @ edge, self.term_features @ term
        )

    def joint(self, ranking: Ranking) -> FloatArray:
        return np.concatenate(
            [
                self.node_features.T @ ranking.node_mass,
                self.edge_features.T @ ranking.edge_mass,
                self.term_features.T @ ranking.term_mass,
            ]
        )

    def take(self, nodes: IntArray, edges: IntArray, terms: IntArray) -> FeatureTerms:
        return FeatureTerms(
            self.node_features[nodes], self.edge_features[edges], self.term_features[terms]
        )


@dataclass(frozen=True)
class LabelTerms(Terms):
    """Scores ``X @ W.T`` of samples and labels, and one coupling per pair of labels.

    Nodes are samples times labels, sample by sample; edges are samples times pairs. Weights are the
    rows of W, then the couplings.
    """

    X: FloatArray
    n_labels: int
    n_pairs: int
    use_pairs: bool = True

    def scores(self, weights: FloatArray) -> RowScores:
        table, pairs = np.split(weights, [self.n_labels * self.X.shape[1]])
        unary = (self.X @ table.reshape(self.n_labels, -1).T).ravel()
        coupling = np.tile(pairs, len(self.X)) if self.use_pairs else np.zeros(0)
        return RowScores(unary, coupling, np.zeros(0))

    def joint(self, ranking: Ranking) -> FloatArray:
        table = ranking.node_mass.reshape(-1, self.n_labels).T @ self.X
        if not self.use_pairs:
            return np.append(table.ravel(), np.zeros(self.n_pairs))
        pairs = ranking.edge_mass.reshape(len(self.X), self.n_pairs).sum(axis=0)
        return np.append(table.ravel(), pairs)

    def take(self, nodes: IntArray, edges: IntArray, terms: IntArray) -> LabelTerms:
        samples = np.unique(nodes // self.n_labels)
        return LabelTerms(self.X[samples], self.n_labels, self.n_pairs, edges.size > 0)


@dataclass(frozen=True)
class AgreementTerms(Terms):
    r"""Pairs that pay for being apart, :math:`-\tfrac12 c_{ij} \lvert z_i - z_j \rvert`.

    This equals a gain of :math:`c_{ij} z_i z_j` minus half of the coupling at both ends, so an item
    does not rise just because it has many neighbours.
    """

    terms: Terms
    edges: IntArray

    def scores(self, weights: FloatArray) -> RowScores:
        own = self.terms.scores(weights)
        return own._replace(unary=own.unary - on_both_ends(own.coupling / 2, self.edges, own.unary))

    def joint(self, ranking: Ranking) -> FloatArray:
        return self.terms.joint(apart(ranking, self.edges))

    def take(self, nodes: IntArray, edges: IntArray, terms: IntArray) -> AgreementTerms:
        return AgreementTerms(
            self.terms.take(nodes, edges, terms), renumbered(self.edges[edges], nodes)
        )


def to_states(coordinates: FloatArray) -> FloatArray:
    """Return the weights of both, neither and one end, from rows t and f."""
    states: FloatArray = _BASIS @ coordinates
    return states


def from_states(weights: FloatArray) -> FloatArray:
    """Return the coordinates t and f of three rows of weights."""
    coordinates: FloatArray = _BASIS.T @ weights
    return coordinates


@dataclass(frozen=True)
class StateTerms(Terms):
    r"""Pair weights that depend on the states of both ends, Eq. (1) of the structured AUC paper.

    A pair with features :math:`\phi_{ij}` adds to a row

    .. math:: \phi_{ij} \cdot \big[ w_{11} z_i z_j + w_{00} (1 - z_i)(1 - z_j)
              + w_{10} (z_i (1 - z_j) + (1 - z_i) z_j) \big],

    which is, up to a constant, a coupling and a score of both ends:

    .. math:: c_{ij} = (w_{11} + w_{00} - 2 w_{10}) \cdot \phi_{ij}, \qquad
              a_{ij} = (w_{10} - w_{00}) \cdot \phi_{ij} \;\text{ on } z_i \text{ and } z_j.

    Training uses the orthonormal coordinates :math:`t = (w_{11} + w_{00} - 2 w_{10}) / \sqrt6` and
    :math:`f = (w_{11} - w_{00}) / \sqrt2`; the third, the mean of the weights, moves no ranking.
    So the norm is that of the three weights, and exact ranking needs :math:`t \ge 0` only.

    The order of the weights is nodes, t, f, high-order terms.
    """

    features: FeatureTerms
    edges: IntArray

    def scores(self, weights: FloatArray) -> RowScores:
        node, tie, lift, term = self._parts(weights)
        own = self.features.scores(np.concatenate([node, np.sqrt(6) * tie, term]))
        ends = self.features.edge_features @ lift / np.sqrt(2) - own.coupling / 2
        return own._replace(unary=own.unary + on_both_ends(ends, self.edges, own.unary))

    def joint(self, ranking: Ranking) -> FloatArray:
        node, tie, term = self.features.parts(self.features.joint(apart(ranking, self.edges)))
        ends = ranking.node_mass[self.edges].sum(axis=1)
        lift = self.features.edge_features.T @ ends / np.sqrt(2)
        return np.concatenate([node, np.sqrt(6) * tie, lift, term])

    def take(self, nodes: IntArray, edges: IntArray, terms: IntArray) -> StateTerms:
        return StateTerms(
            self.features.take(nodes, edges, terms), renumbered(self.edges[edges], nodes)
        )

    def _parts(self, weights: FloatArray) -> list[FloatArray]:
        n_node, n_edge = self.features.node_features.shape[1], self.features.edge_features.shape[1]
        return np.split(weights, [n_node, n_node + n_edge, n_node + 2 * n_edge])


def on_both_ends(value: FloatArray, edges: IntArray, nodes: FloatArray) -> FloatArray:
    """Add up the values of the edges at every node."""
    total = np.bincount(edges.ravel(), np.repeat(value, 2), minlength=nodes.size)
    return total.astype(np.float64)


def apart(ranking: Ranking, edges: IntArray) -> Ranking:
    """Replace the mass of every pair by minus half the distance of its ends."""
    distance = ranking.edge_mass - ranking.node_mass[edges].mean(axis=1)
    return Ranking(ranking.node_mass, distance, ranking.value, ranking.term_mass)


def renumbered(edges: IntArray, nodes: IntArray) -> IntArray:
    """Renumber the ends of edges by their positions among ``nodes``."""
    number = np.zeros(int(nodes.max(initial=-1)) + 1, dtype=np.intp)
    number[nodes] = np.arange(nodes.size)
    return number[edges]
