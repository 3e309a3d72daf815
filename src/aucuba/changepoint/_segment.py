"""Exact optimal segmentations: of every size, for one penalty, and by Schwarz's criterion."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba.changepoint._losses import Loss, make_loss
from aucuba.changepoint._segmentation import Segmentation
from aucuba.changepoint._signals import check_signal, check_weights, sample_positions

# Costs that differ by less than this fraction of the penalties, or by rounding errors, are tied, and
# the segmentation with fewer segments wins.
_TIE = 1e-10


def segment(
    signal: ArrayLike,
    max_segments: int | None = None,
    *,
    min_size: int = 1,
    loss: str = "l2",
    weights: ArrayLike | None = None,
    variance_floor: float | None = None,
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Find the best segmentation, or the best ones into 1 to ``max_segments`` pieces.

    .. math::
        L_k = \min_{0 = t_0 < t_1 < \dots < t_k = n} \sum_{j=1}^{k} \min_m \sum_{i=t_{j-1}}^{t_j - 1}
        w_i\, \ell(y_i, m),
        \qquad \ell(y, m) = (y - m)^2,\quad m - y \log m\quad \text{or}\quad \log m + y^2 / m

    The result is exact: for every number of segments, functional pruning keeps the candidates that are
    best for some value of the last parameter (pDPA). Time is about linear in
    ``max_segments * n_samples``; memory is ``4 * max_segments * n_samples`` bytes. Losses are compared
    in double precision, in which a spike of a hundred million standard deviations hides everything
    else: clip such values first.

    Without ``max_segments`` Schwarz's criterion (BIC) chooses the number of segments: it minimises
    :math:`L_k + \lambda k`, where a segment of d columns costs as much as its d parameters and its
    position,

    .. math::
        \lambda = \log(n) \Big( \sum_{j=1}^{d} \sigma_j^2 + \max_j \sigma_j^2 \Big) \text{ for squares,}
        \quad \tfrac{d + 1}{2} \log n \text{ for counts,} \quad (d + 1) \log n \text{ for variances,}

    with :math:`\sigma_j` estimated by the median absolute difference of neighbouring samples. For one
    column of squares it is the usual :math:`2 \sigma^2 \log n`. The estimate assumes independent
    noise: smooth signals get too many segments.

    Parameters
    ----------
    signal : array-like of shape (n_samples,) or (n_samples, n_columns)
        Finite values; non-negative for the Poisson loss. Several columns change together, and their
        losses are added: give them similar scales.
    max_segments : int, default=None
        Largest number of segments, at most ``n_samples // min_size``; None chooses the number.
    min_size : int, default=1
        Smallest number of samples in a segment; each counts once, whatever its weight.
    loss : {"l2", "poisson", "variance"}, default="l2"
        Squared error around the mean of each segment; Poisson loss of counts; or the Gaussian loss of
        a signal of mean 0 whose variance changes. Changes of mean and variance together are not
        supported: subtract a known mean first.
    weights : array-like of shape (n_samples,), default=None
        Positive; an integer weight is a number of adjacent copies of the sample, as in run-length
        encoded coverage.
    variance_floor : float, default=None
        Smallest variance of a segment, for ``loss="variance"`` only; 1e-8 of the signal's mean square
        by default.
    positions : array-like of shape (n_samples,), default=None
        Increasing coordinates of the samples, if they are not 0, 1, ...

    Returns
    -------
    Segmentation
        One model without ``max_segments``, else one per size. Losses never increase with the size,
        unless ``min_size`` leaves no good position for another change. Ties are broken arbitrarily.

    See Also
    --------
    segment_penalty : The best segmentation for one penalty, much faster than all sizes.

    Notes
    -----
    Rigaill, "A pruned dynamic programming algorithm to recover the best segmentations with 1 to K_max
    change-points" (2015). Several columns are pruned by an inequality instead (PELT), in time quadratic
    in the lengths of segments. Yao, "Estimating the number of change-points via Schwarz' criterion"
    (1988).

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import segment
    >>> noise = np.random.default_rng(0).normal(size=300)
    >>> segment(np.repeat([0, 3, 1], 100) + noise)
    Segmentation(300 samples, 3 segments, changes at 100, 200)
    >>> found = segment([1, 1, 1, 5, 5, 2, 2, 2], 3)
    >>> found.changepoints
    [array([], dtype=int64), array([3]), array([3, 5])]
    >>> found.losses
    array([19.875, 10.8  ,  0.   ])
    """
    cost = make_loss(loss, variance_floor)
    y = check_signal(signal, columns=True)
    weight = check_weights(weights, len(y))
    where = sample_positions(positions, len(y))
    shortest = _check_min_size(min_size, len(y))
    if max_segments is None:
        penalty = cost.criterion(np.atleast_2d(y.T), weight)
        return one_penalty(y, weight, cost, penalty, where, shortest)
    n_levels = int(check_positive_number(max_segments, "max_segments", integer=True))
    if n_levels * shortest > len(y):
        needs = "one sample" if shortest == 1 else f"min_size={shortest} samples"
        raise ValueError(
            f"max_segments={n_levels} exceeds the {len(y)} samples of the signal; every segment needs "
            f"at least {needs}."
        )
    return all_sizes(y, weight, cost, n_levels, where, shortest)


