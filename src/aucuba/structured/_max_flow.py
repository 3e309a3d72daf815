r"""The side of a minimum cut on which every node lies.

.. math:: \max_S \; \sum_{i \in S} e_i - \sum_{ij:\, i \in S,\, j \notin S} w_{ij}

Capacities of the flow solvers are integers. Each block is scaled on its own, so that the answer for
a graph does not depend on the graphs solved beside it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_choice

# SciPy keeps capacities and flows in 32 bits, and a residual capacity is the sum of both
# directions.
_LARGEST_CAPACITY = 2.0**29


def upper_side(
    excess: FloatArray,
    edges: IntArray,
    weight: FloatArray,
    block: IntArray,
    backend: str = "scipy",
) -> BoolArray:
    """Find the source side of a minimum cut in every block at once.

    Parameters
    ----------
    excess : array of shape (n_nodes,)
        What a node gains by being above, :math:`e_i`.
    edges : array of shape (n_edges, 2)
        Each joins two nodes of the same block.
    weight : array of shape (n_edges,)
        Cost of cutting an edge, above 0.
    block : array of shape (n_nodes,)
        Number of the connected block of each node.
    backend : {"scipy", "ortools"}
        Flow solver.

    Returns
    -------
    array of bool, shape (n_nodes,)
    """
    solve = _BACKENDS[check_choice(backend, "backend", tuple(_BACKENDS))]
    degree = np.bincount(edges.ravel(), weights=np.repeat(weight, 2), minlength=excess.size)
    largest = np.zeros(int(block.max(initial=-1)) + 1)
    np.maximum.at(largest, block, degree)
    scale = _LARGEST_CAPACITY / largest
    capacity = np.rint(weight * scale[block[edges[:, 0]]])
    # A node whose own gain exceeds all its edges is decided by it. Clipping one unit above them
    # keeps the decision strict and the resolution of the integers for the nodes that are in doubt.
    decided = np.bincount(edges.ravel(), weights=np.repeat(capacity, 2), minlength=excess.size) + 1
    terminal = np.minimum(np.rint(np.abs(excess) * scale[block]), decided)
    return solve(np.copysign(terminal, excess), edges, capacity)


def _arcs(
    terminal: FloatArray, edges: IntArray, capacity: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return tails, heads and capacities; source and sink are the two nodes after the last."""
    n_nodes = terminal.size
    nodes = np.arange(n_nodes)
    above = terminal > 0
    tails = np.concatenate([edges[:, 0], edges[:, 1], np.where(above, n_nodes, nodes)])
    heads = np.concatenate([edges[:, 1], edges[:, 0], np.where(above, nodes, n_nodes + 1)])
    return tails, heads, np.concatenate([capacity, capacity, np.abs(terminal)])


def _scipy_side(terminal: FloatArray, edges: IntArray, capacity: FloatArray) -> BoolArray:
    n_nodes = terminal.size
    tails, heads, values = _arcs(terminal, edges, capacity)
    shape = (n_nodes + 2, n_nodes + 2)
    # Older releases of SciPy take 32-bit indices only.
    places = (tails.astype(np.int32), heads.astype(np.int32))
    graph = csr_array((values.astype(np.int32), places), shape=shape)
    residual = graph - maximum_flow(graph, n_nodes, n_nodes + 1).flow
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, n_nodes, return_predecessors=False)
    side = np.zeros(n_nodes + 2, dtype=bool)
    side[reached] = True
    return side[:n_nodes]


def _ortools_side(terminal: FloatArray, edges: IntArray, capacity: FloatArray) -> BoolArray:
    try:
        from ortools.graph.python import max_flow
    except ImportError:
        raise ImportError(
            'backend="ortools" needs the package ortools: pip install ortools, '
            'or use backend="scipy".'
        ) from None
    n_nodes = terminal.size
    tails, heads, values = _arcs(terminal, edges, capacity)
    solver = max_flow.SimpleMaxFlow()
    solver.add_arcs_with_capacity(
        tails.astype(np.int32), heads.astype(np.int32), values.astype(np.int64)
    )
    status = solver.solve(n_nodes, n_nodes + 1)
    if status != solver.OPTIMAL:
        raise RuntimeError(f"The OR-tools flow solver stopped with status {status}.")
    side = np.zeros(n_nodes + 2, dtype=bool)
    side[solver.get_source_side_min_cut()] = True
    return side[:n_nodes]


_BACKENDS = {"scipy": _scipy_side, "ortools": _ortools_side}
