"""Base of the ensembles: a threshold on out-of-fold scores, and calibrated probabilities."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from aucuba._base._estimator import BinaryClassifier
from aucuba._base._typing import FloatArray
from aucuba._base._validation import as_table, is_of_dask
from aucuba._roc._threshold import operating_point
from aucuba._rows._sample import Sample
from aucuba.ensemble._table import check_columns

# Rows scored at a time: splines and kernel features of a million rows would take gigabytes.
_ROWS_AT_ONCE = 50_000


class RegionEnsemble(BinaryClassifier):
    """A binary classifier whose scores, or a calibration of them, are log-odds of ``pos_label_``."""

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows; a score above 0 means ``classes_[1]``.

        This is the score of ``pos_label_`` minus ``threshold_``, with its sign reversed if
        ``pos_label_`` is ``classes_[0]``. At 0 the out-of-fold FPR is ``predict_fpr_``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._oriented(self._checked_scores(X) - self.threshold_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute calibrated probabilities of both classes; they do not depend on the threshold.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities in the order of ``classes_``.
        """
        return self._probabilities(self._log_odds(self._checked_scores(X)))

    @abstractmethod
    def _scores(self, X: Any) -> FloatArray:
        """Score checked rows towards ``pos_label_``."""

    @abstractmethod
    def _log_odds(self, scores: FloatArray) -> FloatArray:
        """Turn scores into calibrated log-odds of ``pos_label_``."""

    def _checked_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if is_of_dask(X):
            from aucuba.design import DaskBlocks
            from aucuba.ensemble._dask_table import check_dask_columns

            check_dask_columns(self, X, reset=False)
            scores: FloatArray = DaskBlocks.scored(X, self._scores)
            return scores
        X = as_table(X)
        check_columns(self, X)
        n_rows = _num_samples(X)
        if n_rows <= _ROWS_AT_ONCE:
            return self._scores(X)
        starts = range(0, n_rows, _ROWS_AT_ONCE)
        parts = (_safe_indexing(X, slice(start, start + _ROWS_AT_ONCE)) for start in starts)
        return np.concatenate([self._scores(part) for part in parts])

    def _adopt_threshold(self, scores: FloatArray, sample: Sample, upper_limit: float) -> None:
        """Set the threshold on out-of-fold scores."""
        self.threshold_, self.predict_fpr_ = operating_point(scores, sample, upper_limit)
