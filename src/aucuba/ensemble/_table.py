"""Validated rows of meta-estimators, and scores of any classifier in log-odds."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _num_samples, validate_data

from aucuba._base._estimator import BinaryClassifier, Classes, pipeline_steps, positive_scores
from aucuba._base._parallel import one_thread
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._base._validation import as_table, check_positive_number, is_of_dask
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._sample import Sample
from aucuba._rows._splits import KeptRows, rows_to_fit


def log_odds(model: Any, X: Any) -> FloatArray:
    """Compute ``log(p / (1 - p))`` of the second class, or take the model's own raw scores.

    Probabilities of 0 and 1 have no finite log-odds. A forest of T trees cannot resolve probabilities
    below ``1 / (2 T)``, so it is clipped there; other models are clipped at the precision of their
    floating-point type.
    """
    scores, are_probabilities = positive_scores(model, X)
    if not are_probabilities:
        return scores.astype(np.float64)
    n_trees = _n_trees(model)
    end = 0.5 / n_trees if n_trees else max(float(np.finfo(scores.dtype).eps), 1e-12)
    return bounded_log_odds(scores, end)


def bounded_log_odds(probability: AnyArray, end: float) -> FloatArray:
    """Compute the log-odds of probabilities clipped at a distance from 0 and 1."""
    p = np.clip(probability.astype(np.float64), end, 1.0 - end)
    return np.asarray(np.log(p) - np.log1p(-p))


def final_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline; any other estimator itself."""
    return pipeline_steps(model)[-1]


def _n_trees(model: Any) -> int:
    """Count the trees over which a probability is averaged; 0 for other models."""
    last = final_step(model)
    if hasattr(last, "best_estimator_"):
        return _n_trees(last.best_estimator_)
    forest = isinstance(last, RandomForestClassifier | ExtraTreesClassifier)
    bagged = isinstance(last, BaggingClassifier) and isinstance(last.estimator_, BaseDecisionTree)
    return len(last.estimators_) if forest or bagged else 0


@dataclass(frozen=True)
class TrainingTable:
    """A table of any kind whose rows can be indexed, with their `Sample`."""

    X: Any
    sample: Sample

    def take(self, rows: AnyArray) -> TrainingTable:
        """Select rows."""
        return TrainingTable(_safe_indexing(self.X, rows), self.sample.take(rows))

    def reweighted(self, factors: FloatArray) -> TrainingTable:
        """Multiply the weight of every row by a factor."""
        return TrainingTable(self.X, replace(self.sample, weight=self.sample.weights * factors))

    def fitted(self, estimator: Any) -> Any:
        """Fit a clone of an estimator on these rows."""
        with one_thread():
            return fit_weighted(clone(estimator), self)

    def scores(self, model: Any) -> FloatArray:
        """Score these rows by a fitted model."""
        with one_thread():
            return log_odds(model, self.X)

    def folds(self, cv: Any, kept: KeptRows, seed: int) -> Folds:
        """Split the rows for out-of-fold scores."""
        return partition(cv, kept, seed)


def checked_table(
    estimator: BinaryClassifier, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any
) -> tuple[TrainingTable, KeptRows, Classes]:
    """Check rows in memory or in the blocks of a Dask collection."""
    if is_of_dask(X):
        from aucuba.ensemble._dask_table import make_dask_table

        return make_dask_table(estimator, X, y, sample_weight, groups, time)
    return make_table(estimator, X, y, sample_weight, groups, time)


def make_table(
    estimator: BinaryClassifier, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any
) -> tuple[TrainingTable, KeptRows, Classes]:
    """Check all columns of rows; set the number and names of the features."""
    if is_of_dask(X):
        raise ValueError(
            f"{type(estimator).__name__} takes tables in memory, got a Dask collection. Compute it, or "
            "use RegionReweighted or a linear classifier, which leave it in its blocks."
        )
    given = X = as_table(X)
    check_columns(estimator, X, reset=True)
    (X,) = indexable(as_rows(X))
    n_rows = _num_samples(X)
    if n_rows == 0:
        raise ValueError("X and y are empty: at least two rows of each class are needed.")
    sample, kept, classes = rows_to_fit(
        estimator, given, y, n_rows, sample_weight, groups=groups, time=time
    )
    X = X if sample.n_rows == n_rows else _safe_indexing(X, kept.index)
    return TrainingTable(X, sample), kept, classes


def as_rows(X: Any) -> Any:
    """Return sparse tables as CSR matrices, which every library reads, and others unchanged."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def check_columns(estimator: Any, X: Any, *, reset: bool = False) -> None:
    """Store or compare the number and names of the columns, without converting X."""
    if hasattr(X, "shape") and len(X.shape) != 2:
        raise ValueError(
            f"Expected a table with rows and columns, got an array of shape {X.shape}. Reshape your "
            "data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def fit_weighted(estimator: Any, table: TrainingTable) -> Any:
    """Fit with weights, passed to the steps that request them, else to the last step of a pipeline.

    Users need not route the weights of a region as metadata.
    """
    weight = table.sample.weight
    if weight is None:
        return estimator.fit(table.X, table.sample.y)
    is_routed = get_config()["enable_metadata_routing"]
    if is_routed and get_routing_for_object(estimator).consumes("fit", ["sample_weight"]):
        return estimator.fit(table.X, table.sample.y, sample_weight=weight)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(table.X, table.sample.y, **{weight_keyword(estimator): weight})


def weight_keyword(estimator: Any) -> str:
    """Return the keyword by which ``fit`` takes row weights; raise if it takes none."""
    if not hasattr(estimator, "fit"):
        raise ValueError(f"A classifier with a fit method is needed, got {estimator!r}.")
    if isinstance(estimator, Pipeline):
        name, step = estimator.steps[-1]
        return f"{name}__{weight_keyword(step)}"
    parameters = inspect.signature(estimator.fit).parameters.values()
    named = any(p.name == "sample_weight" for p in parameters)
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if anything and not named and hasattr(estimator, "estimator"):
        # A search passes every keyword to its estimator.
        return weight_keyword(estimator.estimator)
    if not named and not anything:
        raise ValueError(
            f"{type(estimator).__name__}.fit takes no sample_weight, which training for a region "
            "needs. Use a classifier that takes it, such as "
            "HistGradientBoostingClassifier, RandomForestClassifier or LogisticRegression."
        )
    return "sample_weight"


def check_strength(strength: Any) -> None:
    """Raise if the largest factor of a region's weights is below 1."""
    if check_positive_number(strength, "strength") < 1.0:
        raise ValueError(f"strength must be at least 1, got {strength!r}.")
