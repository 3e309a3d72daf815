"""Which rows train a model and which are held out to set its threshold."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from aucuba._base._typing import AnyArray, IntArray
from aucuba._rows._sample import Sample
from aucuba._rows._splits import Split, held_out_split, require_unseen, splits_by


def held_out_splits(
    cv: Any,
    X: Any,
    y: AnyArray,
    sample: Sample,
    stratified: bool,
    random_state: Any,
    groups: Any,
) -> list[Split]:
    """Return pairs (rows that train, rows held out); no row is held out twice or trains its scorer.

    A fraction ``cv`` is one split that holds out the latest rows where times are given, or else that
    part of the groups, or of the rows, stratified by class if asked. scikit-learn's ``check_cv``
    reads every other value, and its splitter gets ``groups``.
    """
    if isinstance(cv, Real) and 0 < float(cv) < 1:
        drawn = partial(held_out_split, float(cv), y, random_state, stratified=stratified)
        return [drawn(groups=sample.group, time=sample.time)]
    if sample.time is not None:
        raise ValueError(
            "time chooses the latest rows to be held out, so that cv must be the fraction of rows to "
            f"hold out, such as 0.5; got cv={cv!r}."
        )
    if sample.group is not None and isinstance(cv, Integral) and int(cv) >= 2:
        cv, groups = StratifiedGroupKFold(int(cv)), sample.group
    also = "'prefit', a fraction of rows to hold out such as 0.5, "
    splits = splits_by(cv, X, y, groups, also=also)
    require_unseen(splits, sample.group)
    if np.bincount(np.concatenate([test for _, test in splits])).max(initial=0) > 1:
        raise ValueError(
            f"cv={cv!r} holds out some rows more than once, and a promise counts every row once: "
            "use folds that do not overlap, or a single split."
        )
    return splits


def require_known(target: AnyArray, classes: AnyArray) -> None:
    """Raise if a label is not a class of the fitted estimator."""
    check_classification_targets(target)
    unknown = np.setdiff1d(target, classes)
    if unknown.size:
        raise ValueError(
            f"y has labels {unknown[:5].tolist()} that the fitted estimator does not know; its "
            f"classes are {classes.tolist()}."
        )


def fitted_classes(estimator: Any) -> AnyArray:
    """Return the two classes of a fitted estimator, or raise with advice."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"cv='prefit' needs a fitted estimator, and this {type(estimator).__name__} is not "
            "fitted. Fit it on other rows first, or let cv=0.5 hold out half of these. (Cloning, as in "
            "a grid search, forgets the fit; sklearn.frozen.FrozenEstimator keeps it.)"
        ) from error
    classes = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            "Only binary classification is supported. The fitted estimator has the classes "
            f"{classes.tolist()}."
        )
    return classes


def params_of_rows(params: dict[str, Any], rows: IntArray, n_rows: int) -> dict[str, Any]:
    """Select rows of the fit parameters that have one value per row; pass on the others."""
    return {
        name: _safe_indexing(value, rows) if _one_per_row(value, n_rows) else value
        for name, value in params.items()
    }


def _one_per_row(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | dict):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return hasattr(value, "__len__") and len(value) == n_rows
