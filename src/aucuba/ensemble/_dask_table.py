"""Rows of a Dask collection for meta-estimators: cut block by block, never gathered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, validate_data

from aucuba._base._estimator import BinaryClassifier, Classes
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._splits import KeptRows, rows_to_fit
from aucuba.design import DaskBlocks
from aucuba.ensemble._dask_boosting import BoosterOnDask
from aucuba.ensemble._scores import log_odds
from aucuba.ensemble._table import TrainingTable


@dataclass(frozen=True)
class DaskTable(TrainingTable):
    """A table whose ``X`` is `DaskBlocks` on the workers; labels and weights are on the driver."""

    def take(self, rows: AnyArray) -> DaskTable:
        """Select rows, given in increasing order."""
        return replace(self, X=self.X.take(rows), sample=self.sample.take(rows))

    def reweighted(self, factors: FloatArray) -> DaskTable:
        return replace(self, sample=replace(self.sample, weight=self.sample.weights * factors))

    def fitted(self, estimator: Any) -> Any:
        """Fit the booster on the workers and return it as a plain model."""
        return BoosterOnDask.from_estimator(estimator).fit(
            self.X, self.sample.y, self.sample.weight
        )

    def scores(self, model: Any) -> FloatArray:
        """Score the rows, block by block, by a plain model."""
        return np.concatenate(self.X.run(_scores, self.X.shared(model)))

    def folds(self, cv: Any, kept: KeptRows, seed: int) -> Folds:
        """Draw folds by a hash of the row number; groups, times and splits are as in memory."""
        return partition(cv, kept, seed, hashed=True)


def make_dask_table(
    estimator: BinaryClassifier, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any
) -> tuple[DaskTable, KeptRows, Classes]:
    """Gather and check the vectors; keep the blocks on the workers and count their rows."""
    for name in ("n_jobs", "memory"):
        if estimator.get_params(deep=False)[name] not in (None, 1):
            raise ValueError(f"{name} is for tables in memory; leave it at None.")
    check_dask_columns(estimator, X, reset=True)
    blocks = DaskBlocks(X)
    if blocks.client is None:
        raise RuntimeError(
            "Boosting on Dask collections needs a cluster: open a distributed.Client first, for "
            "example Client(n_workers=2)."
        )
    y, sample_weight, groups, time = blocks.gather(y, sample_weight, groups, time)
    blocks.count(blocks.run(_num_samples))
    sample, kept, classes = rows_to_fit(
        estimator, None, y, blocks.n_rows, sample_weight, groups=groups, time=time
    )
    part = blocks if sample.n_rows == blocks.n_rows else blocks.take(kept.index)
    return DaskTable(part, sample), kept, classes


def check_dask_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store or compare the number and names of the columns, which Dask knows without computing."""
    validate_data(estimator, DaskBlocks.columns_of(X), reset=reset, skip_check_array=True)


def _scores(block: Any, model: Any) -> FloatArray:
    return log_odds(model, block)
