"""The base of the linear classifiers, and the kinds of table that they accept."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from aucuba._base._arrays import is_half_precision
from aucuba._base._estimator import BinaryClassifier, Classes
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import as_table, check_positive_number, largest_entry
from aucuba._base._warnings import Remedy, ScaleAdvice, warn_user
from aucuba._roc._threshold import operating_point
from aucuba._rows._splits import KeptRows, rows_to_fit
from aucuba.design import RowDesign, TableDesign
from aucuba.risks import Sample
from aucuba.solvers import Solution

_PREPARE = (
    "Text, dates and missing values need a ColumnPreparer() before this estimator in a pipeline."
)
# Products of two larger entries, summed over rows, may overflow.
_LARGEST = {"bfloat16": 1e15, "float16": 1e15, "float32": 1e15, "float64": 1e150}
# Products of two entries that are all smaller vanish.
_SMALLEST = {"float32": 1e-18, "float64": 1e-150}
# Packages whose tables scikit-learn does not validate; their modules are imported on first use.
_OTHER_KINDS = {
    "dask": "aucuba.linear._dask_input:DaskInput",
    "torch": "aucuba.linear._torch_input:TorchInput",
}

# Columns whose standard deviations differ by more than this factor are not penalised alike.
_SCALE_RATIO = 1000.0
# Enough rows to see such a factor, fewer of a wide table.
_MOST_ROWS_FOR_SCALE, _FEWEST_ROWS_FOR_SCALE = 1000, 200
_ENTRIES_FOR_SCALE, _ENTRIES_TO_CONFIRM = 20_000, 4_000_000


class Input(Protocol):
    """How one kind of table becomes a Design and a Sample, and how a fitted model scores it."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, KeptRows, Classes]:
        """Check the data, drop rows of zero weight and find the classes."""
        ...

    def scores(self, estimator: Any, X: Any) -> Any:
        """Score rows towards ``classes_[1]``, in the kind and place of X."""
        ...


class ArrayInput:
    """Tables that scikit-learn accepts: arrays, data frames, CSR matrices."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, KeptRows, Classes]:
        given = X
        if not _is_plain(X):
            given = as_table(X)
            X = _checked_table(estimator, given)
        largest = _check_entries(X, type(estimator).__name__)
        sample, kept, classes = rows_to_fit(estimator, given, y, X.shape[0], sample_weight, qid=qid)
        if sample.n_rows < X.shape[0]:
            X = X[kept.index]
        return TableDesign(X, largest), sample, kept, classes

    def scores(self, estimator: Any, X: Any) -> Any:
        X = as_table(X)
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=_kept_types(estimator, X),
            ensure_all_finite=not _in_half_precision(X),
            reset=False,
        )
        if _in_half_precision(X):
            # Neither the check of scikit-learn nor a product would leave the table as it is.
            return TableDesign(X, _check_entries(X, type(estimator).__name__)).scores(
                estimator.coef_[0]
            )
        return estimator._raw_scores(X)


def _is_plain(X: Any) -> bool:
    """Tell whether X is an array of doubles or floats that can be trained on as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.shape[0] >= 2
        and X.shape[1] >= 1
    )


def _checked_table(estimator: Any, X: Any) -> Any:
    """Let scikit-learn check a table to train on; entries may not be finite."""
    try:
        return validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=_kept_types(estimator, X),
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(f"{error}. {_PREPARE}") from None


def _kept_types(estimator: Any, X: Any) -> list[Any]:
    """List the types of numbers that stay as they are; others become float64."""
    kept: list[Any] = [np.float64, np.float32]
    return [*kept, X.dtype] if estimator._keeps_half and _in_half_precision(X) else kept


def _in_half_precision(X: Any) -> bool:
    return isinstance(X, np.ndarray) and is_half_precision(X.dtype)


def input_of(X: Any) -> Input:
    """Choose the kind by the package that defines the type of X."""
    name = _OTHER_KINDS.get(type(X).__module__.partition(".")[0])
    if name is None:
        return ArrayInput()
    module, _, kind = name.partition(":")
    made: Input = getattr(import_module(module), kind)()
    return made


def _check_entries(X: Any, estimator_name: str) -> float:
    """Return the largest entry; raise if one is not finite, or if products or sums could overflow."""
    values = X.data if sparse.issparse(X) else X
    largest = largest_entry(values)
    if math.isnan(largest) and not sparse.issparse(X):
        raise ValueError(f"Input X contains NaN. {_PREPARE}")
    if not math.isfinite(largest):
        assert_all_finite(X, estimator_name=estimator_name, input_name="X")
    check_largest(largest, values.dtype.type.__name__)
    return largest


def check_largest(largest: float, dtype: str) -> None:
    """Raise if products of entries of this size overflow, or vanish."""
    smallest = _SMALLEST.get(dtype, 0.0)
    if largest > _LARGEST[dtype] or 0 < largest < smallest:
        verb, remedy = "overflow", "Put a StandardScaler before this estimator."
        if largest < smallest:
            # A scaler would divide by a spread that vanishes itself.
            verb, remedy = "underflow", "Multiply X by a constant first."
        raise ValueError(
            f"X holds values up to {largest:.3g}, whose products {verb} in {dtype}. {remedy}"
        )


class RegionClassifier(BinaryClassifier):
    """Base of the binary classifiers ``score = X @ coef + intercept`` trained for a region."""

    # Whether rows in half precision stay as they are; they become float64 otherwise.
    _keeps_half = False

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, KeptRows]:
        """Check the data and drop rows of zero weight; set ``classes_`` and ``pos_label_``."""
        if _is_plain(X):
            # Scikit-learn's check would do no more, in a tenth of a millisecond.
            self.n_features_in_ = X.shape[1]
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
        mean = each @ moved
        moved *= moved
        sd = np.sqrt(np.maximum(each @ moved - mean * mean, 0))
    sd = sd[sd > 1e-12 * sd.max(initial=0.0)]
    return (float(sd.min()), float(sd.max())) if sd.size else (1.0, 1.0)
