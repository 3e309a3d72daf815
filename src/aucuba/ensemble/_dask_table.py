"""Rows of a Dask collection, which stay on the workers, and the boosters that train there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array
import dask.dataframe
import distributed
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import _num_samples, validate_data

from aucuba._base._estimator import BinaryClassifier, Classes
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._splits import KeptRows, rows_to_fit
from aucuba.design import DaskBlocks
from aucuba.ensemble._table import TrainingTable, log_odds

# Both are only partly typed, so a strict type check rejects direct calls.
_dask: Any = dask
_distributed: Any = distributed


@dataclass(frozen=True)
class Part:
    """The rows of one block: a delayed table or its future, labels, and weights or None."""

    X: Any
    y: IntArray
    weight: FloatArray | None


class BoosterOnDask(ABC):
    """A classifier that trains on the workers that hold its rows."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @classmethod
    def from_estimator(cls, estimator: Any) -> BoosterOnDask:
        """Choose the adapter by the package and class of the estimator."""
        kind = type(estimator)
        known = _KINDS.get(f"{kind.__module__}.{kind.__name__}")
        if known is None:
            raise ValueError(
                "On Dask collections RegionReweighted takes xgboost.dask.DaskXGBClassifier or "
                f"lightgbm.dask.DaskLGBMClassifier, got {kind.__name__}."
            )
        return known(estimator)

    def fit(self, blocks: DaskBlocks, y: IntArray, weight: FloatArray | None) -> Any:
        """Fit on the rows of some blocks; return a model that does not need Dask."""
        labels = blocks.split(y)
        weights = [None] * len(labels) if weight is None else blocks.split(weight)
        parts = [Part(*own) for own in zip(blocks.delayed(), labels, weights, strict=True)]
        # The workers of a booster wait for each other, forever if one of them dies.
        return blocks.with_all_workers(lambda client: self._fitted(client, parts, blocks.columns))

    def _fitted(self, client: Any, parts: Sequence[Part], columns: Any) -> Any:
        parts = self.arranged(client, parts)
        X = _collection([part.X for part in parts], [part.y.size for part in parts], columns)
        y = _column([part.y for part in parts])
        weights = [part.weight for part in parts if part.weight is not None]
        sample_weight = _column(weights) if weights else None
        model = clone(self.estimator)
        model.fit(X, y, sample_weight=sample_weight)
        return self.local(model)

    @abstractmethod
    def arranged(self, client: Any, parts: Sequence[Part]) -> Sequence[Part]:
        """Bring the parts into the form that the package needs."""

    @abstractmethod
    def local(self, model: Any) -> Any:
        """Return the fitted model as a plain classifier."""


class XGBoostOnDask(BoosterOnDask):
    """``xgboost.dask.DaskXGBClassifier``."""

    def arranged(self, client: Any, parts: Sequence[Part]) -> Sequence[Part]:
        return parts

    def local(self, model: Any) -> Any:
        from xgboost import XGBClassifier

        local = XGBClassifier(**{**model.get_params(), "n_jobs": 1})
        local.load_model(model.get_booster().save_raw("ubj"))
        return local


class LightGBMOnDask(BoosterOnDask):
    """``lightgbm.dask.DaskLGBMClassifier``, whose workers each need rows of both classes."""

    def arranged(self, client: Any, parts: Sequence[Part]) -> Sequence[Part]:
        """Join the parts into one per worker, with both classes, and place it there."""
        workers = sorted(client.nthreads())[: len(parts)]
        groups = _groups_with_both_classes(parts, len(workers))
        joined = []
        for worker, group in zip(workers, groups, strict=True):
            blocks = [parts[number].X for number in group]
            X = client.compute(_dask.delayed(_joined, pure=False)(blocks), workers=[worker])
            weights = [w for w in (parts[number].weight for number in group) if w is not None]
            weight = np.concatenate(weights) if weights else None
            joined.append(Part(X, np.concatenate([parts[number].y for number in group]), weight))
        _distributed.wait([part.X for part in joined])
        return joined

    def local(self, model: Any) -> Any:
        return model.to_local().set_params(n_jobs=1)


_KINDS: dict[str, type[BoosterOnDask]] = {
    "xgboost.dask.DaskXGBClassifier": XGBoostOnDask,
    "lightgbm.dask.DaskLGBMClassifier": LightGBMOnDask,
}


def _groups_with_both_classes(parts: Sequence[Part], n_groups: int) -> list[list[int]]:
    """Distribute the parts over groups of similar size, each with rows of both classes."""
    groups: list[list[int]] = [[] for _ in range(n_groups)]
    sizes = np.zeros(n_groups)
    # Deal the blocks with positives first, one to every group; then always to the smallest group.
    order = sorted(range(len(parts)), key=lambda number: -int(parts[number].y.any()))
    for place, number in enumerate(order):
        chosen = place if place < n_groups else int(np.argmin(sizes))
        groups[chosen].append(number)
        sizes[chosen] += parts[number].y.size
    for group in groups:
        labels = np.concatenate([parts[number].y for number in group])
        if labels.all() or not labels.any():
            raise ValueError(
                f"LightGBM needs rows of both classes on each of {n_groups} workers, and the "
                f"{len(parts)} blocks of X cannot be distributed that way; shuffle the rows or use "
                "fewer workers."
            )
    return groups


def _joined(blocks: list[Any]) -> Any:
    if isinstance(blocks[0], pd.DataFrame):
        return pd.concat(blocks)
    return sparse.vstack(blocks, "csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)


def _collection(blocks: Sequence[Any], lengths: Sequence[int], columns: Any) -> Any:
    """Join blocks into one Dask collection of the same kind as an empty table."""
    if isinstance(columns, pd.DataFrame):
        return dask.dataframe.from_delayed(list(blocks), meta=columns, verify_meta=False)
    return _dask.array.concatenate(
        [
            _dask.array.from_delayed(block, (n_rows, columns.shape[1]), dtype=columns.dtype)
            for block, n_rows in zip(blocks, lengths, strict=True)
        ]
    )


def _column(parts: Sequence[AnyArray]) -> Any:
    """Cut a vector on the driver into the chunks of the parts."""
    chunks = tuple(part.size for part in parts)
    return _dask.array.from_array(np.concatenate(parts), chunks=(chunks,))


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
    """Store or compare the number and names of the columns, which need no computation in Dask."""
    validate_data(estimator, DaskBlocks.columns_of(X), reset=reset, skip_check_array=True)


def _scores(block: Any, model: Any) -> FloatArray:
    return log_odds(model, block)
