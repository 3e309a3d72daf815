"""Hostile graphs: disconnected, empty or of one node, with ties, zero and huge weights, one class.

Each ``check_*`` draws one case from its seed and raises where the library is wrong. The oracles count
in fractions, so that a float has one right answer whatever its size.
"""

import itertools
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucuba.structured import AUC, RankingGraph, StructuredRanker, high_order_scores, tv_scores
from aucuba.structured import CliqueTerm as Clique
from aucuba.structured._inference import RankingBatch

UNITS = (1.0, 1.0, 1e-12, 1e8, 1e-150, 1e150)


def hostile_problem(rng, most=7):
    """Unary scores, edges and couplings of a graph of up to ``most`` nodes."""
    n_nodes = int(rng.integers(1, most + 1))
    pairs = np.array(list(itertools.combinations(range(n_nodes), 2)), dtype=np.intp).reshape(-1, 2)
    density = rng.choice([0.0, 0.2, 0.6, 1.0])
    edges = pairs[rng.random(len(pairs)) < density]
    edges = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    unary = rng.normal(size=n_nodes) * rng.choice(UNITS)
    coupling = rng.random(len(edges)) * rng.choice(UNITS)
    kind = rng.integers(5)
    if kind == 0:
        unary, coupling = np.round(unary), np.round(2 * coupling)
    elif kind == 1:
        unary = np.full(n_nodes, unary[0])
    elif kind == 2:
        coupling *= rng.random(len(edges)) < 0.5
    elif kind == 3:
        coupling *= 10.0 ** rng.integers(-12, 13, len(edges))
    return unary, edges, coupling


def exact_tops(unary, edges, coupling, terms=()):
    """Best relaxed score of the rows of every size 0 ... n, in fractions."""
    own, bonds = [Fraction(value) for value in unary], [Fraction(value) for value in coupling]
    best = [None] * (len(own) + 1)
    for row in itertools.product((0, 1), repeat=len(own)):
        score = sum((value for value, held in zip(own, row, strict=True) if held), Fraction(0))
        for (i, j), bond in zip(edges, bonds, strict=True):
            score += bond if row[i] and row[j] else 0
        for members, values in terms:
            score += Fraction(values[sum(row[item] for item in members)])
        size = sum(row)
        best[size] = score if best[size] is None else max(best[size], score)
    # The smallest concave sequence above: what mixtures of rows reach.
    envelope = list(best)
    for low, high in itertools.combinations(range(len(best)), 2):
        for k in range(low + 1, high):
            line = best[low] + (best[high] - best[low]) * (k - low) / (high - low)
            envelope[k] = max(envelope[k], line)
    return envelope


def agree(found, exact, scale):
    """Compare floats with fractions, up to rounding of numbers of this size."""
    room = Fraction(scale) * Fraction(1, 10**11)
    return all(abs(Fraction(float(a)) - b) <= room for a, b in zip(found, exact, strict=True))


def size_of(unary, coupling):
    return float(np.abs(unary).sum() + np.abs(coupling).sum()) or 1.0


def check_scores(seed):
    """`tv_scores`: every sum of the largest scores is the best row of that size."""
    unary, edges, coupling = hostile_problem(np.random.default_rng(seed))
    scores = tv_scores(unary, edges, coupling)
    top = np.append(0.0, np.cumsum(np.sort(scores)[::-1]))
    assert agree(top, exact_tops(unary, edges, coupling), size_of(unary, coupling)), scores


def check_terms(seed):
    """The same with cliques of convex scores, empty ones and ones that repeat included."""
    rng = np.random.default_rng(seed)
    unary, edges, coupling = hostile_problem(rng, most=6)
    terms = []
    for _ in range(rng.integers(0, 4)):
        members = rng.permutation(unary.size)[: rng.integers(0, unary.size + 1)].tolist()
        slopes = np.sort(rng.integers(-3, 4, len(members))) * rng.choice([0.5, 1.0, 1e6])
        terms.append((members, np.append(0.0, np.cumsum(slopes)).tolist()))
    found = high_order_scores(unary, [Clique(*term) for term in terms], edges, coupling)
    top = np.append(0.0, np.cumsum(np.sort(found)[::-1]))
    scale = size_of(unary, coupling) + sum(float(np.abs(values).sum()) for _, values in terms)
    assert agree(top, exact_tops(unary, edges, coupling, terms), scale), found


