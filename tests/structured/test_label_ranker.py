"""Ranking of labels: scikit-learn's checks, and the same model written with graphs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba.structured import RankingGraph, StructuredLabelRanker, StructuredRanker

early_stop = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([StructuredLabelRanker()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def tied_labels(seed, n_samples=40):
    """Labels 0 and 1 go together, label 2 goes its own way, label 3 is rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    first = X[:, 0] + 0.8 * rng.normal(size=n_samples) > 0
    second = np.where(rng.random(n_samples) < 0.9, first, ~first)
    third = X[:, 1] > 0.2
    return X, np.stack([first, second, third, rng.random(n_samples) < 0.1], axis=1).astype(int)


def as_graphs(X, pairs):
    """Every sample as a graph of labels with one block of features a label."""
    features = np.hstack([X, np.ones((len(X), 1))])
    return [
        RankingGraph(np.kron(np.eye(4), row), pairs, np.eye(len(pairs)) if len(pairs) else None)
        for row in features
    ]


@early_stop
@pytest.mark.parametrize("pair_score", ["agree", "together"])
def test_label_ranker_is_the_structured_ranker_of_label_graphs(pair_score):
    X, Y = tied_labels(0)
    pairs = [[0, 1], [1, 2]]
    options = {"C": 5.0, "pair_score": pair_score, "tol": 1e-4}
    labels = StructuredLabelRanker(label_graph=pairs, **options).fit(X, Y)
    kept = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    graphs = as_graphs(X[kept], pairs)
    ranker = StructuredRanker(**options).fit(graphs, list(Y[kept]))
    np.testing.assert_allclose(labels.objective_, ranker.objective_, atol=1e-3)
    assert labels.n_skipped_ == np.sum(~kept)
    np.testing.assert_allclose(
        labels.decision_function(X[kept]), ranker.decision_function(graphs), atol=0.1
    )


@early_stop
def test_cooccurring_labels_are_joined():
    X, Y = tied_labels(1, n_samples=200)
    ranker = StructuredLabelRanker(C=10, max_pairs=1, max_iter=20).fit(X, Y)
    assert ranker.label_pairs_.tolist() == [[0, 1]]
    assert ranker.pair_coef_.min() >= 0
    assert StructuredLabelRanker(label_graph=None).fit(X, Y).label_pairs_.shape == (0, 2)


@early_stop
def test_predictions_keep_the_mean_number_of_labels():
    X, Y = tied_labels(2)
    ranker = StructuredLabelRanker(C=10, max_iter=20).fit(X, Y)
    assert ranker.predict(X).sum() == pytest.approx(Y.sum(), abs=3)
    scores, order = ranker.decision_function(X), ranker.rank(X)
    assert np.all(np.diff(np.take_along_axis(scores, order, axis=1)) <= 0)
    assert np.mean(ranker.predict(X) == Y) > 0.7


def test_predictions_keep_the_number_of_labels_as_nearly_as_ties_allow():
    """Two kinds of samples: their labels can only be predicted for all five of a kind at once."""
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    Y = np.array([[1, 0, 0]] + [[1, 1, 0]] * 4 + [[0, 0, 1]] * 5)
    ranker = StructuredLabelRanker(C=10, label_graph=None).fit(X, Y)
    scores = ranker.decision_function(X)
    possible = [np.sum(scores > cut) for cut in [scores.min() - 1, *np.unique(scores)]]
    nearest = min(abs(number - Y.sum()) for number in possible)
    assert nearest == 1
    assert abs(ranker.predict(X).sum() - Y.sum()) == nearest


@early_stop
def test_sparse_indicators_are_the_dense_ones():
    X, Y = tied_labels(5)
    dense = StructuredLabelRanker(C=10, max_iter=20).fit(X, Y)
    sparse = StructuredLabelRanker(C=10, max_iter=20).fit(X, csr_array(Y))
    np.testing.assert_array_equal(sparse.coef_, dense.coef_)
    assert sparse.threshold_ == dense.threshold_


@early_stop
def test_frank_wolfe_reaches_a_similar_objective():
    X, Y = tied_labels(3, n_samples=15)
    ours = StructuredLabelRanker(C=2, tol=1e-4).fit(X, Y)
    paper = StructuredLabelRanker(C=2, solver="frank_wolfe", max_iter=15).fit(X, Y)
    assert ours.objective_ <= paper.objective_ + 1e-3


def test_bad_input():
    X, Y = tied_labels(4)
    with pytest.raises(ValueError, match="all labels or none"):
        StructuredLabelRanker().fit(X, np.ones_like(Y))
    with pytest.raises(ValueError, match="zeros and ones"):
        StructuredLabelRanker().fit(X, 2 * Y)
    with pytest.raises(ValueError, match=r"label_graph\[0\] is \(0, 9\)"):
        StructuredLabelRanker(label_graph=[[0, 9]]).fit(X, Y)
    with pytest.raises(ValueError, match="label_graph must be one of"):
        StructuredLabelRanker(label_graph="complete").fit(X, Y)
    with pytest.raises(
        ValueError, match=r"X\[3, \d\] is .*e\+\d+, too large .* Scale the features"
    ):
        StructuredLabelRanker().fit(X * np.where(np.arange(len(X)) == 3, 1e200, 1.0)[:, None], Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_pairs": -1}, "max_pairs must be a whole number above 0, got -1"),
        ({"max_pairs": 1.7}, "max_pairs must be a whole number above 0, got 1.7"),
        ({"label_graph": None, "solver": "zz"}, "solver must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        StructuredLabelRanker(**parameters).fit(*tied_labels(4))
