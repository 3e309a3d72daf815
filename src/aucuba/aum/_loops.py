"""Compiled loops of the line searches. Imported when a search first runs, never before.

Lines are thresholds ``T(s) = intercept + s * slope`` in the order of their values just after the
current step. Row ``g`` of ``lines`` is ``(intercept, slope, fp_step, fn_step, fp, fn)``: the steps of
both errors at the line, and the errors between lines ``g - 1`` and ``g``. The first and the last row
are no lines: their slopes are so low and so high that nothing meets them.

The loops call few functions and index few arrays, because each of these adds to the time of
compilation, and the first call of a process without a cache waits for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._compiled import compiled

INTERCEPT, SLOPE, FP_STEP, FN_STEP, FP, FN = range(6)


@compiled
def _reverse_run(
    lines: Any,
    queue: Any,
    half: int,
    low: int,
    high: int,
    now: float,
    slope_change: float,
    area_change: float,
) -> Any:
    """Reverse lines ``low..high``, which meet in one point, and renew the meetings of their pairs.

    Returns the changes of the AUM slope (paper, equation 6) and of the area under (FP, TP), added to
    those given: the terms of the run's order are taken away before and added after. Lines that do not
    converge meet at infinity.
    """
    for sign in range(-1, 2, 2):
        tp, slope_below = 0.0, lines[low - 1, SLOPE]
        for g in range(low, high + 2):
            slope, least, fn = lines[g, SLOPE], lines[g, FP], lines[g, FN]
            if fn < least:
                least = fn
            slope_change += sign * (slope - slope_below) * least
            if sign > 0:
                meeting = np.inf
                if slope_below > slope:
                    meeting = (lines[g, INTERCEPT] - lines[g - 1, INTERCEPT]) / (
                        slope_below - slope
                    )
                    if meeting < now:
                        meeting = now
                queue[half + g - 1] = meeting
            slope_below = slope
            if g <= high:
                area_change += sign * lines[g, FP_STEP] * tp
                tp -= lines[g, FN_STEP]
        if sign < 0:
            for column in range(FP):
                i, j = low, high
                while i < j:
                    kept = lines[i, column]
                    lines[i, column] = lines[j, column]
                    lines[j, column] = kept
                    i += 1
                    j -= 1
                if column >= FP_STEP:
                    for g in range(low, high):
                        lines[g + 1, column + 2] = lines[g, column + 2] + lines[g, column]
    return slope_change, area_change


@compiled
def follow_path(
    lines: Any,
    queue: Any,
    rows: Any,
    n_rows: int,
    max_step: float,
    tol: float,
    flat_aum: float,
    flat_slope: float,
    flat_area: float,
) -> int:
    """Walk on along the path until ``rows`` is full or the walk ends; returns the number of rows.

    A row is step, AUM, slope after it, area at it, area after it, and the pairs that have crossed so
    far. The walk goes on from the last of the ``n_rows`` rows given. It ends beyond ``max_step``,
    where AUM would rise or is zero, and after a row at which the area falls; the flat sizes are
    those below which a change is rounding.

    Adjacent pairs that meet now and have a line in common form one run. Each pair of it converges,
    so slopes fall along the run, and its order after the meeting is the reverse. A pair that has
    crossed never converges again, which ends the loop over runs.
    """
    half, here = queue.shape[0] >> 1, n_rows - 1
    step, aum, slope = rows[here, 0], rows[here, 1], rows[here, 2]
    area, crossed = rows[here, 4], rows[here, 5]
    while n_rows < rows.shape[0] and queue[1] <= max_step:
        if slope > flat_slope or (aum <= flat_aum and slope >= -flat_slope):
            break
        aum += slope * (queue[1] - step)
        step = queue[1]
        latest, slope_change, area_change = step * (1.0 + tol), 0.0, 0.0
        while queue[1] <= latest:
            low = 1
            while low < half:
                low *= 2
                if queue[low] > queue[low + 1]:
                    low += 1
            high = low + 1
            while queue[low - 1] <= latest:
                low -= 1
            while queue[high] <= latest:
                high += 1
            slope_change, area_change = _reverse_run(
                lines, queue, half, low - half, high - half, step, slope_change, area_change
            )
            crossed += (high - low + 1) * (high - low) >> 1
            changed, low = True, low - 1
            while changed and low > 1:
                low, high, changed = low >> 1, high >> 1, False
                for node in range(low, high + 1):
                    winner, other = queue[2 * node], queue[2 * node + 1]
                    if other < winner:
                        winner = other
                    if winner != queue[node]:
                        queue[node] = winner
                        changed = True
        slope += slope_change
        area_before, area = area, area + area_change
        rows[n_rows, 0] = step
        rows[n_rows, 1] = aum
        rows[n_rows, 2] = slope
        rows[n_rows, 3] = area_before + area_change / 2
        rows[n_rows, 4] = area
        rows[n_rows, 5] = crossed
        n_rows += 1
        if area - area_before < -flat_area:
            break
    return n_rows


@compiled
def weighted_select(values: Any, weights: Any, target: float) -> Any:
    """Find ``v`` with ``weight(< v) <= target <= weight(<= v)``; reorder both arrays.

    Quickselect with a three-way partition, so that long ties cost nothing; O(n) on average.
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
    ties: Any, n_ties: int, drift: float, balance: float, side: float, scratch: Any
) -> Any:
    """Compute the derivative of a monotone AUM on one side (``side`` is 1 or -1) of a step.

    AUM is ``min_t h(step, t)`` with ``h`` jointly convex, so its derivative is
    ``min_tau h'((step, center); (side, tau))``: lines below ``center`` stay below, lines above
    stay above (``drift`` and ``balance`` are their sums), and lines that tie with it are split by
    ``tau``, another weighted quantile. Rows of ``ties`` are their slopes and steps of FP and FN.
    """
    tied_fn = 0.0
    for b in range(n_ties):
        scratch[0, b] = side * ties[0, b]
        scratch[1, b] = ties[1, b] - ties[2, b]
        tied_fn -= ties[2, b]
    tau = weighted_select(scratch[0, :n_ties], scratch[1, :n_ties], tied_fn - balance)
    total = side * drift + balance * tau
    for b in range(n_ties):
        ahead = tau - side * ties[0, b]
        total += max(ties[1, b] * ahead, ties[2, b] * ahead)
    return side * total


