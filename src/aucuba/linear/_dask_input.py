"""Dask arrays and DataFrames as input of the linear classifiers."""

from __future__ import annotations

from typing import Any

import dask
import dask.array
import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d
from sklearn.utils.validation import assert_all_finite, validate_data

from aucuba._base._typing import FloatArray
from aucuba._base._validation import query_index, row_weights
from aucuba._roc._queries import warn_about_queries
from aucuba._rows._splits import KeptRows
from aucuba.design import DaskDesign, RowDesign
from aucuba.linear._inputs import check_largest
from aucuba.risks import Sample


class DaskInput:
    """Dask collections: X stays in its blocks; labels, weights and scores are on the driver."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, qid: Any
    ) -> tuple[RowDesign, Sample, KeptRows]:
        if estimator.get_params(deep=False).get("n_jobs") not in (None, 1):
            raise ValueError(
                "n_jobs is for tables in memory; leave it at None, since Dask spreads every pass over "
                "its own workers."
            )
        _adopt_columns(estimator, X, reset=True)
        y, sample_weight, qid = dask.compute(y, sample_weight, qid)
        design = DaskDesign(X)
        check_largest(design.largest, design.dtype)
        y = column_or_1d(y, warn=True)
        if y.size != design.n_rows:
            raise ValueError(f"y has {y.size} entries for the {design.n_rows} rows of X.")
        weight = row_weights(sample_weight, y.size)
        query = query_index(qid, y.size)
        positive, kept = estimator._adopt_classes(y, weight)
        sample = Sample(positive, weight, query)
        # A splitter needs to know how many rows there are, not what is in them.
        stand_in = np.broadcast_to(0.0, (y.size, 1))
        rows = KeptRows(kept, stand_in, y, qid)
        warn_about_queries(sample.take(kept))
        if kept.size == y.size:
            return design, sample, rows
        return design.take(kept), sample.take(kept), rows

    def scores(self, estimator: Any, X: Any) -> Any:
        _adopt_columns(estimator, X, reset=False)
        if not isinstance(X, dask.array.Array):
            return X.map_partitions(_scored_frame, estimator, meta=(None, "f8")).to_dask_array()
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return X.map_blocks(_scored, estimator, drop_axis=1, dtype="f8", meta=np.empty(0))


def _adopt_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Check or store the number and names of the columns, which Dask knows without computing."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}.")
    known = np.empty((1, X.shape[1])) if isinstance(X, dask.array.Array) else X._meta
    validate_data(estimator, known, reset=reset, skip_check_array=True)


def _scored(block: Any, estimator: Any) -> FloatArray:
    table = DaskDesign.as_table(block)
    assert_all_finite(table, input_name="A block of X", estimator_name=type(estimator).__name__)
    scores: FloatArray = estimator._raw_scores(table)
    return scores


def _scored_frame(frame: pd.DataFrame, estimator: Any) -> pd.Series:
    return pd.Series(_scored(frame, estimator), index=frame.index, dtype="f8")
