"""Base classifiers whose scores a test can predict."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class FirstFeature(ClassifierMixin, BaseEstimator):
    """The score is the first feature, whatever the training rows; remembers what ``fit`` saw."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.rows_ = np.asarray(X)[:, 0]
        self.sample_weight_ = sample_weight
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]


class FirstFeatureProbability(FirstFeature):
    """The same, as a probability only."""

    decision_function = property()

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X, dtype=float)[:, 0]))
        return np.column_stack([1 - p, p])


def prefit(labels=(0, 1), base=FirstFeature):
    """A fitted base for ``cv="prefit"``."""
    return base().fit(np.zeros((2, 1)), np.array(labels))
