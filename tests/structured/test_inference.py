"""Exact inference against brute force, Eq. (9) and itself in other clothes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.structured import (
    AUC,
    AUCAtK,
    BinnedAUC,
    CliqueTerm,
    UnnestedAUC,
    grid_edges,
    high_order_scores,
    mixed_sign_scores,
    ranking_lp,
    tv_scores,
)
from aucuba.structured._inference import RankingBatch
from aucuba.structured._measures import merge_rounding_ties, ranking_mass
from aucuba.structured._mixed_signs import _lower_end
from aucuba.structured._rounding import _gains, _greedy, rank_order
from tests.structured import oracles

MEASURES = [AUC(), BinnedAUC(2), BinnedAUC([1, 3, 2]), AUCAtK(3), UnnestedAUC(), UnnestedAUC(2)]


def one_graph(n_nodes, edges, measure):
    nodes, pairs = np.zeros(n_nodes, dtype=np.intp), np.zeros(len(edges), dtype=np.intp)
    return RankingBatch(edges, nodes, pairs, 1, measure)


def labels(rng, n_nodes):
    positive = rng.random(n_nodes) < 0.5
    positive[rng.permutation(n_nodes)[:2]] = [True, False]
    return positive


@pytest.mark.parametrize("rounded", [False, True])
def test_sums_of_scores_are_the_best_sets_of_every_size(rounded):
    rng = np.random.default_rng(0)
    for _ in range(40):
        n_nodes = int(rng.integers(1, 9))
        unary, edges, coupling = oracles.random_problem(rng, n_nodes, rounded=rounded)
        best = oracles.best_by_size(
            lambda row, p=(unary, edges, coupling): oracles.row_score(*p, row), n_nodes
        )
        sums = np.append(0.0, np.cumsum(np.sort(tv_scores(unary, edges, coupling))[::-1]))
        np.testing.assert_allclose(sums, oracles.concave_envelope(best), atol=1e-12)


def test_twelve_nodes_by_brute_force():
    rng = np.random.default_rng(1)
    unary, edges, coupling = oracles.random_problem(rng, 12, strength=0.4)
    sets = oracles.all_sets(12)
    values = sets @ unary + (sets[:, edges[:, 0]] * sets[:, edges[:, 1]]) @ coupling
    best = [values[sets.sum(axis=1) == size].max() for size in range(13)]
    sums = np.append(0.0, np.cumsum(np.sort(tv_scores(unary, edges, coupling))[::-1]))
    np.testing.assert_allclose(sums, oracles.concave_envelope(best), atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_three_problems_have_the_values_of_the_paper_lp(measure):
    rng = np.random.default_rng(2)
    for trial in range(25):
        n_nodes = int(rng.integers(2, 7))
        unary, edges, coupling = oracles.random_problem(rng, n_nodes, rounded=trial % 3 == 0)
        positive = labels(rng, n_nodes)
        batch, rows = one_graph(n_nodes, edges, measure), measure.rows(n_nodes)
        lp = {"cardinality": rows.cardinality, "weight": rows.weight, "nested": measure.nested}
        found = batch.predict(unary, coupling).value
        np.testing.assert_allclose(found, oracles.paper_lp(unary, edges, coupling, **lp), atol=1e-9)

        value = batch.loss_augmented(unary, coupling, positive).value
        expected = oracles.paper_lp(unary - positive, edges, coupling, **lp)
        np.testing.assert_allclose(value, expected, atol=1e-9)

        evidence = [
            [
                1 if positive[i] and size >= positive.sum() else
                0 if not positive[i] and size <= positive.sum() else None
                for i in range(n_nodes)
            ]
            for size in rows.cardinality
        ]  # fmt: skip
        found = batch.consistent(unary, coupling, positive).value
        expected = oracles.paper_lp(unary, edges, coupling, fixed=evidence, **lp)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("measure", MEASURES[:4], ids=repr)
def test_whole_rankings_are_never_better_than_the_relaxation(measure):
    rng = np.random.default_rng(3)
    reached = 0
    for _ in range(25):
        n_nodes = int(rng.integers(2, 8))
        unary, edges, coupling = oracles.random_problem(rng, n_nodes)
        rows = measure.rows(n_nodes)
        chain = oracles.best_chain(unary, edges, coupling, rows.cardinality, rows.weight)
        relaxed = one_graph(n_nodes, edges, measure).predict(unary, coupling).value[0]
        assert chain <= relaxed + 1e-9
        reached += chain >= relaxed - 1e-9
    assert reached > 0


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_mixed_signs_have_the_value_of_the_paper_lp(measure):
    rng = np.random.default_rng(4)
    for _ in range(8):
        n_nodes = int(rng.integers(2, 6))
        unary, edges, coupling = oracles.random_problem(rng, n_nodes, signed=True)
        positive = labels(rng, n_nodes)
        rows, batch = measure.rows(n_nodes), one_graph(n_nodes, edges, measure)
        lp = {"cardinality": rows.cardinality, "weight": rows.weight, "nested": measure.nested}
        expected = oracles.paper_lp(unary, edges, coupling, **lp)
        solved = ranking_lp(unary, edges, coupling, measure=measure)
        np.testing.assert_allclose(solved.value, expected, atol=1e-9)
        np.testing.assert_allclose(batch.predict(unary, coupling).value, expected, atol=1e-9)
        evidence = [
            [
                1 if positive[i] and size >= positive.sum() else
                0 if not positive[i] and size <= positive.sum() else None
                for i in range(n_nodes)
            ]
            for size in rows.cardinality
        ]  # fmt: skip
        expected = oracles.paper_lp(unary, edges, coupling, fixed=evidence, **lp)
        found = batch.consistent(unary, coupling, positive).value
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_rows_of_unequal_bins_stay_nested_only_with_the_weights_of_the_measure():
    """The consistent chain of an integer ranking scores m.u with m from the position weights."""
    rng = np.random.default_rng(5)
    for measure in MEASURES:
        rows = measure.rows(7)
        order = rng.permutation(7)
        matrix = np.zeros((rows.weight.size, 7))
        for row, size in zip(matrix, rows.cardinality.astype(int), strict=True):
            row[order[:size]] = 1
        score = np.empty(7)
        score[order] = -np.arange(7.0)
        mass = ranking_mass(score, np.zeros(7, dtype=np.intp), rows.position_weight())
        np.testing.assert_allclose(mass, rows.weight @ matrix)


def test_a_batch_is_its_graphs():
    rng = np.random.default_rng(6)
    problems = [oracles.random_problem(rng, int(rng.integers(1, 9))) for _ in range(30)]
    problems = [(scale * u, e, scale * c) for (u, e, c), scale in
                zip(problems, np.logspace(-6, 6, 30), strict=True)]  # fmt: skip
    offsets = np.cumsum([0] + [len(unary) for unary, _, _ in problems])
    together = tv_scores(
        np.concatenate([u for u, _, _ in problems]),
        np.concatenate([e + o for (_, e, _), o in zip(problems, offsets, strict=False)]),
        np.concatenate([c for _, _, c in problems]),
    )
    for (unary, edges, coupling), start in zip(problems, offsets, strict=False):
        alone = tv_scores(unary, edges, coupling)
        part = together[start : start + len(unary)]
        np.testing.assert_allclose(part, alone, rtol=1e-12, atol=1e-12 * abs(unary).max())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-5, 5), st.floats(0.1, 10))
def test_scores_follow_permutations_shifts_and_scales(seed, shift, scale):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 12))
    unary, edges, coupling = oracles.random_problem(rng, n_nodes)
    score = tv_scores(unary, edges, coupling)
    number = rng.permutation(n_nodes)
    moved = np.empty(n_nodes)
    moved[number] = unary
    np.testing.assert_allclose(tv_scores(moved, number[edges], coupling)[number], score, atol=1e-11)
    np.testing.assert_allclose(tv_scores(unary + shift, edges, coupling), score + shift, atol=1e-11)
    scaled = tv_scores(scale * unary, edges, scale * coupling)
    np.testing.assert_allclose(scaled, scale * score, atol=1e-10)


def test_an_edge_of_zero_is_no_edge_and_infinite_coupling_ties():
    rng = np.random.default_rng(7)
    unary = rng.normal(size=6)
    np.testing.assert_array_equal(tv_scores(unary, [[0, 1]], [0.0]), unary)
    np.testing.assert_array_equal(tv_scores(unary, [[0, 1]], [1e-310]), unary)
    path = np.array([[i, i + 1] for i in range(5)])
    tied = tv_scores(unary, path, np.full(5, 1e6))
    assert np.ptp(tied) == 0


def test_a_large_grid_meets_the_optimality_conditions():
    """x* is a projection: (d - x*) is a subgradient of the total variation at x*."""
    rng = np.random.default_rng(8)
    edges = grid_edges(40, 50)
    unary, coupling = rng.normal(size=2000), rng.random(len(edges))
    score = tv_scores(unary, edges, coupling)
    half = coupling / 2
    target = unary + np.bincount(edges.ravel(), np.repeat(half, 2), minlength=2000)

    def variation(x):
        return half @ np.abs(x[edges[:, 0]] - x[edges[:, 1]])

    residual = target - score
    np.testing.assert_allclose(residual @ score, variation(score), rtol=1e-11)
    for _ in range(50):
        other = rng.normal(size=2000) * (rng.random(2000) < 0.1)
        assert residual @ other <= variation(other) + 1e-9


@pytest.mark.parametrize("n_cliques", [1, 2, 3])
def test_clique_terms_are_exact(n_cliques):
    rng = np.random.default_rng(n_cliques)
    for _ in range(15):
        n_nodes = int(rng.integers(3, 8))
        unary, edges, coupling = oracles.random_problem(rng, n_nodes)
        terms = []
        for _ in range(n_cliques):
            members = rng.permutation(n_nodes)[: rng.integers(2, n_nodes + 1)]
            slopes = np.sort(rng.normal(size=members.size))
            terms.append(CliqueTerm(members, np.append(0.0, np.cumsum(slopes))))

        def score(row, p=(unary, edges, coupling), terms=terms):
            high = sum(t.values[int(row[np.asarray(t.members)].sum())] for t in terms)
            return oracles.row_score(*p, row) + high

        best = oracles.concave_envelope(oracles.best_by_size(score, n_nodes))
        found = high_order_scores(unary, terms, edges, coupling)
        sums = np.append(0.0, np.cumsum(np.sort(found)[::-1]))
        np.testing.assert_allclose(sums, best, atol=1e-11)
        weight = AUC().rows(n_nodes).position_weight()
        mass = ranking_mass(found, np.zeros(n_nodes, dtype=np.intp), weight)
        pairs = sum(c * min(mass[i], mass[j]) for (i, j), c in zip(edges, coupling, strict=True))
        value = unary @ mass + pairs + sum(term.extension(mass) for term in terms)
        np.testing.assert_allclose(value, weight @ np.sort(found)[::-1], atol=1e-10)


def test_linearisation_is_attractive_exact_and_never_beats_the_lp():
    rng = np.random.default_rng(9)
    weight = AUC().rows(8).position_weight()
    shortfall = []
    for _ in range(25):
        unary, edges, coupling = oracles.random_problem(rng, 8, signed=True)
        score = mixed_sign_scores(unary, edges, coupling)
        order = rank_order(score, unary, edges, coupling)
        mass = np.empty(8)
        mass[order] = weight
        value = unary @ mass + coupling @ mass[edges].min(axis=1) if len(edges) else unary @ mass
        rows = AUC().rows(8)
        best = oracles.best_chain(unary, edges, coupling, rows.cardinality, rows.weight)
        assert value <= best + 1e-9
        shortfall.append((best - value) / (abs(best) + 1))
    assert np.mean(shortfall) < 0.02
    unary, edges, coupling = oracles.random_problem(rng, 8)
    np.testing.assert_array_equal(
        mixed_sign_scores(unary, edges, coupling), tv_scores(unary, edges, coupling)
    )


def test_linearised_repulsion_is_exact_here_and_never_below_elsewhere():
    rng = np.random.default_rng(12)
    _, edges, coupling = oracles.random_problem(rng, 8, signed=True)
    cost = -np.abs(coupling)
    for _ in range(20):
        mass, other = rng.integers(0, 5, size=(2, 8)).astype(float)
        linear = _lower_end(mass, edges, cost)
        np.testing.assert_allclose(linear @ mass, cost @ mass[edges].min(axis=1))
        assert linear @ other <= cost @ other[edges].min(axis=1) + 1e-12


def test_rank_order_keeps_blocks_and_beats_the_unary_order():
    rng = np.random.default_rng(10)
    rows = AUC().rows(8)
    weight, lost, lost_by_unary = rows.position_weight(), [], []
    for _ in range(40):
        unary, edges, coupling = oracles.random_problem(rng, 8, strength=2.0)
        score = tv_scores(unary, edges, coupling)
        order = rank_order(score, unary, edges, coupling)
        assert np.all(np.diff(score[order]) <= 0)
        assert sorted(order) == list(range(8))
        best = oracles.best_chain(unary, edges, coupling, rows.cardinality, rows.weight)
        for result, ranking in (
            (lost, order),
            (lost_by_unary, np.lexsort((-unary, -score))),
        ):
            mass = np.empty(8)
            mass[ranking] = weight
            pairs = sum(
                c * min(mass[i], mass[j]) for (i, j), c in zip(edges, coupling, strict=True)
            )
            result.append((best - unary @ mass - pairs) / (abs(best) + 1))
    assert min(lost) > -1e-9
    assert np.mean(lost) < 0.01
    assert np.mean(lost) < np.mean(lost_by_unary)


def test_the_better_of_both_greedy_orders_is_taken():
    rng = np.random.default_rng(13)
    wins = {True: 0, False: 0}
    for _ in range(60):
        unary, edges, coupling = oracles.random_problem(rng, 7, signed=True, strength=2.0)
        order = rank_order(np.zeros(7), unary, edges, coupling)
        gain, inside = _gains(unary, np.zeros(7, dtype=np.intp), edges, coupling)
        values = {}
        for forward in (True, False):
            greedy, values[forward] = _greedy(list(range(7)), gain, inside, forward=forward)
            rows = np.tril(np.ones((7, 7)))[:, np.argsort(greedy)]
            total = sum(oracles.row_score(unary, edges, coupling, row) for row in rows)
            assert values[forward] == pytest.approx(total)
        rows = np.tril(np.ones((7, 7)))[:, np.argsort(order)]
        total = sum(oracles.row_score(unary, edges, coupling, row) for row in rows)
        assert len(edges) == 0 or total == pytest.approx(max(values.values()))
        wins[values[True] > values[False] + 1e-9] += 1
    assert min(wins.values()) > 5


def test_scores_that_differ_by_rounding_are_merged_within_their_graph():
    score = np.array([0.1 + 0.2, 0.3, 0.3 + 1e-9, 1e6, 0.3])
    assert score[0] != score[1]
    merged = merge_rounding_ties(score, np.array([0, 0, 0, 1, 1]))
    assert merged[0] == merged[1]
    assert merged[2] > merged[1]
    np.testing.assert_array_equal(merged[2:], score[2:])


def path_edges(n_nodes):
    return np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)


SHAPES = {
    "grid": grid_edges(20, 20),
    "path": path_edges(300),
    "star": np.stack([np.zeros(299, dtype=int), np.arange(1, 300)], axis=1),
    "complete": np.stack(np.triu_indices(40, k=1), axis=1),
    "tree": np.stack([(np.arange(1, 300) - 1) // 2, np.arange(1, 300)], axis=1),
    "two parts": np.concatenate([grid_edges(9, 9), 81 + path_edges(60)]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strength", [0.01, 0.3, 3.0, 100.0])
def test_compiled_cuts_agree_with_scipy(shape, strength):
    rng = np.random.default_rng(11)
    edges = SHAPES[shape]
    for rounded in (False, True):
        unary = rng.normal(size=int(edges.max()) + 1)
        coupling = strength * rng.random(len(edges))
        if rounded:
            unary, coupling = np.round(2 * unary), np.ceil(2 * coupling)
        expected = oracles.tv_by_scipy(unary, edges, coupling)
        found = tv_scores(unary, edges, coupling)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * max(1.0, strength))
        assert found.sum() == pytest.approx(
            (unary.sum() + coupling.sum()), abs=1e-9 * strength + 1e-9
        )
        shuffled = rng.permutation(len(edges))
        again = tv_scores(unary, edges[shuffled][:, ::-1], coupling[shuffled])
        np.testing.assert_allclose(again, found, rtol=0, atol=1e-11 * max(1.0, strength))


def test_pairs_of_the_linear_program_lie_in_the_local_polytope():
    rng = np.random.default_rng(4)
    for _ in range(30):
        n_items = int(rng.integers(3, 7))
        edges = np.array([(i, i + 1) for i in range(n_items - 1)])
        coupling = rng.choice([-1.0, -1e-9, 0.0, 1e-9, 1.0], size=n_items - 1)
        best = ranking_lp(rng.normal(size=n_items), edges, coupling)
        first, second = best.rows[:, edges[:, 0]], best.rows[:, edges[:, 1]]
        assert np.all(best.pair_rows >= np.maximum(first + second - 1, 0) - 1e-9)
        assert np.all(best.pair_rows <= np.minimum(first, second) + 1e-9)
