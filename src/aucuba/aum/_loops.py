"""Compiled loops of the line searches. Imported when a search first runs, never before.

Lines are thresholds ``T(s) = intercept + s * slope`` in the order of their values just after the
current step. Row ``g`` of ``lines`` is ``(intercept, slope, fp_diff, fn_diff)``; ``fp[g]``,
``fn[g]`` and ``minimum[g]`` are the errors between lines ``g - 1`` and ``g``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

INTERCEPT, SLOPE, FP, FN = 0, 1, 2, 3
STOP_ROWS, STOP_FIRST_MIN, STOP_FIRST_MAX_AUC = 0, 1, 2


@njit(cache=True, nogil=True)
def _meeting(lines: Any, g: int, now: float) -> float:
    """Step at which lines ``g`` and ``g + 1`` meet; infinity when they do not converge."""
    closing = lines[g, SLOPE] - lines[g + 1, SLOPE]
    if closing <= 0.0:
        return np.inf
    return max(now, (lines[g + 1, INTERCEPT] - lines[g, INTERCEPT]) / closing)


@njit(cache=True, nogil=True)
def _refresh(queue: Any, first: int, last: int) -> None:
    """Restore the minima above leaves ``first..last`` of the tournament tree ``queue``."""
    half = queue.shape[0] // 2
    low, high = (half + first) >> 1, (half + last) >> 1
    while low >= 1:
        changed = False
        for node in range(low, high + 1):
            winner = min(queue[2 * node], queue[2 * node + 1])
            if winner != queue[node]:
                queue[node] = winner
                changed = True
        if not changed:
            return
        low >>= 1
        high >>= 1


@njit(cache=True, nogil=True)
def _order_terms(lines: Any, minimum: Any, low: int, high: int) -> Any:
    """What the order of lines ``low..high`` adds to the AUM slope (paper, equation 6) and to the
    area under (FP, TP)."""
    slope, area, tp = 0.0, 0.0, 0.0
    for g in range(max(low, 1), min(high + 2, lines.shape[0])):
        slope += (lines[g, SLOPE] - lines[g - 1, SLOPE]) * minimum[g]
    for g in range(low, high + 1):
        area += lines[g, FP] * tp
        tp -= lines[g, FN]
    return slope, area


@njit(cache=True, nogil=True)
def _reverse_run(lines: Any, fp: Any, fn: Any, minimum: Any, low: int, high: int) -> Any:
    """Reverse lines ``low..high``, which meet in one point; changes of AUM slope and of area."""
    slope_before, area_before = _order_terms(lines, minimum, low, high)
    i, j = low, high
    while i < j:
        for column in range(4):
            kept = lines[i, column]
            lines[i, column] = lines[j, column]
            lines[j, column] = kept
        i += 1
        j -= 1
    for g in range(low, high):
        fp[g + 1] = fp[g] + lines[g, FP]
        fn[g + 1] = fn[g] + lines[g, FN]
        minimum[g + 1] = min(fp[g + 1], fn[g + 1])
    slope_after, area_after = _order_terms(lines, minimum, low, high)
    return slope_after - slope_before, area_after - area_before


@njit(cache=True, nogil=True)
def _pass_meetings(
    lines: Any, fp: Any, fn: Any, minimum: Any, queue: Any, now: float, latest: float
) -> Any:
    """Handle every meeting up to ``latest``; changes of slope and area, and pairs that crossed.

    Adjacent pairs that meet now and share a line form one run. Each pair of it converges, so slopes
    fall along the run, and its order after the meeting is the reverse. A pair that has crossed
    never converges again, which ends the loop.
    """
    half = queue.shape[0] // 2
    last_pair = lines.shape[0] - 2
    slope, area, crossed = 0.0, 0.0, 0
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
        slope_change, area_change = _reverse_run(lines, fp, fn, minimum, low, high)
        slope += slope_change
        area += area_change
        crossed += (high - low + 1) * (high - low) // 2
        for g in range(low, high):
            queue[half + g] = np.inf
        if low > 0:
            queue[half + low - 1] = _meeting(lines, low - 1, now)
        if high <= last_pair:
            queue[half + high] = _meeting(lines, high, now)
        _refresh(queue, max(low - 1, 0), min(high, last_pair))
    return slope, area, crossed


@njit(cache=True, nogil=True)
def follow_path(
    lines: Any,
    fp: Any,
    fn: Any,
    minimum: Any,
    queue: Any,
    here: Any,
    counts: Any,
    rows: Any,
    flat: Any,
    stop: int,
    max_rows: int,
    max_step: float,
    tol: float,
    record: bool,
) -> bool:
    """Walk on along the path, row by row; True when ``rows`` is full before the walk has ended.

    ``here`` is the current row: step, AUM, slope after and area after it. ``counts`` holds rows
    passed, rows kept in ``rows`` and pairs that crossed. Both are updated, and with a wider table of
    rows the walk goes on where it stopped: arrays made here would double the time to compile.

    ``flat = (aum, slope, area)`` are the sizes below which a change is rounding. With ``record``
    off only the last row where AUM stopped falling is kept.
    """
    step, aum, slope, area = here[0], here[1], here[2], here[3]
    count, kept, crossed = counts[0], counts[1], counts[2]
    full = False
    while count < max_rows and queue[1] <= max_step and queue[1] < np.inf:
        if stop == STOP_FIRST_MIN and (slope > flat[1] or (aum <= flat[0] and slope >= -flat[1])):
            break
        if record and kept == rows.shape[1]:
            full = True
            break
        aum += slope * (queue[1] - step)
        step = queue[1]
        was_falling = slope < -flat[1]
        slope_change, area_change, pairs = _pass_meetings(
            lines, fp, fn, minimum, queue, step, step * (1.0 + tol)
        )
        slope += slope_change
        area += area_change
        crossed += pairs
        count += 1
        if record:
            kept += 1
        if record or (was_falling and slope >= -flat[1]):
            rows[0, kept - 1] = step
            rows[1, kept - 1] = aum
            rows[2, kept - 1] = slope
            rows[3, kept - 1] = area
        if stop == STOP_FIRST_MAX_AUC and area_change < -flat[2]:
            break
    here[0], here[1], here[2], here[3] = step, aum, slope, area
    counts[0], counts[1], counts[2] = count, kept, crossed
    return full


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _precedes(rows: Any, i: int, others: Any, j: int, positive_first: bool) -> bool:
    """Whether row ``i`` comes before row ``j``: smaller key, or equal key and favoured class."""
    if rows[i, 0] != others[j, 0]:
        return rows[i, 0] < others[j, 0]
    return (rows[i, 1] < 0) == positive_first and (others[j, 1] < 0) != positive_first


@njit(cache=True, nogil=True)
def _insert_rows(rows: Any, start: int, end: int, positive_first: bool) -> Any:
    """Insertion sort of ``rows[start:end]``; gain and changes as in `sort_rows`."""
    gain, changes = 0.0, 0
    for i in range(start + 1, end):
        j = i
        while j > start and _precedes(rows, j, rows, j - 1, positive_first):
            gain += max(-rows[j, 1], 0.0) * max(rows[j - 1, 1], 0.0)
            changes += 1
            for column in range(rows.shape[1]):
                moved = rows[j, column]
                rows[j, column] = rows[j - 1, column]
                rows[j - 1, column] = moved
            j -= 1
    return gain, changes


@njit(cache=True, nogil=True)
def _merge_rows(
    rows: Any, start: int, middle: int, end: int, positive_first: bool, buffer: Any
) -> Any:
    """Merge two sorted neighbours; gain and changes as in `sort_rows`.

    Only rows that are out of place move: little is done on an order that is nearly right.
    """
    low, high = start, middle
    while low < high:
        probe = (low + high) // 2
        if _precedes(rows, middle, rows, probe, positive_first):
            high = probe
        else:
            low = probe + 1
    waiting, negative = middle - low, 0.0
    for i in range(waiting):
        negative += max(rows[low + i, 1], 0.0)
        for column in range(rows.shape[1]):
            buffer[i, column] = rows[low + i, column]
    gain, changes, i, j, k = 0.0, 0, 0, middle, low
    while i < waiting:
        if j < end and _precedes(rows, j, buffer, i, positive_first):
            changes += waiting - i
            gain += max(-rows[j, 1], 0.0) * negative
            for column in range(rows.shape[1]):
                rows[k, column] = rows[j, column]
            j += 1
        else:
            negative -= max(buffer[i, 1], 0.0)
            for column in range(rows.shape[1]):
                rows[k, column] = buffer[i, column]
            i += 1
        k += 1
    return gain, changes


@njit(cache=True, nogil=True)
def sort_rows(rows: Any, positive_first: bool, buffer: Any) -> Any:
    """Sort rows ``(key, weight, ...)`` by key and tell what changed places.

    Weights of positives are negative, and ``positive_first`` says how equal keys are ordered.
    Returned: the weight of the negative-positive pairs that came in the wrong order (negative
    first) and leave in the right one, and the number of all pairs that changed.
    """
    n = rows.shape[0]
    gain, changes, width = 0.0, 0, 16
    for start in range(0, n, width):
        part, moves = _insert_rows(rows, start, min(start + width, n), positive_first)
        gain += part
        changes += moves
    while width < n:
        for start in range(0, n - width, 2 * width):
            end = min(start + 2 * width, n)
            part, moves = _merge_rows(rows, start, start + width, end, positive_first, buffer)
            gain += part
            changes += moves
        width *= 2
    return gain, changes


@njit(cache=True, nogil=True)
def ranked_auc(rows: Any) -> Any:
    """AUC of sorted rows ``(key, weight, ...)``, ties as diagonals, and whether any keys tie."""
    area, tp, start, ties = 0.0, 0.0, 0, False
    while start < rows.shape[0]:
        end, fp_step, tp_step = start, 0.0, 0.0
        while end < rows.shape[0] and rows[end, 0] == rows[start, 0]:
            fp_step += max(rows[end, 1], 0.0)
            tp_step += max(-rows[end, 1], 0.0)
            end += 1
        area += fp_step * (tp + tp_step / 2)
        tp += tp_step
        ties = ties or end - start > 1
        start = end
    return area, ties
