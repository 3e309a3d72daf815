"""The empirical ROC curve, the areas under it, and placement values, shared by all metrics.

A threshold that passes through rows of equal score moves along a straight segment, the average over
random orders of an ever finer replication of the tied rows. Everything here works on cumulated
weights, so that a resample of the rows needs no other sort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._roc._region import RankWeights, Region
from aucuba._roc._threshold import count_within
from aucuba._rows._sample import RankingSample, Sample, SortedRows

_TINY = np.finfo(np.float64).tiny
# A density is not taken over less of the FPR axis than this, where differences of ``G`` lose digits.
_NARROWEST = 1e-9


@dataclass(frozen=True)
class RocCurve:
    """Vertices of the ROC curve in units of weight, from (0, 0) to (total, total).

    ``false_positive[..., k]`` and ``true_positive[..., k]`` are the weights of the negatives and
    positives in the ``k`` highest blocks of equal score; ``threshold[k - 1]`` is the score of block
    ``k``, and ``row_weight[k - 1]`` the weight of its lightest row (None where all weigh 1 or more).
    Leading axes are independent resamples of the same rows, or, where ``threshold`` and ``row_weight``
    have them too, different queries.
    """

    false_positive: FloatArray
    true_positive: FloatArray
    threshold: FloatArray
    row_weight: FloatArray | None = None

    @cached_property
    def fpr(self) -> FloatArray:
        rate: FloatArray = self.false_positive / self.false_positive[..., -1:]
        return rate

    @cached_property
    def tpr(self) -> FloatArray:
        rate: FloatArray = self.true_positive / self.true_positive[..., -1:]
        return rate

    def each(self, function: Callable[[RocCurve], float]) -> FloatArray:
        """Apply a function of one curve to this curve, or to every resample."""
        leading = self.true_positive.shape[:-1]
        columns = [
            None if one is None else np.broadcast_to(one, (*leading, one.shape[-1]))
            for one in (self.false_positive, self.true_positive, self.threshold, self.row_weight)
        ]
        values = [
            function(RocCurve(*(None if one is None else one[place] for one in columns)))  # type: ignore[arg-type]
            for place in np.ndindex(leading)
        ]
        return np.reshape(values, leading)


def roc_curve(sample: RankingSample) -> RocCurve:
    """Return the curve of one sample, O(n log n) for the sort and O(n) after it."""
    rows = sample.ranked
    positive = sample.positive[rows.order]
    lightest = None
    if sample.weight is None:
        # Counting is exact and needs one running sum; the other follows from the positions.
        true_positive = np.cumsum(positive, dtype=np.intp)[rows.block_end]
        false_positive = rows.block_end + 1 - true_positive
    else:
        weight = sample.weight[rows.order]
        true_positive = np.cumsum(np.where(positive, weight, 0.0))[rows.block_end]
        false_positive = np.cumsum(np.where(positive, 0.0, weight))[rows.block_end]
        lightest = lightest_rows(weight, np.append(0, rows.block_end[:-1] + 1))
    return RocCurve(_from_zero(false_positive), _from_zero(true_positive), rows.threshold, lightest)


def lightest_rows(weight: FloatArray, starts: IntArray) -> FloatArray | None:
    """Return the weight, at most 1, of the lightest row from each start on; None where all are 1."""
    if weight.min() >= 1.0:
        return None
    # Rows of weight 3 are three rows of weight 1.
    return np.minimum(np.minimum.reduceat(weight, starts), 1.0)


def top_of_curve(sample: RankingSample, fpr: float) -> RocCurve:
    """Return the curve up to a false positive rate or a little further, then a line to its end.

    Without weights only the rows up to there are sorted.
    """
    n_negatives = sample.n_rows - int(np.count_nonzero(sample.positive))
    beyond = n_negatives - int(np.ceil(fpr * n_negatives))
    if sample.weight is not None or beyond <= 0:
        return roc_curve(sample)
    return _curve_down_to(sample, np.partition(sample.score[~sample.positive], beyond)[beyond])


def top_rows_of_curve(sample: RankingSample, k: int) -> RocCurve:
    """Return the curve of the k highest rows and those equal to the last, then a line to its end.

    Without weights only these rows are sorted.
    """
    beyond = sample.n_rows - k
    if sample.weight is not None or beyond <= 0:
        return roc_curve(sample)
    return _curve_down_to(sample, np.partition(sample.score, beyond)[beyond])


def curve_at_threshold(sample: RankingSample, threshold: float) -> RocCurve:
    """Return the curve with one vertex between its ends, where rows from a threshold on are flagged.

    Nothing is sorted.
    """
    flagged, positive, weight = sample.score >= threshold, sample.positive, sample.weights
    vertices = [
        [0.0, float(weight[rows & flagged].sum()), float(weight[rows].sum())]
        for rows in (~positive, positive)
    ]
    return RocCurve(np.array(vertices[0]), np.array(vertices[1]), np.array([threshold, -np.inf]))


def curve_below_threshold(sample: RankingSample, threshold: float) -> RocCurve:
    """Return that curve without the flagged rows, beside which the weight of others may vanish."""
    rest = sample.score < threshold
    kept = replace(sample, weight=np.where(rest, sample.weights, 0.0))
    return curve_at_threshold(kept, threshold)


def _curve_down_to(sample: RankingSample, last: float) -> RocCurve:
    """Return the curve of counted rows from the top to a score, then a line to its end."""
    rows = np.flatnonzero(sample.score >= last)
    part = roc_curve(RankingSample(sample.positive[rows], score=sample.score[rows]))
    if rows.size == sample.n_rows:
        return part
    n_positives = int(np.count_nonzero(sample.positive))
    return RocCurve(
        np.append(part.false_positive, sample.n_rows - n_positives),
        np.append(part.true_positive, n_positives),
        np.append(part.threshold, sample.score.min()),
    )


def range_average(
    curve: RocCurve, alpha: float | FloatArray, beta: float | FloatArray
) -> FloatArray:
    """Compute the mean TPR over FPR in [alpha, beta], the area under the segments in that range."""
    x, y = of_unit_size(curve.false_positive), of_unit_size(curve.true_positive)
    n, m = x[..., -1:], y[..., -1]
    low, high = (np.asarray(limit)[..., np.newaxis] * n for limit in (alpha, beta))
    inside = (x[..., 1:] > low) & (x[..., :-1] < high)
    covers = np.logical_or.reduce(inside.reshape(-1, inside.shape[-1]))
    first, end = int(covers.argmax()), covers.size - int(covers[::-1].argmax())
    # All others cover nothing; their zeros keep the order of the sums, and so their last digits.
    areas, widths = np.zeros((2, *x.shape[:-1], covers.size))
    vertices, segments = (..., slice(first, end + 1)), (..., slice(first, end))
    areas[segments], widths[segments] = _parts_between(x[vertices], y[vertices], low, high)
    # The widths add up to the range only up to rounding, which would show in narrow ranges.
    mean: FloatArray = areas.sum(-1) / (m * widths.sum(-1))
    return np.minimum(mean, 1.0)


def _parts_between(x: Vector, y: Vector, low: Any, high: Any) -> tuple[Any, Any]:
    """Compute the areas under straight segments between two places, and the widths they cover."""
    inside = x.clip(low, high)
    width = inside[..., 1:] - inside[..., :-1]
    run = x[..., 1:] - x[..., :-1]
    # Where a segment is vertical its width is zero, so any finite height serves.
    middle = ((inside[..., 1:] + inside[..., :-1]) / 2 - x[..., :-1]) / (run + (run == 0))
    height = y[..., :-1] + (y[..., 1:] - y[..., :-1]) * middle
    return width * height, width


def counted_range_average(positive: Vector, score: Vector, alpha: float, beta: float) -> float:
    """Compute `range_average` of rows that count once each, from the top of the ranking, on any device.

    The curve beyond beta does not matter: rows below the first negative outside the range are not
    sorted.
    """
    arrays = arrays_of(score)
    m = int(positive.sum())
    n = len(score) - m
    rows = _down_to(positive, score, int(beta * n) + 2, n)
    score, positive = score[rows], positive[rows]
    ranked, order = arrays.ordered(score)
    differs, is_positive = ranked[1:] != ranked[:-1], positive[order]
    if (alpha, beta) == (0.0, 1.0):
        if bool(differs.all()):
            # Without ties the area is a sum of ranks (Mann and Whitney).
            below = float(arrays.places(is_positive).sum()) - m * (m - 1) / 2
        else:
            below = _pairs_in_order(is_positive, differs, m, n)
        return below / (m * n)
    ends = arrays.places(arrays.flip(differs))
    found = arrays.running_sum(arrays.vector(arrays.flip(is_positive)))[1:]
    y = arrays.join([arrays.zeros(1), found[ends], found[-1:]])
    x = arrays.join([arrays.zeros(1), arrays.vector(ends + 1), arrays.zeros(1) + len(ranked)]) - y
    area, width = _parts_between(x, y, alpha * n, beta * n)
    return min(float(area.sum() / (m * width.sum())), 1.0)


def _pairs_in_order(is_positive: Vector, differs: Vector, m: int, n: int) -> float:
    """Count the pairs with the positive above, ties as half, from classes in rising order of score."""
    arrays = arrays_of(is_positive)
    # Numbers of both classes up to the end of every block of ties but the last.
    rows = arrays.places(differs) + 1
    if not len(rows):
        return m * n / 2
    found = arrays.running_sum(arrays.vector(is_positive))[rows]
    below = arrays.vector(rows) - found
    twice = found[0] * below[0] + (m - found[-1]) * (n + below[-1])
    return float(twice + (found[1:] - found[:-1]) @ (below[1:] + below[:-1])) / 2


def counted_range_influence(positive: Vector, score: Vector, alpha: float, beta: float) -> Vector:
    """Compute the influence of `placements` for a plain range of rows that count once each.

    On any device: ties are blocks of equal score, found by one sort of the top of the ranking. Below
    the range the influence of a class is constant.
    """
    arrays = arrays_of(score)
    n_positives = int(positive.sum())
    n_negatives = len(score) - n_positives
    rows = _down_to(positive, score, int(beta * n_negatives) + 2, n_negatives)
    ranked, order = map(arrays.flip, arrays.ordered(score[rows]))
    is_positive = arrays.vector(positive[rows][order])
    ends = arrays.places(ranked[1:] != ranked[:-1])
    last = arrays.vector(ends + 1)
    found = arrays.running_sum(is_positive)
    tp = arrays.join([found[:1], found[ends + 1], found[-1:]])
    fp = arrays.join([arrays.zeros(1), last, arrays.zeros(1) + len(ranked)]) - tp
    tpr, fpr = tp / n_positives, fp / n_negatives
    counted, width = tpr[1:] - tpr[:-1], beta - alpha
    # Pieces without positives do not count; as points they need no mean.
    low, high = arrays.where(counted > 0, fpr[:-1], fpr[1:]), fpr[1:]
    run = high - low
    inside, top = low.clip(alpha, beta), high.clip(alpha, beta)
    spread = run + (run == 0)
    mean = (top - inside) / spread * ((inside + top) / 2 - alpha)
    mean = mean + (high - low.clip(beta)).clip(0.0) / spread * width
    mean = arrays.where(run == 0, top - alpha, mean)
    of_positive = 1.0 - mean / width
    half = max(0.5 / n_negatives, _NARROWEST)
    left, right = (fpr[:-1] - half).clip(0.0), (fpr[1:] + half).clip(0.0, 1.0)
    density = (right.clip(alpha, beta) - left.clip(alpha, beta)) / (right - left)
    climbed = arrays.running_sum(density * counted / width)
    of_negative = (climbed[1:] + climbed[:-1]) / 2
    # The block of every ranked row, and back to the order of the rows.
    block = arrays.search(last, arrays.running_sum(arrays.ones(len(ranked)))[:-1], "right")
    influence = arrays.vector(~positive) * climbed[-1]
    order = order if rows is ... else rows[order]
    influence[order] = arrays.where(is_positive == 1, of_positive[block], of_negative[block])
    return influence


def _down_to(positive: Vector, score: Vector, count: int, n_negatives: int) -> Any:
    """Return the rows at or above the negative of a rank from the top; an ellipsis for all rows."""
    arrays = arrays_of(score)
    if count >= n_negatives:
        return ...
    return arrays.places(score >= arrays.kth_largest(score[~positive], count))


def corner_average(curve: RocCurve, alpha: float, beta: float, min_tpr: float = 0.0) -> FloatArray:
    """Compute the mean of ``max(TPR - min_tpr, 0) / (1 - min_tpr)`` over FPR in [alpha, beta]."""
    if min_tpr == 0:
        return range_average(curve, alpha, beta)
    x, y = curve.fpr, curve.tpr
    # The curve crosses the horizontal line once, since it never falls.
    first = np.count_nonzero(y < min_tpr, axis=-1)
    x0, y0, x1, y1 = (at_vertex(z, i) for i in (first - 1, first) for z in (x, y))
    start = np.maximum(x0 + (x1 - x0) * (min_tpr - y0) / (y1 - y0), alpha)
    reached = start < beta
    mean_above = range_average(curve, np.where(reached, start, alpha), beta) - min_tpr
    part = (beta - start) / ((1 - min_tpr) * (beta - alpha))
    return np.clip(np.where(reached, mean_above * part, 0.0), 0.0, 1.0)


def at_vertex(values: FloatArray, vertex: Any) -> FloatArray:
    """Return the values at one vertex of all curves, or at one per curve in the leading axes."""
    if np.ndim(vertex) == 0:
        return np.asarray(values[..., vertex])
    place = np.asarray(vertex)[..., np.newaxis]
    taken: FloatArray = np.take_along_axis(values, place, axis=-1)[..., 0]
    return taken


def heights(fpr: FloatArray, tpr: FloatArray, at: FloatArray, side: str) -> FloatArray:
    """Compute the limit of a curve from the left or the right at the given rates."""
    if side == "right":
        index = np.minimum(np.searchsorted(fpr, at, side="right"), fpr.size - 1)
    else:
        index = np.maximum(np.searchsorted(fpr, at, side="left"), 1)
    run = fpr[index] - fpr[index - 1]
    along = np.where(run > 0, (at - fpr[index - 1]) / np.where(run > 0, run, 1.0), 1.0)
    return np.asarray(tpr[index - 1] + (tpr[index] - tpr[index - 1]) * along)


def tpr_at(curve: RocCurve, fpr: float, n_rows: int) -> FloatArray:
    """Return the highest TPR that the curve of so many rows reaches at the given FPR."""
    x, y = curve.fpr, curve.tpr
    # The curve jumps where a rate is reached, so rates that differ by rounding must count as equal.
    n_within = count_within(x, fpr, n_rows)
    right = np.minimum(n_within, x.shape[-1] - 1)
    x0, y0, x1, y1 = (at_vertex(z, i) for i in (right - 1, right) for z in (x, y))
    along = np.maximum(fpr - x0, 0.0) / np.where(x1 > x0, x1 - x0, 1.0)
    return np.where(n_within == x.shape[-1], 1.0, y0 + along * (y1 - y0))


def of_unit_size(cumulated: FloatArray) -> FloatArray:
    """Cumulated weights divided by a power of two to a total in [1/2, 1).

    No digit changes, and products of the two classes' weights stay far from overflow and underflow.
    """
    scaled: FloatArray = np.ldexp(cumulated, -np.frexp(cumulated[..., -1:])[1])
    return scaled


def _from_zero(cumulated: AnyArray) -> FloatArray:
    zero = np.zeros((*cumulated.shape[:-1], 1))
    return np.concatenate([zero, cumulated], axis=-1)


@dataclass(frozen=True)
class Placements:
    r"""Weighted partial AUC with the influence of every row.

    With ``G`` the integral of the FPR weights and ``u(p)`` the false positive rate at a positive's
    score, the partial AUC is the mean of ``V_i = 1 - G(u(p_i)) / G(1)`` over the positives. A negative
    moves it through the quantiles of the negatives; its influence ``W_j`` runs along the ROC curve with
    ``dW = g(u) dTPR / G(1)`` (for a range: the TPR at its score, held at the range's limits). To first
    order the variance is ``var(V)/m + var(W)/n``, DeLong's formula on the full range. With a lowest TPR
    the mean over positives is one over the lowest of them, and their influence is held at its end.

    Parameters
    ----------
    value : float
    influence : ndarray of shape (n_rows,)
        ``V`` at the positives, ``W`` at the negatives.
    """

    value: float
    influence: FloatArray


def placements(
    sample: Sample,
    ranked: SortedRows,
    weights: RankWeights,
    min_tpr: float = 0.0,
) -> Placements:
    """Compute the placement values of one query, whose rows are ranked by their scores."""
    weight, block = sample.weights, ranked.blocks()
    tp = np.cumsum(np.bincount(block, weight * sample.positive))
    fp = np.cumsum(np.bincount(block, weight * ~sample.positive))
    tpr, fpr = (np.concatenate([[0.0], count / count[-1]]) for count in (tp, fp))
    of_positive = _of_positives(fpr, tpr, weights, min_tpr)
    # The density where the curve is vertical is taken over half a negative on either side.
    half = max(0.5 / fp[-1], _NARROWEST)
    left, right = np.maximum(fpr[:-1] - half, 0.0), np.minimum(fpr[1:] + half, 1.0)
    density = (weights.cumulated(right) - weights.cumulated(left)) / (right - left)
    counted = np.diff(np.maximum(tpr, min_tpr))
    climbed = np.concatenate([[0.0], np.cumsum(density * counted / weights.total)])
    of_negative = (climbed[1:] + climbed[:-1]) / 2
    # Positives come in decreasing order of V; those ranked above the lowest TPR do not count.
    last = of_positive[int(np.argmax(counted > 0))]
    influence = np.where(sample.positive, np.minimum(of_positive, last)[block], of_negative[block])
    kept = 1.0 - min_tpr
    return Placements(float(counted @ of_positive) / kept, influence / kept)


def region_average(curve: RocCurve, region: Region) -> FloatArray:
    r"""Compute the mean height of a ROC curve above ``min_tpr``, as a part of what is possible.

    .. math::
        \frac{\int g(u) \max(\mathrm{TPR}(u) - a, 0)\, du}{(1 - a) \int g(u)\, du}

    with g the weight of the region's rates and a its lowest TPR.
    """
    if region.is_plain_range:
        return corner_average(curve, *region.fpr_range, region.min_tpr)
    tpr = curve.tpr
    counted = np.diff(np.maximum(tpr, region.min_tpr))
    heights = _of_positives(curve.fpr, tpr, region.weights, region.min_tpr)
    mean = np.sum(counted * heights, axis=-1) / (1.0 - region.min_tpr)
    return np.asarray(np.clip(mean, 0.0, 1.0))


def _of_positives(
    fpr: FloatArray, tpr: FloatArray, weights: RankWeights, min_tpr: float
) -> FloatArray:
    """Compute the mean of ``1 - G(u)/G(1)`` over the positives of every segment above ``min_tpr``."""
    # Positives that tie with negatives lie evenly along a straight piece of the curve; of a piece
    # that crosses the lowest TPR the part above counts.
    below = np.clip(min_tpr - tpr[..., :-1], 0.0, None) / np.maximum(np.diff(tpr), _TINY)
    first = fpr[..., :-1] + np.minimum(below, 1.0) * np.diff(fpr)
    # Pieces without positives do not count; as points they cost less.
    first = np.where(tpr[..., 1:] > tpr[..., :-1], first, fpr[..., 1:])
    return 1.0 - weights.mean_cumulated(first, fpr[..., 1:]) / weights.total