def check_rankings(seed):
    """Equations (7a) to (7c) of several graphs at once, each against its own enumeration."""
    rng = np.random.default_rng(seed)
    problems = [hostile_problem(rng, most=5) for _ in range(rng.integers(1, 4))]
    sizes = [len(unary) for unary, _, _ in problems]
    offsets = np.cumsum(sizes) - sizes
    number = np.arange(len(problems))
    batch = RankingBatch(
        np.concatenate([edges + at for (_, edges, _), at in zip(problems, offsets, strict=True)]),
        np.repeat(number, sizes),
        np.repeat(number, [len(edges) for _, edges, _ in problems]),
        len(problems),
        AUC(),
    )
    unary = np.concatenate([one for one, _, _ in problems])
    coupling = np.concatenate([one for _, _, one in problems])
    positive = rng.random(unary.size) < rng.choice([0.0, 0.4, 1.0])
    found = (
        batch.predict(unary, coupling).value,
        batch.loss_augmented(unary, coupling, positive.astype(float)).value,
        batch.consistent(unary, coupling, positive).value,
    )
    for graph, (own, edges, bonds) in enumerate(problems):
        mine = positive[offsets[graph] : offsets[graph] + sizes[graph]]
        exact = (
            weighted(exact_tops(own, edges, bonds)),
            weighted(exact_tops(own - mine, edges, bonds)),
            exact_consistent(own, edges, bonds, mine),
        )
        scale = sizes[graph] * (size_of(own, bonds) + sizes[graph])
        assert agree([value[graph] for value in found], exact, scale)


def weighted(tops):
    """Sum of the rows of the AUC, of which the last counts one half."""
    return sum(tops[1:], Fraction(0)) - tops[-1] / 2


def exact_consistent(unary, edges, coupling, positive):
    """Rows of positives alone, then of negatives beside all positives."""
    total, held = Fraction(0), Fraction(0)
    lift = np.zeros(len(unary), dtype=object)
    for part, ahead in ((positive, True), (~positive, False)):
        members = np.flatnonzero(part)
        number = {node: k for k, node in enumerate(members.tolist())}
        inner = [k for k, (i, j) in enumerate(edges) if part[i] and part[j]]
        if not ahead:
            for k, (i, j) in enumerate(edges):
                if positive[i] != positive[j]:
                    lift[j if positive[i] else i] += Fraction(coupling[k])
        pairs = [(number[edges[k][0]], number[edges[k][1]]) for k in inner]
        own = [Fraction(unary[node]) + lift[node] for node in members]
        tops = exact_tops(own, pairs, [coupling[k] for k in inner])
        total += sum((held + value for value in tops[1:]), Fraction(0))
        held += tops[-1]
    return total - held / 2


def hostile_data(rng):
    """A data set for training: graphs of any kind, labels of one class or of two."""
    width, edge_width = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    graphs, labels = [], []
    for _ in range(rng.integers(1, 5)):
        _, edges, _ = hostile_problem(rng, most=6)
        n_nodes = int(max(edges.max(initial=0) + 1, rng.integers(1, 6)))
        nodes = rng.normal(size=(n_nodes, width))
        if rng.random() < 0.3:
            nodes = np.round(nodes)
        features = rng.random((len(edges), edge_width)) * (rng.random() < 0.8)
        scale = rng.choice([1.0, 1.0, 1.0, 1e-9, 1e6])
        graphs.append(RankingGraph(scale * nodes, edges, scale * features))
        labels.append(rng.random(n_nodes) < rng.choice([0.0, 0.5, 1.0], p=[0.1, 0.8, 0.1]))
    return graphs, labels


