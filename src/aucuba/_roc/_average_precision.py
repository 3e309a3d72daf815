r"""Average precision: of thresholds, over random orders of ties, of a population; effect of every row.

.. math:: \mathrm{AP} = \sum_b (R_b - R_{b-1})\, \frac{\mathrm{TP}_b}{\mathrm{TP}_b + \mathrm{FP}_b}

over the blocks b of equal score with recall R. In a range of recalls (a, b) the steps are cut at its
ends and the sum is divided by b - a.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, roc_curve
from aucuba._roc._points import n_ranked
from aucuba._rows._sample import RankingSample

Range = tuple[float, float]
# Blocks smaller than this part of the rows above them lie on a curve whose precision is flat.
_FLAT = 1e-6


def average_precision(curve: RocCurve, recall_range: Range = (0.0, 1.0)) -> FloatArray:
    """Mean precision over a range of recalls, with one step per threshold."""
    low, high = recall_range
    ranked = n_ranked(curve)[..., 1:]
    precision = curve.true_positive[..., 1:] / np.where(ranked > 0, ranked, 1.0)
    steps = np.diff(np.clip(curve.tpr, low, high))
    return np.asarray(np.sum(steps * precision, axis=-1) / (high - low))


def expected_average_precision(curve: RocCurve) -> FloatArray:
    r"""Mean of the average precision over all orders of the rows of equal score.

    At place j of a block of p positives among m rows, below a positives among s rows, the expected
    precision if a positive is there is :math:`(a + 1 + (j - 1)(p - 1)/(m - 1)) / (s + j)` (McSherry
    and Najork 2008). Sums over j are differences of the digamma function, which continue the formula
    to weights that are not whole numbers.
    """
    positives = np.diff(curve.true_positive)
    # Only blocks with positives count, in resamples as in the sample.
    kept = np.flatnonzero(positives.any(axis=tuple(range(positives.ndim - 1))))
    positives = positives[..., kept]
    found, alarms = curve.true_positive[..., kept], curve.false_positive[..., kept]
    above = found + alarms
    size = positives + curve.false_positive[..., kept + 1] - alarms
    counted = np.where(size > 0, size, 1.0)
    harmonic = 1.0 / (above + 1)
    several = counted != 1
    start = above[several] + 1
    harmonic[several] = digamma(start + counted[several]) - digamma(start)
    # The sum of (j - 1) / (s + j); where m = 1 it is 0, and so is what it is multiplied with.
    rest = counted - (above + 1) * harmonic
    others = np.where(several, (positives - 1) / np.where(several, counted - 1, 1.0), 0.0)
    precision = ((found + 1) * harmonic + others * rest) / counted
    return np.asarray(np.sum(positives * precision, axis=-1) / curve.true_positive[..., -1])


def mean_precision(curve: RocCurve, recall_range: Range = (0.0, 1.0)) -> FloatArray:
    """Mean precision over a range of recalls along the straight pieces of a population's curve."""
    low, high = recall_range
    tp, fp, total = curve.true_positive, curve.false_positive, curve.true_positive[..., -1:]
    inside = np.clip(tp, low * total, high * total)
    rise = np.diff(tp)
    slope = np.diff(fp) / np.where(rise > 0, rise, 1.0)
    # Along a piece TP = t and TP + FP = (1 + slope) t + gap.
    gap = fp[..., :-1] - slope * tp[..., :-1]
    start, end = inside[..., :-1], inside[..., 1:]
    one = 1.0 + slope
    first, last = one * start + gap, one * end + gap
    safe = np.where(first > 0, first, np.where(last > 0, last, 1.0))
    relative = (last - safe) / safe
    logs = np.log1p(np.where(first > 0, relative, 0.0))
    area = (end - start) / one - gap / one**2 * logs
    flat = (end - start) * (end + start) / np.maximum(first + last, np.finfo(float).tiny)
    piece = np.where(np.abs(relative) > _FLAT, area, flat)
    piece = np.where(end > start, piece, 0.0)
    return np.asarray(np.sum(piece, axis=-1) / ((high - low) * total[..., 0]))


