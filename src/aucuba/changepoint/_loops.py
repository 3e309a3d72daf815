"""Compiled loops of the changepoint family: functional pruning and coordinate descent.

Import this module only where a kernel is about to be called: it imports numba.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_NEWTON_STEPS = 50
_NEWTON_TOL = 1e-14


@njit(cache=True, nogil=True)
def _kept_l2(length, total, offset, low, high):  # type: ignore[no-untyped-def]
    """The part of [low, high] with ``-length m^2 + 2 total m + offset >= 0``; (high, low) if empty."""
    discriminant = total * total + length * offset
    if discriminant <= 0.0:
        return high, low
    root = math.sqrt(discriminant)
    return max(low, (total - root) / length), min(high, (total + root) / length)


@njit(cache=True, nogil=True)
def _kept_poisson(length, total, offset, low, high):  # type: ignore[no-untyped-def]
    """Where ``-length m + total log(m) + offset >= 0`` in [low, high], by two monotone Newton runs.

    The function is concave. Its lower root is sought in log(m), from the left, and its upper root in
    m, from the right: from those sides Newton's method never oversteps.
    """
    if total <= 0.0:
        return low, min(high, offset / length)
    peak = total / length
    if total * (math.log(peak) - 1.0) + offset <= 0.0:
        return high, low
    left, right = low, high
    if low < peak:
        # The root lies right of -offset / total because -length m is negative.
        x = -offset / total
        if low > 0.0:
            x = max(x, math.log(low))
        for _ in range(_NEWTON_STEPS):
            m = math.exp(x)
            value = total * x - length * m + offset
            slope = total - length * m
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
            value = total * math.log(m) - length * m + offset
            slope = total / m - length
            if value >= 0.0 or slope >= 0.0:
                break
            step = value / slope
            # The root lies right of the peak; rounding must not carry a tiny one below it.
            m = max(m - step, peak)
            if step <= _NEWTON_TOL * m:
                break
        right = min(high, m)
    return left, right


@njit(cache=True, nogil=True)
def _segment_loss(poisson, total, length):  # type: ignore[no-untyped-def]
    """Best loss of one segment, less the sum of squares (l2), from its sum and length."""
    if not poisson:
        return -total * total / length
    if total <= 0.0:
        return 0.0
    return total - total * math.log(total / length)


@njit(cache=True, nogil=True)
def _best_candidate(piece, size, t, best, sums, squares, poisson):  # type: ignore[no-untyped-def]
    """Least loss of the first t samples over the candidates left, and the candidate."""
    minimum, chosen = np.inf, 0
    for i in range(size):
        tau = piece[i]
        value = best[tau] - squares[tau]
        value += _segment_loss(poisson, sums[t] - sums[tau], t - tau)
        if value < minimum:
            minimum, chosen = value, tau
    return minimum + squares[t], chosen


@njit(cache=True, nogil=True)
def pruned_dynamic_program(sums, squares, low, high, n_levels, poisson):  # type: ignore[no-untyped-def]
    """Last change of the best segmentation of every prefix, for 1 .. n_levels segments.

    On level k the loss of "last change at tau, last mean m", as a function of m and up to a term
    that all tau share, is ``F_tau(m) = best[tau] - squares[tau] + 2 sums[tau] m - tau m^2`` (l2) or
    ``best[tau] + sums[tau] log m - tau m`` (Poisson): it does not change with t. So the pruned
    candidates are the lower envelope of the F_tau, to which step t adds one function. A newer F
    minus an older one is concave, hence an older candidate keeps one interval of each of its pieces.

    Returns an (n_levels, n + 1) array: entry [k, t] is where the last of k + 1 segments of the first
    t samples begins.
    """
    n = sums.shape[0] - 1
    last = np.zeros((n_levels, n + 1), np.int32)
    best, following = np.zeros(n + 1), np.zeros(n + 1)
    for t in range(1, n + 1):
        best[t] = squares[t] + _segment_loss(poisson, sums[t], t)
    # Two functions cross at most twice, so an envelope of n of them has below 2 n pieces.
    piece, start = np.zeros((2, 2 * n + 4), np.int32), np.zeros((2, 2 * n + 5))
    for k in range(1, n_levels):
        old, size = 0, 0
        for t in range(k + 1, n + 1):
            new = t - 1
            new_offset = best[new] - squares[new]
            out, count = 1 - old, 0
            cursor = low
            for i in range(size):
                tau = piece[old, i]
                upper = start[old, i + 1]
                offset = new_offset - (best[tau] - squares[tau])
                if poisson:
                    a, b = _kept_poisson(new - tau, sums[new] - sums[tau], offset, cursor, upper)
                else:
                    a, b = _kept_l2(new - tau, sums[new] - sums[tau], offset, cursor, upper)
                if a < b:
                    if a > cursor and (count == 0 or piece[out, count - 1] != new):
                        piece[out, count] = new
                        start[out, count] = cursor
                        count += 1
                    piece[out, count] = tau
                    start[out, count] = a
                    count += 1
                else:
                    b = cursor
                if b < upper and (count == 0 or piece[out, count - 1] != new):
                    piece[out, count] = new
                    start[out, count] = b
                    count += 1
                cursor = upper
            if count == 0:
                piece[out, 0] = new
                start[out, 0] = low
                count = 1
            start[out, count] = high
            old, size = out, count
            following[t], last[k, t] = _best_candidate(
                piece[old], size, t, best, sums, squares, poisson
            )
        best, following = following, best
    return last


@njit(cache=True, nogil=True)
def lasso_on_gram(gram, linear, coef, penalty, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """Minimise ``1/2 w G w - linear w + sum_j penalty_j |w_j|`` by coordinate descent, in place.

    Stops when no coordinate of a sweep moved its gradient by more than ``tol``. Coordinates with a
    zero diagonal are left where they are. Returns the number of sweeps.
    """
    gradient = gram @ coef - linear
    for sweep in range(max_sweeps):
        largest = 0.0
        for j in range(coef.shape[0]):
            curvature = gram[j, j]
            if curvature <= 0.0:
                continue
            target = curvature * coef[j] - gradient[j]
            value = math.copysign(max(abs(target) - penalty[j], 0.0), target) / curvature
            step = value - coef[j]
            if step != 0.0:
                coef[j] = value
                for i in range(coef.shape[0]):
                    gradient[i] += step * gram[i, j]
                largest = max(largest, abs(step) * curvature)
        if largest <= tol:
            return sweep + 1
    return max_sweeps
