"""Rows that stay together in resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import query_index
from aucuba._rows._splits import Split, group_folds, is_number, splits_by

# Rows that agree in a feature to the last digit, in as many and as large groups as these, are taken
# to come from one place each: the same stretch of a genome, the same sensor.
_FEWEST_GROUPS = 8
_MEAN_SIZE = 5


def row_groups(groups: ArrayLike | None, X: FloatArray) -> IntArray | None:
    """Number the groups given, or those that repeated values of a feature show; None without any.

    Of the features whose values repeat, the one with the most different values tells the groups apart.
    Sequences from one place have, say, the same length. A function that has learned the places by
    heart looks good on other sequences from them, and fails elsewhere.
    """
    if groups is not None:
        return query_index(groups, len(X), "groups")
    found, most = None, _FEWEST_GROUPS - 1
    for column in X.T:
        values, number = np.unique(column, return_inverse=True)
        if most < values.size <= len(X) / _MEAN_SIZE:
            found, most = number.astype(np.intp), values.size
    return found


def splits_of(cv: Any, X: FloatArray, groups: IntArray | None) -> list[Split]:
    """Return training and test rows of every fold; a number of folds keeps groups together."""
    if groups is not None and (cv is None or is_number(cv)):
        return group_folds(groups, min(5 if cv is None else cv, int(groups.max()) + 1))
    return splits_by(cv, X, None, groups)


def units_of(test: IntArray, groups: IntArray | None) -> IntArray:
    """What is drawn independently: the groups of the rows, or the rows themselves."""
    return test if groups is None else groups[test]