def segment_penalty(
    signal: ArrayLike,
    penalty: float,
    *,
    min_size: int = 1,
    loss: str = "l2",
    weights: ArrayLike | None = None,
    variance_floor: float | None = None,
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Find the best segmentation for one penalty per segment.

    .. math::
        \min_k \; L_k + \lambda k

    with :math:`L_k` the least loss of k segments, as in `segment`. The result is exact, by functional
    pruning (FPOP), in time almost linear in the number of samples, whatever the number of segments;
    several columns take time quadratic in the lengths of segments. Of equally good segmentations, one
    with the fewest segments is returned.

    Parameters
    ----------
    signal, min_size, loss, weights, variance_floor, positions
        As in `segment`.
    penalty : float
        :math:`\lambda`, the cost of a segment; 0 or more.

    Returns
    -------
    Segmentation
        With one model: ``changepoints[0]``, ``losses[0]`` (without penalties), ``sizes[0]``.

    See Also
    --------
    segment : The best segmentation of every size, or by an automatic penalty.

    Notes
    -----
    Maidstone, Hocking, Rigaill, Fearnhead, "On optimal multiple changepoint algorithms for large data"
    (2017).

    Examples
    --------
    >>> from aucuba.changepoint import segment_penalty
    >>> found = segment_penalty([1, 1, 1, 5, 5, 2, 2, 2], 2.0)
    >>> found.changepoints[0]
    array([3, 5])
    >>> segment_penalty([3, 0, 0, 8], 1.0, loss="poisson", weights=[5, 2, 4, 5]).changepoints[0]
    array([1, 3])
    """
    cost = make_loss(loss, variance_floor)
    y = check_signal(signal, columns=True)
    if not isinstance(penalty, int | float | np.number) or not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be a finite number, at least 0, got {penalty!r}.")
    where, weight = sample_positions(positions, len(y)), check_weights(weights, len(y))
    shortest = _check_min_size(min_size, len(y))
    return one_penalty(y, weight, cost, float(penalty), where, shortest)


def all_sizes(
    y: FloatArray,
    weight: FloatArray,
    loss: Loss,
    n_levels: int,
    positions: FloatArray,
    min_size: int = 1,
) -> Segmentation:
    """Compute `segment` on validated input."""
    search = _Search(y, weight, loss, min_size)
    last = np.zeros((n_levels, len(y) + 1), np.int32)
    best, following = search.one_segment(), np.zeros(len(y) + 1)
    for k in range(1, n_levels):
        search.run((k + 1) * min_size, 0.0, best, following, last[k])
        best, following = following, best
    changepoints = [_trace_back(last, k) for k in range(n_levels)]
    losses = np.array([search.evaluate(first) for first in changepoints])
    for k in range(1, n_levels):
        # Without this rule, a signal that k constant pieces fit exactly would get larger models at
        # penalties as small as rounding errors.
        if abs(losses[k - 1] - losses[k]) <= search.rounding(losses, k):
            losses[k] = losses[k - 1]
    return Segmentation(losses, np.arange(1, n_levels + 1), changepoints, positions)


def one_penalty(
    y: FloatArray,
    weight: FloatArray,
    loss: Loss,
    penalty: float,
    positions: FloatArray,
    min_size: int = 1,
) -> Segmentation:
    """Compute `segment_penalty` on validated input."""
    search = _Search(y, weight, loss, min_size)
    best, last = np.zeros(len(y) + 1), np.zeros(len(y) + 1, np.int32)
    best[1:min_size] = np.inf
    paid = penalty + max(_TIE * penalty, search.resolution())
    search.run(min_size, paid, best, best, last)
    changes, end = [], int(last[-1])
    while end > 0:
        changes.append(end)
        end = int(last[end])
    first = np.array(changes[::-1], dtype=np.intp)
    losses = np.array([search.evaluate(first)])
    return Segmentation(losses, np.array([first.size + 1]), [first], positions)


class _Search:
    """The search for the best last change of every prefix, in one column or in several."""

    def __init__(self, y: FloatArray, weight: FloatArray, loss: Loss, min_size: int) -> None:
        self.columns, self.weight, self.loss = np.atleast_2d(y.T), weight, loss
        self.min_size = min_size
        self.values = [loss.statistics(column, weight) for column in self.columns]
        n, d = weight.size, len(self.values)
        if d == 1:
            # Two functions cross at most twice, so an envelope of n of them has below 2 n pieces.
            self.room = np.zeros((2, 2 * n + 4), np.int32), np.zeros((4, 2 * n + 5))
        else:
            self.room = np.zeros((2, n + 1), np.int32), np.zeros((2 * d + 2, n + 1))
            sums = [[one.mass for one in self.values], [one.total for one in self.values]]
            self.sums = np.ascontiguousarray(np.moveaxis(np.array(sums), 2, 0))

    def run(
        self, first: int, penalty: float, best: FloatArray, following: FloatArray, last: Any
    ) -> None:
        """Add one segment to the prefixes of ``best``; see `_loops.search_square`."""
        limits = (penalty, self.min_size, best, following, last)
        if len(self.values) == 1:
            one = self.values[0]
            parameters = (first, one.mass, one.total, one.low, one.high)
            self.loss.search()(*parameters, *limits, *self.room, 0)
            return
        from aucuba.changepoint._loops import search_columns, search_square

        ends = np.array([[one.low, one.high] for one in self.values]).T.copy()
        square = self.loss.search() is search_square
        search_columns(first, square, self.sums, *ends, *limits, *self.room, 0)

    def one_segment(self) -> FloatArray:
        """Return the losses of all prefixes as one segment each."""
        best = np.zeros(self.weight.size + 1)
        for one in self.values:
            best[1:] += self.loss.segment_losses(one.mass[1:], one.total[1:], one)
        return best

    def evaluate(self, changepoints: IntArray) -> float:
        """Compute the loss of a segmentation."""
        return sum(self.loss.evaluate(y, self.weight, changepoints) for y in self.columns)

    def rounding(self, losses: FloatArray, size: int) -> float:
        """Bound the rounding error of a difference of losses."""
        return sum(self.loss.rounding(losses, size, y, self.weight) for y in self.columns)

    def resolution(self) -> float:
        """Bound the differences of losses that running sums cannot resolve."""
        return sum(self.loss.resolution(y, self.weight) for y in self.columns)


def _check_min_size(min_size: Any, n_samples: int) -> int:
    shortest = int(check_positive_number(min_size, "min_size", integer=True))
    if shortest > n_samples:
        raise ValueError(
            f"min_size={shortest} exceeds the {n_samples} samples of the signal; lower it."
        )
    return shortest


def _trace_back(last: Any, level: int) -> IntArray:
    """Return the changes of the best segmentation of all samples into ``level + 1`` pieces."""
    first = np.empty(level, dtype=np.intp)
    end = last.shape[1] - 1
    for k in range(level, 0, -1):
        end = last[k, end]
        first[k - 1] = end
    return first
