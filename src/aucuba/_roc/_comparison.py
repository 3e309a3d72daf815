"""Partial AUC of several scorers on the same rows, and how sure their differences are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._roc._placements import Placements, placements
from aucuba._roc._region import Region
from aucuba._roc._sample import Sample, SortedRows
from aucuba._roc._standard_error import standard_error


def region_placements(sample: Sample, scores: FloatArray, region: Region) -> Placements:
    """Placement values of one query in a region."""
    return placements(sample, SortedRows.from_scores(scores), region.weights, region.min_tpr)


@dataclass(frozen=True)
class RegionComparison:
    """Partial AUC of several scorers on the same rows, with paired standard errors."""

    values: FloatArray
    errors: FloatArray

    @classmethod
    def from_scores(cls, sample: Sample, scores: FloatArray, region: Region) -> RegionComparison:
        """Compare the rows of ``scores``, shape (n_scorers, n_rows); queries count alike.

        Where no positive has a negative to be compared with (splits that a callback has cut short),
        all is nan, and no scorer beats another.
        """
        if not sample.has_pairs:
            return cls(np.full(len(scores), np.nan), np.full((len(scores),) * 2, np.nan))
        if sample.query is None:
            each = [region_placements(sample, row, region) for row in scores]
            values = np.array([one.value for one in each])
            errors = [[_error(sample, a, b) for b in each] for a in each]
            return cls(values, np.array(errors))
        by_query = np.array(
            [
                [
                    region_placements(sample.as_one_query(rows), row[rows], region).value
                    for row in scores
                ]
                for rows in sample.rankable_queries()
            ]
        )
        gaps = by_query[:, :, np.newaxis] - by_query[:, np.newaxis, :]
        return cls(by_query.mean(axis=0), gaps.std(axis=0) / np.sqrt(len(by_query)))

    def beats(self, a: int, b: int, n_errors: float) -> bool:
        """Tell whether scorer a is above scorer b by more than a number of paired standard errors."""
        return bool(self.values[a] - self.values[b] > n_errors * self.errors[a, b])


def _error(sample: Sample, a: Placements, b: Placements) -> float:
    return standard_error(sample, a.influence - b.influence, meaning="replication")