def exact_objective(ranker, graphs, labels):
    """J(w) of the fitted weights for the AUC and ``pair_score="together"``, in fractions."""
    norm = sum(Fraction(float(w)) ** 2 for w in (*ranker.coef_, *ranker.edge_coef_))
    losses = []
    for graph, positive in zip(graphs, labels, strict=True):
        if not positive.any() or positive.all():
            continue
        n_pos, n_neg = int(positive.sum()), int((~positive).sum())
        unary = graph.node_features @ ranker.coef_
        bonds = graph.edge_features @ ranker.edge_coef_ if graph.n_edges else np.zeros(0)
        worst = weighted(exact_tops(unary - positive, graph.edges, bonds))
        best = exact_consistent(unary, graph.edges, bonds, positive)
        losses.append(1 + (worst + Fraction(n_pos**2, 2) - best) / (n_pos * n_neg))
    return norm / 2 + Fraction(float(ranker.C)) * sum(losses, Fraction(0)) / len(losses)


def check_fit(seed):
    """`StructuredRanker`: a model whose objective is what it says, or a refusal in words."""
    rng = np.random.default_rng(seed)
    graphs, labels = hostile_data(rng)
    ranker = StructuredRanker(
        C=float(rng.choice([0.1, 10.0])),
        pair_score="together",
        solver=str(rng.choice(["lbfgs", "frank_wolfe"])),
        max_iter=20,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*have only one class and are skipped")
        try:
            ranker.fit(graphs, labels)
        except ValueError as refusal:
            words = str(refusal)
            assert "two values" in words or "both a positive and a negative" in words, words
            assert len({bool(one) for y in labels for one in y}) == 1 or all(
                y.all() or not y.any() for y in labels
            ), words
            return
        scores, orders = ranker.decision_function(graphs), ranker.rank(graphs)
    exact = exact_objective(ranker, graphs, labels)
    assert abs(Fraction(float(ranker.objective_)) - exact) <= Fraction(1, 10**8) * (1 + abs(exact))
    # Zero weights lose C in all.
    assert ranker.objective_ <= ranker.C * (1 + 1e-9)
    assert np.all(ranker.edge_coef_ >= 0)
    assert np.isnan(ranker.gap_) or ranker.gap_ >= -1e-9
    for graph, score, order in zip(graphs, scores, orders, strict=True):
        assert score.shape == (graph.n_nodes,)
        assert np.isfinite(score).all()
        assert sorted(order.tolist()) == list(range(graph.n_nodes))
        assert np.all(np.diff(score[order]) <= 0)


def check_refusal(seed):
    """Malformed graphs are refused with the value seen, whoever is asked."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 6))
    one, other = rng.permutation(n_nodes)[:2].tolist()
    good, bad = [[one, other]], float(rng.choice([np.nan, np.inf, -np.inf]))
    unary = rng.normal(size=n_nodes).tolist()
    broken, words = {
        0: ((unary, [*good, [other, one]], [1.0, 1.0]), "are the same pair"),
        1: ((unary, [[one, one]], [1.0]), "joins node"),
        2: ((unary, [[one, n_nodes]], [1.0]), "numbered 0 to"),
        3: ((unary, [[one, -1]], [1.0]), "numbered 0 to"),
        4: ((unary, [[one, other + 0.5]], [1.0]), "node numbers"),
        5: ((unary, good, [bad]), "NaN or infinite"),
        6: (([bad, *unary[1:]], good, [1.0]), "NaN or infinite"),
        7: ((unary, good, [1.0, 2.0]), "2 entries for 1 edges"),
        8: ((unary, good, [-1.0]), "is -1"),
        9: ((unary, [one, other], [1.0]), "shape"),
        10: ((unary, good, None), "no coupling"),
    }[seed % 11]
    with pytest.raises(ValueError, match=re.escape(words)):
        tv_scores(*broken)
