"""Structured problems that once broke: labels of one class, refits that fail."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from aucuba.structured import (
    AUC,
    BinnedAUC,
    RankingGraph,
    StructuredLabelRanker,
    StructuredRanker,
    tv_scores,
)
from aucuba.structured._inference import RankingBatch
from tests.hostile import graphs
from tests.structured import oracles


@pytest.mark.parametrize("measure", [AUC(), BinnedAUC(2)], ids=repr)
@pytest.mark.parametrize("label", [True, False])
def test_consistent_rankings_of_one_class_with_a_repelling_pair(measure, label):
    """Every ranking is consistent with labels of one class: (7c) is (7a), Eq. (9) as printed."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        unary, edges = rng.normal(size=4), np.array([[0, 1], [1, 2], [2, 3]])
        coupling = np.array([-1.0, 0.7, -0.4]) * rng.random(3)
        batch = RankingBatch(edges, np.zeros(4, int), np.zeros(3, int), 1, measure)
        rows = measure.rows(4)
        want = oracles.paper_lp(unary, edges, coupling, rows.cardinality, rows.weight)
        found = batch.consistent(unary, coupling, np.full(4, label))
        assert found.value[0] == pytest.approx(want, abs=1e-9)
        assert batch.predict(unary, coupling).value[0] == pytest.approx(want, abs=1e-9)


def ranked_graphs():
    rng = np.random.default_rng(0)
    labels = [np.arange(8) < 3] * 4
    path = [[i, i + 1] for i in range(7)]
    return [RankingGraph(y + rng.normal(size=8), path) for y in labels], labels


def labelled_rows():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    return X, np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])


def bad_labels(y):
    return [np.ones(len(one), int) for one in y]


CASES = [(StructuredRanker(C=10), ranked_graphs), (StructuredLabelRanker(C=10), labelled_rows)]


@pytest.mark.parametrize(
    ("model", "data"), CASES, ids=["StructuredRanker", "StructuredLabelRanker"]
)
def test_a_fit_that_fails_leaves_nothing_behind(model, data):
    X, y = data()
    with pytest.raises(ValueError, match=r"labels"):
        model.fit(X, bad_labels(y))
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    model.fit(X, y)
    before, kept = model.decision_function(X), dict(vars(model))
    with pytest.raises(ValueError, match=r"labels"):
        model.fit(X, bad_labels(y))
    assert vars(model) == kept
    for one, other in zip(model.decision_function(X), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_refit_on_other_features_that_fails_keeps_the_number_of_features():
    """Validation sets n_features_in_ before the labels are found to be of no use."""
    X, Y = labelled_rows()
    model = StructuredLabelRanker(C=10).fit(X, Y)
    with pytest.raises(ValueError, match="all labels or none"):
        model.fit(np.hstack([X, X]), np.ones_like(Y))
    assert model.n_features_in_ == 1
    model.predict(X)


@pytest.mark.parametrize(
    ("check", "n_cases"),
    [
        (graphs.check_scores, 150),
        (graphs.check_terms, 80),
        (graphs.check_rankings, 60),
        (graphs.check_fit, 25),
        (graphs.check_refusal, 22),
    ],
)
def test_hostile_graphs(check, n_cases):
    """More cases: ``python -m benchmarks hostile_structured``."""
    for seed in range(n_cases):
        check(seed)


def test_edges_of_a_graph_that_training_skips():
    """All labels of the only graph with edges are of one class: found by `graphs.check_fit`."""
    alone, joined = (
        RankingGraph([[0.0], [1.0]]),
        RankingGraph([[0.0], [1.0]], [[0, 1]], [[2.0, 3.0]]),
    )
    model = StructuredRanker(C=10)
    with pytest.warns(UserWarning, match="1 of 2 graphs have only one class"):
        model.fit([alone, joined], [[False, True], [True, True]])
    assert model.edge_coef_.tolist() == [0.0, 0.0]
    assert [score.size for score in model.decision_function([alone, joined])] == [2, 2]


@pytest.mark.parametrize(
    ("unary", "coupling"),
    [([1e308] * 5, [1.0] * 4), ([0.0] * 5, [1.7e308] * 4)],
    ids=["blocks", "couplings"],
)
def test_sums_beyond_floats_are_refused(unary, coupling):
    """The search for a cut between infinite sums never ended."""
    with pytest.raises(ValueError, match=r"may add up to \S+; divide both"):
        tv_scores(unary, [[0, 1], [0, 2], [0, 3], [0, 4]], coupling)


def test_a_ranker_of_infinite_weights_refuses_to_score():
    """Such as one from a forged file."""
    data, labels = ranked_graphs()
    model = StructuredRanker(C=10).fit(data, labels)
    model.edge_coef_ = np.array([np.inf])
    with pytest.raises(ValueError, match="add up to"):
        model.decision_function(data)
