"""Masses of ranked items: how much of the weighted rows holds each of them."""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba.structured._measures import Rows

# Scores that differ by less, relative to the largest of their graph, differ by rounding.
_ROUNDING = 1e-12


def ranking_mass(
    score: FloatArray,
    graph: IntArray,
    position_weight: FloatArray,
    ahead: BoolArray | None = None,
) -> FloatArray:
    """Return the mass of every item when graphs are ranked by score and ties split their positions.

    Parameters
    ----------
    score : array of shape (n_nodes,)
    graph : array of shape (n_nodes,)
        Non-decreasing graph numbers.
    position_weight : array of shape (n_nodes,)
        Weights of the positions 1, 2, ... of every graph, graph after graph.
    ahead : array of bool, optional
        Items that rank before all others of their graph, whatever their score.
    """
    behind = np.zeros(score.size, dtype=bool) if ahead is None else ~ahead
    order = np.lexsort((-score, behind, graph))
    changes = np.diff(graph[order]).astype(bool)
    changes |= np.diff(behind[order].astype(np.int8)).astype(bool)
    changes |= np.diff(score[order]).astype(bool)
    starts = np.append(0, np.flatnonzero(changes) + 1) if score.size else np.zeros(0, dtype=np.intp)
    lengths = np.diff(np.append(starts, score.size))
    mass = np.empty(score.size)
    if score.size:
        mass[order] = np.repeat(np.add.reduceat(position_weight, starts) / lengths, lengths)
    return mass


def ranking_rows(score: FloatArray, rows: Rows) -> FloatArray:
    """Return the fractional ranking matrix of one graph; tied items split their places equally."""
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan))
    lengths = np.diff(np.append(starts, score.size))
    inside = (rows.cardinality[:, None] - starts) / lengths
    matrix = np.empty((rows.cardinality.size, score.size))
    matrix[:, order] = np.repeat(np.clip(inside, 0.0, 1.0), lengths, axis=1)
    return matrix


def merge_rounding_ties(score: FloatArray, graph: IntArray) -> FloatArray:
    """Give scores of one graph that differ by rounding alone one common value.

    Different parts of a graph reach equal scores through different sums; without this the order
    of the edges would break ties.
    """
    order = np.lexsort((score, graph))
    ranked, owner = score[order], graph[order]
    largest = np.zeros(int(graph.max(initial=-1)) + 1)
    np.maximum.at(largest, graph, np.abs(score))
    apart = np.diff(ranked) > _ROUNDING * largest[owner[1:]]
    starts = (
        np.append(True, apart | (np.diff(owner) > 0)) if score.size else np.zeros(0, dtype=bool)
    )
    merged = np.empty_like(score)
    merged[order] = ranked[starts][np.cumsum(starts) - 1]
    return merged
