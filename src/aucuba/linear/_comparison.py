"""Partial AUC of several scorers on the same rows, and how sure their differences are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._typing import FloatArray
from aucuba.linear._region import Region
from aucuba.metrics._placements import Placements, placements
from aucuba.risks import Labels, queries_with_both_classes


def has_pairs(labels: Labels) -> bool:
    """Whether the rows, or those of one query, have both classes."""
    if labels.group is not None:
        return bool(queries_with_both_classes(labels))
    return bool(labels.positive.any() and not labels.positive.all())


def region_placements(labels: Labels, scores: FloatArray, region: Region) -> Placements:
    """Placement values of one query in a region."""
    return placements(labels, scores, region.weights, region.min_tpr)


def standard_error(labels: Labels, influence: FloatArray) -> float:
    """Standard error of a mean difference with the given influences (of one or of two scorers)."""
    weight = np.ones(influence.size) if labels.weight is None else labels.weight
    variance = 0.0
    for rows in (labels.positive, ~labels.positive):
        total = weight[rows].sum()
        share = weight[rows] / total
        variance += float(share @ (influence[rows] - share @ influence[rows]) ** 2 / total)
    return float(np.sqrt(variance))


@dataclass(frozen=True)
class RegionComparison:
    """Partial AUC of several scorers on the same rows, with paired standard errors."""

    values: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, labels: Labels, scores: FloatArray, region: Region) -> RegionComparison:
        """Compare the rows of ``scores``, shape (n_scorers, n_rows); queries count alike.

        Where no positive has a negative to be compared with (splits that a callback has cut short),
        all is nan, and no scorer beats another.
        """
        if not has_pairs(labels):
            return cls(np.full(len(scores), np.nan), np.full((len(scores),) * 2, np.nan))
        if labels.group is None:
            each = [region_placements(labels, row, region) for row in scores]
            values = np.array([one.value for one in each])
            errors = [
                [standard_error(labels, a.influence - b.influence) for b in each] for a in each
            ]
            return cls(values, np.array(errors))
        by_query = np.array(
            [
                [region_placements(labels.select(rows), row[rows], region).value for row in scores]
                for rows in queries_with_both_classes(labels)
            ]
        )
        gaps = by_query[:, :, np.newaxis] - by_query[:, np.newaxis, :]
        return cls(by_query.mean(axis=0), gaps.std(axis=0) / np.sqrt(len(by_query)))

    def beats(self, a: int, b: int, n_errors: float) -> bool:
        """Whether scorer a is above scorer b by more than a number of paired standard errors."""
        return bool(self.values[a] - self.values[b] > n_errors * self.errors[a, b])
