"""Means over queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from aucuba._typing import FloatArray
from aucuba._validation import RankingSample, rows_by_group

Statistic = Callable[[RankingSample], float]


def mean_over_groups(sample: RankingSample, statistic: Statistic) -> float:
    """The statistic of the whole sample, or its mean over the queries that have both classes."""
    if sample.group is None:
        return statistic(sample)
    return float(np.mean(group_values(sample, statistic)))


def group_values(sample: RankingSample, statistic: Statistic) -> FloatArray:
    """The statistic of every query that has both classes; a warning counts the others."""
    assert sample.group is not None
    values, skipped = [], 0
    for rows in rows_by_group(sample.group):
        query = sample.select(rows)
        if query.positive.all() or not query.positive.any():
            skipped += 1
        else:
            values.append(statistic(query))
    if not values:
        raise ValueError(
            f"None of the {skipped} queries in qid has both a positive and a negative row."
        )
    if skipped:
        warnings.warn(
            f"{skipped} of {skipped + len(values)} queries have only one class and are skipped.",
            UserWarning,
            stacklevel=4,
        )
    return np.asarray(values)
