"""The base of the ensembles: classifiers whose score is a log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from aucuba._core._estimator import BinaryClassifier
from aucuba._core._typing import FloatArray


class LogOddsClassifier(BinaryClassifier):
    """A binary classifier whose ``decision_function`` is the log-odds of the second class."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the probabilities of both classes, ``1 / (1 + exp(-score))`` for the second.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        score = self.decision_function(X)
        return np.column_stack([expit(-score), expit(score)])
