"""The structured risk, its two solvers and the estimator."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucuba.solvers import Status
from aucuba.structured import (
    AUC,
    AUCAtK,
    BinnedAUC,
    RankingGraph,
    StructuredRanker,
    UnnestedAUC,
    unnested_auc_score,
)
from aucuba.structured._data import join
from aucuba.structured._descent import Descent, _SignedPlanes
from aucuba.structured._frank_wolfe import FrankWolfe, _Blocks
from aucuba.structured._inference import Ranking
from aucuba.structured._measures import ranking_mass
from aucuba.structured._risk import StructuredRisk
from aucuba.structured._terms import AgreementTerms
from reproductions.baselines import svm_rank
from tests.structured import oracles

# Many tests stop early on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MEASURES = [AUC(), BinnedAUC(3), BinnedAUC([1, 2, 4]), AUCAtK(4), UnnestedAUC()]


def communities(seed, n_graphs=8, low=6, high=14):
    """Graphs whose positives are joined more often, with two noisy features."""
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    for _ in range(n_graphs):
        n_nodes = int(rng.integers(low, high))
        positive = rng.random(n_nodes) < 0.4
        positive[:2] = [True, False]
        nodes = rng.normal(size=(n_nodes, 2)) + 0.9 * positive[:, None]
        first, second = np.triu_indices(n_nodes, k=1)
        kept = rng.random(first.size) < np.where(positive[first] == positive[second], 0.5, 0.05)
        edges = np.stack([first[kept], second[kept]], axis=1)
        features = np.stack([np.ones(kept.sum()), rng.random(kept.sum())], axis=1)
        graphs.append(RankingGraph(nodes, edges, features))
        labels.append(positive)
    return graphs, labels


def make_risk(
    graphs, labels, measure=None, objective="consistent", agree=False, graph_weight="pairs"
):
    data = join(graphs, AUC() if measure is None else measure)
    terms = AgreementTerms(data.terms, data.batch.edges) if agree else data.terms
    share = np.full(len(graphs), 1 / len(graphs))
    risk = StructuredRisk(data.batch, terms, np.concatenate(labels), share, objective, graph_weight)
    if objective == "fixed":
        risk = risk.with_fixed(replace(risk, objective="consistent").reference(np.ones(4)))
    return risk


def with_weights(ranker, node, edge):
    """A ranker as if fitted with these weights."""
    ranker.coef_, ranker.edge_coef_ = np.asarray(node), np.asarray(edge)
    ranker.term_coef_ = np.zeros(0)
    return ranker


SIGNED = np.array([False, False, True, True])


@pytest.mark.parametrize("objective", ["consistent", "fixed", "ramp"])
@pytest.mark.parametrize("agree", [False, True])
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_gradient_by_finite_differences(measure, agree, objective):
    graphs, labels = communities(0, n_graphs=3, high=9)
    risk = make_risk(graphs, labels, measure, objective, agree)
    rng = np.random.default_rng(1)
    for _ in range(2):
        weights = np.abs(rng.normal(size=4)) * [1, 1, 0.3, 0.3]
        gradient = risk.value_and_gradient(weights)[1]
        steps = 1e-7 * np.eye(4)
        slopes = [
            (risk.value_and_gradient(weights + h)[0] - risk.value_and_gradient(weights - h)[0])
            / 2e-7
            for h in steps
        ]
        np.testing.assert_allclose(gradient, slopes, atol=1e-6)


@pytest.mark.parametrize("objective", ["consistent", "ramp"])
def test_agreement_is_togetherness_less_half_of_every_coupling_at_both_ends(objective):
    graphs, labels = communities(20, n_graphs=4)
    shifted = []
    for graph in graphs:
        half = np.zeros((graph.n_nodes, 2))
        for (i, j), features in zip(graph.edges, graph.edge_features, strict=True):
            half[[i, j]] -= features / 2
        nodes = np.hstack([graph.node_features, half])
        shifted.append(RankingGraph(nodes, graph.edges, graph.edge_features))
    agree = make_risk(graphs, labels, objective=objective, agree=True)
    together = make_risk(shifted, labels, objective=objective)
    weights = np.array([0.7, 0.4, 0.35, 0.2])
    value, gradient = agree.value_and_gradient(weights)
    same, other = together.value_and_gradient(np.append(weights, weights[2:]))
    assert value == pytest.approx(same)
    np.testing.assert_allclose(gradient, np.append(other[:2], other[2:4] + other[4:]), atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_risk_by_the_paper_lp(measure):
    """A - B of one graph from Eq. (9), loss and evidence written out."""
    (graph,), (positive,) = communities(21, n_graphs=1, high=7)
    weights = np.array([0.7, 0.4, 0.35, 0.2])
    unary = graph.node_features @ weights[:2]
    coupling = graph.edge_features @ weights[2:]
    rows, n_positive = measure.rows(graph.n_nodes), int(positive.sum())
    lp = {"cardinality": rows.cardinality, "weight": rows.weight, "nested": measure.nested}
    worst = oracles.paper_lp(unary - positive, graph.edges, coupling, **lp) + n_positive**2 / 2
    evidence = [
        [int(positive[i]) if positive[i] == (size >= n_positive) else None for i in range(unary.size)]
        if size != n_positive else positive.astype(int).tolist()
        for size in rows.cardinality
    ]  # fmt: skip
    best = oracles.paper_lp(unary, graph.edges, coupling, fixed=evidence, **lp)
    n_pairs = n_positive * (unary.size - n_positive)
    expected = 1 + (worst - best) / n_pairs
    risk = make_risk([graph], [positive], measure)
    assert risk.value_and_gradient(weights)[0] == pytest.approx(expected, abs=1e-9)


def test_gradient_with_repelling_pairs():
    graphs, labels = communities(2, n_graphs=2, high=8)
    risk = make_risk(graphs, labels, BinnedAUC(2))
    weights = np.array([0.7, 0.4, -0.5, 0.35])
    gradient = risk.value_and_gradient(weights)[1]
    slopes = [
        (risk.value_and_gradient(weights + h)[0] - risk.value_and_gradient(weights - h)[0]) / 2e-6
        for h in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-5)


def test_without_edges_the_risk_is_the_mean_pairwise_hinge():
    graphs, labels = communities(3)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    risk = make_risk(alone, labels)
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights = rng.normal(size=2)
        hinges = []
        for graph, positive in zip(alone, labels, strict=True):
            score = graph.node_features @ weights
            margin = score[positive][:, None] - score[~positive][None, :]
            hinges.append(np.maximum(0, 1 - margin).mean())
        np.testing.assert_allclose(risk.value_and_gradient(weights)[0], np.mean(hinges), rtol=1e-12)


def test_without_edges_the_learner_is_the_unstructured_svm():
    graphs, labels = communities(4)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    ranker = StructuredRanker(C=5, tol=1e-6).fit(alone, labels)
    qid = np.repeat(np.arange(len(graphs)), [graph.n_nodes for graph in graphs])
    X, y = np.concatenate([g.node_features for g in graphs]), np.concatenate(labels)
    solution = svm_rank(X, y, qid, C=5, tol=1e-6)
    np.testing.assert_allclose(ranker.objective_, solution.objective, atol=1e-5)
    np.testing.assert_allclose(ranker.coef_, solution.coef, atol=0.01)
    assert ranker.gap_ <= 1e-6


def test_only_the_auc_without_edges_is_certified():
    """With bins the risk without edges is not convex: a chord lies below it."""
    graphs, labels = communities(19, n_graphs=3, high=8)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    assert make_risk(alone, labels).is_convex
    assert make_risk(alone, labels, UnnestedAUC()).is_convex
    assert not make_risk(graphs, labels).is_convex
    binned = make_risk(alone, labels, BinnedAUC(3))
    assert not binned.is_convex
    rng = np.random.default_rng(0)
    above = []
    for _ in range(300):
        one, other = rng.normal(size=(2, 2))
        chord = binned.value_and_gradient(one)[0] + binned.value_and_gradient(other)[0]
        above.append(binned.value_and_gradient((one + other) / 2)[0] - chord / 2)
    assert max(above) > 1e-6
    ranker = StructuredRanker(BinnedAUC(3), C=5).fit(alone, labels)
    assert np.isnan(ranker.gap_)
    assert ranker.objective_ <= ranker.start_objective_


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@pytest.mark.parametrize("objective", ["consistent", "ramp"])
def test_risk_bounds_the_loss_of_the_prediction(measure, objective):
    graphs, labels = communities(5, n_graphs=6)
    risk = make_risk(graphs, labels, measure, objective)
    rng = np.random.default_rng(2)
    for _ in range(5):
        weights = np.abs(rng.normal(size=4))
        ranker = StructuredRanker(measure, pair_score="together")
        with_weights(ranker, weights[:2], weights[2:])
        loss = 1 - ranker.score(graphs, labels)
        assert risk.value_and_gradient(weights)[0] >= loss - 1e-9


@pytest.mark.parametrize("agree", [False, True])
def test_block_gaps_sum_to_primal_minus_dual(agree):
    graphs, labels = communities(6)
    risk = make_risk(graphs, labels, objective="fixed", agree=agree)
    blocks = _Blocks(FrankWolfe(10.0, SIGNED), risk, np.array([0.5, 0.5, 0.1, 0.0]))
    for _ in range(4):
        primal, dual = blocks.bounds()
        gaps = oracles.block_gaps(blocks)
        assert gaps.min() >= -1e-9
        np.testing.assert_allclose(gaps.sum(), primal - dual, rtol=1e-9)
        blocks.sweep()
    assert np.any(blocks.total[2:] < 0) or np.all(blocks.weights() == blocks.total)


def test_solvers_agree_on_the_convex_problem():
    graphs, labels = communities(7, n_graphs=4, high=9)
    risk = make_risk(graphs, labels, objective="fixed", agree=True)
    start = np.array([0.5, 0.5, 0.0, 0.0])
    ours = Descent(10.0, SIGNED, tol=1e-5, max_iter=300).solve(risk, start)
    paper = FrankWolfe(10.0, SIGNED, tol=3e-3, max_iter=100).solve(risk, start)
    assert ours.gap <= 1e-5
    assert 0 <= paper.gap <= 3e-3
    assert ours.lower_bound <= paper.objective
    assert paper.lower_bound <= ours.objective
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.abs(ours.coef + 0.3 * rng.normal(size=4) * [1, 1, 1, 1])
        value = other @ other / 2 + 10 * risk.value_and_gradient(other)[0]
        assert value >= ours.lower_bound


def test_planes_are_minimised_under_sign_constraints():
    rng = np.random.default_rng(3)
    bound_at_zero = 0
    for _ in range(20):
        slopes, offsets = rng.normal(size=(6, 4)), rng.random(6)
        reference = 0.3 * rng.normal(size=4)
        planes = _SignedPlanes(slopes, offsets, np.full(6, 2.0 / 6))
        solved, weights, value = planes.minimised(reference, SIGNED)

        def model(w, slopes=slopes, offsets=offsets, reference=reference):
            return w @ w / 2 + 2.0 * (np.max(offsets + slopes @ w) - w @ reference)

        assert solved.dual.sum() == pytest.approx(2.0)
        assert weights[2:].min() >= 0
        assert value == pytest.approx(model(weights), abs=1e-6)
        bound_at_zero += np.any(weights[2:] == 0)
    assert bound_at_zero > 3


def test_lower_bounds_hold_before_convergence():
    graphs, labels = communities(22, n_graphs=4)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    risk = make_risk(alone, labels)
    signed = np.zeros(2, dtype=bool)
    optimum = Descent(20.0, signed, tol=1e-11).solve(risk, np.zeros(2)).objective
    rng = np.random.default_rng(4)
    for limit in (1, 2, 3, 5, 8):
        for _ in range(4):
            stopped = Descent(20.0, signed, tol=1e-9, max_iter=limit).solve(
                risk, rng.normal(size=2)
            )
            assert stopped.lower_bound <= optimum + 1e-8
            assert stopped.objective >= optimum - 1e-8


def test_new_references_move_the_dual_iterate_with_them():
    """What is left of a block without its reference are its rankings, which stay as they are."""
    graphs, labels = communities(23)
    risk = make_risk(graphs, labels, agree=True)
    blocks = _Blocks(FrankWolfe(10.0, SIGNED), risk, np.array([0.5, 0.5, 0.1, 0.0]))
    blocks.sweep()
    rankings = blocks.vectors - 10 * blocks.references
    for weights in (np.array([2.0, -1.0, 0.5, 0.0]), np.array([0.1, 3.0, 0.0, 1.0])):
        before = blocks.references
        blocks.refer(weights)
        assert np.abs(blocks.references - before).max() > 1e-6
        np.testing.assert_allclose(blocks.vectors - 10 * blocks.references, rankings, atol=1e-12)
        np.testing.assert_allclose(blocks.total, blocks.vectors.sum(axis=0))
        primal, dual = blocks.bounds()
        np.testing.assert_allclose(oracles.block_gaps(blocks).sum(), primal - dual, rtol=1e-9)
        fixed = risk.with_fixed(risk.reference(weights))
        for _ in range(20):
            point = np.abs(np.random.default_rng(0).normal(size=4))
            assert dual <= point @ point / 2 + 10 * fixed.value_and_gradient(point)[0]


def test_what_algorithm_1_does_at_zero_depends_on_how_it_breaks_ties():
    """Every consistent ranking is best at zero: split ties lead away, an arbitrary order may not."""
    rng = np.random.default_rng(25)
    labels = [np.arange(30) < 10] * 4
    path = [[i, i + 1] for i in range(29)]
    graphs = [RankingGraph(y[:, None] + 3 * rng.normal(size=(30, 2)), path) for y in labels]
    risk, signed = make_risk(graphs, labels, agree=True), SIGNED[:3]
    paper = FrankWolfe(10.0, signed, tol=1e-2, max_iter=20).solve(risk, np.zeros(3))
    assert paper.objective < 9.9
    arbitrary = np.concatenate([100 * y + rng.random(30) for y in labels])
    batch = risk.batch
    mass = ranking_mass(arbitrary, batch.node_graph, batch.position_weight)
    order = Ranking(mass, mass[batch.edges].min(axis=1), np.zeros(4))
    for start in (np.zeros(3), np.array([0.2, 0.2, 0.1])):
        stuck = Descent(10.0, signed, tol=1e-6).solve(risk.with_fixed(order), start)
        np.testing.assert_allclose(stuck.coef, 0, atol=1e-3)
        assert stuck.objective == pytest.approx(10.0, abs=1e-4)


@pytest.mark.parametrize("pair_score", ["agree", "together"])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_lbfgs_training_is_not_worse_than_frank_wolfe(C, pair_score):
    graphs, labels = communities(8, n_graphs=4, high=9)
    options = {"C": C, "pair_score": pair_score}
    ours = StructuredRanker(**options).fit(graphs, labels)
    paper = StructuredRanker(solver="frank_wolfe", tol=1e-3, max_iter=15, **options).fit(
        graphs, labels
    )
    assert ours.objective_ <= paper.objective_ + 1e-4 * C
    for ranker in (ours, paper):
        assert ranker.objective_ < C
        assert ranker.objective_ <= ranker.start_objective_
        assert np.any(ranker.coef_ != 0)
        values = [row["objective"] for row in ranker.history_]
        assert np.all(np.diff(values) <= 1e-12)


@pytest.mark.parametrize("objective", ["consistent", "fixed", "ramp"])
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_every_measure_and_objective_trains(measure, objective):
    graphs, labels = communities(9, n_graphs=5, high=9)
    ranker = StructuredRanker(measure, C=5, objective=objective, max_iter=25).fit(graphs, labels)
    assert ranker.edge_coef_.min() >= 0
    assert ranker.score(graphs, labels) > 0.6
    assert np.isnan(ranker.gap_) == (objective != "fixed")


def test_the_fixed_objective_lies_above_the_consistent_one():
    graphs, labels = communities(24)
    ranker = StructuredRanker(C=10, objective="fixed").fit(graphs, labels)
    weights = np.append(ranker.coef_, ranker.edge_coef_)
    risk = make_risk(graphs, labels, agree=True)
    consistent = weights @ weights / 2 + 10 * risk.value_and_gradient(weights)[0]
    assert ranker.objective_ > consistent + 1e-6


def test_pairs_help_where_classes_hang_together():
    graphs, labels = communities(10, n_graphs=16, low=12, high=20)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    pairwise = StructuredRanker(C=10, max_iter=25).fit(graphs[:6], labels[:6])
    factored = StructuredRanker(C=10).fit(alone[:6], labels[:6])
    better = pairwise.score(graphs[6:], labels[6:])
    assert better > factored.score(alone[6:], labels[6:]) + 0.03
    assert pairwise.objective_ < pairwise.start_objective_


def test_gaps_of_free_weights_are_never_negative():
    rng = np.random.default_rng(0)
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    options = {"C": 10.0, "edge_weights": "free", "objective": "fixed", "max_iter": 100}
    for _ in range(6):
        graphs, labels = [], []
        for _ in range(2):
            positive = np.zeros(5, bool)
            positive[rng.permutation(5)[:2]] = True
            kinds = np.eye(3)[rng.integers(0, 3, 4)]
            graphs.append(RankingGraph(positive + rng.normal(size=5), path, kinds))
            labels.append(positive)
        ranker = StructuredRanker(**options).fit(graphs, labels)
        assert 0 <= ranker.gap_ <= ranker.tol


def test_free_weights_reach_no_higher_objective():
    graphs, labels = communities(11, n_graphs=3, high=8)
    options = {"measure": BinnedAUC(3), "C": 5.0, "max_iter": 12}
    free = StructuredRanker(edge_weights="free", **options).fit(graphs, labels)
    signed = StructuredRanker(**options).fit(graphs, labels)
    assert free.objective_ <= signed.objective_ + 1e-2
    scores, orders = free.decision_function(graphs), free.rank(graphs)
    assert [sorted(order) for order in orders] == [list(range(g.n_nodes)) for g in graphs]
    assert all(np.isfinite(score).all() for score in scores)


def test_unnested_rows_of_repelling_pairs():
    graph = RankingGraph(np.array([1.0, 0.95, 0.9, 0.1]), [[0, 1], [0, 2]], [[1.0], [1.0]])
    ranker = StructuredRanker("unnested", edge_weights="free", pair_score="together")
    with_weights(ranker, [1.0], [-1.0])
    rows = ranker.predict_rows(graph)
    np.testing.assert_allclose(rows[0], [1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(rows[1], [0, 1, 1, 0], atol=1e-9)
    labels = np.array([0, 1, 1, 0])
    assert ranker.score([graph], [labels]) == pytest.approx(unnested_auc_score(labels, rows))


def test_weights_of_graphs_are_replication():
    graphs, labels = communities(12, n_graphs=4, high=9)
    weights = [1, 2, 0, 3]
    repeated = [g for g, w in zip(graphs, weights, strict=True) for _ in range(w)]
    repeated_labels = [y for y, w in zip(labels, weights, strict=True) for _ in range(w)]
    weighted = StructuredRanker(C=3, tol=1e-5).fit(graphs, labels, sample_weight=weights)
    plain = StructuredRanker(C=3, tol=1e-5).fit(repeated, repeated_labels)
    np.testing.assert_allclose(weighted.objective_, plain.objective_, rtol=1e-5)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-2)


def test_scores_do_not_depend_on_the_order_of_nodes_edges_or_graphs():
    graphs, labels = communities(13)
    ranker = StructuredRanker(C=5, max_iter=30).fit(graphs, labels)
    rng = np.random.default_rng(0)
    together = ranker.decision_function(graphs)
    for graph, score in zip(graphs, together, strict=True):
        number = rng.permutation(graph.n_nodes)
        moved = np.empty_like(graph.node_features)
        moved[number] = graph.node_features
        order = rng.permutation(graph.n_edges)
        other = RankingGraph(moved, number[graph.edges][order, ::-1], graph.edge_features[order])
        np.testing.assert_allclose(ranker.decision_function(other)[number], score, atol=1e-10)
        np.testing.assert_allclose(ranker.decision_function(graph), score, atol=1e-12)


def test_rounding_does_not_break_ties():
    """Two equal components whose sums are formed in another order stay tied."""
    edges = np.array([[0, 1], [0, 2], [0, 3]])
    features = np.array([[0.1], [0.2], [0.3]])
    twice = RankingGraph(
        np.tile([0.3, 0.1, 0.2, 0.7], 2),
        np.concatenate([edges, edges[::-1] + 4]),
        np.concatenate([features, features[::-1]]),
    )
    ranker = StructuredRanker(pair_score="together")
    with_weights(ranker, [1.0], [0.7])
    score = ranker.decision_function(twice)
    np.testing.assert_array_equal(score[:4], score[4:])


@pytest.mark.parametrize("measure", MEASURES[:4], ids=repr)
def test_measures_are_linear_in_the_masses(measure):
    rng = np.random.default_rng(14)
    for _ in range(20):
        n_items = int(rng.integers(2, 10))
        positive = rng.random(n_items) < 0.5
        positive[:2] = [True, False]
        score = rng.permutation(n_items).astype(float)
        mass = np.empty(n_items)
        mass[np.argsort(-score)] = measure.rows(n_items).position_weight()
        n_positive, n_negative = positive.sum(), (~positive).sum()
        value = (mass[positive].sum() - n_positive**2 / 2) / (n_positive * n_negative)
        np.testing.assert_allclose(measure.score(positive, score), value)
        if isinstance(measure, AUC):
            np.testing.assert_allclose(value, oracles.auc_by_pairs(positive, score))


def test_iteration_limit_is_said():
    graphs, labels = communities(15, n_graphs=4)
    with pytest.warns(ConvergenceWarning, match="Set max_iter=4"):
        ranker = StructuredRanker(C=10, max_iter=2).fit(graphs, labels)
    assert "max_iter" in ranker.status_


@pytest.mark.parametrize("solver", ["lbfgs", "frank_wolfe"])
def test_a_monitor_can_stop_training(solver):
    graphs, labels = communities(16, n_graphs=4)
    risk = make_risk(graphs, labels, agree=True)
    start = np.array([0.5, 0.5, 0.1, 0.1])
    rows = []
    chosen = {"lbfgs": Descent, "frank_wolfe": FrankWolfe}[solver](10.0, SIGNED, 1e-9, 100)

    def monitor(row):
        rows.append(row)
        return len(rows) == 3

    solution = chosen.solve(risk, start, monitor)
    assert solution.status is Status.STOPPED_BY_CALLBACK
    assert len(rows) == solution.n_iter == 3
    assert solution.objective <= start @ start / 2 + 10 * risk.value_and_gradient(start)[0]


def test_an_interrupt_keeps_the_best_model():
    graphs, labels = communities(17, n_graphs=4)

    def interrupt(row):
        if row["iteration"] == 4:
            raise KeyboardInterrupt

    risk = make_risk(graphs, labels)
    solution = Descent(10.0, SIGNED).solve(risk, np.array([0.5, 0.5, 0.0, 0.0]), interrupt)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == 4


def test_verbose_fits_are_logged(caplog):
    graphs, labels = communities(18, n_graphs=3)
    with caplog.at_level("INFO", logger="aucuba"):
        ranker = StructuredRanker(verbose=True, max_iter=10).fit(graphs, labels)
    messages = [record.getMessage() for record in caplog.records]
    assert all("iteration" in message for message in messages)
    alone = [message for message in messages if message.startswith("without edges")]
    assert alone
    assert len(messages) - len(alone) == ranker.n_iter_


def printed_hinge(graph, positive, weights):
    """One summand of Eq. (6) as printed: Eqs. (3), (7) and (8), by the linear program (9)."""
    n_nodes, n_pos = graph.n_nodes, int(positive.sum())
    n_neg = n_nodes - n_pos
    unary, coupling = graph.node_features @ weights[:2], graph.edge_features @ weights[2:]
    rows = np.arange(1, n_nodes + 1), np.ones(n_nodes)
    price = positive / (n_pos * n_neg)
    worst = oracles.paper_lp(unary - price, graph.edges, coupling, *rows)
    worst += 1 + (n_pos + 1) / (2 * n_neg)
    fixed = [
        [
            1 if ahead and k >= n_pos else 0 if not ahead and k <= n_pos else None
            for ahead in positive
        ]
        for k in rows[0]
    ]
    return worst - oracles.paper_lp(unary, graph.edges, coupling, *rows, fixed=fixed)


def test_printed_risk_is_equation_6_of_the_paper():
    graphs, labels = communities(3, n_graphs=4, low=5, high=8)
    rng = np.random.default_rng(4)
    risk = make_risk(graphs, labels, graph_weight="printed")
    for scale in (0.01, 0.1, 1.0):
        weights = scale * rng.normal(size=4)
        weights[2:] = np.abs(weights[2:])
        expected = np.mean(
            [printed_hinge(graph, y, weights) for graph, y in zip(graphs, labels, strict=True)]
        )
        value, gradient = risk.value_and_gradient(weights)
        assert value == pytest.approx(expected, rel=1e-9)
        moved = risk.value_and_gradient(weights + 1e-7 * gradient)[0]
        assert (moved - value) / 1e-7 == pytest.approx(gradient @ gradient, rel=1e-3)


@pytest.mark.parametrize("solver", ["lbfgs", "frank_wolfe"])
@pytest.mark.parametrize("objective", ["consistent", "fixed"])
def test_printed_form_is_the_other_one_on_features_times_pairs(objective, solver):
    graphs, labels = communities(5, n_graphs=5)
    scaled = [
        RankingGraph(
            graph.node_features * y.sum() * (~y).sum(),
            graph.edges,
            graph.edge_features * y.sum() * (~y).sum(),
        )
        for graph, y in zip(graphs, labels, strict=True)
    ]
    settings = {"C": 0.05, "objective": objective, "solver": solver, "random_state": 0}
    settings |= {"tol": 1e-3, "max_iter": 20}
    printed = StructuredRanker(graph_weight="printed", **settings).fit(graphs, labels)
    pairs = StructuredRanker(**settings).fit(scaled, labels)
    np.testing.assert_allclose(printed.coef_, pairs.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(printed.edge_coef_, pairs.edge_coef_, rtol=1e-5, atol=1e-8)
    assert printed.objective_ == pytest.approx(pairs.objective_, rel=1e-9)
    plain = StructuredRanker(**settings).fit(graphs, labels)
    assert not np.allclose(printed.coef_, plain.coef_, rtol=0.1)


def test_printed_form_is_refused_where_the_paper_has_none():
    graphs, labels = communities(6, n_graphs=2)
    with pytest.raises(ValueError, match="objective='ramp' has no such reference"):
        StructuredRanker(graph_weight="printed", objective="ramp").fit(graphs, labels)
    with pytest.raises(ValueError, match=r"BinnedAUC\(sizes=3\) weights its rows by the sizes"):
        StructuredRanker(BinnedAUC(3), graph_weight="printed").fit(graphs, labels)
    with pytest.raises(ValueError, match="graph_weight must be one of"):
        StructuredRanker(graph_weight="literal").fit(graphs, labels)
