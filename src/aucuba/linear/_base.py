"""The base of the linear classifiers: validation, adoption of a model, prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from aucuba._base._estimator import BinaryClassifier
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_positive_number
from aucuba._base._warnings import Remedy, ScaleAdvice, warn_user
from aucuba._roc._threshold import operating_point
from aucuba._rows._splits import KeptRows
from aucuba.design import RowDesign
from aucuba.linear._inputs import input_of
from aucuba.risks import Sample
from aucuba.solvers import Solution

# Columns whose standard deviations differ by more than this factor are not penalised alike.
_SCALE_RATIO = 1000.0
# Enough rows to see such a factor, fewer of a wide table.
_MOST_ROWS_FOR_SCALE, _FEWEST_ROWS_FOR_SCALE = 1000, 200
_ENTRIES_FOR_SCALE, _ENTRIES_TO_CONFIRM = 20_000, 4_000_000


class RegionClassifier(BinaryClassifier):
    """Base of the binary classifiers ``score = X @ coef + intercept`` trained for a region."""

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, KeptRows]:
        """Check the data and drop rows of zero weight; set ``classes_`` and ``pos_label_``."""
        design, sample, kept, classes = input_of(X).for_training(self, X, y, sample_weight, qid)
        self.classes_, self.pos_label_ = classes
        return design, sample, kept

    def _adopt_linear(
        self, coef: FloatArray, scores: FloatArray, sample: Sample, upper_limit: float
    ) -> None:
        """Store a linear model of ``pos_label_`` with the threshold of its training scores."""
        self.coef_ = self._oriented(coef[np.newaxis])
        self._adopt_threshold(scores, sample, upper_limit)

    def _adopt_threshold(self, scores: FloatArray, sample: Sample, upper_limit: float) -> None:
        self.threshold_, self.predict_fpr_ = operating_point(scores, sample, upper_limit)
        self.intercept_ = self._oriented(np.array([-self.threshold_]))

    def _adopt_run(self, solution: Solution) -> None:
        """Store how a solver ended."""
        self.objective_ = float(solution.objective)
        self.n_iter_ = solution.n_iter
        self.status_ = str(solution.status)
        self.history_ = solution.history

    def _described(self, loss: str, certificate: str, size: str | None = None) -> str:
        """Describe a fitted model in one paragraph: region, loss, size, certificate, status."""
        check_is_fitted(self)
        params = self.get_params(deep=False)
        low, high = params["fpr_range"]
        weighted = "" if params["fpr_weight"] is None else "weighted "
        region = f"{weighted}false positive rates in [{low:g}, {high:g}]"
        if params["min_tpr"] > 0:
            region += f" and true positive rates from {params['min_tpr']:g}"
        if size is None:
            used = int(np.count_nonzero(self.coef_))
            size = f"a linear model with {used} of {self.coef_.size} coefficients in use"
        return (
            f"Trained for {region} with {loss}: {size}, after {self.n_iter_} iterations. "
            f"{certificate} {self.status_}"
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: above 0 is ``classes_[1]``, and the training FPR at 0 is ``predict_fpr_``.

        This is the score of ``pos_label_`` minus ``threshold_``, with its sign turned where
        ``pos_label_`` is ``classes_[0]``.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask collection} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Lazy, a Dask array, where X is of Dask.
        """
        scores: FloatArray = self._unmoved_scores(X) + self.intercept_[0]
        return scores

    def _unmoved_scores(self, X: Any) -> Any:
        """Check rows and score them towards ``classes_[1]``, before the intercept is added."""
        check_is_fitted(self)
        return input_of(X).scores(self, X)

    def _raw_scores(self, X: Any) -> FloatArray:
        """Score validated rows of an array towards ``classes_[1]``."""
        return np.asarray(X @ self.coef_[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_stopping(tol: Any, rtol: Any, max_iter: Any) -> None:
    """Check the parameters that say where a fit stops."""
    check_positive_number(tol, "tol")
    if rtol is not None:
        check_positive_number(rtol, "rtol")
    check_positive_number(max_iter, "max_iter", integer=True)


def warn_if_badly_scaled(design: RowDesign) -> None:
    """Warn if the columns' scales differ so much that the penalty is meaningless."""
    n_columns = design.zeros().size
    n_rows = min(max(_ENTRIES_FOR_SCALE // n_columns, _FEWEST_ROWS_FOR_SCALE), _MOST_ROWS_FOR_SCALE)
    low, high = _range_of_scales(design.some_rows(n_rows))
    if high > _SCALE_RATIO * low and n_rows < design.n_rows:
        # A column that is zero in most rows, such as the kernel with a remote landmark, may vary in
        # none of these: look at more of them before complaining.
        low, high = _range_of_scales(
            design.some_rows(max(_ENTRIES_TO_CONFIRM // n_columns, n_rows))
        )
    if high > _SCALE_RATIO * low:
        warn_user(
            ScaleAdvice(
                f"The standard deviations of the columns of X range from {low:.2g} to {high:.2g}, and "
                "X is not scaled here.",
                Remedy("put a StandardScaler before this estimator", "pipeline"),
            )
        )


def _range_of_scales(rows: Any) -> tuple[float, float]:
    """Return the lowest and highest standard deviation of the columns that vary."""
    if sparse.issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        sd = np.sqrt(np.maximum(np.asarray(rows.multiply(rows).mean(axis=0)).ravel() - mean**2, 0))
    else:
        # Moments about a row take a third of the time of np.std and lose nothing by rounding.
        moved = rows - rows[0].astype(np.float64)
        each = np.full(len(rows), 1 / len(rows))
        sd = np.sqrt(np.maximum(each @ moved**2 - (each @ moved) ** 2, 0))
    sd = sd[sd > 1e-12 * sd.max(initial=0.0)]
    return (float(sd.min()), float(sd.max())) if sd.size else (1.0, 1.0)
