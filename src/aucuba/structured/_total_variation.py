"""Scores of the best fractional ranking, by graph total variation."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_couplings, check_edges, check_mass
from aucuba.structured._max_flow import upper_side

# A split must gain more than the rounding error of the sums that measure it.
_RELATIVE_GAIN = 1e-13
# Weights at the end of the range of floats would overflow when scaled to integers.
_SMALLEST_WEIGHT = 1e-250


def tv_scores(
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    mass: ArrayLike | None = None,
    backend: str = "scipy",
) -> FloatArray:
    r"""Score items so that their order solves every row of the ranking problem at once.

    .. math::
        x^* = \arg\min_x \; \tfrac12 \lVert x - d \rVert^2
              + \sum_{ij} \tfrac{c_{ij}}{2} \lvert x_i - x_j \rvert,
        \qquad d_i = u_i + \tfrac12 \sum_j c_{ij}

    A row is a set ``z`` of top-ranked items with score :math:`u \cdot z + \sum c_{ij} z_i z_j`,
    :math:`c \ge 0`. For every size k the best fractional row takes the items above the k-th value
    of :math:`x^*`, none below, and splits the rest equally inside the tied block. These rows are
    nested, so the relaxed ranking problem has the value :math:`\sum_k \sum_{i \le k} x^*_{(i)}`.

    The solver splits every connected block at its mean by a minimum cut; all blocks of a level, and
    all graphs of a data set joined to one block-diagonal graph, make one flow problem.

    Parameters
    ----------
    unary : array of shape (n_nodes,)
        Score ``u`` of each item alone.
    edges : array of shape (n_edges, 2), optional
        Pairs of items.
    coupling : array of shape (n_edges,), optional
        ``c``, what a pair adds to a row that holds both; non-negative.
    mass : array of shape (n_nodes,), optional
        1 for an item, 0 for an auxiliary node that no row counts (see `CliqueTerm`). Auxiliary
        nodes get the score of the block in which they were decided, or their remaining gain.
    backend : {"scipy", "ortools"}, default="scipy"
        Flow solver; OR-tools is faster on large graphs and needs the package ``ortools``.

    Returns
    -------
    array of shape (n_nodes,)
        :math:`x^*`; items of one block have exactly equal values.

    Examples
    --------
    Two weak items tied to a strong one rise together:

    >>> from aucuba.structured import tv_scores
    >>> tv_scores([2.0, 0.0, 0.5], edges=[[0, 1]], coupling=[3.0])
    array([2.5, 2.5, 0.5])
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    masses = check_mass(mass, scores.size)
    return solve_variation(scores, pairs, check_couplings(coupling, pairs), masses, backend)


def solve_variation(
    unary: FloatArray, pairs: IntArray, coupling: FloatArray, masses: FloatArray, backend: str
) -> FloatArray:
    """Solve `tv_scores` on checked input."""
    weight = coupling / 2
    gain = unary + np.bincount(pairs.ravel(), np.repeat(weight, 2), minlength=unary.size)
    felt = weight > _SMALLEST_WEIGHT
    pairs, weight = pairs[felt], weight[felt]
    score = gain.copy()
    nodes = np.arange(gain.size)
    while pairs.size:
        nodes, pairs, gain, masses = _drop_settled(nodes, pairs, gain, masses, score)
        block = _blocks(pairs, nodes.size)
        split, mean = _split(gain, masses, pairs, weight, block, backend)
        pairs, weight, gain = _cut(split, mean, block, pairs, weight, gain)
    score[nodes] = gain
    return score


def _drop_settled(
    nodes: IntArray, pairs: IntArray, gain: FloatArray, masses: FloatArray, score: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Write the scores of nodes without edges and renumber the rest."""
    alive = np.zeros(nodes.size, dtype=bool)
    alive[pairs.ravel()] = True
    score[nodes[~alive]] = gain[~alive]
    number = np.cumsum(alive) - 1
    return nodes[alive], number[pairs], gain[alive], masses[alive]


def _blocks(pairs: IntArray, n_nodes: int) -> IntArray:
    """Number the connected components of what is left."""
    ones = np.ones(len(pairs), dtype=np.int8)
    graph = csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_nodes, n_nodes))
    block: IntArray = connected_components(graph, directed=False)[1].astype(np.intp)
    return block


def _split(
    gain: FloatArray,
    masses: FloatArray,
    pairs: IntArray,
    weight: FloatArray,
    block: IntArray,
    backend: str,
) -> tuple[IntArray, FloatArray]:
    """Find the sides (1 above, 0 below, -1 in a block that stays whole) and the means of blocks."""
    counts = np.bincount(block, weights=masses)
    # A block of auxiliary nodes alone has no items; its score does not matter.
    mean = np.bincount(block, weights=gain) / np.maximum(counts, 1.0)
    excess = gain - mean[block] * masses
    above = upper_side(excess, pairs, weight, block, backend)
    crossing = above[pairs[:, 0]] != above[pairs[:, 1]]
    edge_block = block[pairs[:, 0]]
    n_blocks = counts.size
    cut = np.bincount(edge_block[crossing], weights=weight[crossing], minlength=n_blocks)
    gained = np.bincount(block, weights=np.where(above, excess, 0.0), minlength=n_blocks) - cut
    size = np.bincount(block, weights=np.abs(excess), minlength=n_blocks)
    size += np.bincount(edge_block, weights=weight, minlength=n_blocks)
    # A connected block without a cut edge lies on one side, even if rounding shows a gain.
    worth = (gained > _RELATIVE_GAIN * size) & (cut > 0) & (counts > 0)
    side = np.where(worth[block], above.astype(np.intp), -1)
    return side, mean


def _cut(
    side: IntArray,
    mean: FloatArray,
    block: IntArray,
    pairs: IntArray,
    weight: FloatArray,
    gain: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Turn cut edges into gains of their ends and close the blocks that stay whole."""
    gain = np.where(side < 0, mean[block], gain)
    first, second = side[pairs[:, 0]], side[pairs[:, 1]]
    crossing = first != second
    high = np.where(first == 1, pairs[:, 0], pairs[:, 1])[crossing]
    low = np.where(first == 1, pairs[:, 1], pairs[:, 0])[crossing]
    np.subtract.at(gain, high, weight[crossing])
    np.add.at(gain, low, weight[crossing])
    kept = ~crossing & (first >= 0)
    return pairs[kept], weight[kept], gain
