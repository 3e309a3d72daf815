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
    loss = 0.5 * a * a
    for s in range(size):
        if positives[s] + negatives[s] > 0.0:
            score = a * s + b
            softplus = max(score, 0.0) + np.log1p(np.exp(-abs(score)))
            loss += (positives[s] + negatives[s]) * softplus - positives[s] * score
    return loss


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
    loss = _penalised_loss(positives, negatives, size, a, b)
    for _ in range(_MOST_STEPS):
        ga, gb, haa, hab, hbb = a, 0.0, 1.0, 0.0, 0.0
        for s in range(size):
            count = positives[s] + negatives[s]
            if count > 0.0:
                rate = 1.0 / (1.0 + np.exp(-(a * s + b)))
                residual, curvature = count * rate - positives[s], count * rate * (1.0 - rate)
                ga += residual * s
                gb += residual
                haa += curvature * s * s
                hab += curvature * s
                hbb += curvature
        hbb += 1e-12
        det = haa * hbb - hab * hab
        da, db = (hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det
        decrement, step = ga * da + gb * db, 1.0
        if not decrement > _TOLERANCE * null:
            break
        while step > 1e-3:
            trial = _penalised_loss(positives, negatives, size, a - step * da, b - step * db)
            if trial < loss:
                break
            step /= 2
        if step <= 1e-3:
            break
        a, b, loss = a - step * da, b - step * db, trial
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
def card_value(positives: Any, negatives: Any, low: float, high: float, caution: float) -> Any:
    """Value of a card from the counts of its totals: (1 - caution) pAUC + caution R^2."""
    value, size = 0.0, positives.size
    if caution < 1.0:
        value += (1.0 - caution) * _partial_auc(positives, negatives, size, low, high)
    if caution > 0.0:
        value += caution * _likelihood(positives, negatives, size)
    return value


@compiled
def scan(
    total: Any,
    positive: Any,
    weight: Any,
    rows: Any,
    start: Any,
    lowest: Any,
    highest: Any,
    region: Any,
    only_best: bool,
    values: Any,
    points: Any,
) -> None:
    """Find for every condition the points that add most to a card.

    ``rows[start[j]:start[j + 1]]`` are the rows that meet condition j, which may get ``lowest[j]`` to
    ``highest[j]`` points except 0. ``total`` counts from 0; ``region`` is the two rates and the
    caution. The best value and its points go to ``values`` and ``points``; nan and 0 where a condition
    may get none. With ``only_best`` the same holds of every condition that a bound shows not to be the
    best: no points explain more than a probability of its own for every (total, condition).
    """
    low, high, caution, best = region[0], region[1], region[2], -np.inf
    levels = 0
    for row in range(total.size):
        levels = max(levels, total[row] + 1)
    reach = 0
    for j in range(start.size - 1):
        reach = max(reach, highest[j], -lowest[j])
    base, met = np.zeros((2, levels)), np.zeros((2, levels))
    moved = np.zeros((2, levels + reach))
    for row in range(total.size):
        base[int(positive[row]), total[row]] += weight[row]
    for j in range(start.size - 1):
        values[j], points[j] = np.nan, 0
        if lowest[j] > highest[j]:
            continue
        met[:] = 0.0
        for place in range(start[j], start[j + 1]):
            row = rows[place]
            met[int(positive[row]), total[row]] += weight[row]
        limit = _saturated(base, met, levels) if only_best and caution > 0.0 else 1.0
        if only_best and (1.0 - caution) + caution * limit <= best:
            continue
        for v in range(lowest[j], highest[j] + 1):
            if v == 0:
                continue
            size, up, stay = levels + abs(v), max(v, 0), max(-v, 0)
            moved[:, :size] = 0.0
            for k in range(2):
                for s in range(levels):
                    moved[k, s + stay] += base[k, s] - met[k, s]
                    moved[k, s + up] += met[k, s]
            value = 0.0
            if caution < 1.0:
                value += (1.0 - caution) * _partial_auc(moved[1], moved[0], size, low, high)
            if caution > 0.0:
                if only_best and value + caution * limit <= best:
                    continue
                value += caution * _likelihood(moved[1], moved[0], size)
            best = max(best, value)
            if points[j] == 0 or value > values[j]:
                values[j], points[j] = value, v
