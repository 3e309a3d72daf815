"""The threshold at a false positive rate: one rule for metrics, estimators and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._arrays import NUMPY, ScoreGrid, Vector, arrays_of
from aucuba._base._typing import FloatArray
from aucuba._rows._sample import Sample

# Differences of balanced accuracy that are due to rounding.
_ROUNDING = 1e-12
# A grid is laid by about so many scores, and so many rows are in a cell.
_SAMPLED, _PER_CELL = 512, 16
# Fewer rows are sorted in less time.
_WORTH_A_GRID = 1000


def count_within(rates: FloatArray, limit: float | FloatArray, n_rows: int) -> Any:
    """Count the entries of increasing rates at or below a limit, up to rounding.

    Sums of weights that are equal on paper differ by up to one rounding per row, so rates up to
    ``limit * (1 + (n_rows + 8) eps)`` count as within the limit.

    Parameters
    ----------
    rates : ndarray
        Rates in increasing order along the last axis, cumulated over rows.
    limit : float or ndarray
        The highest rate allowed, or one for every entry of the leading axes.
    n_rows : int
        Number of rows that the rates were cumulated over.
    """
    allowance = (n_rows + 8) * np.finfo(np.float64).eps
    allowed = np.asarray(limit)[..., np.newaxis] * (1 + allowance)
    return np.count_nonzero(rates <= allowed, axis=-1)


def first_beyond(scores: Vector, weight: Vector | None, rate: float) -> tuple[float, int]:
    """Find the highest row of a class that a rate excludes: a negative for a false positive rate.

    Parameters
    ----------
    scores : ndarray
        Scores of the rows of the class.
    weight : ndarray or None
        Their weights.
    rate : float
        The highest fraction of the class that may pass.

    Returns
    -------
    score : float
        Its score; that of the lowest row where the rate lets all pass.
    n_above : int
        Number of rows that may pass.
    """
    arrays, size = arrays_of(scores), len(scores)
    if weight is None:
        n_above = _rows_within(rate, size)
        return float(arrays.kth_largest(scores, min(n_above, size - 1) + 1)), n_above
    order = arrays.flip(arrays.order(scores))
    passed = arrays.host(arrays.running_sum(weight[order])[1:])
    n_above = int(count_within(passed / passed[-1], rate, size))
    return float(scores[order[min(n_above, size - 1)]]), n_above


def _rows_within(rate: float, n_rows: int) -> int:
    """Count the k from 1 to ``n_rows`` with ``k / n_rows`` at or below a rate: `count_within`."""
    near = min(int(rate * n_rows), n_rows)
    first = max(near - 2, 0)
    rates = np.arange(first + 1, min(near + 2, n_rows) + 1) / n_rows
    return first + int(count_within(rates, rate, n_rows))


def threshold_for(scores: Vector, sample: Sample, upper_limit: float) -> float:
    """Choose the threshold whose training FPR is the upper limit.

    Rows strictly above it are called positive, and the FPR is the largest possible value at or below
    the limit. A limit of 1 allows everything, so the threshold of best balanced accuracy is used.
    """
    if upper_limit >= 1.0:
        return _best_balanced_threshold(scores, sample)
    negative = ~sample.positive
    weight = None if sample.weight is None else sample.weight[negative]
    below, _ = first_beyond(scores[negative], weight, upper_limit)
    above = scores[scores > below]
    return float(below if len(above) == 0 else (below + above.min()) / 2)


def operating_point(scores: Vector, sample: Sample, upper_limit: float) -> tuple[float, float]:
    """Choose the threshold of a classifier by `threshold_for`.

    Returns
    -------
    threshold : float
    rate : float
        The false positive rate that it was set for: the upper limit, or for a limit of 1 the rate of
        the rows at the best balanced accuracy.
    """
    threshold = threshold_for(scores, sample, upper_limit)
    if upper_limit < 1.0:
        return threshold, float(upper_limit)
    passed = (scores > threshold) & ~sample.positive
    weight = sample.weight
    count = arrays_of(passed).count(passed) if weight is None else float(weight[passed].sum())
    return threshold, count / sample.class_weight(positive=False)


def _best_balanced_threshold(scores: Vector, sample: Sample) -> float:
    arrays = arrays_of(scores)
    gain, loss = (1.0 / sample.class_weight(positive=one) for one in (True, False))
    # The gains of all rows add up to 0, so the balanced accuracy of calling positive all rows but the
    # first i falls with the gains of these.
    rows = _around_least(scores, sample, gain, loss) if arrays is NUMPY else slice(None)
    near = scores[rows]
    order = arrays.order(near)
    ranked = near[order]
    gains = arrays.where(sample.positive[rows][order], gain, -loss)
    if sample.weight is not None:
        gains = gains * sample.weight[rows][order]
    below = arrays.running_sum(gains)[:-1]
    # Only the first row of a level can be the lowest one that is called positive.
    below[1:][ranked[1:] == ranked[:-1]] = np.inf
    # Sums that differ by rounding only are equal; of equals the lowest level is taken.
    best = int(arrays.places(below <= below.min() + _ROUNDING)[0])
    return float((ranked[best - 1] + ranked[best]) / 2 if best else ranked[0] - 1.0)


def _around_least(scores: FloatArray, sample: Sample, gain: float, loss: float) -> Any:
    """Find the rows between which the gains of all rows below are least, without sorting them all.

    Rows of equal score are all in or all out, and the row below the least sum is in.
    """
    some = np.sort(scores[:: -(-scores.size // _SAMPLED)])
    grid = ScoreGrid.of(some, scores.size // _PER_CELL)
    if grid is None or scores.size < _WORTH_A_GRID:
        return slice(None)
    # The number of a row's cell and its class as the last bit, so that one pass counts both classes.
    code = grid.cells(scores)
    code *= 2
    code += sample.positive
    per_class = np.bincount(code, sample.weight, 2 * grid.n_cells + 2)
    losses = per_class[::2] * loss
    inside = per_class[1::2] * gain - losses
    before = inside.cumsum() - inside
    # At most the negatives of a cell lower what the cells below add up to. If the least sum is at the
    # start of a cell, the negatives of the cell below reach it.
    # A cell without rows has the sum of the next one that has some.
    highest = before.min() + 2 * _ROUNDING
    open_cells = (before - losses <= highest).nonzero()[0]
    return ((code >= 2 * open_cells[0]) & (code <= 2 * open_cells[-1] + 1)).nonzero()[0]
