"""Exact optimal segmentations of one signal for every number of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray, IntArray
from aucuba._core._validation import check_choice, check_positive_number


@dataclass(frozen=True)
class Segmentation:
    """Segmentations of one signal, one a size.

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
            One a model, the first sample of each new segment, without 0 and without ``n_samples``.
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
                f"losses and changepoints must have one entry a model, got shape {loss.shape} and "
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
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Best segmentations into 1, 2, ..., ``max_segments`` pieces with constant mean.

    .. math::
        L_k = \min_{0 = t_0 < t_1 < \dots < t_k = n} \sum_{j=1}^{k} \min_m \sum_{i=t_{j-1}}^{t_j - 1}
        \ell(y_i, m),
        \qquad \ell(y, m) = (y - m)^2 \ \text{ or }\ m - y \log m

    The minimum over all segmentations, not a heuristic: functional pruning keeps, for every number
    of segments, the candidates that are best for some value of the last mean (pDPA). Time is about
    linear in ``max_segments * n_samples``; memory is ``4 * max_segments * n_samples`` bytes. Losses are
    compared in double precision: beside a spike of a hundred million standard deviations nothing else
    is seen, so clip such values first.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Finite values; non-negative for the Poisson loss.
    max_segments : int
        Largest number of segments, at most ``n_samples``.
    loss : {"l2", "poisson"}, default="l2"
        Squared error, or the Poisson loss of counts.
    positions : array-like of shape (n_samples,), default=None
        Increasing coordinates of the samples, if they are not 0, 1, ...

    Returns
    -------
    Segmentation
        Losses never increase with the size. Where segmentations tie, one of them.

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
    y = check_signal(signal)
    check_choice(loss, "loss", ("l2", "poisson"))
    n_levels = int(check_positive_number(max_segments, "max_segments", integer=True))
    if n_levels > y.size:
        raise ValueError(
            f"max_segments={n_levels} exceeds the {y.size} samples of the signal; every segment needs "
            "at least one sample."
        )
    where = sample_positions(positions, y.size)
    poisson = loss == "poisson"
    if poisson and y.min() < 0:
        raise ValueError(
            f"The Poisson loss needs non-negative values, got {y.min()} at sample {int(y.argmin())}."
        )
    from aucuba.changepoint._loops import pruned_dynamic_program

    # Centring keeps the running sums of squares small, so that their differences stay exact.
    with np.errstate(over="ignore", invalid="ignore"):
        centred = y if poisson else y - y.mean()
        sums = np.concatenate([[0.0], np.cumsum(centred)])
        squares = np.zeros(y.size + 1)
        if not poisson:
            np.cumsum(centred**2, out=squares[1:])
    if not np.isfinite(sums[-1] + squares[-1]):
        raise ValueError(
            f"The values of the signal are too large, up to {np.abs(y).max():.3g}: their sum of "
            "squares overflows. Divide the signal by its standard deviation."
        )
    low, high = float(centred.min()), float(centred.max())
    # A constant signal still needs an interval of means to compare candidates on.
    high = high if high > low else low + 1.0
    last = pruned_dynamic_program(sums, squares, low, high, n_levels, poisson)
    changepoints = [_trace_back(last, k) for k in range(n_levels)]
    evaluate = _poisson_loss if poisson else _squared_loss
    losses = np.array([evaluate(y, first) for first in changepoints])
    return Segmentation(
        _non_increasing(losses, y, poisson), np.arange(1, n_levels + 1), changepoints, where
    )


def check_signal(signal: ArrayLike, name: str = "signal") -> FloatArray:
    """A finite, non-empty 1-D float array, or an error that names the sequence."""
    y = np.asarray(signal)
    if y.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be numeric, got dtype {y.dtype}.")
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {y.shape}.")
    if y.size == 0:
        raise ValueError(f"{name} is empty: at least one sample is needed.")
    y = y.astype(np.float64, copy=False)
    bad = ~np.isfinite(y)
    if bad.any():
        raise ValueError(
            f"{name} contains {bad.sum()} NaN or infinite values, the first at sample "
            f"{int(np.argmax(bad))}. Drop or fill them."
        )
    return y


def sample_positions(positions: ArrayLike | None, n_samples: int | None) -> FloatArray:
    """Increasing coordinates of the samples; 0, 1, ... by default."""
    if positions is None:
        assert n_samples is not None
        return np.arange(int(n_samples), dtype=np.float64)
    where = np.asarray(positions, dtype=np.float64)
    if where.ndim != 1 or (n_samples is not None and where.size != n_samples):
        raise ValueError(f"positions must have one entry a sample, got shape {where.shape}.")
    if where.size == 0 or not np.all(np.isfinite(where)) or np.any(np.diff(where) <= 0):
        raise ValueError("positions must be finite and strictly increasing; sort the signal first.")
    return where


def _trace_back(last: Any, level: int) -> IntArray:
    """Changes of the best segmentation of all samples into ``level + 1`` pieces."""
    first = np.empty(level, dtype=np.intp)
    end = last.shape[1] - 1
    for k in range(level, 0, -1):
        end = last[k, end]
        first[k - 1] = end
    return first


def _squared_loss(y: FloatArray, first: IntArray) -> float:
    starts = np.concatenate([[0], first]).astype(np.intp)
    length = np.diff(np.append(starts, y.size))
    mean = np.add.reduceat(y, starts) / length
    return float(np.sum((y - np.repeat(mean, length)) ** 2))


def _poisson_loss(y: FloatArray, first: IntArray) -> float:
    starts = np.concatenate([[0], first]).astype(np.intp)
    length = np.diff(np.append(starts, y.size))
    total = np.add.reduceat(y, starts)
    rate = np.where(total > 0, total / length, 1.0)
    return float(np.sum(total - total * np.log(rate)))


def _non_increasing(losses: FloatArray, y: FloatArray, poisson: bool) -> FloatArray:
    """Losses without the steps that are rounding: a piece more can never cost more.

    Otherwise a signal that k constant pieces fit exactly would show further models at penalties of
    the size of rounding errors.
    """
    unit = np.finfo(np.float64).eps
    floor = y.size * (4 * unit * np.abs(y).max()) ** 2
    clean = losses.copy()
    for k in range(1, clean.size):
        # Squares are rounded in proportion to their own sum; Poisson terms have both signs.
        size = abs(clean[0] if poisson else clean[k - 1])
        if clean[k - 1] - clean[k] <= 4 * unit * size + floor:
            clean[k] = clean[k - 1]
    return clean


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
