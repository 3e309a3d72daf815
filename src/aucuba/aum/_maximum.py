"""The greatest AUC on a segment of steps, with a certified upper bound."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from aucuba._core._typing import ArrayLike
from aucuba._core._validation import check_positive_number
from aucuba.aum import _path
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._lines import Segment

# Areas are sums of up to millions of rounded products.
_ROUNDING = 1e-12

# Lines of round numbers meet at round steps, where rounding would order pairs that are tied. An
# irrational fraction of an interval is no such step.
_SECTION = (3 - 5**0.5) / 2 + 0.1

# Many lines may meet in one point, which no splitting takes apart; the path passes it as one row.
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
        """AUC at the start if all pairs that turn right had turned, and none had turned wrong."""
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
        # Columns: threshold at the step last visited, weight, intercept, slope, in the order of the
        # first. Steps visited one after another are close, so that sorting again is cheap.
        self._rows = np.column_stack([np.zeros(acts.size), *(column[acts] for column in columns)])
        # The order just after step 0: rows that tie there part at once, unless their lines are one.
        order = np.lexsort((self._rows[:, 3], self._rows[:, 2]))
        self._rows = self._rows[order]
        self._first = np.cumsum(np.r_[0, np.diff(self._rows[:, 2:], axis=0).any(axis=1)])
        self._first_lines = self._rows[:, 1:].copy()
        self._buffer = np.empty_like(self._rows)

    @property
    def size(self) -> int:
        return int(self._rows.shape[0])

    def turn(self, start: float, end: float) -> tuple[float, int, float]:
        """Weight of the pairs that turn right, the number of all that turn, and AUC at the end.

        A tie is half way between wrong and right: it is read as wrong at both ends, then as right
        at both ends, and the mean counts.
        """
        from aucuba.aum import _loops

        gains = []
        for positive_first in (False, True):
            self._visit(start, positive_first)
            _, ties_before = _loops.ranked_auc(self._rows)
            after = self._rows[:, :2].copy()
            after[:, 0] = self._rows[:, 2] + end * self._rows[:, 3]
            gain, crossings = _loops.sort_rows(after, positive_first, self._buffer)
            gains.append(gain)
            auc, ties_after = _loops.ranked_auc(after)
            if not (ties_before or ties_after):
                break
        return float(np.mean(gains)), int(crossings), float(auc)

    def auc_after_zero(self) -> float:
        """AUC just after step 0."""
        from aucuba.aum import _loops

        self._visit(0.0, positive_first=False)
        return float(_loops.ranked_auc(self._rows)[0])

    def _visit(self, step: float, positive_first: bool) -> None:
        from aucuba.aum import _loops

        rows = self._rows
        if step == 0.0:
            rows[:, 0], rows[:, 1:] = self._first, self._first_lines
        else:
            np.multiply(rows[:, 3], step, out=rows[:, 0])
            rows[:, 0] += rows[:, 2]
        _loops.sort_rows(rows, positive_first, self._buffer)


def maximize_auc(
    errors: ErrorFunctions,
    predictions: ArrayLike,
    direction: ArrayLike,
    *,
    max_step: float,
    tol: float = 0.0,
    max_splits: int | None = None,
) -> AUCMaximum:
    r"""The greatest AUC of ``predictions + step * direction`` for steps in [0, max_step].

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
        How far the upper bound may stay above the AUC found. At 1e-4 a few hundred splits do,
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
    segment = Segment.of(errors, predictions, direction)
    end = check_positive_number(max_step, "max_step")
    limit = np.inf
    if max_splits is not None:
        limit = check_positive_number(max_splits, "max_splits", integer=True)
    if not 0 <= tol < np.inf:
        raise ValueError(f"tol must be a number from 0 on, got {tol!r}.")
    if not errors.is_monotone:
        step, auc = _enumerate(segment, 0.0, end)
        return AUCMaximum(step, auc, auc, 1)
    return _BranchAndBound(segment, end).run(tol, limit)


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
    """The step of greatest AUC in [start, end], and that AUC, by following the path there."""
    from aucuba.aum import _loops

    found = _path.follow(segment, _loops.STOP_ROWS, None, start=start, max_step=end).best_auc()
    step = min(found.step, end)
    return step, segment.at(step).auc
