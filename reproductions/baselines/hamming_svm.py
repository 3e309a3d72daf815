r"""The structured SVM with the Hamming loss, ranked by max-marginals.

Rosenfeld et al. (AISTATS 2014) start from it (Eq. 2) and name it as the other way to a ranking
(Section 3): train the model of Eq. (1) for labels,

.. math::
    \min_w \tfrac12 \lVert w \rVert^2 + \frac{C}{M} \sum_m \frac{1}{n_m} \Big( \max_y \big[ s_m(y; w)
    + \lvert \{i : y_i \ne y^m_i\} \rvert \big] - s_m(y^m; w) \Big),

and rank items by :math:`\max_{y : y_i = 1} s(y) - \max_{y : y_i = 0} s(y)`, the difference of their
max-marginals. Labels and max-marginals of attractive pairs are exact, by minimum cuts; training is
block-coordinate Frank-Wolfe (Lacoste-Julien et al., ICML 2013) to a certified gap. Decided here:

- the hinge of a graph is divided by its number of items :math:`n_m`, so that large graphs do not
  outweigh small ones (for graphs of one size this only rescales C);
- a constant joins the node features, regularised like them: labels, unlike rankings, need a threshold;
- a pair adds :math:`-\tfrac12 c_{ij} \lvert y_i - y_j \rvert` with
  :math:`c_{ij} = w_\text{edge} \cdot \phi_{ij}`, non-negative weights and features, as
  `aucuba.structured.StructuredRanker` does by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow
from sklearn.base import BaseEstimator

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray
from aucuba._base._validation import check_positive_number
from aucuba.structured import RankingGraph, as_graphs, as_labels

# SciPy keeps capacities in 32 bits; a residual is the sum of both directions.
_LARGEST_CAPACITY = 2.0**28


@dataclass(frozen=True)
class Labelling:
    """The problem ``max_y u.y - 1/2 sum c_ij |y_i - y_j|`` of one graph."""

    graph: RankingGraph
    unary: FloatArray
    coupling: FloatArray

    def value(self, labels: BoolArray) -> float:
        """Score a labelling."""
        edges = self.graph.edges
        cut = labels[edges[:, 0]] != labels[edges[:, 1]]
        return float(self.unary @ labels - self.coupling @ cut / 2)

    def best(self, clamped: tuple[int, bool] | None = None) -> BoolArray:
        """Find the best labelling by a minimum cut, with the label of one item given or not."""
        n_items, edges = self.graph.n_nodes, self.graph.edges
        half = self.coupling / 2
        reach = np.bincount(edges.ravel(), np.repeat(half, 2), minlength=n_items)
        # Nothing outweighs a score beyond all pairs of an item, so larger ones can be cut off.
        gain = np.clip(self.unary, -2 * reach - 1, 2 * reach + 1)
        if clamped is not None:
            gain[clamped[0]] = (2 * reach[clamped[0]] + 1) * (1 if clamped[1] else -1)
        scale = _LARGEST_CAPACITY / (2 * reach.max(initial=0.0) + 1)
        above = gain > 0
        items = np.arange(n_items)
        tails = np.concatenate([edges.ravel(), np.where(above, n_items, items)])
        heads = np.concatenate([edges[:, ::-1].ravel(), np.where(above, items, n_items + 1)])
        capacity = np.concatenate([np.repeat(half, 2), np.abs(gain)])
        places = (tails.astype(np.int32), heads.astype(np.int32))
        shape = (n_items + 2, n_items + 2)
        network = csr_array((np.rint(capacity * scale).astype(np.int32), places), shape=shape)
        residual = network - maximum_flow(network, n_items, n_items + 1).flow
        residual.eliminate_zeros()
        side = np.zeros(n_items + 2, dtype=bool)
        side[breadth_first_order(residual, n_items, return_predecessors=False)] = True
        return side[:n_items]

    def max_marginals(self) -> FloatArray:
        """Return what each item's best labelling with it has over the best without it."""
        if not self.graph.n_edges:
            return self.unary
        best = self.best()
        top = self.value(best)
        others = [self.value(self.best((item, not best[item]))) for item in range(best.size)]
        return np.where(best, 1.0, -1.0) * (top - np.array(others))


