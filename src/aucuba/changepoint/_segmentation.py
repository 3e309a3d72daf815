"""Exact optimal segmentations of one signal for every number of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba.changepoint._losses import Loss, make_loss
from aucuba.changepoint._signals import check_signal, check_weights, sample_positions


@dataclass(frozen=True)
class Segmentation:
    """Segmentations of one signal, one per size.

    A changepoint is the first sample of a new segment. In the coordinates of labels a change at
    sample i lies midway between ``positions[i - 1]`` and ``positions[i]``: at i - 0.5 without
    positions.

    Attributes
    ----------
    losses : ndarray of shape (n_models,)
    sizes : ndarray of shape (n_models,)
        Numbers of segments.
    changepoints : list of ndarray of int
        ``changepoints[k]`` has ``sizes[k] - 1`` increasing entries.
    positions : ndarray of shape (n_samples,)
        Where the samples lie: 0, 1, ... unless given.
    """

    losses: FloatArray
    sizes: IntArray
    changepoints: list[IntArray]
    positions: FloatArray

    @property
    def n_samples(self) -> int:
        """Length of the signal."""
        return int(self.positions.size)

    def change_positions(self, model: int) -> FloatArray:
        """Coordinates of the changes of the model in that row: midpoints between samples."""
        first = self.changepoints[model]
        return (self.positions[first - 1] + self.positions[first]) / 2

    @classmethod
    def from_table(
        cls,
        losses: ArrayLike,
        changepoints: Sequence[ArrayLike],
        *,
        n_samples: int | None = None,
        positions: ArrayLike | None = None,
    ) -> Segmentation:
        """Take segmentations from another library, or from another loss.

        Parameters
        ----------
        losses : array-like of shape (n_models,)
            Finite; what the penalty is added to.
        changepoints : list of array-like of int
            One per model, the first sample of each new segment, without 0 and without ``n_samples``.
        n_samples : int, default=None
            Length of the signal; needed without ``positions``.
        positions : array-like of shape (n_samples,), default=None
            Increasing coordinates of the samples.

        Examples
        --------
        >>> from aucuba.changepoint import Segmentation
        >>> table = Segmentation.from_table([8.0, 1.0], [[], [2]], n_samples=4)
        >>> table.sizes
        array([1, 2])
        >>> table.change_positions(1)
        array([1.5])
        """
        if n_samples is None and positions is None:
            raise ValueError("Give n_samples, the length of the signal, or positions.")
        where = sample_positions(positions, n_samples)
        loss = np.asarray(losses, dtype=np.float64)
        if loss.ndim != 1 or loss.size != len(changepoints) or loss.size == 0:
            raise ValueError(
                f"losses and changepoints must have one entry per model, got shape {loss.shape} and "
                f"{len(changepoints)} lists."
            )
        if not np.all(np.isfinite(loss)):
            raise ValueError(f"losses must be finite, got {loss[~np.isfinite(loss)][0]}.")
        rows = [_check_changepoints(row, where.size, k) for k, row in enumerate(changepoints)]
        sizes = np.array([row.size + 1 for row in rows], dtype=np.intp)
        return cls(loss, sizes, rows, where)


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

    The minimum over all segmentations, not a heuristic: functional pruning keeps, for every number
    of segments, the candidates that are best for some value of the last parameter (pDPA). Time is about
    linear in ``max_segments * n_samples``; memory is ``4 * max_segments * n_samples`` bytes. Losses are
    compared in double precision: beside a spike of a hundred million standard deviations nothing else
    is seen, so clip such values first.

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
    """`segment` on validated input."""
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
        # A piece more can never cost more; without this a signal that k constant pieces fit exactly
        # would show further models at penalties of the size of rounding errors.
        if losses[k - 1] - losses[k] <= loss.rounding(losses, k, y, weight):
            losses[k] = losses[k - 1]
    return Segmentation(losses, np.arange(1, n_levels + 1), changepoints, positions)


def envelope_room(n_samples: int) -> tuple[Any, FloatArray]:
    """Arrays for the pieces of two envelopes and for the parts that are kept.

    Two functions cross at most twice, so an envelope of n of them has below 2 n pieces.
    """
    return np.zeros((2, 2 * n_samples + 4), np.int32), np.zeros((4, 2 * n_samples + 5))


def _trace_back(last: Any, level: int) -> IntArray:
    """Changes of the best segmentation of all samples into ``level + 1`` pieces."""
    first = np.empty(level, dtype=np.intp)
    end = last.shape[1] - 1
    for k in range(level, 0, -1):
        end = last[k, end]
        first[k - 1] = end
    return first


def _check_changepoints(row: ArrayLike, n_samples: int, model: int) -> IntArray:
    first = np.asarray(row)
    if first.ndim != 1 or (first.size and first.dtype.kind not in "iu"):
        raise ValueError(f"changepoints[{model}] must be a list of whole numbers, got {row!r}.")
    first = first.astype(np.intp)
    inside = first.size == 0 or (first[0] >= 1 and first[-1] <= n_samples - 1)
    if not inside or np.any(np.diff(first) <= 0):
        raise ValueError(
            f"changepoints[{model}] must increase strictly within 1 .. {n_samples - 1} (the first "
            f"sample of each new segment), got {first.tolist()}."
        )
    return first
