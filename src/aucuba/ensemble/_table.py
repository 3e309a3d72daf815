"""Validated rows for meta-estimators: X is only ever cut into rows, never converted."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_random_state,
    column_or_1d,
    indexable,
)
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from aucuba._core._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._core._validation import check_positive_number, row_weights

Split = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class Table:
    """Rows of positive weight: data of any kind that can be indexed, labels 0 / 1, weights."""

    X: Any
    y: IntArray
    weight: FloatArray | None

    @property
    def positive(self) -> BoolArray:
        return self.y == 1

    def rows(self, index: IntArray) -> Table:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return Table(_safe_indexing(self.X, index), self.y[index], weight)

    def reweighted(self, factor: FloatArray) -> Table:
        """The same rows, weights multiplied by a factor."""
        return Table(self.X, self.y, factor if self.weight is None else self.weight * factor)


def make_table(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[Table, IntArray]:
    """Check labels and weights; set ``classes_`` and the number and names of the columns.

    Returns
    -------
    table : Table
    kept : ndarray of int
        Places of its rows in X.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    check_columns(estimator, X, reset=True)
    X, y = indexable(X, column_or_1d(y, warn=True))
    if len(y) == 0:
        raise ValueError("X and y are empty: at least two rows of each class are needed.")
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    weight = row_weights(sample_weight, len(y))
    estimator.classes_ = np.unique(y)
    if len(estimator.classes_) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass, with "
            f"{len(estimator.classes_)} classes; compare one class with the rest."
        )
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    labels = np.unique(y[kept])
    if labels.size < 2:
        raise ValueError(
            f"y has only one class ({labels[0]!r}) among the rows of positive weight; training needs "
            "at least two rows of each of two classes."
        )
    table = Table(X, (y == estimator.classes_[1]).astype(np.intp), weight)
    return (table if kept.size == len(y) else table.rows(kept)), kept


def check_columns(estimator: Any, X: Any, *, reset: bool = False) -> None:
    """Number and names of the columns, stored or compared; X itself is left as it is."""
    if hasattr(X, "shape") and len(X.shape) != 2:
        raise ValueError(
            f"Expected a table with rows and columns, got an array of shape {X.shape}. Reshape your "
            "data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def make_folds(cv: Any, table: Table, kept: IntArray, X: Any, y: Any, seed: int) -> list[Split]:
    """Splits that test every row once: stratified and shuffled for a number, else the user's."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        fewest = int(np.bincount(table.y, minlength=2).min())
        if cv < 2 or fewest < 2:
            raise ValueError(
                f"Out-of-fold scores need at least two folds and two rows of each class; got cv={cv} "
                f"and {fewest} row(s) of the smaller class."
            )
        if fewest < cv:
            warnings.warn(
                f"The smaller class has {fewest} rows: using {fewest} folds instead of cv={cv}.",
                UserWarning,
                stacklevel=4,
            )
        splitter = StratifiedKFold(min(int(cv), fewest), shuffle=True, random_state=seed)
        return list(splitter.split(table.y, table.y))
    y = column_or_1d(y)
    place = np.full(len(y), -1)
    place[kept] = np.arange(kept.size)
    given = [(place[a], place[b]) for a, b in check_cv(cv, y, classifier=True).split(X, y)]
    folds = [(train[train >= 0], test[test >= 0]) for train, test in given]
    used = [fold for fold in folds if fold[1].size]
    _check_folds(used, table)
    return used


def _check_folds(folds: list[Split], table: Table) -> None:
    tests = [test for _, test in folds]
    tested = np.bincount(np.concatenate([np.empty(0, np.intp), *tests]), minlength=table.y.size)
    if not np.all(tested == 1):
        raise ValueError(
            f"cv must test every row exactly once; it tests {int(np.sum(tested == 0))} rows never and "
            f"{int(np.sum(tested > 1))} rows repeatedly. Use a splitter such as StratifiedKFold."
        )
    for number, (train, _) in enumerate(folds):
        if np.unique(table.y[train]).size < 2:
            raise ValueError(
                f"The training part of fold {number} has only one class. Use fewer folds, or a "
                "stratified splitter."
            )


def check_range_is_covered(table: Table, fpr_range: tuple[float, float]) -> None:
    """The range must be as wide as one negative; rows are counted, whatever their weights."""
    low, high = fpr_range
    n_negatives = int(np.sum(~table.positive))
    covered = n_negatives * (high - low)
    if covered < 1.0:
        raise ValueError(
            f"The range [{low:g}, {high:g}] of false positive rates holds {covered:.2g} of the "
            f"{n_negatives} negatives, so no row tells what happens inside it. Make it at least "
            f"{1.0 / n_negatives:.2g} wide, or add negatives."
        )


def fit_weighted(estimator: Any, table: Table) -> Any:
    """Fit, with the weights given to the steps that request them, else to the last of a pipeline.

    The weights of a region are ours, not metadata that a user would have to route.
    """
    if table.weight is None:
        return estimator.fit(table.X, table.y)
    if get_config()["enable_metadata_routing"] and _requests_weights(estimator):
        return estimator.fit(table.X, table.y, sample_weight=table.weight)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(table.X, table.y, **{weight_keyword(estimator): table.weight})


def _requests_weights(estimator: Any) -> bool:
    return bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))


def weight_keyword(estimator: Any) -> str:
    """How ``fit`` takes row weights; an error where it does not."""
    if not hasattr(estimator, "fit"):
        raise ValueError(f"A classifier with a fit method is needed, got {estimator!r}.")
    if isinstance(estimator, Pipeline):
        name, step = estimator.steps[-1]
        return f"{name}__{weight_keyword(step)}"
    parameters = inspect.signature(estimator.fit).parameters.values()
    named = any(p.name == "sample_weight" for p in parameters)
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if anything and not named and hasattr(estimator, "estimator"):
        # A search hands every keyword on.
        return weight_keyword(estimator.estimator)
    if not named and not anything:
        raise ValueError(
            f"{type(estimator).__name__}.fit takes no sample_weight, and training for a range works "
            "through row weights. Use a classifier that takes them, such as "
            "HistGradientBoostingClassifier, RandomForestClassifier or LogisticRegression."
        )
    return "sample_weight"


def draw_seed(random_state: Any) -> int:
    """One seed for folds and members."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def seeded(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that is None, here and in nested estimators.

    Models are then the same wherever they are fitted, in this process or in another.
    """
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**unset)


def check_strength(strength: Any) -> None:
    """The largest factor of a region's weights must be at least 1."""
    if check_positive_number(strength, "strength") < 1.0:
        raise ValueError(f"strength must be at least 1, got {strength!r}.")


def at_rows(places: IntArray, values: FloatArray, n_rows: int, fill: float) -> FloatArray:
    """Values of some rows among all; ``fill`` elsewhere."""
    full = np.full((n_rows, *values.shape[1:]), fill)
    full[places] = values
    return full
