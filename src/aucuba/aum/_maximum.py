"""The greatest AUC on a segment of steps, with a certified upper bound."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba.aum import _path
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import Segment

# Areas are sums of up to millions of rounded products.
_ROUNDING = 1e-12

# Lines with round coefficients meet at round steps, where rounding would order tied pairs. An
# irrational fraction of an interval avoids such steps.
_SECTION = (3 - 5**0.5) / 2 + 0.1

# Many lines may meet in one point, which no split can separate; the path passes it as one row.
_NARROW = 1e-6


@dataclass(frozen=True)
class AUCMaximum:
    """The greatest AUC found on a segment.

    Attributes
    ----------
    step : float
        A step that reaches it.
    auc : float
        AUC there, evaluated directly.
    upper_bound : float
        No step of the segment has a greater AUC.
    n_splits : int
        Intervals that were split or enumerated.
    """

    step: float
    auc: float
    upper_bound: float
    n_splits: int


@dataclass(order=True)
class _Interval:
    """Steps in (start, end]; ordered by upper bound, greatest first, then from left to right."""

    priority: float = field(init=False)
    start: float
    end: float
    auc_start: float
    gain: float
    crossings: int

    def __post_init__(self) -> None:
        self.priority = -self.upper_bound

    @property
    def upper_bound(self) -> float:
        """Compute the AUC at the start if all pairs that turn right had turned, and no others."""
        return self.auc_start + self.gain


class _PairOrder:
    """AUC of monotone errors as a count of pairs whose order changes at most once.

    A breakpoint that changes FP acts as a negative, one that changes FN as a positive; a breakpoint
    that changes both is two that are always tied.
    """

    def __init__(self, segment: Segment) -> None:
        errors = segment.errors
        both = np.r_[errors.fp_diff / errors.total_fp, errors.fn_diff / errors.total_fn]
        acts = np.flatnonzero(both)
        columns = (both, np.tile(segment.intercept, 2), np.tile(segment.slope, 2))
        # Rows: weight, intercept and slope, in the order of the thresholds just after step 0: rows
        # that tie there part at once, unless their lines are one.
        first = np.stack([column[acts] for column in columns])
        self._first = _joined(first[:, np.lexsort((first[0] > 0, first[2], first[1]))])
        self._first_key = np.cumsum(np.r_[0.0, np.diff(self._first[1:], axis=1).any(axis=0)])
        # In the order of the step last visited. Successive steps are close, so sorting again is cheap.
        self._rows = self._first
        self._buffer = np.empty(self.size, dtype=np.intp)

    @property
    def size(self) -> int:
        return int(self._rows.shape[1])

    def turn(self, start: float, end: float) -> tuple[float, int, float]:
        """Compute the weight of pairs that turn right, the number of all that turn, and AUC at the end.

        A tie is half way between wrong and right: it counts as wrong at both ends, then as right at
        both ends, and the mean is taken.
        """
        gains = []
        for favoured in (-1.0, 1.0):
            key = self._visit(start, favoured)
            has_ties = _has_ties(key)
            key = self._rows[1] + end * self._rows[2]
            order, gain, crossings = self._sorted(key, favoured)
            gains.append(gain)
            key, weight = key[order], self._rows[0, order]
            if not (has_ties or _has_ties(key)):
                break
        return float(np.mean(gains)), crossings, _ranked_auc(key, weight)

    def auc_after_zero(self) -> float:
        """Compute the AUC just after step 0."""
        return _ranked_auc(self._visit(0.0, -1.0), self._rows[0])

    def _visit(self, step: float, favoured: float) -> FloatArray:
        """Bring the rows into the order of a step; return the thresholds there."""
        if step == 0.0:
            self._rows, key = self._first, self._first_key
        else:
            key = self._rows[1] + step * self._rows[2]
        order, _, _ = self._sorted(key, favoured)
        # In C order: the loop is compiled for one layout.
        self._rows = np.take(self._rows, order, axis=1)
        ranked: FloatArray = key[order]
        return ranked

    def _sorted(self, key: FloatArray, favoured: float) -> tuple[IntArray, float, int]:
        from aucuba.aum import _loops

        order = np.arange(key.size)
        gain, crossings = _loops.merge_order(key, self._rows[0], order, self._buffer, favoured)
        return order, float(gain), int(crossings)


def _joined(rows: FloatArray) -> FloatArray:
    """Join sorted rows of one line and one class, so that weights act as copies."""
    weight, intercept, slope = rows
    differs = [np.diff(column) != 0 for column in (intercept, slope, weight > 0)]
    first = np.flatnonzero(np.r_[True, np.logical_or.reduce(differs)])
    return np.stack([np.add.reduceat(weight, first), intercept[first], slope[first]])


def _has_ties(ranked: FloatArray) -> bool:
    return bool((ranked[1:] == ranked[:-1]).any())


def _ranked_auc(ranked: FloatArray, weight: FloatArray) -> float:
    """Compute the AUC of weighted rows in the order of their thresholds, ties as diagonals."""
    first = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    fp = np.add.reduceat(np.maximum(weight, 0.0), first)
    tp = np.add.reduceat(np.maximum(-weight, 0.0), first)
    return float(fp @ (np.cumsum(tp) - tp / 2))


def maximize_auc(
    errors: ErrorFunctions,
    predictions: ArrayLike,
    direction: ArrayLike,
    *,
    max_step: float,
    tol: float = 0.0,
    max_splits: int | None = None,
) -> AUCMaximum:
    r"""Find the greatest AUC of ``predictions + step * direction`` for steps in [0, max_step].

    A pair of a positive and a negative changes its order at most once along the line, so on any
    interval

    .. math::
        \mathrm{AUC}(s) \le \mathrm{AUC}(s_1)
        + \frac{\#\{\text{pairs wrong at } s_1 \text{ and right at } s_2\}}{mn},
        \qquad s_1 \le s \le s_2,

    with ties as half a pair, and the count is one merge sort. Best-first branch and bound on
    intervals ends when no bound exceeds the best AUC by more than ``tol``; intervals with no more
    crossings than breakpoints are enumerated by the path. Errors that are not monotone are searched
    by the path alone.

    Parameters
    ----------
    errors : ErrorFunctions
    predictions, direction : array-like of shape (n_examples,)
        They may be those of a validation set.
    max_step : float
        End of the segment.
    tol : float, default=0.0
        How far the upper bound may stay above the AUC found. At 1e-4 a few hundred splits suffice,
        whatever the number of examples; 0 proves the global maximum.
    max_splits : int, optional
        Give up closing the gap after this many splits; the bound stays valid.

    Returns
    -------
    AUCMaximum

    Examples
    --------
    >>> from aucuba.aum import ErrorFunctions, maximize_auc
    >>> errors = ErrorFunctions.from_labels([0, 0, 1, 1])
    >>> best = maximize_auc(errors, [2.0, 0.0, 1.0, -1.0], [-1, 0, 0, 1], max_step=4.0)
    >>> best.auc, best.upper_bound
    (1.0, 1.0)
    """
    segment = Segment.from_predictions(errors, predictions, direction)
    end = check_positive_number(max_step, "max_step")
    limit = np.inf
    if max_splits is not None:
        limit = check_positive_number(max_splits, "max_splits", integer=True)
    if not 0 <= tol < np.inf:
        raise ValueError(f"tol must be a number from 0 on, got {tol!r}.")
    return greatest_auc(segment, end, tol, limit)


def greatest_auc(
    segment: Segment, end: float, tol: float, max_splits: float = np.inf
) -> AUCMaximum:
    """`maximize_auc` on a validated segment."""
    if segment.errors.is_monotone:
        return _BranchAndBound(segment, end).run(tol, max_splits)
    step, auc = _enumerate(segment, 0.0, end)
    return AUCMaximum(step, auc, auc, 1)


class _BranchAndBound:
    """Intervals that may still hold a greater AUC, and the best step so far."""

    def __init__(self, segment: Segment, end: float) -> None:
        self.segment = segment
        self.pairs = _PairOrder(segment)
        self.n_splits = 0
        self.step, self.auc = 0.0, segment.at(0.0).auc
        gain, crossings, _ = self.pairs.turn(0.0, end)
        # Rows that tie at 0 part at once: the interval begins just after it.
        self.open = [_Interval(0.0, end, self.pairs.auc_after_zero(), gain, crossings)]
        self._keep(end, segment.at(end).auc)

    def run(self, tol: float, max_splits: float) -> AUCMaximum:
        while self.open and self.n_splits < max_splits:
            if self.open[0].upper_bound <= self.auc + max(tol, _ROUNDING):
                break
            self.n_splits += 1
            self._split(heapq.heappop(self.open))
        auc = self.segment.at(self.step).auc
        bound = max([auc, *(interval.upper_bound for interval in self.open[:1])])
        return AUCMaximum(self.step, auc, bound, self.n_splits)

    def _split(self, interval: _Interval) -> None:
        start, end = interval.start, interval.end
        middle = start + _SECTION * (end - start)
        if interval.crossings <= self.pairs.size or end - start <= _NARROW * end:
            self._keep(*_enumerate(self.segment, start, end))
            return
        gain, crossings, auc = self.pairs.turn(start, middle)
        self._keep(middle, auc)
        heapq.heappush(self.open, _Interval(start, middle, interval.auc_start, gain, crossings))
        # Each pair turns once, so what does not turn in the left half turns in the right one.
        rest = max(interval.crossings - crossings, 0)
        heapq.heappush(self.open, _Interval(middle, end, auc, interval.gain - gain, rest))

    def _keep(self, step: float, auc: float) -> None:
        if auc > self.auc:
            self.step, self.auc = step, auc


def _enumerate(segment: Segment, start: float, end: float) -> tuple[float, float]:
    """Find the step of greatest AUC in [start, end], and that AUC, by following the path there."""
    # A meeting at the end itself leads beyond it.
    before = float(np.nextafter(end, start))
    path = _path.follow(segment, "all", start=start, max_step=before, record=False)
    best = path.best_auc(end)
    return best.step, best.auc
