"""The model that cross-validation chose, with its held-out scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._calibration import logistic_calibration
from aucuba.risks import Sample


@dataclass(frozen=True)
class ChosenModel:
    """Coefficients, and scores of held-out rows in their units; without rows nothing was held out."""

    coef: FloatArray
    rows: IntArray | None = None
    held_out: FloatArray | None = None

    def calibration(self, scores: FloatArray, sample: Sample) -> FloatArray:
        """Calibrate on the held-out rows; on training scores where these lack a class."""
        if self.rows is not None and self.held_out is not None:
            tested = sample.take(self.rows)
            if tested.positive.any() and not tested.positive.all():
                slope, at_mean = logistic_calibration(self.held_out, tested)
                mean = np.average(scores, weights=sample.weight)
                return np.array([slope, at_mean - slope * mean])
        return logistic_calibration(scores, sample)
