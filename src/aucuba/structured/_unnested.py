"""The AUC of sets that need not be nested (Rosenfeld et al., AISTATS 2014, Section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import binary_target


def unnested_auc_score(
    y_true: ArrayLike, sets: ArrayLike | Sequence[Sequence[int]], *, pos_label: Any = None
) -> float:
    r"""Compute the AUC of sets of growing size that need not contain one another.

    .. math::
        P N \,\mathrm{AUC} = \sum_k \omega_k P_k - \tfrac12 P^2, \qquad
        \omega_k = \tfrac12 (b_k + b_{k+1}), \quad b_{K+1} = 0

    where :math:`P_k` is the number of positives in set k, :math:`b_k` the growth in size from set
    k - 1 to set k. For the top-k sets of a ranking it is the AUC, for the ends of bins
    `aucuba.metrics.binned_auc_score`. Unlike theirs, the range is not [0, 1] in general: sets that
    contradict one another can fall below 0.

    Parameters
    ----------
    y_true : array of shape (n_items,)
        Binary labels.
    sets : array of shape (n_sets, n_items), or sequence of lists of item numbers
        Indicators, possibly fractional, or members of each set. Sizes must grow; a last set with
        all items is added where it is missing.
    pos_label : label, optional
        The positive label; the larger one by default.

    Returns
    -------
    float

    Examples
    --------
    >>> from aucuba.structured import unnested_auc_score
    >>> unnested_auc_score([1, 0, 1, 0], [[0], [0, 1], [0, 1, 2]])
    0.75
    >>> unnested_auc_score([1, 0, 1, 0], [[0], [0, 2], [0, 1, 2]])
    1.0
    """
    positive = binary_target(y_true, pos_label)
    rows = _indicators(sets, positive.size)
    cardinality = rows.sum(axis=1)
    if cardinality.size == 0 or not np.isclose(cardinality[-1], positive.size):
        rows = np.concatenate([rows, np.ones((1, positive.size))])
        cardinality = np.append(cardinality, positive.size)
    growth = np.diff(cardinality, prepend=0.0)
    if growth.min() <= 0:
        at = int(growth.argmin())
        raise ValueError(
            f"The sizes of sets must grow, but set {at} has size {cardinality[at]:g} after "
            f"{cardinality[at] - growth[at]:g}. Sort the sets by size and keep one of each size."
        )
    weight = (growth + np.append(growth[1:], 0.0)) / 2
    n_positive = int(positive.sum())
    area = weight @ rows[:, positive].sum(axis=1) - n_positive**2 / 2
    return float(area / (n_positive * (positive.size - n_positive)))


def _indicators(sets: Any, n_items: int) -> FloatArray:
    """Return rows in [0, 1], from an indicator matrix or from lists of members."""
    if isinstance(sets, np.ndarray) and sets.ndim == 2:
        rows = sets.astype(float)
        if rows.shape[1] != n_items:
            raise ValueError(f"sets has {rows.shape[1]} columns for {n_items} items.")
        outside = (rows < -1e-9) | (rows > 1 + 1e-9) | ~np.isfinite(rows)
        if outside.any():
            raise ValueError(f"sets must hold indicators in [0, 1], got {rows[outside][0]}.")
        return rows
    rows = np.zeros((len(sets), n_items))
    for row, members in zip(rows, sets, strict=True):
        index = np.asarray(members)
        if index.size and index.dtype.kind not in "iu":
            raise ValueError(f"A set must list item numbers, got {members!r}.")
        index = index.astype(np.intp)
        if index.size and (index.min() < 0 or index.max() >= n_items):
            raise ValueError(f"Items are numbered 0 to {n_items - 1}, got {members!r}.")
        if np.unique(index).size != index.size:
            raise ValueError(f"A set lists an item twice: {members!r}.")
        row[index] = 1.0
    return rows
