"""Means over queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from aucuba._typing import FloatArray
from aucuba._validation import RankingSample

Statistic = Callable[[RankingSample], float]


def mean_over_groups(sample: RankingSample, statistic: Statistic) -> float:
    """The statistic of the whole sample, or its mean over the queries that have both classes."""
    if sample.group is None:
        return statistic(sample)
    return float(np.mean(group_values(sample, statistic)))


def group_values(sample: RankingSample, statistic: Statistic) -> FloatArray:
    """The statistic of every query that has both classes; a warning counts the others."""
    values, skipped = [], 0
    for query in iterate_groups(sample):
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


def iterate_groups(sample: RankingSample) -> Iterator[RankingSample]:
    """The queries one after another, by one sort of the group numbers."""
    assert sample.group is not None
    order = np.argsort(sample.group, kind="stable")
    starts = np.flatnonzero(np.diff(sample.group[order])) + 1
    for rows in np.split(order, starts):
        yield sample.select(rows)
