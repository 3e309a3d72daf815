"""Which number of segments a penalty selects, for every penalty at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray


@dataclass(frozen=True)
class ModelSelection:
    """The models that some penalty selects, by increasing penalty (decreasing size).

    Model i is the best one for penalties in ``(min_penalty[i], max_penalty[i])``; the intervals
    follow each other from 0 to infinity.

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
        """Rows of these arrays that the penalties select; at a boundary, the smaller model."""
        value = np.asarray(penalty, dtype=np.float64)
        if np.any(np.isnan(value)) or np.any(value < 0):
            raise ValueError(f"Penalties must be non-negative, got {penalty!r}.")
        chosen: IntArray = np.searchsorted(self.max_penalty[:-1], value, side="right")
        return chosen


def model_selection(losses: ArrayLike, sizes: ArrayLike) -> ModelSelection:
    r"""Minimise loss plus penalty times size, for every penalty.

    .. math::
        k^*(\lambda) = \arg\min_k \; L_k + \lambda C_k

    The models selected are the corners of the lower convex hull of the points :math:`(C_k, L_k)`;
    three models on one line leave the middle one out. Time is linear after sorting by size.

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
