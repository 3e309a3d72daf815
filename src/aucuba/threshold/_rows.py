"""Rows, labels, weights and groups that a classifier with a promise is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples

from aucuba._base._dates import time_index
from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import row_weights
from aucuba.threshold._held_out import require_fitted
from aucuba.threshold._promise import ALERTS
from aucuba.threshold._units import HeldOutRows


@dataclass(frozen=True)
class CalibrationTable:
    """Everything that ``fit`` was given, row by row."""

    X: Any
    y: AnyArray
    positive: BoolArray
    weight: FloatArray | None
    group: AnyArray | None
    time: IntArray | None = None

    def held_out_rows(self, rows: IntArray, scores: AnyArray) -> HeldOutRows:
        weight = None if self.weight is None else self.weight[rows]
        group = None if self.group is None else self.group[rows]
        return HeldOutRows(scores, self.positive[rows], weight, group)


def validated_table(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any = None
) -> CalibrationTable:
    """Rows that can be indexed, with checked labels; sets the classes of the model."""
    if y is None and not (model._is_prefit and model._promise is ALERTS):
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    X, y, weight, group = indexable(X, y, sample_weight, groups)
    weight = row_weights(weight, _num_samples(X))
    if model._is_prefit:
        require_fitted(model.estimator)
        model.classes_ = _binary_classes(model.estimator)
        target = _target_of_prefit(model.classes_, y, _num_samples(X))
        positive = model._adopt_positive_class(target, weight)
    else:
        target = _checked_target(y)
        positive, _ = model._adopt_classes(target, weight)
    group = None if group is None else _checked_groups(group)
    return CalibrationTable(X, target, positive, weight, group, time_index(time, positive.size))


def _checked_target(y: Any) -> AnyArray:
    target: AnyArray = column_or_1d(y, warn=True)
    assert_all_finite(target, input_name="y")
    check_classification_targets(target)
    return target


def _target_of_prefit(classes: AnyArray, y: Any, n_rows: int) -> AnyArray:
    """Labels that a fitted estimator knows; an alert rate needs none, and counts all rows alike."""
    if y is None:
        return np.full(n_rows, classes[0])
    target = _checked_target(y)
    unknown = np.setdiff1d(target, classes)
    if unknown.size:
        raise ValueError(
            f"y has labels {unknown[:5].tolist()} that the fitted estimator does not know; its "
            f"classes are {classes.tolist()}."
        )
    return target


def _checked_groups(groups: Any) -> IntArray:
    """Groups numbered 0, 1, ...; identifiers may be of any type that can be sorted."""
    identifiers = column_or_1d(groups)
    if identifiers.dtype.kind == "f" and not np.all(np.isfinite(identifiers)):
        raise ValueError("groups contains NaN or infinite values; give every row a group.")
    number: IntArray = np.unique(identifiers, return_inverse=True)[1].astype(np.intp)
    return number


def _binary_classes(estimator: Any) -> AnyArray:
    classes = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            "Only binary classification is supported. The fitted estimator has the classes "
            f"{classes.tolist()}."
        )
    return classes