class _Dual:
    """The dual of the training problem: one vector and one loss per graph, means over labellings."""

    def __init__(self, graphs: list[RankingGraph], truth: list[BoolArray], C: float) -> None:
        self.graphs, self.truth, self.C = graphs, truth, C
        self.n_node = graphs[0].node_features.shape[1] + 1
        self.n_edge = max((g.edge_features.shape[1] for g in graphs if g.n_edges), default=0)
        self.right = [self.joint(graph, y) for graph, y in zip(graphs, truth, strict=True)]
        self.vectors = np.zeros((len(graphs), self.n_node + self.n_edge))
        self.losses = np.zeros(len(graphs))

    def weights(self) -> FloatArray:
        """Return the primal weights, those of pairs clipped at zero."""
        total = self.vectors.sum(axis=0)
        total[self.n_node :] = np.maximum(total[self.n_node :], 0.0)
        return total

    def joint(self, graph: RankingGraph, labels: BoolArray) -> FloatArray:
        """Return the features of a labelling, the constant's after those of the nodes."""
        cut = labels[graph.edges[:, 0]] != labels[graph.edges[:, 1]]
        pairs = -graph.edge_features.T @ cut / 2 if graph.n_edges else np.zeros(self.n_edge)
        return np.concatenate([graph.node_features.T @ labels, [labels.sum()], pairs])

    def corner(self, index: int, weights: FloatArray) -> tuple[FloatArray, float]:
        """Find the labelling of one graph that is worst with the loss added."""
        graph, y = self.graphs[index], self.truth[index]
        problem = labelling(graph, weights, self.n_node)
        worst = Labelling(graph, problem.unary + np.where(y, -1.0, 1.0), problem.coupling).best()
        scale = self.C / len(self.graphs) / graph.n_nodes
        vector = scale * (self.right[index] - self.joint(graph, worst))
        return vector, scale * float(np.sum(worst != y))

    def sweep(self, order: Any) -> None:
        """Step once in every block."""
        for index in order:
            weights = self.weights()
            vector, loss = self.corner(index, weights)
            away = self.vectors[index] - vector
            gap, length = weights @ away - self.losses[index] + loss, away @ away
            step = float(np.clip(gap / length, 0.0, 1.0)) if length > 0 else float(gap > 0)
            self.vectors[index] -= step * away
            self.losses[index] += step * (loss - self.losses[index])

    def bounds(self) -> tuple[float, float]:
        """Return the primal and the dual value."""
        weights = self.weights()
        half = float(weights @ weights) / 2
        corners = [self.corner(index, weights) for index in range(len(self.graphs))]
        hinge = sum(loss - float(weights @ vector) for vector, loss in corners)
        return half + hinge, float(self.losses.sum()) - half


def labelling(graph: RankingGraph, weights: FloatArray, n_node: int) -> Labelling:
    """Score the items and pairs of a graph; the last node weight is the constant's."""
    unary = graph.node_features @ weights[: n_node - 1] + weights[n_node - 1]
    coupling = graph.edge_features @ weights[n_node:] if graph.n_edges else np.zeros(0)
    return Labelling(graph, unary, coupling)


class HammingSVM(BaseEstimator):
    """Structured SVM of labels on graphs, trained for the Hamming loss.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss.
    tol : float, default=1e-3
        Certified gap at which to stop, in units of the loss.
    max_iter : int, default=200
        Passes over the graphs.
    random_state : int, default=0
        Order of the blocks.

    Attributes
    ----------
    coef_ : ndarray of shape (n_node_features,)
    intercept_ : float
    edge_coef_ : ndarray of shape (n_edge_features,)
        At least 0.
    objective_, gap_ : float
        Value of the training objective, and its certified distance from the optimum over C.
    n_iter_ : int
    """

    def __init__(
        self, C: float = 1.0, *, tol: float = 1e-3, max_iter: int = 200, random_state: int = 0
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, graphs: Sequence[RankingGraph], labels: Sequence[ArrayLike]) -> HammingSVM:
        """Train on graphs with binary labels of their nodes."""
        check_positive_number(self.C, "C")
        check_positive_number(self.tol, "tol")
        check_positive_number(self.max_iter, "max_iter", integer=True)
        listed = as_graphs(graphs)
        truth = as_labels(labels, listed)
        if min(graph.edge_features.min(initial=0.0) for graph in listed) < 0:
            raise ValueError("HammingSVM needs edge features of at least 0.")
        dual = _Dual(listed, truth, float(self.C))
        rng = np.random.default_rng(self.random_state)
        self.gap_, self.n_iter_ = np.inf, 0
        while self.gap_ > self.tol and self.n_iter_ < self.max_iter:
            dual.sweep(rng.permutation(len(listed)))
            self.objective_, bound = dual.bounds()
            self.gap_ = (self.objective_ - bound) / self.C
            self.n_iter_ += 1
        node, self.edge_coef_ = np.split(dual.weights(), [dual.n_node])
        self.coef_, self.intercept_ = node[:-1], float(node[-1])
        return self

    def decision_function(self, graphs: Sequence[RankingGraph]) -> list[FloatArray]:
        """Return the differences of max-marginals of all items."""
        return [self._fitted(graph).max_marginals() for graph in as_graphs(graphs)]

    def predict(self, graphs: Sequence[RankingGraph]) -> list[BoolArray]:
        """Return the best labels."""
        return [self._fitted(graph).best() for graph in as_graphs(graphs)]

    def _fitted(self, graph: RankingGraph) -> Labelling:
        weights = np.concatenate([self.coef_, [self.intercept_], self.edge_coef_])
        return labelling(graph, weights, self.coef_.size + 1)
