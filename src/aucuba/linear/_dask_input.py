"""Dask arrays and DataFrames as input of the linear classifiers."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.utils.validation import assert_all_finite, validate_data

from aucuba._base._estimator import Classes
from aucuba._base._typing import FloatArray
from aucuba._rows._splits import KeptRows, rows_to_fit
from aucuba.design import DaskBlocks, DaskDesign, RowDesign
from aucuba.linear._base import check_largest
from aucuba.risks import Sample


class DaskInput:
    """Leave X in its blocks; gather labels, weights and scores on the driver."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, qid: Any
    ) -> tuple[RowDesign, Sample, KeptRows, Classes]:
        if estimator.get_params(deep=False).get("n_jobs") not in (None, 1):
            raise ValueError(
                "n_jobs is for tables in memory; leave it at None, since Dask spreads every pass over "
                "its own workers."
            )
        _check_columns(estimator, X, reset=True)
        y, sample_weight, qid = DaskBlocks.gather(y, sample_weight, qid)
        design = DaskDesign(X)
        check_largest(design.largest, design.dtype)
        sample, kept, classes = rows_to_fit(
            estimator, None, y, design.n_rows, sample_weight, qid=qid
        )
        part = design if sample.n_rows == design.n_rows else design.take(kept.index)
        return part, sample, kept, classes

    def scores(self, estimator: Any, X: Any) -> Any:
        _check_columns(estimator, X, reset=False)
        return DaskBlocks.scored(X, partial(_scores, estimator))


def _check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    validate_data(estimator, DaskBlocks.columns_of(X), reset=reset, skip_check_array=True)


def _scores(estimator: Any, block: Any) -> FloatArray:
    table = DaskDesign.as_table(block)
    assert_all_finite(table, input_name="A block of X", estimator_name=type(estimator).__name__)
    scores: FloatArray = estimator._raw_scores(table)
    return scores
