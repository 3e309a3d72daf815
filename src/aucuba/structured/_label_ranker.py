"""Multi-label ranking with the model of Rosenfeld et al. (AISTATS 2014), labels as items."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._base._callbacks import fit_monitor, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import (
    check_choice,
    check_positive_number,
    labels_of_rows,
    one_per_row,
)
from aucuba.solvers import Solution
from aucuba.structured._checks import check_edges, check_size_of_features
from aucuba.structured._inference import RankingBatch
from aucuba.structured._measures import Measure, as_measure
from aucuba.structured._risk import StructuredRisk
from aucuba.structured._terms import AgreementTerms, LabelTerms, Terms
from aucuba.structured._training import TrainedEstimator, Training


class StructuredLabelRanker(ClassifierMixin, TrainedEstimator):
    r"""Model that ranks the labels of every sample, relevant ones first.

    .. math::
        \min_{W, c \ge 0} \tfrac12 \lVert W \rVert^2 + \tfrac12 \lVert c \rVert^2
        + C \cdot \text{mean loss of the samples}

    Every sample is a graph whose nodes are the labels, with scores :math:`u_l = w_l \cdot x`, and whose
    edges join labels that occur together more often than by chance; see `StructuredRanker` for the
    loss. Samples with all labels or none are left out, since all orders of their labels are equal.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss.
    label_graph : "cooccurrence", None, or array of shape (n_pairs, 2), default="cooccurrence"
        Pairs of labels to couple; None ranks labels without pairs.
    max_pairs : int, optional
        Number of co-occurring pairs to keep, strongest first; by default the number of labels.
    measure : {"auc"} or Measure, default="auc"
        Measure to train for.
    solver, tol, max_iter, random_state, verbose
        As in `StructuredRanker`.
    pair_score : {"agree", "together"}, default="agree"
        As in `StructuredRanker`.
    fit_intercept : bool, default=True
        Whether every label gets a constant score, regularised like the other weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Labels in the order of the columns of `decision_function`.
    coef_ : ndarray of shape (n_labels, n_features)
    intercept_ : ndarray of shape (n_labels,)
    label_pairs_ : ndarray of shape (n_pairs, 2)
    pair_coef_ : ndarray of shape (n_pairs,)
        Learned couplings, at least 0.
    threshold_ : float
        Labels with scores above it are predicted; chosen to match the mean number of labels in
        training as closely as ties allow.
    objective_, gap_, status_, n_iter_, history_
        As in `StructuredRanker`.
    n_skipped_ : int
        Samples with all labels or none.

    Notes
    -----
    A one-dimensional ``y`` has one relevant label per sample; ``predict`` then returns the best class.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.structured import StructuredLabelRanker
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> StructuredLabelRanker(C=100).fit(X, Y).predict([[0.5], [2.5]])
    array([[1, 1, 0],
           [0, 0, 1]])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        label_graph: Any = "cooccurrence",
        max_pairs: int | None = None,
        measure: str | Measure = "auc",
        solver: str = "lbfgs",
        pair_score: str = "agree",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.label_graph = label_graph
        self.max_pairs = max_pairs
        self.measure = measure
        self.solver = solver
        self.pair_score = pair_score
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any) -> StructuredLabelRanker:
        """Learn from samples and their labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples, n_labels) of zeros and ones, or (n_samples,) of classes
            The indicators may be a sparse matrix.

        Returns
        -------
        StructuredLabelRanker
            The fitted estimator.
        """
        training = Training.from_estimator(self, ("agree", "together"))
        self._check_graph_parameters()
        with fresh_fit(self):
            X = validate_data(self, X, dtype=np.float64)
            check_size_of_features(X, "X")
            relevant = self._indicators(y.toarray() if issparse(y) else y, len(X))
            self.label_pairs_ = self._pairs(relevant)
            kept = relevant.any(axis=1) & ~relevant.all(axis=1)
            if not kept.any():
                raise ValueError(
                    "Every sample has all labels or none, so there is no order to learn."
                )
            with one_blas_thread(), fit_monitor(self, X, y, training.limit) as monitor:
                batch = self._batch(int(kept.sum()))
                terms = self._terms(self._with_constant(X[kept]), batch)
                weight = np.full(batch.n_graphs, 1 / batch.n_graphs)
                risk = StructuredRisk(batch, terms, relevant[kept].ravel(), weight)
                n_pairs = len(self.label_pairs_)
                n_weights = self.classes_.size * (X.shape[1] + bool(self.fit_intercept)) + n_pairs
                solution, _ = training.solve(
                    risk, np.arange(n_weights) >= n_weights - n_pairs, monitor
                )
            self._adopt(solution, X.shape[1])
            self.n_skipped_ = int(np.sum(~kept))
            self.threshold_ = self._cardinality_threshold(X, relevant)
        solution.raise_interrupt()
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score the labels; higher is better.

        Returns
        -------
        array of shape (n_samples, n_labels); for two classes of a 1-D ``y``, shape (n_samples,)
        """
        scores = self._label_scores(self._features(X))
        if self.multilabel_ or self.classes_.size > 2:
            return scores
        return scores[:, 1] - scores[:, 0]

    def rank(self, X: Any) -> IntArray:
        """Order the labels of every sample from best to worst, ties by the label's own score."""
        features = self._features(X)
        scores, own = self._label_scores(features), features @ self._table().T
        order: IntArray = np.lexsort((-own, -scores), axis=1)
        return order

    def predict(self, X: Any) -> AnyArray:
        """Return the indicators of labels above the threshold, or the best class for a 1-D ``y``."""
        scores = self._label_scores(self._features(X))
        if self.multilabel_:
            return (scores > self.threshold_).astype(np.intp)
        best: AnyArray = self.classes_[np.argmax(scores, axis=1)]
        return best

    def _check_graph_parameters(self) -> None:
        if self.max_pairs is not None and self.max_pairs != 0:
            check_positive_number(self.max_pairs, "max_pairs", integer=True)
        if isinstance(self.label_graph, str):
            check_choice(self.label_graph, "label_graph", ("cooccurrence",))

    def _indicators(self, y: Any, n_rows: int) -> AnyArray:
        """Return the Boolean label matrix, and store the classes."""
        table = np.asarray(y)
        self.multilabel_ = table.ndim == 2 and table.shape[1] > 1
        if self.multilabel_:
            one_per_row(table[:, 0], n_rows, "y")
            if not np.isin(table, (0, 1)).all():
                values = np.unique(table.astype(str))
                raise ValueError(
                    f"y must be an indicator matrix of zeros and ones, got {values[:5]}."
                )
            self.classes_ = np.arange(table.shape[1])
            return table.astype(bool)
        labels = labels_of_rows(y, n_rows, type(self).__name__)
        check_classification_targets(labels)
        self.classes_, number = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"y has only one class, {self.classes_[0]!r}; at least two are needed."
            )
        return np.eye(self.classes_.size, dtype=bool)[number]

    def _pairs(self, relevant: AnyArray) -> IntArray:
        """Return the coupled labels: those given, or those with the largest positive correlation."""
        n_labels = relevant.shape[1]
        if self.label_graph is None or not self.multilabel_:
            return np.zeros((0, 2), dtype=np.intp)
        if not isinstance(self.label_graph, str):
            return check_edges(self.label_graph, n_labels, "label_graph")
        centred = relevant - relevant.mean(axis=0)
        spread = np.maximum(np.sqrt((centred**2).mean(axis=0)), 1e-12)
        correlation = (centred.T @ centred) / len(relevant) / np.outer(spread, spread)
        first, second = np.triu_indices(n_labels, k=1)
        strength = correlation[first, second]
        limit = n_labels if self.max_pairs is None else int(self.max_pairs)
        best = np.argsort(-strength, kind="stable")[:limit]
        best = np.sort(best[strength[best] > 0])
        return np.stack([first[best], second[best]], axis=1).astype(np.intp)

    def _batch(self, n_samples: int) -> RankingBatch:
        n_labels, n_pairs = self.classes_.size, len(self.label_pairs_)
        shift = n_labels * np.repeat(np.arange(n_samples), n_pairs)[:, None]
        return RankingBatch(
            edges=np.tile(self.label_pairs_, (n_samples, 1)) + shift,
            node_graph=np.repeat(np.arange(n_samples), n_labels),
            edge_graph=np.repeat(np.arange(n_samples), n_pairs),
            n_graphs=n_samples,
            measure=as_measure(self.measure),
        )

    def _terms(self, features: FloatArray, batch: RankingBatch) -> Terms:
        terms = LabelTerms(features, self.classes_.size, len(self.label_pairs_))
        return AgreementTerms(terms, batch.edges) if self.pair_score == "agree" else terms

    def _adopt(self, solution: Solution, n_features: int) -> None:
        n_labels, n_pairs = self.classes_.size, len(self.label_pairs_)
        table, self.pair_coef_ = np.split(solution.coef, [solution.coef.size - n_pairs])
        table = table.reshape(n_labels, -1)
        self.coef_ = table[:, :n_features]
        self.intercept_ = table[:, -1] if self.fit_intercept else np.zeros(n_labels)
        self._adopt_run(solution)

    def _features(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        check_size_of_features(features, "X")
        return self._with_constant(features)

    def _with_constant(self, X: FloatArray) -> FloatArray:
        return np.hstack([X, np.ones((len(X), 1))]) if self.fit_intercept else X

    def _table(self) -> FloatArray:
        """Return the weights of the features and, if there is one, the intercept as the last."""
        if not self.fit_intercept:
            return self.coef_
        return np.hstack([self.coef_, self.intercept_[:, None]])

    def _label_scores(self, features: FloatArray) -> FloatArray:
        batch = self._batch(len(features))
        weights = np.append(self._table().ravel(), self.pair_coef_)
        scores = batch.scores(*self._terms(features, batch).scores(weights))
        return scores.reshape(len(features), -1)

    def _cardinality_threshold(self, X: FloatArray, relevant: AnyArray) -> float:
        """Return the threshold that predicts nearly the true number of labels in training."""
        if not self.multilabel_:
            return 0.0
        scores = np.sort(self._label_scores(self._with_constant(X)).ravel())[::-1]
        # Equal scores are predicted together, so only the ends of ties are possible counts.
        counts = np.concatenate([[0], np.flatnonzero(np.diff(scores)) + 1, [scores.size]])
        count = int(counts[np.argmin(np.abs(counts - int(relevant.sum())))])
        if count == 0 or count == scores.size:
            return float(scores[0] if count == 0 else scores[-1] - 1.0)
        return float(scores[count - 1] + scores[count]) / 2
