"""Compiled loops of the line searches. Imported when a search first runs, never before.

Lines are thresholds ``T(s) = intercept + s * slope`` in the order of their values just after the
current step. Row ``g`` of ``lines`` is ``(intercept, slope, fp_diff, fn_diff)``; ``fp[g]`` and
``fn[g]`` are the errors between lines ``g - 1`` and ``g``.

The loops call few functions and make no arrays: each of both would add to the time of compilation,
for which the first call of a process without a cache waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._core._compiled import compiled

INTERCEPT, SLOPE, FP, FN = 0, 1, 2, 3
STOP_ROWS, STOP_FIRST_MIN, STOP_FIRST_MAX_AUC = 0, 1, 2
# Columns of the rows that are kept of a path which is not recorded.
FIRST_ROW, LEAST_AUM, GREATEST_AUC, END_OF_GREATEST_AUC = 0, 1, 2, 3


@compiled
def _reverse_run(lines: Any, fp: Any, fn: Any, low: int, high: int, change: Any) -> None:
    """Reverse lines ``low..high``, which meet in one point.

    Adds to ``change`` the changes of the AUM slope (paper, equation 6) and of the area under
    (FP, TP): the terms of the run's order are taken away before and added after.
    """
    n = lines.shape[0]
    for sign in range(-1, 2, 2):
        tp = 0.0
        for g in range(low, high + 2):
            if 0 < g < n:
                least = fp[g] if fp[g] < fn[g] else fn[g]
                change[0] += sign * (lines[g, SLOPE] - lines[g - 1, SLOPE]) * least
            if g <= high:
                change[1] += sign * lines[g, FP] * tp
                tp -= lines[g, FN]
        if sign < 0:
            for column in range(4):
                i, j = low, high
                while i < j:
                    kept = lines[i, column]
                    lines[i, column] = lines[j, column]
                    lines[j, column] = kept
                    i += 1
                    j -= 1
            for g in range(low, high):
                fp[g + 1] = fp[g] + lines[g, FP]
                fn[g + 1] = fn[g] + lines[g, FN]


@compiled
def _renew_meetings(lines: Any, queue: Any, first: int, last: int, now: float) -> None:
    """Set the meetings of the pairs ``first..last`` and the minima above them.

    Lines that do not converge meet at infinity.
    """
    half = queue.shape[0] // 2
    for g in range(first, last + 1):
        closing = lines[g, SLOPE] - lines[g + 1, SLOPE]
        queue[half + g] = np.inf
        if closing > 0.0:
            meeting = (lines[g + 1, INTERCEPT] - lines[g, INTERCEPT]) / closing
            queue[half + g] = meeting if meeting > now else now
    low, high = (half + first) >> 1, (half + last) >> 1
    changed = True
    while changed and low >= 1:
        changed = False
        for node in range(low, high + 1):
            winner = queue[2 * node]
            if queue[2 * node + 1] < winner:
                winner = queue[2 * node + 1]
            if winner != queue[node]:
                queue[node] = winner
                changed = True
        low >>= 1
        high >>= 1


@compiled
def _pass_meetings(
    lines: Any, fp: Any, fn: Any, queue: Any, now: float, latest: float, change: Any
) -> int:
    """Handle every meeting up to ``latest``; returns the number of pairs that crossed.

    Adjacent pairs that meet now and have a line in common form one run. Each pair of it converges,
    so slopes fall along the run, and its order after the meeting is the reverse. A pair that has
    crossed never converges again, which ends the loop.
    """
    half, last_pair, crossed = queue.shape[0] // 2, lines.shape[0] - 2, 0
    while queue[1] <= latest:
        node = 1
        while node < half:
            node *= 2
            if queue[node] > queue[node + 1]:
                node += 1
        low = node - half
        high = low + 1
        while low > 0 and queue[half + low - 1] <= latest:
            low -= 1
        while high <= last_pair and queue[half + high] <= latest:
            high += 1
        _reverse_run(lines, fp, fn, low, high, change)
        crossed += (high - low + 1) * (high - low) // 2
        first = low - 1 if low > 0 else 0
        last = high if high < last_pair else last_pair
        _renew_meetings(lines, queue, first, last, now)
    return crossed


@compiled
def _keep_best(rows: Any, here: Any, counts: Any, flat: Any) -> None:
    """Keep the current row where it is the first of least AUM, or an end of the greatest AUC."""
    for row in range(LEAST_AUM, END_OF_GREATEST_AUC + 1):
        keep = here[1] < rows[1, LEAST_AUM] - flat[0]
        if row == GREATEST_AUC:
            keep = here[4] > rows[4, GREATEST_AUC] + flat[2]
            if keep:
                counts[3] = 1
        elif row == END_OF_GREATEST_AUC:
            keep = counts[3] == 1 and here[4] < rows[4, GREATEST_AUC] - flat[2]
            if keep:
                counts[3] = 0
        if keep:
            for column in range(5):
                rows[column, row] = here[column]


@compiled
def follow_path(
    lines: Any,
    fp: Any,
    fn: Any,
    queue: Any,
    here: Any,
    counts: Any,
    change: Any,
    rows: Any,
    flat: Any,
    stop: int,
    max_rows: int,
    max_step: float,
    tol: float,
    record: bool,
) -> bool:
    """Walk on along the path, row by row; True when ``rows`` is full before the walk has ended.

    ``here`` is the current row: step, AUM, slope after, area at and area after it. ``counts`` holds
    rows passed, rows kept in ``rows``, pairs that crossed, and whether the stretch of greatest AUC
    goes on. All are updated, and with a wider table of rows the walk goes on where it stopped.

    ``flat = (aum, slope, area)`` are the sizes below which a change is rounding. Without ``record``
    four rows are kept: the first, the first of least AUM, and both ends of the first stretch of
    greatest AUC.
    """
    full = False
    while counts[0] < max_rows and queue[1] <= max_step and queue[1] < np.inf:
        if stop == STOP_FIRST_MIN and (
            here[2] > flat[1] or (here[1] <= flat[0] and here[2] >= -flat[1])
        ):
            break
        full = record and counts[1] == rows.shape[1]
        if full:
            break
        here[1] += here[2] * (queue[1] - here[0])
        here[0] = queue[1]
        change[0] = 0.0
        change[1] = 0.0
        counts[2] += _pass_meetings(lines, fp, fn, queue, here[0], here[0] * (1.0 + tol), change)
        here[2] += change[0]
        here[3] = here[4] + change[1] / 2
        here[4] += change[1]
        counts[0] += 1
        if record:
            for column in range(5):
                rows[column, counts[1]] = here[column]
            counts[1] += 1
        else:
            _keep_best(rows, here, counts, flat)
        if stop == STOP_FIRST_MAX_AUC and change[1] < -flat[2]:
            break
    return full


@compiled
def weighted_select(values: Any, weights: Any, target: float) -> float:
    """The value ``v`` with ``weight(< v) <= target <= weight(<= v)``; reorders both arrays.

    Quickselect with three-way partition, so that long ties cost nothing; O(n) on average.
    """
    low, high, below = 0, values.shape[0] - 1, 0.0
    while low < high:
        first, middle, last = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(first, middle), min(max(first, middle), last))
        smaller, i, larger = low, low, high
        weight_smaller, weight_equal = 0.0, 0.0
        while i <= larger:
            value, weight = values[i], weights[i]
            if value < pivot:
                weight_smaller += weight
                values[i], weights[i] = values[smaller], weights[smaller]
                values[smaller], weights[smaller] = value, weight
                smaller += 1
                i += 1
            elif value > pivot:
                values[i], weights[i] = values[larger], weights[larger]
                values[larger], weights[larger] = value, weight
                larger -= 1
            else:
                weight_equal += weight
                i += 1
        if smaller > low and target <= below + weight_smaller:
            high = smaller - 1
        elif larger == high or target <= below + weight_smaller + weight_equal:
            return pivot
        else:
            below += weight_smaller + weight_equal
            low = larger + 1
    return values[low]


@compiled
def _one_sided_slope(
    slope: Any, fp: Any, fn: Any, threshold: Any, center: float, side: float, scratch: Any
) -> float:
    """Derivative of the monotone AUM on one side (``side`` is 1 or -1) of a step.

    AUM is ``min_t h(step, t)`` with ``h`` jointly convex, so its derivative is
    ``min_tau h'((step, center); (side, tau))``: lines below ``center`` stay below, lines above
    stay above, and lines that tie with it are split by ``tau``, another weighted quantile.
    """
    ties, tied_fn, drift, balance = 0, 0.0, 0.0, 0.0
    for b in range(slope.shape[0]):
        if threshold[b] < center:
            drift -= fp[b] * slope[b]
            balance += fp[b]
        elif threshold[b] > center:
            drift -= fn[b] * slope[b]
            balance += fn[b]
        else:
            scratch[0, ties] = side * slope[b]
            scratch[1, ties] = fp[b] - fn[b]
            tied_fn -= fn[b]
            ties += 1
    tau = weighted_select(scratch[0, :ties], scratch[1, :ties], tied_fn - balance)
    total = side * drift + balance * tau
    for b in range(slope.shape[0]):
        if threshold[b] == center:
            ahead = tau - side * slope[b]
            total += max(fp[b] * ahead, fn[b] * ahead)
    return side * total


@compiled
def monotone_tangents(
    intercept: Any, slope: Any, fp: Any, fn: Any, step: float, threshold: Any, scratch: Any
) -> Any:
    """AUM at ``step`` and its slopes to the left and right, for monotone errors, in O(B).

    ``AUM = min_t sum_b fp_b (t - T_b)_+ - fn_b (T_b - t)_+``; the best ``t`` is a weighted
    quantile. ``threshold`` (B) and ``scratch`` (2, B) are overwritten.
    """
    total_fn = 0.0
    for b in range(intercept.shape[0]):
        threshold[b] = intercept[b] + step * slope[b]
        scratch[0, b] = threshold[b]
        scratch[1, b] = fp[b] - fn[b]
        total_fn -= fn[b]
    center = weighted_select(scratch[0], scratch[1], total_fn)
    value = 0.0
    for b in range(intercept.shape[0]):
        ahead = center - threshold[b]
        value += max(fp[b] * ahead, fn[b] * ahead)
    left = _one_sided_slope(slope, fp, fn, threshold, center, -1.0, scratch)
    right = _one_sided_slope(slope, fp, fn, threshold, center, 1.0, scratch)
    return value, left, right


@compiled
def merge_order(key: Any, weight: Any, order: Any, buffer: Any, favoured: float) -> Any:
    """Sort ``order`` by key and tell what changed places.

    Weights of positives are negative. Of equal keys those come first whose weight has the other
    sign than ``favoured``. Returned: the weight of the negative-positive pairs that came in the
    wrong order (negative first) and leave in the right one, and the number of all pairs that
    changed. Only entries that are out of place move: little is done on an order that is nearly
    right.
    """
    n, gain, changes, width = order.shape[0], 0.0, 0, 1
    while width < n:
        for middle in range(width, n, 2 * width):
            low, high, end = middle - width, middle, min(middle + width, n)
            while low < high:
                probe = (low + high) // 2
                ahead = key[order[middle]] - key[order[probe]]
                is_favoured = favoured * weight[order[middle]] < 0.0
                if ahead < 0.0 or (
                    ahead == 0.0 and is_favoured and favoured * weight[order[probe]] > 0.0
                ):
                    high = probe
                else:
                    low = probe + 1
            waiting, negative = middle - low, 0.0
            for i in range(waiting):
                buffer[i] = order[low + i]
                if weight[buffer[i]] > 0.0:
                    negative += weight[buffer[i]]
            i, j = 0, middle
            for k in range(low, end):
                if i == waiting:
                    break
                left = buffer[i]
                takes_right = False
                if j < end:
                    right = order[j]
                    ahead = key[right] - key[left]
                    takes_right = ahead < 0.0 or (
                        ahead == 0.0
                        and favoured * weight[right] < 0.0
                        and favoured * weight[left] > 0.0
                    )
                if takes_right:
                    changes += waiting - i
                    if weight[order[j]] < 0.0:
                        gain -= weight[order[j]] * negative
                    order[k] = order[j]
                    j += 1
                else:
                    if weight[left] > 0.0:
                        negative -= weight[left]
                    order[k] = left
                    i += 1
        width *= 2
    return gain, changes
