"""Compiled counting: what every condition would add to a card, at all its points at once.

A card gives every row a whole total. Rows are counted by (total, condition, class) once; how often
each total occurs with a condition at any points follows from these counts by a shift. Imported when a
card is first searched for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._compiled import compiled

# Newton's method on two parameters, started at the normal approximation.
_MOST_STEPS = 12
_TOLERANCE = 1e-9


@compiled
def _partial_auc(positives: Any, negatives: Any, size: int, low: float, high: float) -> Any:
    """Area under the ROC curve of counted totals between two false positive rates, from 0 to 1."""
    n_positives, n_negatives = 0.0, 0.0
    for s in range(size):
        n_positives += positives[s]
        n_negatives += negatives[s]
    start, end = low * n_negatives, high * n_negatives
    area, fp, tp = 0.0, 0.0, 0.0
    for s in range(size - 1, -1, -1):
        next_fp, next_tp = fp + negatives[s], tp + positives[s]
        left, right = max(fp, start), min(next_fp, end)
        if right > left:
            middle = ((left + right) / 2 - fp) / (next_fp - fp)
            area += (right - left) * (tp + (next_tp - tp) * middle)
        fp, tp = next_fp, next_tp
        if fp >= end:
            break
    return area / (n_positives * (end - start))


@compiled
def _penalised_loss(positives: Any, negatives: Any, size: int, a: float, b: float) -> Any:
    """Penalised log-loss of a line on the totals, its gradient and its curvature, in one pass."""
    loss, ga, gb, haa, hab, hbb = 0.5 * a * a, a, 0.0, 1.0, 0.0, 1e-12
    for s in range(size):
        count = positives[s] + negatives[s]
        if count > 0.0:
            score = a * s + b
            tail = np.exp(-abs(score))
            rate = (1.0 if score >= 0.0 else tail) / (1.0 + tail)
            loss += count * (max(score, 0.0) + np.log1p(tail)) - positives[s] * score
            residual, curvature = count * rate - positives[s], count * rate * (1.0 - rate)
            ga += residual * s
            gb += residual
            haa += curvature * s * s
            hab += curvature * s
            hbb += curvature
    return loss, ga, gb, haa, hab, hbb


@compiled
def _deviance(p: float, n: float) -> Any:
    """Least log-loss of p positives and n negatives that share one probability."""
    if p <= 0.0 or n <= 0.0:
        return 0.0
    return -p * np.log(p / (p + n)) - n * np.log(n / (p + n))


@compiled
def _likelihood(positives: Any, negatives: Any, size: int) -> Any:
    """Part of the null deviance that logistic regression on the total explains.

    The slope, per point, has the penalty of one half of its square, which keeps it finite where the
    classes are separated. A falling slope counts as none: points must grow towards the class.
    """
    p, n, p1, n1, p2, n2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(size):
        p += positives[s]
        n += negatives[s]
        p1 += positives[s] * s
        n1 += negatives[s] * s
        p2 += positives[s] * s * s
        n2 += negatives[s] * s * s
    null = _deviance(p, n)
    gap = p1 / p - n1 / n
    spread = (p2 - p1 * p1 / p + n2 - n1 * n1 / n) / (p + n)
    if gap <= 0.0:
        return 0.0
    a = min(gap / max(spread, 0.05 * gap), 5.0)
    b = np.log(p / n) - a * (p1 / p + n1 / n) / 2
    loss, ga, gb, haa, hab, hbb = _penalised_loss(positives, negatives, size, a, b)
    for _ in range(_MOST_STEPS):
        det = haa * hbb - hab * hab
        da, db = (hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det
        decrement, step = ga * da + gb * db, 1.0
        if not decrement > _TOLERANCE * null:
            break
        while step > 1e-3:
            trial = _penalised_loss(positives, negatives, size, a - step * da, b - step * db)
            if trial[0] < loss:
                break
            step /= 2
        if step <= 1e-3:
            break
        a, b = a - step * da, b - step * db
        loss, ga, gb, haa, hab, hbb = trial
    return 1.0 - loss / null if a > 0.0 else 0.0


@compiled
def _saturated(base: Any, met: Any, levels: int) -> Any:
    """Part of the null deviance that a probability for every (total, condition) explains."""
    p, n, left = 0.0, 0.0, 0.0
    for s in range(levels):
        p += base[1, s]
        n += base[0, s]
        left += _deviance(met[1, s], met[0, s])
        left += _deviance(base[1, s] - met[1, s], base[0, s] - met[0, s])
    return 1.0 - left / _deviance(p, n) + 1e-12


@compiled
def _saturated_totals(counts: Any, size: int) -> Any:
    """Part of the null deviance that a probability for every total explains."""
    p, n, left = 0.0, 0.0, 0.0
    for s in range(size):
        p += counts[1, s]
        n += counts[0, s]
        left += _deviance(counts[1, s], counts[0, s])
    return 1.0 - left / _deviance(p, n) + 1e-12


@compiled
def card_value(positives: Any, negatives: Any, region: Any) -> Any:
    """Value of a card from the counts of its totals: (1 - caution) pAUC + caution R^2."""
    value, size, caution = 0.0, positives.size, region[2]
    if caution < 1.0:
        area = _partial_auc(positives, negatives, size, region[0], region[1])
        value += (1.0 - caution) * area
    if caution > 0.0:
        value += caution * _likelihood(positives, negatives, size)
    return value


@compiled
def _counts(total: Any, positives: Any, negatives: Any) -> Any:
    """Count the rows by class and total."""
    found = np.zeros((2, total.max() + 1))
    for row in range(total.size):
        found[1, total[row]] += positives[row]
        found[0, total[row]] += negatives[row]
    return found


@compiled
def _counts_of(
    total: Any,
    positives: Any,
    negatives: Any,
    rows: Any,
    meets: Any,
    start: Any,
    nested: Any,
    levels: int,
) -> Any:
    """Count the rows that meet each condition by class and total."""
    met = np.zeros((start.size - 1, 2, levels))
    for j in range(start.size - 1):
        if nested[j]:
            met[j] = met[j - 1]
        for place in range(start[j], start[j + 1]):
            row = rows[place]
            sign = 1.0 if meets[place] else -1.0
            met[j, 1, total[row]] += sign * positives[row]
            met[j, 0, total[row]] += sign * negatives[row]
    return met


@compiled
def _move(base: Any, met: Any, levels: int, points: int, moved: Any) -> None:
    """Count the rows by class and total when those that meet a condition get its points."""
    up, stay = max(points, 0), max(-points, 0)
    moved[:, : levels + abs(points)] = 0.0
    for k in range(2):
        for s in range(levels):
            moved[k, s + stay] += base[k, s] - met[k, s]
            moved[k, s + up] += met[k, s]


@compiled
def _keep(best: Any, value: float) -> None:
    """Put a value among the best few, which stay in increasing order, if it is one."""
    if value > best[0]:
        place = 0
        while place + 1 < best.size and best[place + 1] < value:
            best[place] = best[place + 1]
            place += 1
        best[place] = value


@compiled
def scan(
    total: Any,
    positives: Any,
    negatives: Any,
    rows: Any,
    meets: Any,
    start: Any,
    nested: Any,
    lowest: Any,
    highest: Any,
    region: Any,
    keep: int,
    values: Any,
    points: Any,
) -> None:
    """Find for every condition the points that add most to a card.

    The first arguments describe the rows, of which ``positives`` and ``negatives`` are what each
    counts in either class, and, as `ConditionTable.lists`, the conditions. Condition j may get
    ``lowest[j]`` to ``highest[j]`` points except 0. ``total`` counts from 0; ``region`` is the two
    rates and the caution.

    The best value and its points go to ``values`` and ``points``; nan and 0 where a condition may get
    none, and where a bound shows that it is not among the best ``keep``, unless that is 0: no points
    explain more than a probability of its own for every (total, condition). Conditions go by this
    bound, so that the rest is left out from the first that cannot be among the best.
    """
    caution, n_conditions = region[2], start.size - 1
    reach = 0
    for j in range(n_conditions):
        values[j], points[j] = np.nan, 0
        reach = max(reach, highest[j], -lowest[j])
    base = _counts(total, positives, negatives)
    levels = base.shape[1]
    counts = _counts_of(total, positives, negatives, rows, meets, start, nested, levels)
    limits = np.ones(n_conditions)
    if keep > 0 and caution > 0.0:
        for j in range(n_conditions):
            limits[j] = _saturated(base, counts[j], levels) if lowest[j] <= highest[j] else -1.0
    moved = np.zeros((2, levels + reach))
    best = np.full(max(keep, 1), -np.inf)
    for j in np.argsort(-limits, kind="mergesort"):
        if lowest[j] > highest[j]:
            continue
        needed = best[0] if keep > 0 else -np.inf
        if (1.0 - caution) + caution * limits[j] <= needed:
            break
        for v in range(lowest[j], highest[j] + 1):
            if v == 0:
                continue
            size = levels + abs(v)
            _move(base, counts[j], levels, v, moved)
            value = 0.0
            if caution < 1.0:
                area = _partial_auc(moved[1], moved[0], size, region[0], region[1])
                value += (1.0 - caution) * area
            if caution > 0.0:
                if keep > 0 and value + caution * limits[j] <= needed:
                    continue
                # Totals that the points make equal share one probability, however they came about.
                least = max(needed, values[j]) if points[j] != 0 else needed
                if value + caution * _saturated_totals(moved, size) <= least:
                    continue
                value += caution * _likelihood(moved[1], moved[0], size)
            if points[j] == 0 or value > values[j]:
                values[j], points[j] = value, v
                if keep > 0:
                    needed = max(needed, value)
        if points[j] != 0:
            _keep(best, values[j])
