"""High-order terms in whole data sets: exact rankings, gradients, learned strengths, refusals."""

import numpy as np
import pytest

from aucuba.structured import (
    AUC,
    AUCAtK,
    BinnedAUC,
    CliqueTerm,
    RankingGraph,
    StructuredRanker,
    high_order_scores,
)
from aucuba.structured._data import join
from aucuba.structured._frank_wolfe import FrankWolfe, _Blocks
from aucuba.structured._inference import RankingBatch
from aucuba.structured._risk import StructuredRisk
from aucuba.structured._terms import AgreementTerms
from tests.structured import oracles

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def random_clique(rng, n_nodes):
    members = rng.permutation(n_nodes)[: rng.integers(1, n_nodes + 1)]
    return CliqueTerm(members, np.append(0.0, np.cumsum(np.sort(rng.normal(size=members.size)))))


def set_score(problem, terms, strength):
    def score(row):
        high = [t.values[int(row[np.asarray(t.members)].sum())] for t in terms]
        return oracles.row_score(*problem, row) + float(np.dot(strength, high))

    return score


def relaxed_value(score, n_nodes, rows, positive=None):
    """Best fractional rows of every size by enumeration, class by class where positives lead."""
    best = np.full(n_nodes + 1, -np.inf)
    for row in oracles.all_sets(n_nodes):
        if positive is None or not (row[~positive].any() and not row[positive].all()):
            best[int(row.sum())] = max(best[int(row.sum())], score(row))
    cut = 0 if positive is None else int(positive.sum())
    envelope = np.append(
        oracles.concave_envelope(best[: cut + 1])[:-1], oracles.concave_envelope(best[cut:])
    )
    return rows.weight @ envelope[rows.cardinality.astype(int)]


@pytest.mark.parametrize("measure", [AUC(), BinnedAUC([1, 2, 4]), AUCAtK(2)], ids=repr)
def test_rankings_with_terms_by_enumeration(measure):
    rng = np.random.default_rng(0)
    for _ in range(12):
        problems, terms, strengths, positives = [], [], [], []
        for _ in range(2):
            n_nodes = int(rng.integers(2, 7))
            problems.append(oracles.random_problem(rng, n_nodes))
            terms.append([random_clique(rng, n_nodes) for _ in range(rng.integers(0, 3))])
            strengths.append(rng.choice([0.0, 0.5, 2.0], size=len(terms[-1])))
            positives.append(rng.permutation(np.arange(n_nodes) < rng.integers(0, n_nodes + 1)))
        sizes = [len(unary) for unary, _, _ in problems]
        offsets = np.cumsum([0, sizes[0]])
        batch = RankingBatch(
            np.concatenate([e + o for (_, e, _), o in zip(problems, offsets, strict=True)]),
            np.repeat([0, 1], sizes),
            np.repeat([0, 1], [len(edges) for _, edges, _ in problems]),
            2,
            measure,
            terms=tuple(terms[0] + terms[1]),
            term_graph=np.repeat([0, 1], [len(one) for one in terms]),
        )
        unary = np.concatenate([one for one, _, _ in problems])
        coupling = np.concatenate([one for _, _, one in problems])
        strength, positive = np.concatenate(strengths), np.concatenate(positives)
        found = batch.predict(unary, coupling, strength)
        worst = batch.loss_augmented(unary, coupling, positive, strength)
        best = batch.consistent(unary, coupling, positive, strength)
        for graph, problem in enumerate(problems):
            score = set_score(problem, terms[graph], strengths[graph])
            rows, y = measure.rows(sizes[graph]), positives[graph]
            want = relaxed_value(score, sizes[graph], rows)
            assert found.value[graph] == pytest.approx(want, abs=1e-9)
            want = relaxed_value(score, sizes[graph], rows, y)
            assert best.value[graph] == pytest.approx(want, abs=1e-9)
            lowered = set_score((problem[0] - y, *problem[1:]), terms[graph], strengths[graph])
            want = relaxed_value(lowered, sizes[graph], rows)
            assert worst.value[graph] == pytest.approx(want, abs=1e-9)


