r"""Scores of absent links from the graph alone (Liben-Nowell and Kleinberg, 2007).

With :math:`\Gamma(i)` the neighbours of i: common neighbours
:math:`\lvert \Gamma(i) \cap \Gamma(j) \rvert`, Jaccard
:math:`\lvert \Gamma(i) \cap \Gamma(j) \rvert / \lvert \Gamma(i) \cup \Gamma(j) \rvert`, Adamic-Adar
:math:`\sum_{k \in \Gamma(i) \cap \Gamma(j)} 1 / \log \lvert \Gamma(k) \rvert`, Katz
:math:`\sum_{l \ge 1} \beta^l \, (\text{paths of length } l)`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_positive_number


def common_neighbours(adjacency: csr_array, pairs: ArrayLike) -> FloatArray:
    """Count the common neighbours of each pair.

    Parameters
    ----------
    adjacency : sparse array of shape (n_nodes, n_nodes)
        Symmetric, of zeros and ones, with an empty diagonal.
    pairs : array of shape (n_pairs, 2)

    Returns
    -------
    array of shape (n_pairs,)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from reproductions.baselines import common_neighbours
    >>> path = csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> common_neighbours(path, [[0, 2]])
    array([1.])
    """
    graph, ends = _check(adjacency, pairs)
    return _weighted_common(graph, ends, np.ones(graph.shape[0]))


def jaccard(adjacency: csr_array, pairs: ArrayLike) -> FloatArray:
    """Divide the common by all neighbours of each pair; 0 for two isolated nodes."""
    graph, ends = _check(adjacency, pairs)
    common = _weighted_common(graph, ends, np.ones(graph.shape[0]))
    degree = graph.sum(axis=1)
    union = degree[ends[:, 0]] + degree[ends[:, 1]] - common
    return common / np.maximum(union, 1.0)


def adamic_adar(adjacency: csr_array, pairs: ArrayLike) -> FloatArray:
    """Sum over the common neighbours one over the logarithm of their degree.

    A common neighbour of two nodes has degree 2 or more, so the logarithm is never zero.
    """
    graph, ends = _check(adjacency, pairs)
    degree = graph.sum(axis=1)
    return _weighted_common(graph, ends, 1.0 / np.log(np.maximum(degree, 2.0)))


def resource_allocation(adjacency: csr_array, pairs: ArrayLike) -> FloatArray:
    """Sum over the common neighbours one over their degree."""
    graph, ends = _check(adjacency, pairs)
    return _weighted_common(graph, ends, 1.0 / np.maximum(graph.sum(axis=1), 1.0))


def katz(
    adjacency: csr_array, pairs: ArrayLike, *, beta: float = 0.05, max_length: int = 4
) -> FloatArray:
    """Sum over paths of up to ``max_length`` steps the product of ``beta`` over their steps.

    The sum over all lengths converges only below one over the largest eigenvalue, which the hubs of a
    large network make tiny; short paths are what the score is about.
    """
    graph, ends = _check(adjacency, pairs)
    step = check_positive_number(beta, "beta")
    longest = int(check_positive_number(max_length, "max_length", integer=True))
    starts, row = np.unique(ends[:, 0], return_inverse=True)
    walks = graph[starts]
    total = np.zeros(len(ends))
    for length in range(1, longest + 1):
        total += step**length * entries(walks, row, ends[:, 1])
        walks = walks @ graph
    return total


def _weighted_common(graph: csr_array, ends: IntArray, weight: FloatArray) -> FloatArray:
    """Sum the weights of the common neighbours of each pair."""
    starts, row = np.unique(ends[:, 0], return_inverse=True)
    common = (graph[starts] @ diags_array(weight)) @ graph
    return entries(common.tocsr(), row, ends[:, 1])


def entries(matrix: csr_array, rows: IntArray, columns: IntArray) -> FloatArray:
    """Read single entries of a sparse array, dense (SciPy returns a sparse one for no entries)."""
    if not len(rows):
        return np.zeros(0)
    values: FloatArray = np.asarray(matrix[rows, columns], dtype=float).ravel()
    return values


def _check(adjacency: csr_array, pairs: ArrayLike) -> tuple[csr_array, IntArray]:
    graph = csr_array(adjacency, dtype=float)
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"adjacency must be square, got {graph.shape}.")
    ends = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    if ends.size and (ends.min() < 0 or ends.max() >= graph.shape[0]):
        raise ValueError(f"pairs must name nodes 0 to {graph.shape[0] - 1}.")
    return graph, ends
