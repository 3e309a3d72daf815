"""The estimator that ranks the items of graphs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from aucuba._core._callbacks import CallbackSupport, fit_monitor, with_callbacks
from aucuba._core._threads import one_blas_thread
from aucuba._core._typing import BoolArray, FloatArray, IntArray
from aucuba._core._validation import check_choice, check_positive_number
from aucuba.solvers import Monitor, Solution
from aucuba.structured._data import (
    GraphData,
    as_graphs,
    as_labels,
    check_nonnegative_edges,
    graph_shares,
    join,
    with_both_classes,
)
from aucuba.structured._graph import RankingGraph
from aucuba.structured._inference import merge_rounding_ties, ranking_rows
from aucuba.structured._linear_program import ranking_lp
from aucuba.structured._measures import Measure, as_measure
from aucuba.structured._mixed_signs import mixed_sign_scores
from aucuba.structured._risk import AgreementTerms, FeatureTerms, StructuredRisk, Terms
from aucuba.structured._rounding import rank_order
from aucuba.structured._total_variation import solve_variation
from aucuba.structured._training import train
from aucuba.structured._unnested import unnested_auc_score

_LOG = logging.getLogger("aucuba")


class StructuredRanker(CallbackSupport, BaseEstimator):
    r"""Rank the items of graphs so that the mean AUC of the graphs is high.

    .. math::
        \min_w \; \tfrac12 \lVert w \rVert^2 + \frac{C}{M} \sum_{m=1}^{M} \Big[
        \max_z \big( w \cdot \varphi_m(z) + 1 - \mathrm{AUC}_m(z) \big)
        - \max_{\hat z \sim y_m} w \cdot \varphi_m(\hat z) \Big]

    A ranking is a chain of sets, each scored by :math:`u \cdot z` with :math:`u_i = w_\text{node} \cdot
    \phi_i` and by its pairs with :math:`c_{ij} = w_\text{edge} \cdot \phi_{ij}`. The inner problems are
    relaxed as in the structured AUC paper and solved exactly, by total variation on the graph
    (`tv_scores`); without edges the loss is the mean pairwise hinge of the SVM for AUC.

    Parameters
    ----------
    measure : {"auc", "unnested"} or Measure, default="auc"
        What to train for and to `score`: `AUC`, `BinnedAUC`, `AUCAtK` or `UnnestedAUC`.
    C : float, default=1.0
        Weight of the loss; :math:`1 / \lambda` of the paper.
    solver : {"direct", "frank_wolfe"}, default="direct"
        L-BFGS-B and cutting planes on the objective itself, or the paper's DC algorithm with
        block-coordinate Frank-Wolfe. Both start at the optimum without edges: at zero the paper's
        algorithm is stuck.
    objective : {"consistent", "fixed", "ramp"}, default="consistent"
        What the worst ranking is compared with: the best ranking that has all positives first; the
        best such ranking at the start, which makes the problem convex; or the prediction.
    edge_weights : {"nonnegative", "free"}, default="nonnegative"
        Non-negative weights of non-negative edge features keep all pairs attractive and inference
        exact and fast. Free weights need a linear program for every graph with a repelling pair: for
        small graphs, or with `BinnedAUC`.
    pair_score : {"agree", "together"}, default="agree"
        A pair adds :math:`-\tfrac12 c_{ij} \lvert z_i - z_j \rvert` to a row, or
        :math:`c_{ij} z_i z_j`. The two differ by unary scores: "together" also lifts items with
        many neighbours.
    tol : float, default=1e-4
        Gap at which to stop, in units of the loss.
    max_iter : int, default=200
        Evaluations of the objective in each phase of the direct solver, passes over the graphs for
        Frank-Wolfe.
    backend : {"scipy", "ortools"}, default="scipy"
        Flow solver.
    random_state : int, default=0
        Order of the blocks of Frank-Wolfe.
    verbose : bool, default=False
        Log every iteration to the logger ``aucuba``; scikit-learn's callbacks (progress bars) work
        without it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_node_features,)
        Weights of the node features.
    edge_coef_ : ndarray of shape (n_edge_features,)
        Weights of the edge features.
    objective_ : float
        Value of the training objective.
    start_objective_ : float
        The same at the optimum without edges.
    gap_ : float
        Certified distance from the optimum in units of the loss; nan where the problem is not convex.
    status_ : str
        Why the solver stopped.
    n_iter_ : int
    history_ : list of dict
        One row an iteration.
    n_skipped_ : int
        Graphs with one class, left out of training.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.structured import RankingGraph, StructuredRanker
    >>> rng = np.random.default_rng(0)
    >>> labels = [np.arange(30) < 10] * 20
    >>> path = [[i, i + 1] for i in range(29)]
    >>> graphs = [RankingGraph(y + 1.5 * rng.normal(size=30), path) for y in labels]
    >>> ranker = StructuredRanker(C=10).fit(graphs[:10], labels[:10])
    >>> nodes = [RankingGraph(graph.node_features) for graph in graphs]
    >>> alone = StructuredRanker(C=10).fit(nodes[:10], labels[:10])
    >>> ranker.score(graphs[10:], labels[10:]) > alone.score(nodes[10:], labels[10:]) + 0.1
    True
    """

    def __init__(
        self,
        measure: str | Measure = "auc",
        *,
        C: float = 1.0,
        solver: str = "direct",
        objective: str = "consistent",
        edge_weights: str = "nonnegative",
        pair_score: str = "agree",
        tol: float = 1e-4,
        max_iter: int = 200,
        backend: str = "scipy",
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.C = C
        self.solver = solver
        self.objective = objective
        self.edge_weights = edge_weights
        self.pair_score = pair_score
        self.tol = tol
        self.max_iter = max_iter
        self.backend = backend
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, graphs: Any, labels: Any, sample_weight: Any = None) -> StructuredRanker:
        """Learn the weights.

        Parameters
        ----------
        graphs : list of RankingGraph
            All with the same numbers of features.
        labels : list of arrays
            Binary labels of the nodes of each graph.
        sample_weight : array of shape (n_graphs,), optional
            Weights of the graphs; a weight of 2 equals having the graph twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        listed = as_graphs(graphs)
        positive = as_labels(labels, listed)
        if self.edge_weights == "nonnegative":
            check_nonnegative_edges(listed)
        kept = with_both_classes(positive)
        share = graph_shares(sample_weight, kept, len(listed))
        data = join([listed[index] for index in kept], as_measure(self.measure), self.backend)
        limit = 4 * int(self.max_iter)  # two phases, without edges and with them
        with one_blas_thread(), fit_monitor(self, graphs, labels, limit) as monitor:
            risk = StructuredRisk(
                data.batch,
                self._terms(data),
                np.concatenate([positive[index] for index in kept]),
                share,
                self.objective,
            )
            solution = self._learn(risk, data.terms, self._logged(monitor))
        self.n_skipped_ = len(listed) - len(kept)
        solution.raise_interrupt()
        return self

    def decision_function(self, graphs: Any) -> Any:
        """Scores of the items, higher is better; items of one block of the relaxation are tied.

        Parameters
        ----------
        graphs : list of RankingGraph, or one RankingGraph

        Returns
        -------
        list of arrays of shape (n_nodes,), or one array for one graph
        """
        data = self._prepare(graphs)[1]
        unary, coupling = self._row_scores(data)
        batch = data.batch
        repelled = np.zeros(batch.n_graphs, dtype=bool)
        repelled[batch.edge_graph[coupling < 0]] = True
        easy = ~repelled[batch.edge_graph]
        scores = solve_variation(
            unary, batch.edges[easy], coupling[easy], np.ones(unary.size), self.backend
        )
        merged = merge_rounding_ties(scores, batch.node_graph)
        parts = np.split(merged, np.cumsum(batch.sizes())[:-1])
        for graph in np.flatnonzero(repelled).tolist():
            parts[graph] = mixed_sign_scores(
                *self._one(data, unary, coupling, graph),
                measure=as_measure(self.measure),
                backend=self.backend,
            )
        return _as_given(graphs, parts)

    def rank(self, graphs: Any) -> Any:
        """Items from best to worst, ties broken by what an item adds to its row.

        Returns
        -------
        list of arrays of int, or one array for one graph
        """
        listed, data = self._prepare(graphs)
        unary, coupling = self._row_scores(data)
        orders = [
            rank_order(score, *self._one(data, unary, coupling, graph))
            for graph, score in enumerate(self.decision_function(listed))
        ]
        return _as_given(graphs, orders)

    def predict_rows(self, graphs: Any) -> Any:
        """Ranking matrices of the measure: row k says how much of each item its set holds.

        With `UnnestedAUC` and repelling pairs the rows are solved apart and need not be nested.

        Returns
        -------
        list of arrays of shape (n_rows, n_nodes), or one array for one graph
        """
        listed, data = self._prepare(graphs)
        measure = as_measure(self.measure)
        unary, coupling = self._row_scores(data)
        matrices = []
        for graph, score in enumerate(self.decision_function(listed)):
            problem = self._one(data, unary, coupling, graph)
            if not measure.nested and problem[2].min(initial=0.0) < 0:
                matrices.append(ranking_lp(*problem, measure=measure).rows)
            else:
                matrices.append(ranking_rows(score, measure.rows(score.size)))
        return _as_given(graphs, matrices)

    def score(self, graphs: Any, labels: Any) -> float:
        """Mean of the measure over the graphs that have both classes."""
        listed = as_graphs(graphs)
        positive = as_labels(labels, listed)
        kept = with_both_classes(positive)
        chosen, measure = [listed[index] for index in kept], as_measure(self.measure)
        if measure.nested:
            values = [
                measure.score(positive[index], score)
                for index, score in zip(kept, self.decision_function(chosen), strict=True)
            ]
        else:
            values = [
                unnested_auc_score(positive[index], rows)
                for index, rows in zip(kept, self.predict_rows(chosen), strict=True)
            ]
        return float(np.mean(values))

    def _check_parameters(self) -> None:
        as_measure(self.measure)
        check_positive_number(self.C, "C")
        check_positive_number(self.tol, "tol")
        check_positive_number(self.max_iter, "max_iter", integer=True)
        check_choice(self.solver, "solver", ("direct", "frank_wolfe"))
        check_choice(self.objective, "objective", ("consistent", "fixed", "ramp"))
        check_choice(self.edge_weights, "edge_weights", ("nonnegative", "free"))
        check_choice(self.pair_score, "pair_score", ("agree", "together"))
        check_choice(self.backend, "backend", ("scipy", "ortools"))

    def _logged(self, monitor: Monitor | None) -> Monitor | None:
        if not self.verbose:
            return monitor

        def log_and_report(row: dict[str, Any]) -> Any:
            stage = f"{row['stage']}, " if "stage" in row else ""
            _LOG.info("%siteration %d: objective %.6g", stage, row["iteration"], row["objective"])
            return None if monitor is None else monitor(row)

        return log_and_report

    def _terms(self, data: GraphData) -> Terms:
        if self.pair_score == "agree":
            return AgreementTerms(data.terms, data.batch.edges)
        return data.terms

    def _learn(
        self, risk: StructuredRisk, terms: FeatureTerms, monitor: Monitor | None
    ) -> Solution:
        n_node, n_edge = terms.node_features.shape[1], terms.edge_features.shape[1]
        signed: BoolArray = np.append(
            np.zeros(n_node, dtype=bool), np.full(n_edge, self.edge_weights == "nonnegative")
        )
        solution, start = train(
            risk,
            FeatureTerms(terms.node_features, terms.edge_features[:0]),
            signed,
            C=float(self.C),
            solver=self.solver,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            seed=self.random_state,
            monitor=monitor,
        )
        self._adopt(solution, start, n_node)
        return solution

    def _adopt(self, solution: Solution, start: float, n_node: int) -> None:
        self.coef_ = solution.coef[:n_node]
        self.edge_coef_ = solution.coef[n_node:]
        self.objective_ = solution.objective
        self.start_objective_ = start
        self.gap_ = solution.gap
        self.status_ = str(solution.status)
        self.n_iter_ = solution.n_iter
        self.history_ = solution.history

    def _prepare(self, graphs: Any) -> tuple[list[RankingGraph], GraphData]:
        check_is_fitted(self)
        listed = as_graphs(graphs)
        seen = listed[0].node_features.shape[1]
        if seen != self.coef_.size:
            raise ValueError(
                f"graphs have {seen} node features, but the model was fitted with {self.coef_.size}."
            )
        data = join(listed, as_measure(self.measure), self.backend)
        width = data.terms.edge_features.shape[1]
        if len(data.batch.edges) and width != self.edge_coef_.size:
            raise ValueError(
                f"graphs have {width} edge features, but the model was fitted with "
                f"{self.edge_coef_.size}."
            )
        return listed, data

    def _row_scores(self, data: GraphData) -> tuple[FloatArray, FloatArray]:
        """Unary scores and couplings of a row, whichever way pairs are scored."""
        if not len(data.batch.edges):
            return data.terms.node_features @ self.coef_, np.zeros(0)
        weights = np.append(self.coef_, self.edge_coef_)
        terms = self._terms(data)
        return terms.unary(weights), terms.coupling(weights)

    @staticmethod
    def _one(
        data: GraphData, unary: FloatArray, coupling: FloatArray, graph: int
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """The problem of one graph."""
        batch = data.batch
        first, last = np.searchsorted(batch.node_graph, [graph, graph + 1])
        low, high = np.searchsorted(batch.edge_graph, [graph, graph + 1])
        return unary[first:last], batch.edges[low:high] - first, coupling[low:high]


def _as_given(graphs: Any, results: Sequence[Any]) -> Any:
    """One result for one graph, a list for a list."""
    return results[0] if isinstance(graphs, RankingGraph) else list(results)