def teams(seed, n_graphs=8, n_teams=4, size=4, noise=1.5):
    """Items in teams that are positive as a whole; one noisy feature per item, no pairs."""
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    for _ in range(n_graphs):
        whole = rng.permutation(np.arange(n_teams) < n_teams // 2)
        positive = np.repeat(whole, size)
        nodes = positive + noise * rng.normal(size=positive.size)
        members = np.arange(positive.size).reshape(n_teams, size)
        pairs = [[team[0], team[1]] for team in members]
        terms = [CliqueTerm(team, np.arange(size + 1.0) ** 2) for team in members]
        features = np.stack([np.ones(n_teams), rng.random(n_teams)], axis=1)
        graphs.append(RankingGraph(nodes, pairs, terms=terms, term_features=features))
        labels.append(positive)
    return graphs, labels


def team_risk(graphs, labels, measure, objective="consistent"):
    data = join(graphs, measure)
    terms = AgreementTerms(data.terms, data.batch.edges)
    weight = np.full(len(graphs), 1 / len(graphs))
    return StructuredRisk(data.batch, terms, np.concatenate(labels), weight, objective)


@pytest.mark.parametrize("objective", ["consistent", "ramp"])
@pytest.mark.parametrize("measure", [AUC(), BinnedAUC(3), AUCAtK(4)], ids=repr)
def test_gradient_by_finite_differences(measure, objective):
    graphs, labels = teams(0, n_graphs=3, n_teams=2)
    risk = team_risk(graphs, labels, measure, objective)
    weights = np.array([0.7, 0.3, 0.05, 0.11])
    gradient = risk.value_and_gradient(weights)[1]
    slopes = [
        (risk.value_and_gradient(weights + h)[0] - risk.value_and_gradient(weights - h)[0]) / 2e-7
        for h in 1e-7 * np.eye(4)
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


@pytest.mark.parametrize("measure", [AUC(), BinnedAUC(3)], ids=repr)
def test_risk_is_the_difference_of_the_two_values(measure):
    graphs, labels = teams(6, n_graphs=3, n_teams=2)
    risk = team_risk(graphs, labels, measure)
    weights = np.array([0.7, 0.3, 0.05, 0.11])
    unary, coupling, strength = risk.terms.scores(weights)
    positive = np.concatenate(labels)
    worst = risk.batch.loss_augmented(unary, coupling, positive, strength).value
    best = risk.batch.consistent(unary, coupling, positive, strength).value
    n_positive = np.array([y.sum() for y in labels])
    n_pairs = n_positive * [np.sum(~y) for y in labels]
    want = np.mean(1 + (worst + n_positive**2 / 2 - best) / n_pairs)
    assert risk.value_and_gradient(weights)[0] == pytest.approx(want)


def test_block_gaps_with_terms_sum_to_primal_minus_dual():
    graphs, labels = teams(1, n_graphs=4, n_teams=2)
    risk = team_risk(graphs, labels, AUC())
    weights = np.array([0.5, 0.1, 0.1, 0.0])
    risk = risk.with_fixed(risk.reference(weights))
    blocks = _Blocks(FrankWolfe(10.0, np.arange(4) > 0), risk, weights)
    for _ in range(3):
        primal, dual = blocks.bounds()
        np.testing.assert_allclose(oracles.block_gaps(blocks).sum(), primal - dual, rtol=1e-9)
        blocks.sweep()


@pytest.mark.parametrize("pair_score", ["agree", "states"])
def test_learned_terms_help_where_teams_belong_together(pair_score):
    graphs, labels = teams(2, n_graphs=16)
    alone = [RankingGraph(graph.node_features) for graph in graphs]
    options = {"C": 10.0, "max_iter": 30}
    ranker = StructuredRanker(pair_score=pair_score, **options).fit(graphs[:8], labels[:8])
    factored = StructuredRanker(**options).fit(alone[:8], labels[:8])
    assert ranker.term_coef_.shape == (2,)
    assert ranker.term_coef_.min() >= 0
    assert ranker.term_coef_.max() > 0
    assert ranker.score(graphs[8:], labels[8:]) > factored.score(alone[8:], labels[8:]) + 0.03
    assert [sorted(order) for order in ranker.rank(graphs)] == [list(range(16))] * 16


@pytest.mark.parametrize("solver", ["lbfgs", "frank_wolfe"])
def test_terms_are_learned_without_any_pairs(solver):
    graphs, labels = teams(7)
    graphs = [RankingGraph(g.node_features, terms=g.terms) for g in graphs]
    ranker = StructuredRanker(C=10.0, solver=solver, max_iter=30, random_state=0)
    ranker.fit(graphs, labels)
    assert ranker.edge_coef_.size == 0
    assert ranker.term_coef_[0] > 0
    assert ranker.objective_ < ranker.start_objective_ - 0.5


def test_scores_are_those_of_the_terms_at_their_learned_strength():
    graphs, labels = teams(3)
    ranker = StructuredRanker(C=10.0, max_iter=20, pair_score="together").fit(graphs, labels)
    for graph, score in zip(graphs, ranker.decision_function(graphs), strict=True):
        strength = graph.term_features @ ranker.term_coef_
        terms = [
            CliqueTerm(term.members, factor * np.asarray(term.values))
            for term, factor in zip(graph.terms, strength, strict=True)
        ]
        want = high_order_scores(
            graph.node_features @ ranker.coef_,
            terms,
            graph.edges,
            graph.edge_features @ ranker.edge_coef_,
        )
        np.testing.assert_allclose(score, want, atol=1e-9)


def test_a_square_term_is_the_pairs_of_its_clique():
    """t^2 = t + 2 t(t-1)/2: a unary score of one and a coupling of two per pair."""
    graphs, labels = teams(4)
    pairwise = []
    for graph in graphs:
        edges, features = [], []
        for term, feature in zip(graph.terms, graph.term_features, strict=True):
            first, second = np.triu_indices(4, k=1)
            edges += np.asarray(term.members)[np.stack([first, second], axis=1)].tolist()
            features += [2 * feature] * 6
        unary = np.repeat(graph.term_features, 4, axis=0)
        pairwise.append(RankingGraph(np.hstack([graph.node_features, unary]), edges, features))
    terms = StructuredRanker(C=1.0, pair_score="together").fit(
        [RankingGraph(g.node_features, None, None, g.terms, g.term_features) for g in graphs],
        labels,
    )
    pairs = StructuredRanker(C=1.0, pair_score="together")
    pairs.coef_ = np.append(terms.coef_, terms.term_coef_)
    pairs.edge_coef_, pairs.term_coef_ = terms.term_coef_, np.zeros(0)
    for one, other in zip(
        terms.decision_function(
            [RankingGraph(g.node_features, None, None, g.terms, g.term_features) for g in graphs]
        ),
        pairs.decision_function(pairwise),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_what_could_not_be_ranked_exactly_is_refused():
    clique = CliqueTerm([0, 1], [0, 0, 1])
    with pytest.raises(ValueError, match=r"term_features\[0, 0\] is -1.*at least 0"):
        RankingGraph([1.0, 2.0], terms=[clique], term_features=[-1.0])
    with pytest.raises(ValueError, match="members must lie in 0 to 1"):
        RankingGraph([1.0, 2.0], terms=[CliqueTerm([0, 2], [0, 0, 1])])
    with pytest.raises(ValueError, match="only supermodular terms"):
        CliqueTerm([0, 1, 2], [0, 1, 1, 1])
    graphs, labels = teams(5, n_graphs=2)
    with pytest.raises(ValueError, match=r"edge_weights='free'.*high-order terms"):
        StructuredRanker(edge_weights="free").fit(graphs, labels)
    batch = join(graphs, AUC()).batch
    nodes, edges = batch.node_graph.size, len(batch.edges)
    with pytest.raises(ValueError, match="pairs that repel and high-order terms"):
        batch.predict(np.zeros(nodes), np.full(edges, -1.0))
    with pytest.raises(ValueError, match=r"strength\[0\] is -1"):
        batch.scores(np.zeros(nodes), np.ones(edges), np.full(len(batch.terms), -1.0))
    plain = StructuredRanker(C=1.0).fit(
        [RankingGraph(g.node_features, g.edges) for g in graphs], labels
    )
    with pytest.raises(ValueError, match="2 term features, but the model was fitted with 0"):
        plain.decision_function(graphs)
