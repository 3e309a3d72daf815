"""Values per query, for all queries at once.

Queries are many and small. Those with equally many rows are the rows of one matrix, which one call
sorts, and their ROC curves with equally many vertices are leading axes of one `RocCurve`. Nothing is
padded, so that every value is the one that its query alone would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._warnings import warn_user
from aucuba._roc._curve import RocCurve, region_average
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample, Sample

Needs = Literal["both", "positive", "any"]
_LACKING = {
    "both": ("both a positive and a negative row", "only one class"),
    "positive": ("a positive row", "no positive row"),
    "any": ("a row", "no row"),
}


class Queries:
    """The queries of a sample that count, by their number of rows.

    Parameters
    ----------
    sample : Sample
        With a query per row.
    needs : {"both", "positive", "any"}, default="both"
        Which queries count: those with both classes, with a positive row, or all.

    Attributes
    ----------
    n_counted, n_skipped : int
        Number of queries that count, and of the others.
    """

    def __init__(self, sample: Sample, needs: Needs = "both") -> None:
        assert sample.query is not None
        self.sample = sample
        size, n_positives = sample.query_sizes
        counts = {"both": sample.rankable, "positive": n_positives > 0, "any": size > 0}[needs]
        numbers = np.flatnonzero(counts)
        self.n_counted, self.n_skipped = numbers.size, size.size - numbers.size
        by_query = np.argsort(sample.query, kind="stable")
        first = (np.cumsum(size) - size)[numbers]
        # Places among the queries that count, and their rows, one matrix per number of rows.
        self._parts: list[tuple[IntArray, IntArray]] = []
        for n_rows in np.flatnonzero(np.bincount(size[numbers])):
            place = np.flatnonzero(size[numbers] == n_rows)
            self._parts.append((place, by_query[first[place, np.newaxis] + np.arange(n_rows)]))

    def values(
        self, score: FloatArray, of_curve: Callable[[RocCurve, int], Any], n_top: int | None = None
    ) -> FloatArray:
        """Compute a function of the ROC curve and the number of rows for every query that counts.

        With ``n_top`` the function counts so many of the highest rows, and nothing is sorted.
        """
        values = np.empty(self.n_counted)
        for place, rows in self._parts:
            if n_top is not None and self.sample.weight is None:
                curves = _counted_top(self.sample.positive[rows], score[rows], n_top)
                values[place] = of_curve(curves, rows.shape[1])
                continue
            for part, curves in self._curves(score[rows], rows):
                values[place[part]] = of_curve(curves, rows.shape[1])
        return values

    def in_region(self, score: FloatArray, region: Region) -> FloatArray:
        """Compute the partial AUC of every query that counts."""
        return self.values(score, lambda curves, _: region_average(curves, region))

    def _curves(self, score: FloatArray, rows: IntArray) -> Iterator[tuple[Any, RocCurve]]:
        """Yield the curves of queries of one size, by their number of vertices."""
        order = np.argsort(score, axis=1)[:, ::-1]
        ranked = np.take_along_axis(score, order, axis=1)
        ranked_rows = np.take_along_axis(rows, order, axis=1)
        is_end = np.ones(ranked.shape, dtype=bool)
        is_end[:, :-1] = ranked[:, 1:] != ranked[:, :-1]
        n_blocks = is_end.sum(axis=1)
        positive, weight = self.sample.positive[ranked_rows], None
        if self.sample.weight is not None:
            weight = self.sample.weight[ranked_rows]
        for count in np.unique(n_blocks):
            part = np.flatnonzero(n_blocks == count)
            ends = np.nonzero(is_end[part])[1].reshape(part.size, count)
            chosen = None if weight is None else weight[part]
            yield part, _stacked(positive[part], chosen, ranked[part], ends)


def query_values(
    sample: RankingSample,
    of_curve: Callable[[RocCurve, int], Any],
    needs: Needs = "both",
    n_top: int | None = None,
) -> FloatArray:
    """Compute `Queries.values` for every query that counts; a warning counts the others."""
    queries = Queries(sample, needs)
    skipped, lacking = queries.n_skipped, _LACKING[needs]
    if not queries.n_counted:
        raise ValueError(f"None of the {skipped} queries in qid has {lacking[0]}.")
    if skipped:
        n_queries = skipped + queries.n_counted
        warn_user(f"{skipped} of {n_queries} queries have {lacking[1]} and are skipped.")
    return queries.values(sample.score, of_curve, n_top)


def _counted_top(positive: Any, score: FloatArray, k: int) -> RocCurve:
    """Return curves with two vertices between their ends: without and with what equals the k-th row."""
    n_rows = score.shape[1]
    place = max(n_rows - k, 0)
    last = np.partition(score, place, axis=1)[:, place, np.newaxis]
    # Products with ones count short rows in a quarter of the time of a sum over an axis.
    of_all, of_positives = np.ones(n_rows), positive.astype(np.float64)
    counted = [np.broadcast_to(part, score.shape) * 1.0 for part in (score > last, score >= last)]
    ranked, hits = np.zeros((2, len(score), 4))
    for vertex, part in enumerate(counted, start=1):
        ranked[:, vertex] = part @ of_all
        part *= of_positives
        hits[:, vertex] = part @ of_all
    ranked[:, 3], hits[:, 3] = n_rows, of_positives @ of_all
    ends = np.broadcast_to([np.inf, -np.inf], (len(score), 2))
    return RocCurve(ranked - hits, hits, np.insert(ends, [1], last, axis=1))


def _stacked(
    positive: Any, weight: FloatArray | None, ranked: FloatArray, ends: IntArray
) -> RocCurve:
    """Return the curves of ranked rows whose blocks of equal score have the given ends."""
    size = np.ones(positive.shape) if weight is None else weight
    cumulated = np.zeros((2, len(ends), ends.shape[1] + 1))
    for which, rows in enumerate((~positive, positive)):
        summed = np.cumsum(np.where(rows, size, 0.0), axis=1)
        cumulated[which, :, 1:] = np.take_along_axis(summed, ends, axis=1)
    lightest = None
    if weight is not None and weight.min() < 1.0:
        starts = np.concatenate([np.zeros_like(ends[:, :1]), ends[:, :-1] + 1], axis=1)
        flat = (starts + weight.shape[1] * np.arange(len(ends))[:, np.newaxis]).ravel()
        # Rows of weight 3 are three rows of weight 1.
        lightest = np.minimum(np.minimum.reduceat(weight.ravel(), flat), 1.0).reshape(ends.shape)
    threshold = np.take_along_axis(ranked, ends, axis=1)
    return RocCurve(cumulated[0], cumulated[1], threshold, lightest)
