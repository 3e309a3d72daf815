"""Compiled loops over the queries of a risk. Imported when such a risk is first evaluated.

``rows`` has the rows query by query, the negatives of a query before its positives: query k has those
from ``start[k]`` to ``start[k + 1]``, of which the first ``n_negatives[k]`` are negative. Every loop
computes what its risk of one query (`PrefixHinge`, `SmoothRamp`) computes, for all queries. Work on a
query uses the same small arrays for all, which stay in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._compiled import compiled

# Runs of this length are sorted by insertion.
_RUN = 16
# Pieces of this fraction of all negatives are rounding errors.
_SLIVER = 1e-12
_TINY = 1e-300
# What is known of every row of a query: its weight in the sums, and one number more.
_COUNTED, _BELOW, _POINT = 0, 1, 1
# Columns of pieces, and of the pools that are made of them.
_PLACE, _MASS, _TARGET, _SLOPE, _VALUE, _POOLED, _END = range(7)


@compiled
def _sort(key: Any, order: Any, first: int, end: int, buffer: Any, sign: float) -> None:
    """Sort ``order[first:end]`` by ``sign * key``: short runs by insertion, then merges of runs."""
    width = _RUN
    for low in range(first, end, _RUN):
        for i in range(low + 1, min(low + _RUN, end)):
            place, j = order[i], i
            while j > low and sign * key[order[j - 1]] > sign * key[place]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = place
    while width < end - first:
        for low in range(first, end - width, 2 * width):
            for i in range(width):
                buffer[i] = order[low + i]
            i, j, k = 0, low + width, low
            last = min(low + 2 * width, end)
            while i < width:
                if j < last and sign * key[order[j]] < sign * key[buffer[i]]:
                    order[k] = order[j]
                    j += 1
                else:
                    order[k] = buffer[i]
                    i += 1
                k += 1
        width *= 2


@compiled
def _divide_over_ties(key: Any, weight: Any, order: Any, first: int, end: int, known: Any) -> None:
    """Divide what a block of equal keys counts in all by weight; entry i belongs to ``order[i]``."""
    while first < end:
        last, total, mass = first, 0.0, 0.0
        while last < end and key[order[last]] == key[order[first]]:
            total += known[_COUNTED, last]
            mass += weight[order[last]]
            last += 1
        if last > first + 1:
            for i in range(first, last):
                known[_COUNTED, i] = weight[order[i]] * total / mass
        first = last


@compiled
def _prepare(
    key: Any,
    weight: Any,
    rows: Any,
    start: int,
    order: Any,
    middle: int,
    end: int,
    part: float,
    buffer: Any,
    known: Any,
) -> None:
    """Sort a query, negatives from the top and positives from the bottom, and weigh its positives.

    A positive counts by its overlap with the lowest part of them all.
    """
    total, below, first = 0.0, 0.0, end - end
    for i in range(end):
        order[i] = rows[start + i]
        if i >= middle:
            total += weight[order[i]]
    # The ends are variables: numba compiles a function once more for arguments that are constants.
    _sort(key, order, first, middle, buffer, -1.0)
    _sort(key, order, middle, end, buffer, 1.0)
    for i in range(middle, end):
        above = below + weight[order[i]]
        known[_COUNTED, i] = weight[order[i]]
        if part < 1.0:
            known[_COUNTED, i] = min(above, part * total) - min(below, part * total)
        below = above
    if part < 1.0:
        _divide_over_ties(key, weight, order, middle, end, known)


@compiled
def _pooled_pieces(
    key: Any,
    weight: Any,
    order: Any,
    first: int,
    middle: int,
    steps: Any,
    step: int,
    last: int,
    pieces: Any,
) -> int:
    """Cut ranked negatives where masses or margins change, and pool the pieces; return their number.

    A row of ``steps`` is the last rank of a step, the mass of a rank there and its margin. A row of
    ``pieces`` is the place of a row in the order, its mass in this piece, its target ``c / u + q``, and
    the slope: the decreasing isotonic regression of the targets, by pooling adjacent violators. Until
    the end, columns `_VALUE` to `_END` hold value, mass and last piece of the pools.
    """
    n_pieces, n_pools, at, sliver = 0, 0, 0.0, _SLIVER * steps[last - 1, 0]
    for place in range(first, middle):
        left = weight[order[place]]
        while left > sliver and step < last:
            size = min(left, steps[step, 0] - at)
            if size > sliver:
                mass, value = size * steps[step, 1], steps[step, 2] + key[order[place]]
                pieces[n_pieces, _PLACE] = place
                pieces[n_pieces, _MASS] = mass
                pieces[n_pieces, _TARGET] = value
                n_pieces += 1
                while n_pools > 0 and pieces[n_pools - 1, _VALUE] < value:
                    n_pools -= 1
                    pooled = pieces[n_pools, _POOLED]
                    value = (pooled * pieces[n_pools, _VALUE] + mass * value) / (pooled + mass)
                    mass += pooled
                pieces[n_pools, _VALUE] = value
                pieces[n_pools, _POOLED] = mass
                pieces[n_pools, _END] = n_pieces
                n_pools += 1
            left -= size
            at += size
            if steps[step, 0] - at <= sliver:
                step += 1
    pool = 0
    for j in range(n_pieces):
        if j == pieces[pool, _END]:
            pool += 1
        pieces[j, _SLOPE] = pieces[pool, _VALUE]
    return n_pieces


@compiled
def prefix_hinges(
    score: Any,
    weight: Any,
    rows: Any,
    start: Any,
    n_negatives: Any,
    steps: Any,
    step_start: Any,
    step_table: Any,
    total: Any,
    part: float,
    kink: float,
    gradient: Any,
) -> float:
    """Sum `PrefixHinge` over queries, and write its gradient.

    Query k has the steps ``steps[step_start[t] : step_start[t + 1]]`` with ``t = step_table[k]``; its
    risk is divided by ``total[k]``.
    """
    room, value, first = 0, 0.0, start[0]
    for k in range(n_negatives.size):
        t = step_table[k]
        room = max(room, start[k + 1] - start[k] + step_start[t + 1] - step_start[t])
    order, buffer = np.empty(room, np.intp), np.empty(room, np.intp)
    pieces, known = np.empty((room, 7)), np.empty((2, room))
    for k in range(n_negatives.size):
        middle, end, t = n_negatives[k], start[k + 1] - start[k], step_table[k]
        _prepare(score, weight, rows, start[k], order, middle, end, part, buffer, known)
        n_pieces = _pooled_pieces(
            score, weight, order, first, middle, steps, step_start[t], step_start[t + 1], pieces
        )
        lowest = order[int(pieces[n_pieces - 1, _PLACE])]
        width = kink * (1.0 + abs(score[order[0]]) + abs(score[lowest]))
        reached, target, mass, below, of_query = 0, 0.0, 0.0, 0.0, 0.0
        for i in range(end):
            if i < middle:
                known[_COUNTED, i] = 0.0
            below += known[_COUNTED, i]
            known[_BELOW, i] = below
        for i in range(end - 1, middle - 1, -1):
            p, counted = score[order[i]], known[_COUNTED, i]
            while reached < n_pieces and pieces[reached, _SLOPE] >= p - width:
                target += pieces[reached, _MASS] * pieces[reached, _TARGET]
                mass += pieces[reached, _MASS]
                place = int(pieces[reached, _PLACE])
                known[_COUNTED, place] += pieces[reached, _MASS] * known[_BELOW, i]
                reached += 1
            of_query += counted * (target - mass * p)
            gradient[order[i]] = -counted * mass / total[k]
        _divide_over_ties(score, weight, order, first, middle, known)
        for i in range(middle):
            gradient[order[i]] = known[_COUNTED, i] / total[k]
        value += of_query / total[k]
    return value


@compiled
def pairwise_hinges(
    score: Any,
    weight: Any,
    rows: Any,
    start: Any,
    n_negatives: Any,
    share: Any,
    kink: float,
    gradient: Any,
) -> float:
    """Sum weighted hinges over the pairs of every query, times its share, and write their gradient.

    Whether a pair counts is chance, so the innermost loop has no branches to predict.
    """
    room, value = 0, 0.0
    for k in range(n_negatives.size):
        room = max(room, n_negatives[k])
    key, mass, on_negatives = np.empty(room), np.empty(room), np.empty(room)
    for k in range(n_negatives.size):
        first, n, end = start[k], n_negatives[k], start[k + 1]
        low = high = score[rows[first]]
        for j in range(n):
            key[j], mass[j], on_negatives[j] = score[rows[first + j]], weight[rows[first + j]], 0.0
            low, high = min(low, key[j]), max(high, key[j])
        width = kink * (1.0 + abs(high) + abs(low))
        for i in range(first + n, end):
            p, counted, reached, total = score[rows[i]], weight[rows[i]], 0.0, 0.0
            for j in range(n):
                excess = 1.0 + key[j] - p
                part = mass[j] * (excess >= -width)
                reached += part
                total += part * excess
                on_negatives[j] += counted * part
            gradient[rows[i]] = -share[k] * counted * reached
            value += share[k] * counted * total
        for j in range(n):
            gradient[rows[first + j]] = share[k] * on_negatives[j]
    return value


@compiled
def _rank_masses(
    key: Any,
    weight: Any,
    order: Any,
    first: int,
    middle: int,
    knots: Any,
    integral: Any,
    density: Any,
    known: Any,
) -> None:
    """Compute the rank weights of negatives from the top, as `RankWeights.between`.

    Without a density only ``knots[1]`` to ``knots[2]`` counts; with one it is linear between knots.
    """
    n, at, before, cell = 0.0, 0.0, 0.0, 0
    for i in range(first, middle):
        n += weight[order[i]]
    if density.size == 0:
        before = knots[1] * n
    for i in range(first, middle):
        at += weight[order[i]]
        if density.size == 0:
            after = min(max(at, knots[1] * n), knots[2] * n)
        else:
            rate = min(at / n, 1.0)
            while cell < knots.size - 2 and knots[cell + 1] <= rate:
                cell += 1
            width, step = knots[cell + 1] - knots[cell], rate - knots[cell]
            slope = (density[cell + 1] - density[cell]) / max(width, _TINY)
            after = n * (integral[cell] + step * (density[cell] + slope * step / 2))
        known[_COUNTED, i] = after - before
        before = after
    _divide_over_ties(key, weight, order, first, middle, known)


@compiled
def _ramp_of_class(
    known: Any, first: int, end: int, other: int, other_end: int, h: float, sums: Any, slopes: Any
) -> float:
    """Sum the loss of every point of a class against the points of the other.

    The points of both are in increasing order; prefix sums of ``c``, ``c x`` and ``c x^2`` over the
    other class give the sums over the halves of the ramp. Returns the sum of ``c`` times the mass of
    the other class weighed by the ramp; ``slopes`` gets its derivatives by the points.
    """
    c0, c1, c2 = 0.0, 0.0, 0.0
    for i in range(other, other_end):
        mass, x = known[_COUNTED, i], known[_POINT, i]
        sums[0, i], sums[1, i], sums[2, i] = c0, c1, c2
        c0, c1, c2 = c0 + mass, c1 + mass * x, c2 + mass * x * x
    sums[0, other_end], sums[1, other_end], sums[2, other_end] = c0, c1, c2
    low, middle, high, value = other, other, other, 0.0
    for i in range(first, end):
        x = known[_POINT, i]
        while low < other_end and known[_POINT, low] <= x - h:
            low += 1
        while middle < other_end and known[_POINT, middle] <= x:
            middle += 1
        while high < other_end and known[_POINT, high] <= x + h:
            high += 1
        m0, m1 = sums[0, middle] - sums[0, low], sums[1, middle] - sums[1, low]
        n0, n1 = sums[0, high] - sums[0, middle], sums[1, high] - sums[1, middle]
        slopes[i] = (m1 + (h - x) * m0 + (h + x) * n0 - n1) / h**2
        rising = sums[2, middle] - sums[2, low] + (h - x) * (2 * m1 + (h - x) * m0)
        falling = sums[2, high] - sums[2, middle] - (h + x) * (2 * n1 - (h + x) * n0)
        value += known[_COUNTED, i] * ((rising - falling) / (2 * h**2) + c0 - sums[0, middle])
    return value


@compiled
def smooth_ramps(
    score: Any,
    weight: Any,
    rows: Any,
    start: Any,
    n_negatives: Any,
    knots: Any,
    integral: Any,
    density: Any,
    total: Any,
    part: float,
    h: float,
    shift: float,
    gradient: Any,
) -> float:
    """Sum `SmoothRamp` over queries, and write its gradient; a query's is divided by ``total[k]``."""
    room, value, first = 1, 0.0, start[0]
    for k in range(n_negatives.size):
        room = max(room, start[k + 1] - start[k] + 1)
    order, buffer = np.empty(room, np.intp), np.empty(room, np.intp)
    known, sums, slopes = np.empty((2, room)), np.empty((3, room)), np.empty(room)
    for k in range(n_negatives.size):
        middle, end = n_negatives[k], start[k + 1] - start[k]
        _prepare(score, weight, rows, start[k], order, middle, end, part, buffer, known)
        _rank_masses(score, weight, order, first, middle, knots, integral, density, known)
        last = first
        while last + 1 < middle and known[_COUNTED, last + 1] > 0.0:
            last += 1
        # Sums of squares lose digits far from zero; the loss depends on differences only.
        centre = score[order[(first + last) // 2]]
        i, j = first, middle - 1
        while i < j:
            order[i], order[j] = order[j], order[i]
            known[_COUNTED, i], known[_COUNTED, j] = known[_COUNTED, j], known[_COUNTED, i]
            i, j = i + 1, j - 1
        for i in range(first, end):
            known[_POINT, i] = score[order[i]] - centre
            if i >= middle:
                known[_POINT, i] -= shift
        value += _ramp_of_class(known, middle, end, first, middle, h, sums, slopes) / total[k]
        _ramp_of_class(known, first, middle, middle, end, h, sums, slopes)
        for i in range(first, end):
            sign = 1.0 if i < middle else -1.0
            gradient[order[i]] = sign * known[_COUNTED, i] * slopes[i] / total[k]
    return value
