"""Checks of graphs, for inference and learning alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_length, finite_scores

# Products of two features, and sums of many such products, must stay within the range of floats.
_LARGEST_FEATURE = 1e100


def check_edges(edges: ArrayLike | None, n_nodes: int, name: str = "edges") -> IntArray:
    """Return pairs of node numbers: in range, without self-loops and repeats in either direction."""
    if edges is None:
        return np.zeros((0, 2), dtype=np.intp)
    pairs = np.asarray(edges)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.intp)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{name} must have shape (n_edges, 2), got {pairs.shape}.")
    whole = pairs.dtype.kind in "iu" or (
        pairs.dtype.kind == "f" and np.all(pairs == np.rint(pairs))
    )
    if not whole:
        raise ValueError(f"{name} must hold node numbers, got dtype {pairs.dtype}.")
    pairs = pairs.astype(np.intp)
    outside = (pairs < 0) | (pairs >= n_nodes)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        raise ValueError(
            f"{name}[{row}] is {tuple(pairs[row].tolist())}, but the graph has {n_nodes} nodes, "
            f"numbered 0 to {n_nodes - 1}."
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        row = int(np.argmax(loops))
        raise ValueError(
            f"{name}[{row}] joins node {pairs[row, 0]} to itself; a self-loop is a node feature."
        )
    key = pairs.min(axis=1) * n_nodes + pairs.max(axis=1)
    repeats = np.count_nonzero(np.diff(np.sort(key)) == 0)
    if repeats:
        order = np.argsort(key, kind="stable")
        first, second = order[np.argmax(np.diff(key[order]) == 0) :][:2].tolist()
        raise ValueError(
            f"{name}[{first}] and {name}[{second}] are the same pair "
            f"{tuple(pairs[first].tolist())} "
            f"({repeats} such repeats). Merge them, for example by adding their features."
        )
    return pairs


def check_couplings(coupling: ArrayLike | None, pairs: IntArray) -> FloatArray:
    """Return one non-negative number per edge."""
    values = check_signed_couplings(coupling, pairs)
    if values.min(initial=0.0) < 0:
        row = int(values.argmin())
        raise ValueError(
            f"coupling[{row}] is {values[row]:g}: total variation needs attractive pairs, all "
            "couplings at least 0. For mixed signs use mixed_sign_scores or ranking_lp."
        )
    return values


def check_signed_couplings(coupling: ArrayLike | None, pairs: IntArray) -> FloatArray:
    """Return one finite number per edge."""
    if coupling is None:
        if len(pairs):
            raise ValueError(f"There are {len(pairs)} edges but no coupling; give one per edge.")
        return np.zeros(0)
    values = finite_scores(coupling, "coupling")
    check_length(values, len(pairs), "coupling", "edges")
    return values


def check_matrix(values: Any, n_rows: int | None, name: str, rows: str) -> FloatArray:
    """Return a finite 2-D array; a 1-D array is one column."""
    matrix = np.asarray(values)
    if matrix.dtype.kind not in "fiubO":
        raise ValueError(f"{name} must be numeric, got dtype {matrix.dtype}.")
    try:
        # Tables with columns of several types, such as int and bool, arrive as objects.
        matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must be numeric, got dtype {matrix.dtype} ({problem}).") from None
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have 1 or 2 dimensions, got {matrix.ndim}.")
    if n_rows is not None and len(matrix) != n_rows:
        raise ValueError(f"{name} has {len(matrix)} rows for {n_rows} {rows}.")
    bad = ~np.isfinite(matrix)
    if bad.any():
        row, column = (int(index[0]) for index in np.nonzero(bad))
        raise ValueError(
            f"{name} contains {bad.sum()} NaN or infinite values, the first in row {row}, "
            f"column {column} ({matrix[row, column]})."
        )
    return matrix


def check_size_of_features(features: FloatArray, name: str) -> None:
    """Refuse features whose products would overflow."""
    size = np.abs(features)
    if size.max(initial=0.0) >= _LARGEST_FEATURE:
        row, column = np.unravel_index(int(size.argmax()), size.shape)
        raise ValueError(
            f"{name}[{row}, {column}] is {features[row, column]:g}, too large to compute with. Scale "
            f"the features, for example to unit variance: all must be below {_LARGEST_FEATURE:g}."
        )


def check_mass(mass: ArrayLike | None, n_nodes: int) -> FloatArray:
    """Return 1 for an item and 0 for an auxiliary node; ones by default."""
    if mass is None:
        return np.ones(n_nodes)
    values = finite_scores(mass, "mass")
    check_length(values, n_nodes, "mass", "nodes")
    other = (values != 0) & (values != 1)
    if other.any():
        node = int(np.argmax(other))
        raise ValueError(
            f"mass[{node}] is {values[node]:g}; give 1 to an item and 0 to an auxiliary node."
        )
    return values