def average_precision_bias(
    sample: RankingSample,
    copies: tuple[float, float] | None = None,
    recall_range: Range = (0.0, 1.0),
) -> tuple[float, float]:
    r"""Estimate by how much the average precision of a sample exceeds the population's on average.

    Above a positive row lie others of weight X and negatives of weight F; rows of the two classes weigh
    u and v. To second order

    .. math:: \frac{X + p u}{X + p u + F + (1 - p) v}

    has the expectation p, the population's precision there, whereas the sample counts the row itself.
    Where the classes weigh alike, p is the share X / (X + F). Negatives that weigh more, as at a rarer
    prevalence, are few: where none is seen above a row, p may still be far below 1.

    Parameters
    ----------
    sample : RankingSample
    copies : (float, float) or None
        Numbers of positives and negatives where weights count equal rows; else a row is one unit.
    recall_range : (float, float), default=(0.0, 1.0)

    Returns
    -------
    (float, float)
        With p on the right side as in the sample, which removes too little of the excess, and with the
        lowest p that solves the equation, which removes too much where rows are few.
    """
    low, high = recall_range
    curve = roc_curve(sample)
    steps, hits = np.diff(np.clip(curve.tpr, low, high)), np.diff(curve.true_positive)
    of_class = [sample.weights[rows] for rows in (sample.positive, ~sample.positive)]
    if copies is None:
        u, v = (float(one @ one / one.sum()) for one in of_class)
        order = sample.ranked.order
        own = np.where(sample.positive[order], sample.weights[order], 0.0)
        starts = np.append(0, sample.ranked.block_end[:-1] + 1)
        # The mean weight of the positives of a step, each counted by its weight.
        weight = np.add.reduceat(own**2, starts) / np.where(hits > 0, hits, 1.0)
    else:
        u, v = (float(one.sum() / n) for one, n in zip(of_class, copies, strict=True))
        weight = np.full(hits.size, u)
    seen = curve.true_positive[1:] / n_ranked(curve)[1:]
    others, alarms = np.maximum(curve.true_positive[1:] - weight, 0.0), curve.false_positive[1:]
    least = (others + seen * u) / (others + seen * u + alarms + (1.0 - seen) * v)
    # (u - v) p^2 + (X + F + v - u) p - X = 0; this form of the root also holds for u = v.
    middle = others + alarms + v - u
    below = middle + np.sqrt(np.maximum(middle**2 + 4.0 * (u - v) * others, 0.0))
    most = np.minimum(2.0 * others / np.where(below > 0, below, 1.0), 1.0)
    steps = np.where(hits > 0, steps, 0.0) / (high - low)
    found = (float(steps @ (seen - one)) for one in (least, np.where(below > 0, most, 1.0)))
    first, second = sorted(found)
    return first, second


def average_precision_effects(
    sample: RankingSample, recall_range: Range = (0.0, 1.0)
) -> FloatArray:
    """Compute the first-order effect of every row on the average precision.

    A row changes the precision of the steps at and below its score, and a positive one also where the
    steps lie: their ends move with the recall, up to the ends of the range.
    """
    low, high = recall_range
    curve = roc_curve(sample)
    hits, ranked, recall = curve.true_positive[1:], n_ranked(curve)[1:], curve.tpr
    steps = np.diff(np.clip(recall, low, high))
    below = np.cumsum((steps / ranked)[::-1])[::-1]
    lost = np.cumsum((steps * hits / ranked**2)[::-1])[::-1]
    precision = hits / ranked
    moves = (recall[1:] > low) & (recall[1:] < high)
    drop = np.where(moves, precision - np.append(precision[1:], 0.0), 0.0)
    own = np.cumsum(drop[::-1])[::-1] - drop @ recall[1:]
    block = sample.ranked.blocks()
    effect = -lost[block]
    found = np.flatnonzero(sample.positive)
    effect[found] += (below + own / hits[-1])[block[found]]
    effect /= high - low
    return effect if sample.weight is None else effect * sample.weight
