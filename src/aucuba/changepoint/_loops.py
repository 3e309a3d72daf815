"""Compiled loops of the changepoint family: functional pruning and coordinate descent.

Import this module only where a loop is about to be called: it imports numba.

The loss of "last change at tau, last parameter m", up to a term common to all tau, is
``F_tau(m) = best[tau] + 2 total[tau] m - mass[tau] m^2`` (squares) or
``best[tau] + total[tau] log m - mass[tau] m`` (logarithms): it does not change with t. So the pruned
candidates are the lower envelope of the F_tau over m, to which every step adds one function. A newer
F minus an older one is concave, hence an older candidate keeps one interval of each of its pieces.
Envelopes are written alternately into the first two rows of ``piece`` and ``start``; piece i of an
envelope is ``piece[row, i]`` on ``[start[row, i], start[row, i + 1]]``. The parts that old candidates
keep go into the third and fourth row of ``start``; where nothing is left the lower end is not below
the upper one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aucuba._base._compiled import compiled

_NEWTON_STEPS = 50
_NEWTON_TOL = 1e-14


@compiled
def _kept_log(mass: float, total: float, offset: float, low: float, high: float) -> Any:
    """Find where ``-mass m + total log(m) + offset >= 0`` in [low, high], by two Newton runs.

    The function is concave. The lower root is approached in log(m) from the left, the upper root in m
    from the right: from those sides Newton's method is monotone and never oversteps.
    """
    if offset == np.inf:
        return low, high
    if total <= 0.0:
        return low, min(high, offset / mass)
    if mass <= 0.0:
        return max(low, math.exp(-offset / total)), high
    peak = total / mass
    if total * (math.log(peak) - 1.0) + offset <= 0.0:
        return high, low
    left, right = low, high
    if low < peak:
        # The root lies right of -offset / total because -mass m is negative.
        x = -offset / total
        if low > 0.0:
            x = max(x, math.log(low))
        for _ in range(_NEWTON_STEPS):
            m = math.exp(x)
            value = total * x - mass * m + offset
            slope = total - mass * m
            if value >= 0.0 or slope <= 0.0:
                break
            step = -value / slope
            x += step
            if step <= _NEWTON_TOL * max(1.0, abs(x)):
                break
        left = max(low, math.exp(x))
    if high > peak:
        m = high
        for _ in range(_NEWTON_STEPS):
            value = total * math.log(m) - mass * m + offset
            slope = total / m - mass
            if value >= 0.0 or slope >= 0.0:
                break
            step = value / slope
            # The root lies right of the peak; rounding must not carry a tiny one below it.
            m = max(m - step, peak)
            if step <= _NEWTON_TOL * m:
                break
        right = min(high, m)
    return left, right


@compiled
def _rebuild(new: int, piece: Any, start: Any, old: int, size: int, low: float, high: float) -> int:
    """Write the kept parts, the new candidate between them, into the other row; return its size."""
    out, count, reached = 1 - old, 0, low
    for i in range(size):
        left, right = start[2, i], start[3, i]
        if left < right:
            if left > reached:
                piece[out, count] = new
                start[out, count] = reached
                count += 1
            piece[out, count] = piece[old, i]
            start[out, count] = left
            count += 1
            reached = right
    if reached < high:
        piece[out, count] = new
        start[out, count] = reached
        count += 1
    start[out, count] = high
    return count


@compiled
def search_square(
    first: int,
    mass: Any,
    total: Any,
    low: float,
    high: float,
    penalty: float,
    min_size: int,
    best: Any,
    following: Any,
    last: Any,
    piece: Any,
    start: Any,
    size: int,
) -> None:
    """Find the least losses and the last changes of all prefixes of at least ``first`` samples.

    ``best`` holds the losses with one segment fewer, to which the last segment is added. If
    ``following`` is the same array, any number of segments is allowed, at ``penalty`` each. Pass 0
    for ``size``, the number of pieces at the start; a local variable would be compiled as two types.

    A segment has at least ``min_size`` samples: the candidate ``t - min_size`` enters at time t. Since
    the functions do not change with t, it competes with earlier candidates as if there were no such
    limit. A prefix that is too short has an infinite ``best`` and never enters.

    A candidate is kept on its piece where ``-mass m^2 + 2 total m + offset >= 0``. The best loss of a
    segment is ``-total^2 / mass``, because its mean never leaves the range of the signal.
    """
    for t in range(first, mass.shape[0]):
        old, new = t & 1, t - min_size
        for i in range(size):
            tau, left, right = piece[old, i], start[old, i], start[old, i + 1]
            length, sum_between = mass[new] - mass[tau], total[new] - total[tau]
            offset = best[new] - best[tau]
            start[2, i] = left
            start[3, i] = right
            if (2.0 * sum_between - length * left) * left + offset < 0.0 or (
                2.0 * sum_between - length * right
            ) * right + offset < 0.0:
                discriminant = sum_between * sum_between + length * offset
                start[3, i] = left
                if discriminant > 0.0:
                    root = math.sqrt(discriminant)
                    lower, upper = (sum_between - root) / length, (sum_between + root) / length
                    start[2, i] = lower if lower > left else left
                    start[3, i] = upper if upper < right else right
        size = _rebuild(new, piece, start, old, size, low, high)
        minimum, chosen = np.inf, 0
        for i in range(size):
            tau = piece[1 - old, i]
            sum_after = total[t] - total[tau]
            value = best[tau] - sum_after * sum_after / (mass[t] - mass[tau])
            if value < minimum:
                minimum, chosen = value, tau
        last[t] = chosen
        following[t] = penalty + minimum


@compiled
def search_log(
    first: int,
    mass: Any,
    total: Any,
    low: float,
    high: float,
    penalty: float,
    min_size: int,
    best: Any,
    following: Any,
    last: Any,
    piece: Any,
    start: Any,
    size: int,
) -> None:
    """Search like `search_square`, for the minimum of ``mass m - total log(m)`` over [low, high]."""
    for t in range(first, mass.shape[0]):
        old, new = t & 1, t - min_size
        for i in range(size):
            tau = piece[old, i]
            start[2, i], start[3, i] = _kept_log(
                mass[new] - mass[tau],
                total[new] - total[tau],
                best[new] - best[tau],
                start[old, i],
                start[old, i + 1],
            )
        size = _rebuild(new, piece, start, old, size, low, high)
        minimum, chosen = np.inf, 0
        for i in range(size):
            tau = piece[1 - old, i]
            length, sum_after = mass[t] - mass[tau], total[t] - total[tau]
            m = high
            if sum_after < high * length:
                m = max(low, sum_after / length)
            value = best[tau] + length * m
            if sum_after > 0.0:
                value -= sum_after * math.log(m)
            if value < minimum:
                minimum, chosen = value, tau
        last[t] = chosen
        following[t] = penalty + minimum


@compiled
def _add_column(
    square: bool, j: int, at: Any, low: float, high: float, room: Any, size: int
) -> None:
    """Add the losses of one column to the values of all candidates; the last rows of ``room``."""
    n_columns = room.shape[0] // 2 - 1
    mass, total = at[0, j], at[1, j]
    if square:
        # All columns have the masses of the first, so that one division per candidate is enough.
        for i in range(size):
            inside = total - room[j, i]
            room[-1, i] += inside * inside
        if j == n_columns - 1:
            for i in range(size):
                room[-1, i] = room[-2, i] - room[-1, i] / (mass - room[n_columns, i])
        return
    for i in range(size):
        length, inside = mass - room[n_columns + j, i], total - room[j, i]
        m = high
        if inside < high * length:
            m = max(low, inside / length)
        room[-1, i] += length * m
        if inside > 0.0:
            room[-1, i] -= inside * math.log(m)
        if j == n_columns - 1:
            room[-1, i] += room[-2, i]


@compiled
def search_columns(
    first: int,
    square: bool,
    sums: Any,
    low: Any,
    high: Any,
    penalty: float,
    min_size: int,
    best: Any,
    following: Any,
    last: Any,
    kept: Any,
    room: Any,
    size: int,
) -> None:
    """Search like `search_square` in several columns, by pruning with an inequality (PELT).

    ``sums[t]`` has the running masses and totals of the columns. ``room`` has a column per candidate:
    its totals, its masses, its ``best`` and its value at t; ``kept`` its number, and the sample from
    which it is out, or 0.

    Splitting a segment never raises its loss. So a candidate whose value at t exceeds ``best[t]`` is
    worse than the candidate t from the sample ``t + min_size`` on, where that one enters. Unlike the
    envelope of one column, the list of candidates can grow with the samples since the last change.
    Reference: Killick, Fearnhead, Eckley, "Optimal detection of changepoints with a linear
    computational cost" (2012).
    """
    n_columns, out = low.shape[0], 0
    for t in range(first, sums.shape[0]):
        if 4 * out > size:
            # Discarded candidates do no harm; remove them once there are many.
            count = out = 0
            for i in range(size):
                if kept[1, i] == 0 or kept[1, i] > t:
                    kept[:, count] = kept[:, i]
                    room[:-1, count] = room[:-1, i]
                    out += kept[1, i] > 0
                    count += 1
            size = count
        new = t - min_size
        if best[new] < np.inf:
            kept[0, size], kept[1, size] = new, 0
            room[:n_columns, size], room[n_columns:-2, size] = sums[new, 1], sums[new, 0]
            room[-2, size] = best[new]
            size += 1
        room[-1, :size] = 0.0
        for j in range(n_columns):
            _add_column(square, j, sums[t], low[j], high[j], room, size)
        minimum, chosen = np.inf, 0
        for i in range(size):
            if room[-1, i] < minimum:
                minimum, chosen = room[-1, i], kept[0, i]
        last[t] = chosen
        following[t] = penalty + minimum
        for i in range(size):
            if room[-1, i] > best[t] and kept[1, i] == 0:
                kept[1, i] = t + min_size
                out += 1


@compiled
def lasso_on_gram(
    gram: Any, gradient: Any, coef: Any, penalty: Any, tol: float, max_sweeps: int
) -> int:
    """Minimise ``1/2 w G w - linear w + sum_j penalty_j |w_j|`` by coordinate descent, in place.

    ``gradient`` is ``G w - linear`` at the start. The descent stops when no step of a sweep changed a
    coordinate's gradient by more than ``tol``; coordinates with a zero diagonal do not move. Returns
    the number of sweeps.
    """
    for sweep in range(max_sweeps):
        largest = 0.0
        for j in range(coef.shape[0]):
            curvature = gram[j, j]
            if curvature <= 0.0:
                continue
            target = curvature * coef[j] - gradient[j]
            value = 0.0
            if target > penalty[j]:
                value = (target - penalty[j]) / curvature
            elif target < -penalty[j]:
                value = (target + penalty[j]) / curvature
            step = value - coef[j]
            if step != 0.0:
                coef[j] = value
                for i in range(coef.shape[0]):
                    gradient[i] += step * gram[i, j]
                moved = abs(step) * curvature
                if moved > largest:
                    largest = moved
        if largest <= tol:
            return sweep + 1
    return max_sweeps
