"""The kinds of table that the linear classifiers accept, and how each is checked and scored."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils.validation import assert_all_finite, validate_data

from aucuba._base._estimator import Classes
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import largest_entry
from aucuba._roc._queries import warn_about_queries
from aucuba._rows._splits import KeptRows, rows_to_fit
from aucuba.design import RowDesign, TableDesign
from aucuba.risks import Sample

# Products of two larger entries, summed over rows, may overflow.
_LARGEST = {"float32": 1e15, "float64": 1e150}
# Packages whose tables scikit-learn does not validate; their modules are imported on first use.
_OTHER_KINDS = {
    "dask": "aucuba.linear._dask_input:DaskInput",
    "torch": "aucuba.linear._torch_input:TorchInput",
}


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
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
        largest = _check_entries(X, type(estimator).__name__)
        sample, kept, classes = rows_to_fit(estimator, given, y, X.shape[0], sample_weight, qid=qid)
        warn_about_queries(sample)
        if sample.n_rows < X.shape[0]:
            X = X[kept.index]
        return TableDesign(X, largest), sample, kept, classes

    def scores(self, estimator: Any, X: Any) -> Any:
        X = validate_data(
            estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return estimator._raw_scores(X)


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
    if not np.isfinite(largest):
        assert_all_finite(X, estimator_name=estimator_name, input_name="X")
    check_largest(largest, values.dtype.name)
    return largest


def check_largest(largest: float, dtype: str) -> None:
    """Raise if products of entries of this size overflow."""
    if largest > _LARGEST[dtype]:
        raise ValueError(
            f"X holds values up to {largest:.3g}, whose products overflow in {dtype}. Put a "
            "StandardScaler before this estimator."
        )
