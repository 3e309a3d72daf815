"""Partial AUC of several scorers on the same rows, and how sure their differences are."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from aucuba._base._arrays import Vector, arrays_of, is_tensor
from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._average_precision import average_precision, average_precision_effects
from aucuba._roc._curve import (
    Placements,
    counted_range_average,
    counted_range_influence,
    placements,
    region_average,
    roc_curve,
    top_of_curve,
)
from aucuba._roc._queries import Queries
from aucuba._roc._region import Region
from aucuba._roc._standard_error import error_of_effects, error_of_mean, standard_error
from aucuba._rows._lead import Lead
from aucuba._rows._sample import RankingSample, Sample, SortedRows


def region_placements(sample: Sample, scores: FloatArray, region: Region) -> Placements:
    """Placement values of one query in a region."""
    return placements(sample, SortedRows.from_scores(scores), region.weights, region.min_tpr)


class RegionComparison:
    """Partial AUC of several scorers on the same rows, with paired standard errors on demand.

    Where no positive has a negative to be compared with (splits that a callback has cut short), all is
    nan, and no scorer beats another. Tensors are compared on their device, where `compares_there` says
    so of the rows and the region.

    Parameters
    ----------
    sample : Sample
        The rows; queries count alike.
    scores : ndarray or tensor of shape (n_scorers, n_rows)
    region : Region
    group : ndarray of int, default=None
        Number of each row's group, where groups are the independent units of the errors.
    """

    measure = "partial AUC"

    def __init__(
        self,
        sample: Sample,
        scores: Vector,
        region: Region,
        group: IntArray | None = None,
    ) -> None:
        self.sample, self.scores, self.region, self.group = sample, scores, region, group

    @staticmethod
    def compares_there(sample: Sample, region: Region) -> bool:
        """Tell whether scores on another device can be compared there: rows count alike, in a range."""
        alike = sample.weight is None and sample.query is None
        return alike and region.is_plain_range and region.min_tpr == 0

    @cached_property
    def values(self) -> FloatArray:
        """Partial AUC of every scorer."""
        if not self.sample.has_pairs:
            return np.full(len(self.scores), np.nan)
        if self.sample.query is not None:
            return np.asarray(self._by_query.mean(axis=0))
        return np.array([self._value(self.sample, row) for row in self.scores])

    def error(self, a: int, b: int) -> float:
        """Compute the standard error of the difference of two scorers' partial AUC."""
        if not self.sample.has_pairs:
            return float("nan")
        if self.sample.query is not None:
            gaps = self._by_query[:, a] - self._by_query[:, b]
            if gaps.size > 1:
                return error_of_mean(gaps)
            return self._within_the_only_query(a, b)
        return self._error_of(self._influence(a) - self._influence(b))

    def _error_of(self, influence: Vector) -> float:
        if self.group is None:
            return standard_error(self.sample, influence, meaning="replication")
        return standard_error(self.sample, influence, meaning="sampling", group=self.group)

    def _within_the_only_query(self, a: int, b: int) -> float:
        """Compute the standard error over rows: one query tells nothing of a spread over queries."""
        rows = np.flatnonzero(self.sample.rankable[self.sample.query])
        alone = self.sample.as_one_query(rows)
        scores = self.scores[[a, b]][:, rows]
        group = self.group
        if group is not None:
            group = np.unique(group[rows], return_inverse=True)[1]
        return type(self)(alone, scores, self.region, group).error(0, 1)

    def lead(self, a: int, b: int) -> Lead:
        """Compute how far scorer a is above scorer b, with the paired standard error."""
        return Lead(float(self.values[a] - self.values[b]), self.error(a, b))

    @cached_property
    def _by_query(self) -> FloatArray:
        queries = Queries(self.sample)
        return np.stack([self._of_queries(queries, row) for row in self.scores], axis=1)

    def _of_queries(self, queries: Queries, scores: FloatArray) -> FloatArray:
        return queries.in_region(scores, self.region)

    def _value(self, sample: Sample, scores: FloatArray) -> float:
        # Only the top of the ranking is sorted.
        if is_tensor(scores):
            return counted_range_average(sample.positive, scores, *self.region.fpr_range)
        curve = top_of_curve(_ranking(sample, scores), self.region.upper_limit)
        return float(region_average(curve, self.region))

    @cached_property
    def _influences(self) -> dict[int, Vector]:
        return {}

    def _influence(self, scorer: int) -> Vector:
        if scorer not in self._influences:
            self._influences[scorer] = self._computed_influence(self.scores[scorer])
        return self._influences[scorer]

    def _computed_influence(self, scores: Vector) -> Vector:
        if is_tensor(scores):
            return counted_range_influence(self.sample.positive, scores, *self.region.fpr_range)
        return region_placements(self.sample, scores, self.region).influence


class PrecisionComparison(RegionComparison):
    """Average precision of several scorers on the same rows, in place of their partial AUC.

    Scores are compared on the host. Errors are those of random rows: the share of positives is
    uncertain too.
    """

    measure = "average precision"

    def __init__(
        self, sample: Sample, scores: Vector, region: Region, group: IntArray | None = None
    ) -> None:
        super().__init__(sample.on_host(), arrays_of(scores).host(scores), region, group)

    def _error_of(self, influence: Vector) -> float:
        copies = self.sample.weight if self.group is None else None
        return error_of_effects(influence, copies, self.group)

    def _of_queries(self, queries: Queries, scores: FloatArray) -> FloatArray:
        return queries.values(scores, lambda curves, _: average_precision(curves))

    def _value(self, sample: Sample, scores: FloatArray) -> float:
        return float(average_precision(roc_curve(_ranking(sample, scores))))

    def _computed_influence(self, scores: Vector) -> Vector:
        return average_precision_effects(_ranking(self.sample, scores))


def _ranking(sample: Sample, scores: FloatArray) -> RankingSample:
    return RankingSample(sample.positive, sample.weight, score=scores)


# How two models are compared, by the name of the measure.
COMPARISONS = {"partial_auc": RegionComparison, "average_precision": PrecisionComparison}