@compiled
def lines_near(lines: Any, start: float, end: float, low: float, high: float, far: Any) -> Any:
    """Keep the lines that come between ``low`` and ``high`` from step ``start`` to ``end``.

    ``lines`` are the intercepts, slopes and steps of FP and of FN. The sums of all others, which
    stay on one side, are added to ``far`` = (weight below, total FN, change, change times intercept,
    change times slope), where the change is the step of FP of a line below and of FN of one above.
    """
    intercept, slope, fp, fn = lines
    n_kept, kept = 0, np.empty((4, 0))
    for write in range(2):
        if write:
            n_kept, kept = 0, np.empty((4, n_kept))
        for b in range(intercept.shape[0]):
            first, last = intercept[b] + start * slope[b], intercept[b] + end * slope[b]
            is_below = first < low and last < low
            if not (is_below or (first > high and last > high)):
                if write:
                    kept[0, n_kept], kept[1, n_kept] = intercept[b], slope[b]
                    kept[2, n_kept], kept[3, n_kept] = fp[b], fn[b]
                n_kept += 1
            elif write:
                change = fp[b] if is_below else fn[b]
                far[0] += fp[b] - fn[b] if is_below else 0.0
                far[1] -= fn[b]
                far[2] += change
                far[3] += change * intercept[b]
                far[4] += change * slope[b]
    return kept[0], kept[1], kept[2], kept[3]


@compiled
def monotone_tangents(
    lines: Any, far: Any, step: float, low: float, high: float, ties: Any, scratch: Any
) -> Any:
    """Compute AUM at ``step``, its slopes to the left and right, and the best ``t``, in O(B).

    ``AUM = min_t sum_b fp_b (t - T_b)_+ - fn_b (T_b - t)_+`` for monotone errors; the best ``t`` is a
    weighted quantile, which is looked for between ``low`` and ``high`` first. ``lines`` and ``far``
    are those of `lines_near`; the best ``t`` is nan if it is not among the lines. ``ties`` (3, B) and
    ``scratch`` (2, B) are overwritten.
    """
    intercept, slope, fp, fn = lines
    center, is_found = 0.0, False
    while not is_found:
        n_near, below, near, total_fn = 0, far[0], 0.0, far[1]
        for b in range(intercept.shape[0]):
            threshold, weight = intercept[b] + step * slope[b], fp[b] - fn[b]
            total_fn -= fn[b]
            # Sides change at random from line to line: selected numbers cost less than branches.
            below += weight if threshold < low else 0.0
            if low <= threshold <= high:
                near += weight
                scratch[0, n_near] = threshold
                scratch[1, n_near] = weight
                n_near += 1
        is_inside = n_near > 0 and below < total_fn < below + near
        # All thresholds are near in the end: rounding may leave the target beyond their sum.
        everything = n_near == intercept.shape[0]
        is_found = everything or is_inside
        if is_inside or (everything and not far.any()):
            center = weighted_select(scratch[0, :n_near], scratch[1, :n_near], total_fn - below)
        elif everything:
            center = np.nan
        low, high = -np.inf, np.inf
    value, drift, balance, n_ties = center * far[2] - far[3] - step * far[4], -far[4], far[2], 0
    for b in range(intercept.shape[0]):
        ahead = center - (intercept[b] + step * slope[b])
        if ahead != 0.0:
            change = fp[b] if ahead > 0.0 else fn[b]
            value += change * ahead
            drift -= change * slope[b]
            balance += change
        else:
            ties[0, n_ties], ties[1, n_ties], ties[2, n_ties] = slope[b], fp[b], fn[b]
            n_ties += 1
    left = _one_sided_slope(ties, n_ties, drift, balance, -1.0, scratch)
    right = _one_sided_slope(ties, n_ties, drift, balance, 1.0, scratch)
    return value, left, right, center


@compiled
def merge_order(key: Any, weight: Any, order: Any, buffer: Any, favoured: float) -> Any:
    """Merge sort ``order`` by key and count what changed places.

    Weights of positives are negative. Among equal keys, those whose sign differs from ``favoured``
    come first. The loop returns the weight of the negative-positive pairs that came in the wrong
    order (negative first) and leave in the right one, and the number of all pairs that changed. Only
    entries out of place move, so an order that is nearly right costs little.
    """
    n, gain, changes, width = order.shape[0], 0.0, 0, 1
    while width < n:
        for middle in range(width, n, 2 * width):
            low, high, end = middle - width, middle, middle + width
            if end > n:
                end = n
            while low < high:
                probe = (low + high) >> 1
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
