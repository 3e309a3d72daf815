"""Pair weights by the states of both ends: Eq. (1) written out, gradients, special cases."""

import numpy as np
import pytest

from aucuba.report import ranking_report
from aucuba.structured import AUC, AUCAtK, BinnedAUC, RankingGraph, StructuredRanker
from aucuba.structured._data import join
from aucuba.structured._risk import StructuredRisk
from aucuba.structured._terms import StateTerms, from_states, to_states
from tests.structured import oracles
from tests.structured.test_learning import communities, with_weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def state_risk(graphs, labels, measure, objective="consistent"):
    data = join(graphs, measure)
    terms = StateTerms(data.terms, data.batch.edges)
    weight = np.full(len(graphs), 1 / len(graphs))
    return StructuredRisk(data.batch, terms, np.concatenate(labels), weight, objective)


def by_states(graph, node, states, row):
    """The score of a row as Eq. (1) prints it, one weight vector per state of a pair."""
    total = float(graph.node_features @ node @ row)
    for (i, j), features in zip(graph.edges, graph.edge_features, strict=True):
        both, neither = row[i] * row[j], (1 - row[i]) * (1 - row[j])
        one = row[i] * (1 - row[j]) + (1 - row[i]) * row[j]
        total += features @ (both * states[0] + neither * states[1] + one * states[2])
    return total


def test_rows_score_as_the_equation_says_up_to_a_constant():
    (graph,), _ = communities(0, n_graphs=1, high=7)
    rng = np.random.default_rng(0)
    terms = StateTerms(join([graph], AUC()).terms, graph.edges)
    for _ in range(5):
        node, states = rng.normal(size=2), rng.normal(size=(3, 2))
        scores = terms.scores(np.append(node, from_states(states)))
        rows = oracles.all_sets(graph.n_nodes)
        ours = [oracles.row_score(scores.unary, graph.edges, scores.coupling, row) for row in rows]
        printed = [by_states(graph, node, states, row) for row in rows]
        assert np.ptp(np.subtract(ours, printed)) < 1e-9
        assert np.ptp(printed) > 1


def test_coordinates_keep_the_norm_and_lose_only_the_mean():
    rng = np.random.default_rng(1)
    coordinates = rng.normal(size=(2, 4))
    states = to_states(coordinates)
    np.testing.assert_allclose((states**2).sum(), (coordinates**2).sum())
    np.testing.assert_allclose(from_states(states), coordinates)
    np.testing.assert_allclose(states.sum(axis=0), 0, atol=1e-12)
    weights = rng.normal(size=(3, 4))
    np.testing.assert_allclose(to_states(from_states(weights)), weights - weights.mean(axis=0))


@pytest.mark.parametrize("objective", ["consistent", "ramp"])
@pytest.mark.parametrize("measure", [AUC(), BinnedAUC(3), AUCAtK(4)], ids=repr)
def test_gradient_by_finite_differences(measure, objective):
    graphs, labels = communities(0, n_graphs=3, high=9)
    risk = state_risk(graphs, labels, measure, objective)
    weights = np.array([0.7, 0.4, 0.15, 0.1, -0.2, 0.3])
    gradient = risk.value_and_gradient(weights)[1]
    slopes = [
        (risk.value_and_gradient(weights + h)[0] - risk.value_and_gradient(weights - h)[0]) / 2e-7
        for h in 1e-7 * np.eye(6)
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


@pytest.mark.parametrize(
    ("pair_score", "states"),
    [("agree", [[0, 0], [0, 0], [-0.3, -0.1]]), ("together", [[0.6, 0.2], [0, 0], [0, 0]])],
)
def test_the_two_other_pair_scores_are_special_cases(pair_score, states):
    graphs, _ = communities(1)
    one = with_weights(StructuredRanker(pair_score=pair_score), [0.5, 0.4], [0.6, 0.2])
    other = with_weights(StructuredRanker(pair_score="states"), [0.5, 0.4], [0.6, 0.2])
    other.state_coef_ = np.array(states)
    for mine, same in zip(
        one.decision_function(graphs), other.decision_function(graphs), strict=True
    ):
        np.testing.assert_allclose(mine, same, atol=1e-10)


@pytest.mark.parametrize("solver", ["lbfgs", "frank_wolfe"])
def test_learned_states_are_attractive_and_at_least_as_good_as_agreement(solver):
    graphs, labels = communities(8, n_graphs=4, high=9)
    options = {"C": 10.0, "objective": "fixed", "max_iter": 40, "random_state": 0}
    agree = StructuredRanker(**options).fit(graphs, labels)
    states = StructuredRanker(pair_score="states", solver=solver, **options).fit(graphs, labels)
    both, neither, one = states.state_coef_
    np.testing.assert_allclose(states.edge_coef_, both + neither - 2 * one)
    assert states.edge_coef_.min() >= -1e-12
    # A coupling of agreement costs less where it is spread over three weights.
    slack = 0 if solver == "lbfgs" else 10.0 * states.gap_
    assert states.objective_ <= agree.objective_ + slack + 1e-3
    risk = state_risk(graphs, labels, AUC())
    weights = np.append(states.coef_, from_states(states.state_coef_))
    consistent = weights @ weights / 2 + 10 * risk.value_and_gradient(weights)[0]
    assert consistent <= states.objective_ + 1e-9


def test_what_an_item_gains_from_its_neighbours_is_learned():
    """Positives have many neighbours and nothing else: agreement cannot use that, states can."""
    rng = np.random.default_rng(3)
    graphs, labels = [], []
    for _ in range(6):
        positive = np.arange(12) < 4
        first, second = np.triu_indices(12, k=1)
        kept = rng.random(first.size) < np.where(positive[first] | positive[second], 0.6, 0.1)
        edges = np.stack([first[kept], second[kept]], axis=1)
        graphs.append(RankingGraph(rng.normal(size=12), edges))
        labels.append(positive)
    options = {"C": 10.0, "max_iter": 30}
    agree = StructuredRanker(**options).fit(graphs, labels)
    states = StructuredRanker(pair_score="states", **options).fit(graphs, labels)
    assert states.score(graphs, labels) > agree.score(graphs, labels) + 0.1


def test_free_states_may_repel():
    graphs, labels = communities(11, n_graphs=2, high=7)
    options = {"measure": BinnedAUC(3), "C": 5.0, "max_iter": 8, "pair_score": "states"}
    free = StructuredRanker(edge_weights="free", **options).fit(graphs, labels)
    assert all(np.isfinite(score).all() for score in free.decision_function(graphs))
    with pytest.raises(ValueError, match="pair_score must be one of"):
        StructuredRanker(pair_score="both").fit(graphs, labels)


def test_a_report_shows_the_weights_of_all_states():
    graphs, labels = communities(2, n_graphs=3)
    ranker = StructuredRanker(pair_score="states", C=5.0, max_iter=10).fit(graphs, labels)
    page = ranking_report(ranker, graphs, labels, edge_names=["near", "alike"])
    body = next(section.body for section in page.sections if section.title == "Coefficients")
    for state, weight in zip(("both", "neither", "one"), ranker.state_coef_[:, 0], strict=True):
        assert f"edge, {state}" in body
        assert f"{weight:+.4g}" in body
    with pytest.raises(ValueError, match="edge_names has 1 entries for 2 features"):
        ranking_report(ranker, graphs, labels, edge_names=["near"])
