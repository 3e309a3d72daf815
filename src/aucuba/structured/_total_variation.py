"""Scores of the best fractional ranking, by graph total variation."""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_couplings, check_edges, check_mass

# Weights at the end of the range of floats are lost in every sum.
_SMALLEST_WEIGHT = 1e-250
# Sums of larger scores may overflow, and the search for a cut would never end.
_LARGEST_SUM = 1e300


def tv_scores(
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    mass: ArrayLike | None = None,
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

    The solver splits every connected block at its mean by a minimum cut, until no cut improves a
    block.

    Parameters
    ----------
    unary : array of shape (n_nodes,)
        Score ``u`` of each item alone.
    edges : array of shape (n_edges, 2), optional
        Pairs of items.
    coupling : array of shape (n_edges,), optional
        ``c``, what a pair adds to a row that contains both items; non-negative.
    mass : array of shape (n_nodes,), optional
        1 for an item, 0 for an auxiliary node that no row counts (see `CliqueTerm`). Auxiliary nodes
        get the score of the block that decided them, or their remaining gain.

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
    return solve_variation(scores, pairs, check_couplings(coupling, pairs), masses)


def solve_variation(
    unary: FloatArray, pairs: IntArray, coupling: FloatArray, masses: FloatArray
) -> FloatArray:
    """Solve `tv_scores` on checked input."""
    sums = [float(np.abs(one).max(initial=0.0)) * one.size for one in (unary, coupling)]
    if not sum(sums) <= _LARGEST_SUM:
        raise ValueError(
            f"Scores of items and couplings of pairs may add up to {sum(sums):.3g}; divide both by the "
            f"same number, so that their sums stay below {_LARGEST_SUM:g}."
        )
    weight = coupling / 2
    gain = unary + np.bincount(pairs.ravel(), np.repeat(weight, 2), minlength=unary.size)
    felt = weight > _SMALLEST_WEIGHT
    pairs, weight = pairs[felt].astype(np.int32), weight[felt]
    score = gain.copy()
    if not weight.size:
        return score
    from aucuba.structured._loops import split_blocks

    n_nodes, n_arcs = gain.size, 2 * weight.size
    first = np.zeros(n_nodes + 1, np.int32)
    np.cumsum(np.bincount(pairs.ravel(), minlength=n_nodes), out=first[1:])
    split_blocks(
        *(pairs, weight, gain, masses, score, first),
        *(np.empty((2, n_arcs), np.int32), np.empty((2, n_arcs)), np.empty(n_nodes)),
        *(np.zeros(n_nodes, np.int8), np.zeros(n_nodes, bool)),
        np.zeros((9, n_nodes + 1), np.int32),
    )
    return score
