"""Measures of the four cells at a fixed threshold: mean values of a row, or ratios of two such sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, at_vertex
from aucuba._roc._points import vertex_of_threshold
from aucuba._rows._sample import RankingSample

CELLS = ("tp", "fp", "fn", "tn")
_EVERY_ROW = dict.fromkeys(CELLS, 1.0)


@dataclass(frozen=True)
class CellRatio:
    """The sum of one value per row over the sum of another, each given by the row's cell.

    Parameters
    ----------
    threshold : float
        Rows with a score at or above it are flagged.
    above : mapping
        Value of a row in each cell; cells that are not named count 0.
    below : mapping
        The same of the divisor, by default 1 in every cell: the ratio is then a mean.
    """

    threshold: float
    above: Mapping[str, float]
    below: Mapping[str, float] | None = None

    @property
    def is_mean(self) -> bool:
        return self.below is None

    def of_curve(self, curve: RocCurve, n_rows: int = 0) -> FloatArray:
        """Compute the ratio from a ROC curve; nan where the divisor is 0."""
        vertex = vertex_of_threshold(curve, self.threshold)
        tp, fp = (at_vertex(one, vertex) for one in (curve.true_positive, curve.false_positive))
        p, n = curve.true_positive[..., -1], curve.false_positive[..., -1]
        known = {"tp": tp, "fp": fp, "fn": p - tp, "tn": n - fp}
        above, below = (
            sum(value * known[cell] for cell, value in values.items())
            for values in (self.above, self.below or _EVERY_ROW)
        )
        return np.where(below != 0, above / np.where(below != 0, below, 1.0), np.nan)

    def effects(self, sample: RankingSample) -> FloatArray:
        """Compute the first-order effect of every row."""
        flagged, weight = sample.score >= self.threshold, sample.weights
        cell = np.where(flagged, np.where(sample.positive, 0, 1), np.where(sample.positive, 2, 3))
        above, below = (
            np.array([values.get(name, 0.0) for name in CELLS])[cell]
            for values in (self.above, self.below or _EVERY_ROW)
        )
        total = float(weight @ below)
        if total == 0:
            return np.zeros(sample.n_rows)
        return np.asarray(weight * (above - float(weight @ above) / total * below) / total)
