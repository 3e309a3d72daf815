"""Means over queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._roc._sample import RankingSample, Sample, rows_by_query

Statistic = Callable[[RankingSample], float]


def mean_over_queries(sample: RankingSample, statistic: Statistic) -> float:
    """The statistic of the whole sample, or its mean over the queries that have both classes."""
    if sample.query is None:
        return statistic(sample)
    return float(np.mean(query_values(sample, statistic)))


def query_values(sample: RankingSample, statistic: Statistic) -> FloatArray:
    """The statistic of every query that has both classes; a warning counts the others."""
    assert sample.query is not None
    values, skipped = [], 0
    for rows in rows_by_query(sample.query):
        query = sample.as_one_query(rows)
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


def warn_about_queries(sample: Sample) -> None:
    """Count the queries that cannot be ranked."""
    if sample.query is None:
        return
    n_queries = int(sample.query.max()) + 1
    skipped = n_queries - len(sample.rankable_queries())
    if skipped == n_queries:
        raise ValueError(
            f"None of the {n_queries} queries in qid has both a positive and a negative row."
        )
    if skipped:
        warnings.warn(
            f"{skipped} of {n_queries} queries have only one class and do not count in training.",
            UserWarning,
            stacklevel=4,
        )
