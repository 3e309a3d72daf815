r"""Pair weights that depend on the states of both ends, Eq. (1) of Rosenfeld et al. (AISTATS 2014).

A pair with features :math:`\phi_{ij}` adds to a row

.. math:: \phi_{ij} \cdot \big[ w_{11} z_i z_j + w_{00} (1 - z_i)(1 - z_j)
          + w_{10} (z_i (1 - z_j) + (1 - z_i) z_j) \big],

which is, up to a constant, a coupling and a score of both ends:

.. math:: c_{ij} = (w_{11} + w_{00} - 2 w_{10}) \cdot \phi_{ij}, \qquad
          a_{ij} = (w_{10} - w_{00}) \cdot \phi_{ij} \;\text{ on } z_i \text{ and } z_j.

Training uses the orthonormal coordinates :math:`t = (w_{11} + w_{00} - 2 w_{10}) / \sqrt6` and
:math:`f = (w_{11} - w_{00}) / \sqrt2`; the third, the mean of the weights, moves no ranking.
So the norm is that of the three weights, and :math:`t \ge 0` is all that exact ranking asks of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.structured._inference import Ranking
from aucuba.structured._terms import (
    FeatureTerms,
    RowScores,
    Terms,
    apart,
    on_both_ends,
    renumbered,
)

# Rows: both ends in the row, neither, one of them; columns: the coordinates t and f.
_BASIS = np.array([[1, 1], [1, -1], [-2, 0]]) / np.sqrt([6, 2])


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
    """Terms with two weights per edge feature, t and f; weights: nodes, t, f, high-order terms."""

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
