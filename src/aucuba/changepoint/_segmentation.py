"""Segmentations of one signal, and which of them a penalty selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.changepoint._signals import sample_positions


@dataclass(frozen=True, repr=False)
class Segmentation:
    """Segmentations of one signal, one per size.

    A changepoint is the first sample of a new segment. In the coordinates of labels, a change at
    sample i lies midway between ``positions[i - 1]`` and ``positions[i]``, by default at i - 0.5.

    Attributes
    ----------
    losses : ndarray of shape (n_models,)
    sizes : ndarray of shape (n_models,)
        Numbers of segments.
    changepoints : list of ndarray of int
        ``changepoints[k]`` has ``sizes[k] - 1`` increasing entries.
    positions : ndarray of shape (n_samples,)
        Coordinates of the samples, by default 0, 1, ...
    """

    losses: FloatArray
    sizes: IntArray
    changepoints: list[IntArray]
    positions: FloatArray

    def __repr__(self) -> str:
        fewest, most = int(self.sizes.min()), int(self.sizes.max())
        if len(self.sizes) > 1:
            found = f"{fewest} to {most} segments"
        else:
            shown = ", ".join(map(str, self.changepoints[0][:8].tolist()))
            found = f"{most} segments, changes at {shown}" if shown else "1 segment, no change"
            found += ", ..." if most > 9 else ""
        return f"Segmentation({self.n_samples} samples, {found})"

    @property
    def n_samples(self) -> int:
        """Length of the signal."""
        return int(self.positions.size)

    def change_positions(self, model: int) -> FloatArray:
        """Return the coordinates of the changes of a model, midpoints between samples."""
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
        """Make a table of segmentations from another library, or by another loss.

        Parameters
        ----------
        losses : array-like of shape (n_models,)
            Finite losses, without penalties.
        changepoints : list of array-like of int
            One per model: the first sample of each new segment, without 0 and ``n_samples``.
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


@dataclass(frozen=True)
class ModelSelection:
    """The models that some penalty selects, by increasing penalty (decreasing size).

    Model i is optimal for penalties in ``(min_penalty[i], max_penalty[i])``; the intervals cover all
    penalties from 0 to infinity.

    Attributes
    ----------
    index : ndarray of int
        Rows of the models in the input.
    size, loss : ndarray
        Complexity and loss of the models.
    min_penalty, max_penalty : ndarray
    """

    index: IntArray
    size: FloatArray | IntArray
    loss: FloatArray
    min_penalty: FloatArray
    max_penalty: FloatArray

    @property
    def min_log_penalty(self) -> FloatArray:
        """Logarithm of ``min_penalty``: -inf for the first model."""
        with np.errstate(divide="ignore"):
            return np.log(self.min_penalty)

    @property
    def max_log_penalty(self) -> FloatArray:
        """Logarithm of ``max_penalty``: inf for the last model."""
        return np.log(self.max_penalty)

    def select(self, penalty: ArrayLike) -> IntArray:
        """Return the rows that the penalties select; at a boundary, the smaller model."""
        value = np.asarray(penalty, dtype=np.float64)
        if np.any(np.isnan(value)) or np.any(value < 0):
            raise ValueError(f"Penalties must be non-negative, got {penalty!r}.")
        chosen: IntArray = np.searchsorted(self.max_penalty[:-1], value, side="right")
        return chosen


def model_selection(losses: ArrayLike, sizes: ArrayLike) -> ModelSelection:
    r"""Find the model that minimises loss plus penalty times size, for every penalty.

    .. math::
        k^*(\lambda) = \arg\min_k \; L_k + \lambda C_k

    The models selected are the corners of the lower convex hull of the points :math:`(C_k, L_k)`; of
    three models on one line the middle one is left out. Time is linear after sorting by size.

    Parameters
    ----------
    losses : array-like of shape (n_models,)
    sizes : array-like of shape (n_models,)
        Complexities, in any order; of models of one size the one with the lowest loss counts.

    Returns
    -------
    ModelSelection

    Examples
    --------
    >>> from aucuba.changepoint import model_selection
    >>> path = model_selection([10, 6, 5.5, 3], [1, 2, 3, 4])
    >>> path.size
    array([4, 2, 1])
    >>> path.max_penalty
    array([1.5, 4. , inf])
    """
    loss, size = _check_models(losses, sizes)
    order = np.lexsort((loss, size))
    smallest = np.minimum.accumulate(loss[order])
    improves = np.concatenate([[True], loss[order][1:] < smallest[:-1]])
    order = order[improves]
    hull: list[int] = []
    enters: list[float] = []
    for row in order:
        while hull:
            top = hull[-1]
            penalty = float((loss[top] - loss[row]) / (size[row] - size[top]))
            if penalty < enters[-1]:
                break
            hull.pop()
            enters.pop()
        enters.append(penalty if hull else np.inf)
        hull.append(int(row))
    index = np.array(hull[::-1], dtype=np.intp)
    max_penalty = np.array(enters[::-1])
    min_penalty = np.concatenate([[0.0], max_penalty[:-1]])
    return ModelSelection(index, size[index], loss[index], min_penalty, max_penalty)


def _check_models(losses: ArrayLike, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    loss = np.asarray(losses, dtype=np.float64)
    size = np.asarray(sizes)
    if loss.ndim != 1 or loss.shape != size.shape or loss.size == 0:
        raise ValueError(
            "losses and sizes must be lists of the same length with at least one model, got shapes "
            f"{loss.shape} and {size.shape}."
        )
    if size.dtype.kind not in "iuf" or not np.all(np.isfinite(size)):
        raise ValueError("sizes must be finite numbers.")
    if not np.all(np.isfinite(loss)):
        row = int(np.argmax(~np.isfinite(loss)))
        raise ValueError(f"losses must be finite, got {loss[row]} for size {size[row]}.")
    return loss, size
