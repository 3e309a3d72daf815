"""What the linear classifiers share: validation, adoption of a model, prediction."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._core._advice import Advice, Remedy
from aucuba._core._callbacks import CallbackSupport
from aucuba._core._typing import ArrayLike, FloatArray, IntArray
from aucuba._core._validation import query_index, row_weights
from aucuba._roc._queries import warn_about_queries
from aucuba._roc._threshold import threshold_for
from aucuba.risks import Sample

# Columns whose standard deviations differ by more than this factor are not penalised alike.
_LARGEST = {"float32": 1e15, "float64": 1e150}
_SCALE_RATIO = 1000.0


class RegionClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Base of the binary classifiers ``score = X @ coef + intercept`` trained for a region."""

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[Any, Sample, IntArray]:
        """Data, sample and indices of the rows of positive weight; sets ``classes_``."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        check_classification_targets(y)
        _check_products(X)
        weight = row_weights(sample_weight, X.shape[0])
        query = query_index(qid, X.shape[0])
        self.classes_ = np.unique(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, with "
                f"{len(self.classes_)} classes; compare one class with the rest."
            )
        sample = Sample(y == self.classes_[-1], weight, query)
        kept = np.arange(X.shape[0])
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight > 0)
            X, y, sample = X[kept], y[kept], sample.take(kept)
        if len(np.unique(y)) < 2:
            raise ValueError(
                f"y has only one class ({y[0]!r}) among the rows of positive weight; training needs "
                "at least one row of each of two classes."
            )
        warn_about_queries(sample)
        return X, sample, kept

    def _adopt_linear(
        self, coef: FloatArray, scores: FloatArray, sample: Sample, upper_limit: float
    ) -> None:
        """Store a linear model with the threshold of the training scores."""
        self.coef_ = coef[np.newaxis]
        self.intercept_ = np.array([-threshold_for(scores, sample, upper_limit)])

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: above 0 is positive, and the training FPR at 0 is the range's upper limit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate_for_prediction(X)
        return np.asarray(self._raw_scores(X) + self.intercept_[0])

    def _raw_scores(self, X: Any) -> FloatArray:
        """Scores of validated rows before the intercept."""
        return np.asarray(X @ self.coef_[0])

    def predict(self, X: Any) -> Any:
        """Class of every row, at the training threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def _validate_for_prediction(self, X: Any) -> Any:
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _check_products(X: Any) -> None:
    """Products of two entries, and sums of many, must not overflow."""
    values = X.data if sparse.issparse(X) else X
    largest = max(abs(float(values.max(initial=0.0))), abs(float(values.min(initial=0.0))))
    if largest > _LARGEST[values.dtype.name]:
        raise ValueError(
            f"X holds values up to {largest:.3g}, whose products overflow in {values.dtype}. Put a "
            "StandardScaler before this estimator."
        )


def warn_if_badly_scaled(X: Any) -> None:
    """One warning where the columns' scales differ so much that the penalty is meaningless."""
    rows = X[:: max(1, X.shape[0] // 10_000)]
    if sparse.issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        sd = np.sqrt(np.maximum(np.asarray(rows.multiply(rows).mean(axis=0)).ravel() - mean**2, 0))
    else:
        sd = rows.std(axis=0, dtype=np.float64)
    sd = sd[sd > 1e-12 * sd.max(initial=0.0)]
    if sd.size and sd.max() > _SCALE_RATIO * sd.min():
        advice = Advice(
            f"The standard deviations of the columns of X range from {sd.min():.2g} to "
            f"{sd.max():.2g}, and X is not scaled here.",
            Remedy("put a StandardScaler before this estimator", "pipeline"),
        )
        warnings.warn(advice, stacklevel=3)
