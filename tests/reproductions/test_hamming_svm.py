"""The Hamming-loss structured SVM against enumeration of all labellings."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from aucuba.metrics import partial_auc_score
from aucuba.structured import RankingGraph
from reproductions.baselines import HammingSVM
from reproductions.baselines.hamming_svm import Labelling
from tests.structured import oracles


def random_graph(rng, n_items):
    _, edges, _ = oracles.random_problem(rng, n_items)
    features = np.stack([np.ones(len(edges)), rng.random(len(edges))], axis=1)
    return RankingGraph(rng.normal(size=(n_items, 2)), edges, features)


def small_task(seed, n_graphs=3):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, int(rng.integers(3, 6))) for _ in range(n_graphs)]
    labels = [rng.permutation(np.arange(g.n_nodes) < 2) for g in graphs]
    return graphs, labels


def score(problem, row):
    ends = zip(problem.graph.edges, problem.coupling, strict=True)
    cut = sum(c * abs(row[i] - row[j]) for (i, j), c in ends)
    return problem.unary @ row - cut / 2


def test_labels_and_max_marginals_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(40):
        graph = random_graph(rng, int(rng.integers(1, 8)))
        coupling = rng.choice([0.0, 0.3, 1.0, 5.0]) * rng.random(graph.n_edges)
        problem = Labelling(graph, rng.normal(size=graph.n_nodes), coupling)
        rows = oracles.all_sets(graph.n_nodes)
        values = np.array([score(problem, row) for row in rows])
        best = problem.best()
        assert problem.value(best) == pytest.approx(score(problem, best.astype(float)))
        assert problem.value(best) == pytest.approx(values.max(), abs=1e-6)
        marginals = [
            values[rows[:, i] == 1].max() - values[rows[:, i] == 0].max()
            for i in range(graph.n_nodes)
        ]
        np.testing.assert_allclose(problem.max_marginals(), marginals, atol=1e-6)


def objective(weights, graphs, labels, C):
    """Eq. (2) with every labelling written out."""
    total = weights @ weights / 2
    for graph, y in zip(graphs, labels, strict=True):
        unary = graph.node_features @ weights[:2] + weights[2]
        problem = Labelling(graph, unary, graph.edge_features @ weights[3:])
        rows = oracles.all_sets(graph.n_nodes)
        worst = max(score(problem, row) + np.sum(row != y) for row in rows)
        total += C / len(graphs) / graph.n_nodes * (worst - score(problem, y.astype(float)))
    return total


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_training_reaches_the_certified_optimum(C):
    graphs, labels = small_task(1)
    model = HammingSVM(C=C, tol=1e-3, max_iter=2000).fit(graphs, labels)
    weights = np.concatenate([model.coef_, [model.intercept_], model.edge_coef_])
    assert model.edge_coef_.min() >= 0
    assert model.objective_ == pytest.approx(objective(weights, graphs, labels, C), abs=1e-6)
    assert 0 <= model.gap_ <= 1e-3
    found = minimize(
        objective,
        weights,
        (graphs, labels, C),
        method="Powell",
        bounds=[(-5, 5)] * 3 + [(0, 5)] * 2,
        options={"xtol": 1e-6, "ftol": 1e-10, "maxfev": 4000},
    )
    assert found.fun >= model.objective_ - C * model.gap_ - 1e-9


def test_max_marginals_without_pairs_are_the_unary_scores():
    graphs, labels = small_task(2)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    model = HammingSVM(C=2.0).fit(alone, labels)
    for graph, found in zip(alone, model.decision_function(alone), strict=True):
        want = graph.node_features @ model.coef_ + model.intercept_
        np.testing.assert_allclose(found, want, atol=1e-12)


def test_pairs_are_learned_where_labels_hang_together():
    rng = np.random.default_rng(3)
    path = [[i, i + 1] for i in range(19)]
    labels = [np.arange(20) < 8 for _ in range(8)]
    graphs = [RankingGraph(y + 0.8 * rng.normal(size=20), path) for y in labels]
    model = HammingSVM(C=20.0).fit(graphs[:4], labels[:4])
    assert model.edge_coef_[0] > 0
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    plain = HammingSVM(C=20.0).fit(alone[:4], labels[:4])
    aucs = [
        np.mean([partial_auc_score(y, s) for y, s in zip(labels[4:], scores, strict=True)])
        for scores in (model.decision_function(graphs[4:]), plain.decision_function(alone[4:]))
    ]
    assert aucs[0] > aucs[1] + 0.05
    for called, scores in zip(model.predict(graphs), model.decision_function(graphs), strict=True):
        np.testing.assert_array_equal(called, scores > 0)
    again = clone(model).fit(graphs[:4], labels[:4])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert clone(model).get_params() == model.get_params()


def test_wrong_input_is_refused():
    graphs, labels = small_task(4)
    with pytest.raises(ValueError, match="C must be"):
        HammingSVM(C=0).fit(graphs, labels)
    bad = RankingGraph([[0.0], [1.0]], [[0, 1]], [[-1.0]])
    with pytest.raises(ValueError, match="edge features of at least 0"):
        HammingSVM().fit([bad], [[0, 1]])
