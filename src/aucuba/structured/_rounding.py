"""Whole rankings from scores with ties."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_edges, check_signed_couplings

Neighbours = list[list[tuple[int, float]]]


def rank_order(
    score: ArrayLike,
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
) -> IntArray:
    """Order items from best to worst by score, and inside a tied block by what they add to the rows.

    Some best whole ranking keeps the blocks of `tv_scores` in order. Each block gets the better of two
    greedy orders: adding the item that gains most, or removing the item that loses least.

    Parameters
    ----------
    score : array of shape (n_nodes,)
        Scores with ties, such as those of `tv_scores`.
    unary, edges, coupling
        The row score, as in `tv_scores`; couplings may be negative.

    Returns
    -------
    array of shape (n_nodes,)
        Item numbers, best first.
    """
    ties = finite_scores(score, "score")
    own = finite_scores(unary, "unary")
    if ties.size != own.size:
        raise ValueError(
            f"score has {ties.size} entries and unary {own.size}; both need one entry per item."
        )
    pairs = check_edges(edges, own.size)
    couplings = check_signed_couplings(coupling, pairs)
    order: IntArray = np.lexsort((-own, -ties))
    starts = np.append(np.flatnonzero(np.diff(ties[order], prepend=np.nan)), order.size)
    if np.all(np.diff(starts) == 1):
        return order
    block = np.empty(order.size, dtype=np.intp)
    block[order] = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    gain, inside = _gains(own, block, pairs, couplings)
    for start, stop in pairwise(starts.tolist()):
        members = order[start:stop]
        if stop - start > 1 and any(inside[item] for item in members):
            order[start:stop] = _better_greedy(members.tolist(), gain, inside)
    return order


def _gains(
    own: FloatArray, block: IntArray, pairs: IntArray, couplings: FloatArray
) -> tuple[FloatArray, Neighbours]:
    """Return what items add to all blocks above them, and their neighbours in their own block."""
    gain = own.copy()
    inside: Neighbours = [[] for _ in own]
    for (one, other), strength in zip(pairs.tolist(), couplings.tolist(), strict=True):
        if block[one] == block[other]:
            inside[one].append((other, strength))
            inside[other].append((one, strength))
        else:
            gain[one if block[one] > block[other] else other] += strength
    return gain, inside


def _better_greedy(members: list[int], gain: FloatArray, inside: Neighbours) -> list[int]:
    forward, forward_value = _greedy(members, gain, inside, forward=True)
    backward, backward_value = _greedy(members, gain, inside, forward=False)
    return forward if forward_value >= backward_value else backward


def _greedy(
    members: list[int], gain: FloatArray, inside: Neighbours, *, forward: bool
) -> tuple[list[int], float]:
    """Return one greedy order of a block and the sum of its rows."""
    sign = 1.0 if forward else -1.0
    current = {item: float(gain[item]) for item in members}
    if not forward:
        for item in members:
            current[item] += sum(strength for _, strength in inside[item])
    heap = [(-sign * value, item) for item, value in current.items()]
    heapq.heapify(heap)
    order: list[int] = []
    value, placed = 0.0, set()
    while heap:
        key, item = heapq.heappop(heap)
        if item in placed or key != -sign * current[item]:
            continue
        position = len(order) if forward else len(members) - 1 - len(order)
        value += (len(members) - position) * current[item]
        order.append(item)
        placed.add(item)
        for other, strength in inside[item]:
            if other not in placed:
                current[other] += sign * strength
                heapq.heappush(heap, (-sign * current[other], other))
    return (order if forward else order[::-1]), value
