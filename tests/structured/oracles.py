"""Slow and independent answers for tiny ranking problems."""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog


def random_problem(rng, n_nodes, *, rounded=False, signed=False, strength=None):
    """Unary scores, edges and couplings; rounded ones are full of ties."""
    pairs = np.array(list(combinations(range(n_nodes), 2)), dtype=np.intp).reshape(-1, 2)
    count = rng.integers(0, len(pairs) + 1)
    edges = pairs[rng.permutation(len(pairs))[:count]]
    strength = rng.choice([0.2, 1.0, 3.0]) if strength is None else strength
    unary = rng.normal(size=n_nodes)
    coupling = strength * (rng.normal(size=count) if signed else rng.random(count))
    if rounded:
        unary, coupling = np.round(2 * unary) / 2, np.round(2 * coupling) / 2
    return unary, edges, coupling


def row_score(unary, edges, coupling, row):
    """u.z + sum c_ij z_i z_j."""
    pairs = sum(c * row[i] * row[j] for (i, j), c in zip(edges, coupling, strict=True))
    return float(unary @ row + pairs)


def all_sets(n_nodes):
    return ((np.arange(2**n_nodes)[:, None] >> np.arange(n_nodes)) & 1).astype(float)


def best_by_size(score, n_nodes):
    """max of a set score over the sets of each size 0 ... n."""
    best = np.full(n_nodes + 1, -np.inf)
    for row in all_sets(n_nodes):
        best[int(row.sum())] = max(best[int(row.sum())], score(row))
    return best


def concave_envelope(values):
    """Smallest concave sequence above ``values``."""
    envelope = np.array(values)
    for k in range(len(values)):
        for low in range(k + 1):
            for high in range(k, len(values)):
                if low < high:
                    part = (k - low) / (high - low)
                    line = (1 - part) * values[low] + part * values[high]
                    envelope[k] = max(envelope[k], line)
    return envelope


def best_chain(unary, edges, coupling, cardinality, weight, *, allowed=lambda row: True):
    """Best whole ranking: dynamic programming over all sets."""
    n_nodes = len(unary)
    sets = all_sets(n_nodes)
    weights = dict(zip(np.asarray(cardinality).astype(int), weight, strict=True))
    value = np.full(len(sets), -np.inf)
    value[0] = 0.0
    for index in range(1, len(sets)):
        row = sets[index]
        if not allowed(row):
            continue
        before = max(value[index - 2**item] for item in range(n_nodes) if row[item])
        gained = weights.get(int(row.sum()), 0.0) * row_score(unary, edges, coupling, row)
        value[index] = before + gained
    return value[-1]


def paper_lp(unary, edges, coupling, cardinality, weight, *, nested=True, fixed=None):
    """Eq. (9) as printed, with all four marginals of a pair; ``fixed[k][i]`` is 0, 1 or None."""
    n_rows, n_nodes, n_edges = len(weight), len(unary), len(edges)
    width = 2 * n_nodes + 4 * n_edges
    size = n_rows * width
    node = lambda k, i, z: k * width + 2 * i + z  # noqa: E731
    pair = lambda k, e, a, b: k * width + 2 * n_nodes + 4 * e + 2 * a + b  # noqa: E731
    cost, equal, right, upper = np.zeros(size), [], [], []
    bounds = [(0, None)] * size

    def constraint(entries, value):
        row = np.zeros(size)
        for at, coefficient in entries:
            row[at] += coefficient
        equal.append(row)
        right.append(value)

    for k in range(n_rows):
        for i in range(n_nodes):
            cost[node(k, i, 1)] = -weight[k] * unary[i]
            constraint([(node(k, i, 0), 1), (node(k, i, 1), 1)], 1)
            if fixed is not None and fixed[k][i] is not None:
                bounds[node(k, i, 1)] = (fixed[k][i], fixed[k][i])
            if nested and k + 1 < n_rows:
                row = np.zeros(size)
                row[node(k, i, 1)], row[node(k + 1, i, 1)] = 1, -1
                upper.append(row)
        constraint([(node(k, i, 1), 1) for i in range(n_nodes)], cardinality[k])
        for e, (i, j) in enumerate(edges):
            cost[pair(k, e, 1, 1)] = -weight[k] * coupling[e]
            for z in (0, 1):
                first = [(pair(k, e, z, 0), 1), (pair(k, e, z, 1), 1), (node(k, i, z), -1)]
                second = [(pair(k, e, 0, z), 1), (pair(k, e, 1, z), 1), (node(k, j, z), -1)]
                constraint(first, 0)
                constraint(second, 0)
    result = linprog(
        cost,
        A_ub=np.array(upper) if upper else None,
        b_ub=np.zeros(len(upper)) if upper else None,
        A_eq=np.array(equal),
        b_eq=np.array(right),
        bounds=bounds,
        method="highs",
    )
    assert result.status == 0, result.message
    return -result.fun


def auc_by_pairs(positive, score):
    """Mean over positive-negative pairs, ties one half."""
    difference = score[positive][:, None] - score[~positive][None, :]
    return np.mean((difference > 0) + 0.5 * (difference == 0))


def block_gaps(blocks):
    """Gap of every block of the Frank-Wolfe iterate at its current weights."""
    weights, C = blocks.weights(), blocks.solver.C
    gaps = []
    for part, reference, vector, loss in zip(
        blocks.parts, blocks.references, blocks.vectors, blocks.losses, strict=True
    ):
        worst_loss, worst = part.worst(weights)
        corner = C * (reference - worst)
        gaps.append(weights @ (vector - corner) - loss + C * worst_loss)
    return np.array(gaps)
