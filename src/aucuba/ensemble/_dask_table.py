"""Rows of a Dask collection for meta-estimators: cut block by block, never gathered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, assert_all_finite, validate_data

from aucuba._base._dask_client import gathered, watched
from aucuba._base._estimator import BinaryClassifier
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import row_weights
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._sample import Sample
from aucuba._rows._splits import KeptRows
from aucuba.ensemble._dask_boosting import BoosterOnDask, Part, client_for_boosting
from aucuba.ensemble._scores import log_odds
from aucuba.ensemble._table import Table

LOG = logging.getLogger("aucuba")


@dataclass(frozen=True)
class _Block:
    """Some rows of one block of a collection, by their places in it; None is all."""

    rows: Any
    n_rows: int
    taken: IntArray | None = None

    def take(self, places: IntArray) -> _Block:
        taken = places if self.taken is None else self.taken[places]
        return _Block(self.rows, int(places.size), taken)

    def delayed(self) -> Any:
        if self.taken is None:
            return dask.delayed(self.rows)
        return dask.delayed(_rows_of, pure=False)(self.rows, self.taken)


@dataclass(frozen=True)
class DaskTable(Table):
    """A `Table` of Dask: ``X`` is the list of its blocks; labels and weights are on the driver.

    ``meta`` is an empty table of the same columns.
    """

    meta: Any = None

    @property
    def ends(self) -> IntArray:
        """Number of rows up to the end of every block."""
        return np.cumsum([block.n_rows for block in self.X])

    def take(self, rows: AnyArray) -> DaskTable:
        """Select rows, given in increasing order."""
        ends = self.ends
        cuts = np.searchsorted(rows, np.concatenate([[0], ends]))
        blocks = [
            block.take(rows[first:last] - (end - block.n_rows))
            for block, end, first, last in zip(self.X, ends, cuts[:-1], cuts[1:], strict=True)
            if last > first
        ]
        return replace(self, X=blocks, sample=self.sample.take(rows))

    def reweighted(self, factors: FloatArray) -> DaskTable:
        return replace(self, sample=replace(self.sample, weight=self.sample.weights * factors))

    def fitted(self, estimator: Any) -> Any:
        """Fit the booster on the workers and return it as a plain model."""
        cuts, weight = self.ends[:-1], self.sample.weight
        labels = np.split(self.y, cuts)
        weights = [None] * len(labels) if weight is None else np.split(weight, cuts)
        parts = [
            Part(block.delayed(), y, w) for block, y, w in zip(self.X, labels, weights, strict=True)
        ]
        return BoosterOnDask.from_estimator(estimator).fit(parts, self.meta)

    def scores(self, model: Any) -> FloatArray:
        """Score the rows, block by block, by a plain model."""
        task, shared = dask.delayed(log_odds, pure=False), dask.delayed(model, pure=False)
        tasks = [task(shared, block.delayed()) for block in self.X]
        return np.concatenate(watched(client_for_boosting(), lambda: dask.compute(*tasks)))

    def folds(self, cv: Any, kept: KeptRows, seed: int) -> Folds:
        """Draw folds by a hash of the row number; groups, times and splits are as in memory."""
        return partition(cv, kept, seed, hashed=True)


def make_dask_table(
    estimator: BinaryClassifier, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any
) -> tuple[DaskTable, KeptRows]:
    """Check the vectors, which are gathered; keep the blocks on the workers and count their rows."""
    client = client_for_boosting()
    for name in ("n_jobs", "memory"):
        if estimator.get_params(deep=False)[name] not in (None, 1):
            raise ValueError(f"{name} is for tables in memory; leave it at None.")
    meta = check_dask_columns(estimator, X, reset=True)
    y, sample_weight, groups, time = watched(
        client, lambda: dask.compute(y, sample_weight, groups, time)
    )
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    blocks = client.compute(list(np.ravel(_whole_rows(X).to_delayed())))
    counts = client.map(_num_samples, blocks, pure=False)
    lengths = watched(client, lambda: gathered(client, counts))
    if not isinstance(X, dask.array.Array) or np.isnan(X.shape[0]):
        LOG.info("Counted the rows of X once: %d in %d blocks.", sum(lengths), len(blocks))
    if y.size != sum(lengths):
        raise ValueError(f"y has {y.size} entries for the {sum(lengths)} rows of X.")
    weight = row_weights(sample_weight, y.size)
    positive, kept = estimator._adopt_classes(y, weight)
    parts = [_Block(one, n_rows) for one, n_rows in zip(blocks, lengths, strict=True) if n_rows]
    table = DaskTable(parts, Sample(positive, weight), meta)
    # A splitter needs to know how many rows there are, not what is in them.
    rows = KeptRows(kept, np.broadcast_to(0.0, (y.size, 1)), y).resampled_by(groups, time)
    return (table if kept.size == y.size else table.take(kept)), rows


def check_dask_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Store or compare the number and names of the columns; return an empty table of them."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}.")
    is_array = isinstance(X, dask.array.Array)
    meta = np.empty((0, X.shape[1]), dtype=X.dtype) if is_array else X._meta
    validate_data(estimator, meta, reset=reset, skip_check_array=True)
    return meta


def lazy_scores(X: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score a collection block by block when it is computed."""
    if isinstance(X, dask.array.Array):
        return _whole_rows(X).map_blocks(score, drop_axis=1, dtype="f8", meta=np.empty(0))
    return X.map_partitions(_scored_frame, score, meta=(None, "f8")).to_dask_array()


def _scored_frame(frame: pd.DataFrame, score: Callable[[Any], FloatArray]) -> pd.Series:
    scores = score(frame) if len(frame) else np.empty(0)
    return pd.Series(scores, index=frame.index, dtype="f8")


def _whole_rows(X: Any) -> Any:
    several = isinstance(X, dask.array.Array) and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if several else X


def _rows_of(block: Any, rows: IntArray) -> Any:
    return block.iloc[rows] if isinstance(block, pd.DataFrame) else block[rows]
