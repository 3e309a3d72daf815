"""The estimator of Rosenfeld et al. (AISTATS 2014): rank the items of graphs for the AUC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucuba._base._callbacks import fit_monitor, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._validation import check_choice
from aucuba.structured._data import (
    GraphData,
    as_graphs,
    as_labels,
    check_nonnegative_edges,
    graph_weights,
    join,
    with_both_classes,
)
from aucuba.structured._graph import RankingGraph
from aucuba.structured._measures import Measure, as_measure, ranking_rows, unnested_auc_score
from aucuba.structured._mixed_signs import ranking_lp
from aucuba.structured._risk import StructuredRisk
from aucuba.structured._rounding import rank_order
from aucuba.structured._terms import (
    AgreementTerms,
    RowScores,
    StateTerms,
    Terms,
    from_states,
    to_states,
)
from aucuba.structured._training import TrainedEstimator, Training

_PAIR_SCORES = ("agree", "together", "states")


class StructuredRanker(TrainedEstimator):
    r"""Model that ranks the items of graphs, trained for their mean AUC.

    .. math::
        \min_w \; \tfrac12 \lVert w \rVert^2 + \frac{C}{M} \sum_{m=1}^{M} \Big[
        \max_z \big( w \cdot \varphi_m(z) + 1 - \mathrm{AUC}_m(z) \big)
        - \max_{\hat z \sim y_m} w \cdot \varphi_m(\hat z) \Big]

    A ranking is a chain of sets. Each set is scored by its items, :math:`u_i = w_\text{node} \cdot
    \phi_i`, and by its pairs, :math:`c_{ij} = w_\text{edge} \cdot \phi_{ij}`. The inner problems are
    relaxed as in the structured AUC paper and solved exactly, by total variation on the graph
    (`tv_scores`). Without edges the loss is the mean pairwise hinge of the SVM for AUC.

    Parameters
    ----------
    measure : {"auc", "unnested"} or Measure, default="auc"
        Measure of training and of `score`: `AUC`, `BinnedAUC`, `AUCAtK` or `UnnestedAUC`.
    C : float, default=1.0
        Weight of the loss; :math:`1 / \lambda` of the paper.
    solver : {"lbfgs", "frank_wolfe"}, default="lbfgs"
        L-BFGS-B and cutting planes on the objective itself, or the paper's DC algorithm with
        block-coordinate Frank-Wolfe. Both start at the optimum without edges, because from zero the
        result of the paper's algorithm depends on how it breaks ties.
    objective : {"consistent", "fixed", "ramp"}, default="consistent"
        Reference of the worst ranking: the best ranking that has all positives first; the best such
        ranking at the start, which makes the problem convex; or the prediction.
    edge_weights : {"nonnegative", "free"}, default="nonnegative"
        Non-negative weights of non-negative edge features keep all pairs attractive, and inference
        exact and fast. Free weights need a linear program for every graph with a repelling pair; use
        them on small graphs or with `BinnedAUC`.
    pair_score : {"agree", "together", "states"}, default="agree"
        A pair adds :math:`-\tfrac12 c_{ij} \lvert z_i - z_j \rvert` to a row, or
        :math:`c_{ij} z_i z_j`. The two differ by unary scores: "together" also lifts items with
        many neighbours. With "states" every edge feature has three weights, for rows that contain both
        ends, neither, or one of them; "agree" and "together" are special cases. The ranking stays
        exact as long as both + neither - 2 one is not negative, which is then the meaning of
        ``edge_weights="nonnegative"``.
    graph_weight : {"pairs", "printed"}, default="pairs"
        How the joint features of graphs of different sizes compare. "pairs" divides those of a graph
        by its number of pairs of a positive and a negative, :math:`P_m N_m`: without edges every
        graph then has the mean pairwise hinge with margin 1, and one ``C`` suits graphs of all sizes.
        "printed" takes the sums over the rows as Equations (3) and (6) of the paper print them, so
        that the margin shrinks to :math:`1 / (P_m N_m)` and large graphs count more in ``w``. Both
        are one problem with features scaled by :math:`P_m N_m`. The paper prints this form for a
        reference with all positives first and for rows of equal weight: "printed" is refused with
        ``objective="ramp"`` and with measures that read rankings in bins.
    tol : float, default=1e-4
        Gap at which to stop, in units of the loss.
    max_iter : int, default=200
        Evaluations of the objective by L-BFGS-B and by the cutting planes, or passes over the graphs
        by Frank-Wolfe.
    random_state : int, RandomState instance or None, default=None
        Order of the blocks of Frank-Wolfe.
    verbose : int, default=0
        Above 0, log every iteration to the logger ``aucuba``. Progress bars by scikit-learn's callbacks
        work without it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_node_features,)
        Weights of the node features.
    edge_coef_ : ndarray of shape (n_edge_features,)
        Weights of the edge features in the couplings of pairs.
    state_coef_ : ndarray of shape (3, n_edge_features)
        With ``pair_score="states"``: weights of the edge features for rows that contain both ends,
        neither, and one; ``edge_coef_`` is both + neither - 2 one.
    term_coef_ : ndarray of shape (n_term_features,)
        Weights of the features of high-order terms, at least 0.
    objective_ : float
        Value of the training objective.
    start_objective_ : float
        The same at the optimum without edges.
    gap_ : float
        Certified distance from the optimum in units of the loss; nan if the problem is not convex.
    status_ : str
        Why the solver stopped.
    n_iter_ : int
    history_ : list of dict
        One dict per iteration.
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
        solver: str = "lbfgs",
        objective: str = "consistent",
        edge_weights: str = "nonnegative",
        pair_score: str = "agree",
        graph_weight: str = "pairs",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.C = C
        self.solver = solver
        self.objective = objective
        self.edge_weights = edge_weights
        self.pair_score = pair_score
        self.graph_weight = graph_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, graphs: Any, labels: Any, sample_weight: Any = None) -> StructuredRanker:
        """Learn the weights of node, edge and term features.

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
        StructuredRanker
            The fitted estimator.
        """
        training = Training.from_estimator(self, _PAIR_SCORES)
        check_choice(self.objective, "objective", ("consistent", "fixed", "ramp"))
        check_choice(self.edge_weights, "edge_weights", ("nonnegative", "free"))
        check_choice(self.graph_weight, "graph_weight", ("pairs", "printed"))
        listed = as_graphs(graphs)
        positive = as_labels(labels, listed)
        self._check_exact(listed)
        with fresh_fit(self):
            kept = with_both_classes(positive)
            weight = graph_weights(sample_weight, kept, len(listed))
            data = join([listed[index] for index in kept], as_measure(self.measure), listed)
            self._check_printed(data)
            with (
                one_blas_thread(),
                fit_monitor(self, graphs, labels, training.limit) as monitor,
            ):
                labelled = np.concatenate([positive[index] for index in kept])
                risk = StructuredRisk(
                    data.batch,
                    self._terms(data),
                    labelled,
                    weight,
                    self.objective,
                    self.graph_weight,
                )
                solution, start = training.solve(risk, self._signed(data), monitor)
            self._adopt(solution.coef, data)
            self._adopt_run(solution)
            self.start_objective_ = start
            self.n_skipped_ = len(listed) - len(kept)
        solution.raise_interrupt()
        return self

    def decision_function(self, graphs: Any) -> Any:
        """Score the items; higher is better, and items of one block of the relaxation are tied.

        Parameters
        ----------
        graphs : list of RankingGraph, or one RankingGraph

        Returns
        -------
        list of arrays of shape (n_nodes,), or one array for one graph
        """
        data = self._prepare(graphs)
        return _as_given(graphs, data.batch.split(data.batch.scores(*self._row_scores(data))))

    def rank(self, graphs: Any) -> Any:
        """Order the items from best to worst; break ties greedily, by what items add to the rows.

        Returns
        -------
        list of arrays of int, or one array for one graph
        """
        data = self._prepare(graphs)
        scores = self._row_scores(data)
        orders = [
            rank_order(score, *data.batch.problem(graph, scores.unary, scores.coupling))
            for graph, score in enumerate(data.batch.split(data.batch.scores(*scores)))
        ]
        return _as_given(graphs, orders)

    def predict_rows(self, graphs: Any) -> Any:
        """Return the ranking matrices of the measure: the fraction of each item in each row.

        With `UnnestedAUC` and repelling pairs the rows are solved separately and need not be nested.

        Returns
        -------
        list of arrays of shape (n_rows, n_nodes), or one array for one graph
        """
        data = self._prepare(graphs)
        measure = as_measure(self.measure)
        scores = self._row_scores(data)
        matrices = []
        for graph, score in enumerate(data.batch.split(data.batch.scores(*scores))):
            problem = data.batch.problem(graph, scores.unary, scores.coupling)
            if not measure.nested and problem[2].min(initial=0.0) < 0:
                matrices.append(ranking_lp(*problem, measure=measure).rows)
            else:
                matrices.append(ranking_rows(score, measure.rows(score.size)))
        return _as_given(graphs, matrices)

    def score(self, graphs: Any, labels: Any) -> float:
        """Return the mean of the measure over the graphs that have both classes."""
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

    def _check_exact(self, graphs: Sequence[RankingGraph]) -> None:
        """Refuse graphs that the chosen weights could not rank exactly."""
        if self.edge_weights == "nonnegative":
            check_nonnegative_edges(graphs)
        elif any(graph.terms for graph in graphs):
            raise ValueError(
                "edge_weights='free' allows pairs that repel, but a ranking with such pairs and "
                "high-order terms is not solved exactly. Use edge_weights='nonnegative', or graphs "
                "without terms."
            )

    def _check_printed(self, data: GraphData) -> None:
        """Refuse objectives that Equation (6) of the paper does not cover."""
        if self.graph_weight == "printed" and self.objective == "ramp":
            raise ValueError(
                "graph_weight='printed' is Equation (6) of the paper, whose reference ranking has all "
                "positives first; objective='ramp' has no such reference. Use "
                "objective='consistent', or graph_weight='pairs'."
            )
        if self.graph_weight == "printed" and not data.batch.counts_every_pair:
            raise ValueError(
                "graph_weight='printed' sums rows of weight 1, as Equation (3) of the paper does, but "
                f"{self.measure!r} weights its rows by the sizes of bins. Use measure='auc', or "
                "graph_weight='pairs'."
            )

    def _terms(self, data: GraphData) -> Terms:
        if self.pair_score == "states":
            return StateTerms(data.terms, data.batch.edges)
        if self.pair_score == "agree":
            return AgreementTerms(data.terms, data.batch.edges)
        return data.terms

    def _signed(self, data: GraphData) -> BoolArray:
        """Return a mask of the weights that must not be negative."""
        n_node, n_edge, n_term = (
            features.shape[1]
            for features in (
                data.terms.node_features,
                data.terms.edge_features,
                data.terms.term_features,
            )
        )
        lifts = n_edge if self.pair_score == "states" else 0
        signs = [False, self.edge_weights == "nonnegative", False, True]
        return np.repeat(signs, [n_node, n_edge, lifts, n_term])

    def _adopt(self, weights: FloatArray, data: GraphData) -> None:
        n_node, n_term = data.terms.node_features.shape[1], data.terms.term_features.shape[1]
        self.coef_, edge, self.term_coef_ = np.split(weights, [n_node, weights.size - n_term])
        if self.pair_score == "states":
            self.state_coef_ = to_states(edge.reshape(2, -1))
            edge = np.array([1.0, 1.0, -2.0]) @ self.state_coef_
        self.edge_coef_ = edge

    def _prepare(self, graphs: Any) -> GraphData:
        check_is_fitted(self)
        data = join(as_graphs(graphs), as_measure(self.measure))
        for kind, features, coef, needed in (
            ("node", data.terms.node_features, self.coef_, True),
            ("edge", data.terms.edge_features, self.edge_coef_, len(data.batch.edges)),
            ("term", data.terms.term_features, self.term_coef_, len(data.batch.terms)),
        ):
            if needed and features.shape[1] != coef.size:
                raise ValueError(
                    f"graphs have {features.shape[1]} {kind} features, but the model was fitted with "
                    f"{coef.size}."
                )
        return data

    def _row_scores(self, data: GraphData) -> RowScores:
        """Score items, pairs and terms of a row by the fitted weights."""
        edge = from_states(self.state_coef_) if self.pair_score == "states" else self.edge_coef_
        # Graphs without edges or terms have no columns of their features.
        edge = edge.ravel() if len(data.batch.edges) else np.zeros(0)
        term = self.term_coef_ if data.batch.terms else np.zeros(0)
        return self._terms(data).scores(np.concatenate([self.coef_, edge, term]))


def _as_given(graphs: Any, results: Sequence[Any]) -> Any:
    """Return one result for one graph, a list for a list."""
    return results[0] if isinstance(graphs, RankingGraph) else list(results)
