"""Partial AUC of several scorers on the same rows, and how sure their differences are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._typing import FloatArray
from aucuba.linear._region import Region
from aucuba.metrics._placements import Placements, placements
from aucuba.risks import Labels, queries_with_both_classes


def region_placements(labels: Labels, scores: FloatArray, region: Region) -> Placements:
    """Placement values of one query in a region."""
    return placements(labels, scores, region.weights, region.min_tpr)


def standard_error(labels: Labels, influence: FloatArray) -> float:
    """Standard error of a mean difference with the given influences (of one or of two scorers)."""
    weight = np.ones(influence.size) if labels.weight is None else labels.weight
    variance = 0.0
    for rows in (labels.positive, ~labels.positive):
        total = weight[rows].sum()
        mean = weight[rows] @ influence[rows] / total
        variance += float(weight[rows] @ (influence[rows] - mean) ** 2 / total**2)
    return float(np.sqrt(variance))


@dataclass(frozen=True)
class RegionComparison:
    """Partial AUC of several scorers on the same rows, with paired standard errors."""

    values: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, labels: Labels, scores: FloatArray, region: Region) -> RegionComparison:
        """Compare the rows of ``scores``, shape (n_scorers, n_rows); queries count alike."""
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
