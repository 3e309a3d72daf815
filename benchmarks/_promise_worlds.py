"""Populations whose rates are known for every threshold, for the study of promised thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

PREVALENCE = 0.3
# Distance of the classes at each allowed rate, so that a precision of 1 - rate is within reach.
SHIFTS = {1e-1: 2.0, 1e-2: 3.0, 1e-3: 4.0, 1e-4: 5.0}
STEPS = {"continuous": 0.0, "tied": 0.1, "discrete": 1.0}
HEAVY, LIGHT, HEAVY_PART, HEAVY_SHIFT = 3.0, 0.5, 0.4, 0.5
CORRELATION = 0.3


class FirstColumn(ClassifierMixin, BaseEstimator):
    """A frozen base model: the score is the first column."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return X[:, 0]


@dataclass(frozen=True)
class Law:
    """Normal scores of two classes, rounded to a step; in the weighted law heavy rows lie higher."""

    shift: float
    step: float = 0.0
    weighted: bool = False

    def draw(self, rng, n_rows, positive=None):
        """Scores, labels and weights; ``positive`` fixes the class of all rows."""
        y = rng.uniform(size=n_rows) < PREVALENCE
        y = y if positive is None else np.full(n_rows, positive)
        score = rng.normal(size=n_rows) + self.shift * y
        weight = None
        if self.weighted:
            heavy = rng.uniform(size=n_rows) < HEAVY_PART
            weight = np.where(heavy, HEAVY, LIGHT)
            score += HEAVY_SHIFT * heavy
        return self._rounded(score), y.astype(int), weight

    def draw_groups(self, rng, n_groups, positive=None):
        """Groups of one to four rows that have an effect in common."""
        group = np.repeat(np.arange(n_groups), rng.integers(1, 5, size=n_groups))
        y = rng.uniform(size=group.size) < PREVALENCE
        y = y if positive is None else np.full(group.size, positive)
        effect = np.sqrt(CORRELATION) * rng.normal(size=n_groups)[group]
        noise = np.sqrt(1 - CORRELATION) * rng.normal(size=group.size)
        return self._rounded(effect + noise + self.shift * y), y.astype(int), group

    def rates(self, threshold):
        """True rates of flagging scores strictly above the threshold."""
        if self.step:
            threshold = (np.floor(threshold / self.step) + 0.5) * self.step
        parts = [(1.0, 0.0)]
        if self.weighted:
            parts = [((1 - HEAVY_PART) * LIGHT, 0.0), (HEAVY_PART * HEAVY, HEAVY_SHIFT)]
        total = sum(size for size, _ in parts)
        fpr = sum(size * norm.sf(threshold - up) for size, up in parts) / total
        tpr = sum(size * norm.sf(threshold - up - self.shift) for size, up in parts) / total
        alerts = PREVALENCE * tpr + (1 - PREVALENCE) * fpr
        return {
            "fpr": fpr,
            "tpr": tpr,
            "alerts": alerts,
            "precision": PREVALENCE * tpr / alerts if alerts > 0 else 1.0,
        }

    def _rounded(self, score):
        return np.round(score / self.step) * self.step if self.step else score
