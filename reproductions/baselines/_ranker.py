"""What the baselines have in common: two classes, scores, and a threshold for the labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from aucuba._base._typing import AnyArray, ArrayLike, BoolArray, FloatArray
from aucuba._base._validation import binary_target, check_fpr_range
from aucuba._roc._curve import range_average, roc_curve
from aucuba._roc._threshold import threshold_for
from aucuba._rows._sample import RankingSample, Sample


class BinaryRanker(BaseEstimator, ABC):
    """A scorer of the positive class, trained for the partial AUC in ``fpr_range``.

    The greater label is positive. ``predict`` calls positive the rows above the threshold whose
    training false positive rate is the upper end of the range.
    """

    fpr_range: tuple[float, float]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on a dense table with two classes."""
        check_fpr_range(self.fpr_range)
        self.classes_: AnyArray = np.unique(np.asarray(y))
        table = np.asarray(X, dtype=float)
        positive = binary_target(y, self.classes_[-1])
        if table.ndim != 2 or len(table) != positive.size:
            raise ValueError(f"X of shape {table.shape} does not have {positive.size} rows.")
        self._learn(table, positive)
        scores = self.decision_function(table)
        self.threshold_ = threshold_for(scores, Sample(positive), self.fpr_range[1])
        return self

    @abstractmethod
    def _learn(self, X: FloatArray, positive: BoolArray) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score the rows; greater is more positive."""

    def predict(self, X: ArrayLike) -> Any:
        """Call a class for every row."""
        return self.classes_[(self.decision_function(X) > self.threshold_).astype(int)]


def partial_auc(positive: BoolArray, score: FloatArray, fpr_range: tuple[float, float]) -> float:
    """Compute the normalised partial AUC of arrays that are known to be valid."""
    curve = roc_curve(RankingSample(positive, score=score))
    return float(range_average(curve, *fpr_range))
