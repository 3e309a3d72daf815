"""Means over queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._base._warnings import warn_user
from aucuba._rows._sample import RankingSample, Sample, rows_by_query

Statistic = Callable[[RankingSample], float]


def mean_over_queries(sample: RankingSample, statistic: Statistic) -> float:
    """Return the statistic of the whole sample, or its mean over the queries that have both classes."""
    if sample.query is None:
        return statistic(sample)
    return float(np.mean(query_values(sample, statistic)))


def query_values(
    sample: RankingSample,
    statistic: Statistic,
    needs: Literal["both", "positive", "any"] = "both",
) -> FloatArray:
    """Compute the statistic of every query that counts; a warning counts the others."""
    assert sample.query is not None
    queries = [sample.as_one_query(rows) for rows in rows_by_query(sample.query)]
    counted = [one for one in queries if _counts(one, needs)]
    skipped, lacking = len(queries) - len(counted), _LACKING[needs]
    if not counted:
        raise ValueError(f"None of the {skipped} queries in qid has {lacking[0]}.")
    if skipped:
        warn_user(f"{skipped} of {len(queries)} queries have {lacking[1]} and are skipped.")
    return np.asarray([statistic(one) for one in counted])


_LACKING = {
    "both": ("both a positive and a negative row", "only one class"),
    "positive": ("a positive row", "no positive row"),
    "any": ("a row", "no row"),
}


def _counts(query: Sample, needs: str) -> bool:
    if needs == "any":
        return True
    return bool(query.positive.any() and (needs == "positive" or not query.positive.all()))
