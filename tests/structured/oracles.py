"""Slow and independent answers for tiny ranking problems."""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow


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


def side_by_scipy(excess, edges, weight):
    """Source side of a minimum cut, with capacities rounded to 29 bits for SciPy's flow."""
    n_nodes = excess.size
    scale = 2.0**29 / max(np.bincount(edges.ravel(), np.repeat(weight, 2)).max(), 1e-300)
    capacity = np.rint(weight * scale)
    most = np.bincount(edges.ravel(), np.repeat(capacity, 2), minlength=n_nodes) + 1
    terminal = np.minimum(np.rint(np.abs(excess) * scale), most)
    nodes, above = np.arange(n_nodes), excess > 0
    tails = np.concatenate([edges[:, 0], edges[:, 1], np.where(above, n_nodes, nodes)])
    heads = np.concatenate([edges[:, 1], edges[:, 0], np.where(above, nodes, n_nodes + 1)])
    values = np.concatenate([capacity, capacity, terminal]).astype(np.int32)
    places = (tails.astype(np.int32), heads.astype(np.int32))
    graph = csr_array((values, places), shape=(n_nodes + 2, n_nodes + 2))
    residual = graph - maximum_flow(graph, n_nodes, n_nodes + 1).flow
    residual.eliminate_zeros()
    side = np.zeros(n_nodes + 2, dtype=bool)
    side[breadth_first_order(residual, n_nodes, return_predecessors=False)] = True
    return side[:n_nodes]


def tv_by_scipy(unary, edges, coupling):
    """Total variation by splitting connected blocks at their means, one block at a time."""
    weight = np.asarray(coupling) / 2
    gain = unary + np.bincount(edges.ravel(), np.repeat(weight, 2), minlength=len(unary))
    score, alive = gain.copy(), np.ones(len(edges), dtype=bool)
    queue = [np.arange(len(unary))]
    while queue:
        block = queue.pop()
        number = np.full(len(unary), -1)
        number[block] = np.arange(block.size)
        own = np.flatnonzero(alive & (number[edges] >= 0).all(axis=1))
        inner = number[edges[own]]
        shape = (block.size, block.size)
        graph = csr_array((np.ones(own.size), (inner[:, 0], inner[:, 1])), shape=shape)
        count, part = connected_components(graph, directed=False)
        if count > 1:
            queue += [block[part == k] for k in range(count)]
            continue
        mean = gain[block].mean()
        score[block] = mean
        if block.size == 1:
            continue
        excess = gain[block] - mean
        above = side_by_scipy(excess, inner, weight[own])
        crossing = above[inner[:, 0]] != above[inner[:, 1]]
        size = np.abs(excess).sum() + weight[own].sum()
        if excess[above].sum() - weight[own][crossing].sum() <= 1e-9 * size or not crossing.any():
            continue
        for edge in own[crossing]:
            one, other = edges[edge]
            high, low = (one, other) if above[number[one]] else (other, one)
            gain[high] -= weight[edge]
            gain[low] += weight[edge]
        alive[own[crossing]] = False
        queue += [block[above], block[~above]]
    return score
