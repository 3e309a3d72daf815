"""Binary classifiers whose score is a log-odds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from aucuba._core._callbacks import CallbackSupport
from aucuba._core._typing import AnyArray, FloatArray


class LogOddsClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Probabilities and classes from a ``decision_function`` that is a log-odds."""

    classes_: AnyArray

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the second class."""

    def predict_proba(self, X: Any) -> FloatArray:
        """``1 / (1 + exp(-score))`` and its complement.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        score = self.decision_function(X)
        return np.column_stack([expit(-score), expit(score)])

    def predict(self, X: Any) -> AnyArray:
        """The more probable class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
