"""The base of all binary classifiers, and the check of their classes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from aucuba._core._callbacks import CallbackSupport
from aucuba._core._typing import AnyArray, FloatArray, IntArray


class BinaryClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """A classifier of two classes that predicts the second where its score is above 0."""

    classes_: AnyArray

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows; above 0 is the second class."""

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of every row: the second where its score is above 0.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def check_two_classes(y: AnyArray, weight: FloatArray | None) -> tuple[AnyArray, IntArray]:
    """Return the labels of y in sorted order and the places of the rows of positive weight.

    Both classes must be among these rows.
    """
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass, with "
            f"{classes.size} classes; compare one class with the rest."
        )
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    present = classes if kept.size == len(y) else np.unique(y[kept])
    if present.size < 2:
        raise ValueError(
            f"y has only one class ({present[0]!r}) among the rows of positive weight; training needs "
            "rows of both classes."
        )
    return classes, kept
