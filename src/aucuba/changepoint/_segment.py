"""Exact optimal segmentations: of every size, and for one penalty."""

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
    max_segments: int,
    *,
    loss: str = "l2",
    weights: ArrayLike | None = None,
    variance_floor: float | None = None,
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Find the best segmentations into 1, 2, ..., ``max_segments`` pieces.

    .. math::
        L_k = \min_{0 = t_0 < t_1 < \dots < t_k = n} \sum_{j=1}^{k} \min_m \sum_{i=t_{j-1}}^{t_j - 1}
        w_i\, \ell(y_i, m),
        \qquad \ell(y, m) = (y - m)^2,\quad m - y \log m\quad \text{or}\quad \log m + y^2 / m

    The result is exact: for every number of segments, functional pruning keeps the candidates that are
    best for some value of the last parameter (pDPA). Time is about linear in
    ``max_segments * n_samples``; memory is ``4 * max_segments * n_samples`` bytes. Losses are compared
    in double precision, in which a spike of a hundred million standard deviations hides everything
    else: clip such values first.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Finite values; non-negative for the Poisson loss.
    max_segments : int
        Largest number of segments, at most ``n_samples``.
    loss : {"l2", "poisson", "variance"}, default="l2"
        Squared error around the mean of each segment; Poisson loss of counts; or the Gaussian loss of
        a signal of mean 0 whose variance changes. Changes of mean and variance together are not
        supported: subtract a known mean first.
    weights : array-like of shape (n_samples,), default=None
        Positive; an integer weight is a number of copies of the sample side by side, as in run-length
        coded coverage.
    variance_floor : float, default=None
        Smallest variance of a segment, for ``loss="variance"`` only; 1e-8 of the signal's mean square
        by default.
    positions : array-like of shape (n_samples,), default=None
        Increasing coordinates of the samples, if they are not 0, 1, ...

    Returns
    -------
    Segmentation
        Losses never increase with the size. Where segmentations tie, one of them.

    See Also
    --------
    segment_penalty : The best segmentation for one penalty, much faster.

    Notes
    -----
    One-dimensional signals only. Rigaill, "A pruned dynamic programming algorithm to recover the best
    segmentations with 1 to K_max change-points" (2015).

    Examples
    --------
    >>> from aucuba.changepoint import segment
    >>> found = segment([1, 1, 1, 5, 5, 2, 2, 2], 3)
    >>> found.changepoints
    [array([], dtype=int64), array([3]), array([3, 5])]
    >>> found.losses
    array([19.875, 10.8  ,  0.   ])
    """
    cost = make_loss(loss, variance_floor)
    y = check_signal(signal)
    weight = check_weights(weights, y.size)
    n_levels = int(check_positive_number(max_segments, "max_segments", integer=True))
    if n_levels > y.size:
        raise ValueError(
            f"max_segments={n_levels} exceeds the {y.size} samples of the signal; every segment needs "
            "at least one sample."
        )
    return all_sizes(y, weight, cost, n_levels, sample_positions(positions, y.size))


def all_sizes(
    y: FloatArray, weight: FloatArray, loss: Loss, n_levels: int, positions: FloatArray
) -> Segmentation:
    """Compute `segment` on validated input."""
    values = loss.statistics(y, weight)
    last = np.zeros((n_levels, y.size + 1), np.int32)
    best, following = np.zeros(y.size + 1), np.zeros(y.size + 1)
    best[1:] = loss.segment_losses(values.mass[1:], values.total[1:], values)
    room = envelope_room(y.size)
    search = loss.search()
    for k in range(1, n_levels):
        search(
            *(k + 1, values.mass, values.total, values.low, values.high, 0.0),
            *(best, following, last[k], *room, 0),
        )
        best, following = following, best
    changepoints = [_trace_back(last, k) for k in range(n_levels)]
    losses = np.array([loss.evaluate(y, weight, first) for first in changepoints])
    for k in range(1, n_levels):
        # A further segment never raises the loss. Without this rule, a signal that k constant pieces
        # fit exactly would have larger models at penalties of the size of rounding errors.
        if losses[k - 1] - losses[k] <= loss.rounding(losses, k, y, weight):
            losses[k] = losses[k - 1]
    return Segmentation(losses, np.arange(1, n_levels + 1), changepoints, positions)


def envelope_room(n_samples: int) -> tuple[Any, FloatArray]:
    """Allocate the pieces of two envelopes and the parts that are kept.

    Two functions cross at most twice, so an envelope of n of them has below 2 n pieces.
    """
    return np.zeros((2, 2 * n_samples + 4), np.int32), np.zeros((4, 2 * n_samples + 5))


def _trace_back(last: Any, level: int) -> IntArray:
    """Return the changes of the best segmentation of all samples into ``level + 1`` pieces."""
    first = np.empty(level, dtype=np.intp)
    end = last.shape[1] - 1
    for k in range(level, 0, -1):
        end = last[k, end]
        first[k - 1] = end
    return first


def segment_penalty(
    signal: ArrayLike,
    penalty: float,
    *,
    loss: str = "l2",
    weights: ArrayLike | None = None,
    variance_floor: float | None = None,
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Find the best segmentation for one penalty per segment.

    .. math::
        \min_k \; L_k + \lambda k

    with :math:`L_k` the least loss of k segments, as in `segment`. The result is exact, by functional
    pruning (FPOP), and takes time near linear in the number of samples, whatever the number of
    segments. Of equally good segmentations, one with the fewest segments is returned.

    Parameters
    ----------
    signal, loss, weights, variance_floor, positions
        As in `segment`.
    penalty : float
        :math:`\lambda`, the cost of a segment; 0 or more.

    Returns
    -------
    Segmentation
        With one model: ``changepoints[0]``, ``losses[0]`` (without penalties), ``sizes[0]``.

    See Also
    --------
    segment : The best segmentations of every size.

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
    y = check_signal(signal)
    if not isinstance(penalty, int | float | np.number) or not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be a finite number, at least 0, got {penalty!r}.")
    where = sample_positions(positions, y.size)
    return one_penalty(y, check_weights(weights, y.size), cost, float(penalty), where)


def one_penalty(
    y: FloatArray, weight: FloatArray, loss: Loss, penalty: float, positions: FloatArray
) -> Segmentation:
    """Compute `segment_penalty` on validated input."""
    values = loss.statistics(y, weight)
    best, last = np.zeros(y.size + 1), np.zeros(y.size + 1, np.int32)
    paid = penalty + max(_TIE * penalty, loss.resolution(y, weight))
    loss.search()(
        *(1, values.mass, values.total, values.low, values.high, paid),
        *(best, best, last, *envelope_room(y.size), 0),
    )
    changes, end = [], int(last[-1])
    while end > 0:
        changes.append(end)
        end = int(last[end])
    first = np.array(changes[::-1], dtype=np.intp)
    losses = np.array([loss.evaluate(y, weight, first)])
    return Segmentation(losses, np.array([first.size + 1]), [first], positions)
