"""Batches that a monitor is fed with."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray


def flags_of(values: ArrayLike, pos_label: Any, name: str) -> BoolArray:
    """Booleans from labels; without ``pos_label`` they must be booleans, or 0 and 1."""
    array = column_or_1d(values)
    if array.dtype == bool:
        return array
    if pos_label is not None:
        return np.asarray(array == pos_label, dtype=bool)
    seen = np.unique(array)
    if not np.isin(seen, (0, 1)).all():
        raise ValueError(
            f"{name} has the values {seen[:5].tolist()}; give booleans or 0 and 1, or name the "
            "positive class by pos_label."
        )
    return array.astype(bool)


def losses_of_groups(losses: FloatArray, groups: ArrayLike, counted: BoolArray) -> FloatArray:
    """The mean loss of every group, in the order in which groups first appear."""
    identifiers = column_or_1d(groups)
    if identifiers.shape[0] != counted.shape[0]:
        raise ValueError(f"groups has {identifiers.shape[0]} entries for {counted.shape[0]} rows.")
    _, first, group = np.unique(identifiers[counted], return_index=True, return_inverse=True)
    means = np.bincount(group, losses) / np.maximum(np.bincount(group), 1)
    return means[np.argsort(first)]


def count_pair(n_flagged: Any, n_rows: Any) -> tuple[int, int]:
    """Whole numbers with 0 <= n_flagged <= n_rows."""
    for value, name in ((n_flagged, "n_flagged"), (n_rows, "n_rows")):
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}.")
    if n_flagged > n_rows:
        raise ValueError(f"n_flagged={n_flagged} is more than n_rows={n_rows}.")
    return int(n_flagged), int(n_rows)
