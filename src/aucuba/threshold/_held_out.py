"""Which rows train a model and which are held out to set its threshold."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from aucuba._base._typing import AnyArray, IntArray
from aucuba._rows._splits import Split, latest_split


def held_out_splits(
    cv: Any,
    X: Any,
    y: AnyArray,
    random_state: Any,
    group: AnyArray | None,
    stratified: bool,
    params: dict[str, Any],
    time: IntArray | None = None,
) -> list[Split]:
    """Pairs (train rows, held-out rows); no row is held out twice or by a model it trained.

    A fraction ``cv`` is one split that holds out that part of the rows, stratified by class if
    asked, or of the groups, or the latest rows where times are given; everything else goes through
    scikit-learn's ``check_cv``.
    """
    if time is not None:
        if not isinstance(cv, Real) or not 0 < float(cv) < 1:
            raise ValueError(
                "time chooses the latest rows to be held out, so that cv must be the fraction of rows "
                f"to hold out, such as 0.5; got cv={cv!r}."
            )
        return [latest_split(time, float(cv), group)]
    if isinstance(cv, Real) and 0 < float(cv) < 1:
        kind = StratifiedShuffleSplit if stratified else ShuffleSplit
        kind = kind if group is None else GroupShuffleSplit
        splitter = kind(1, test_size=float(cv), random_state=random_state)
        params = {} if group is None else {"groups": group}
    elif group is not None and isinstance(cv, Integral) and int(cv) >= 2:
        splitter, params = StratifiedGroupKFold(int(cv)), {"groups": group}
    else:
        splitter = _checked_cv(cv, y)
    splits = [(_rows(train, y), _rows(test, y)) for train, test in splitter.split(X, y, **params)]
    _require_unseen(splits, group)
    if np.bincount(np.concatenate([test for _, test in splits])).max(initial=0) > 1:
        raise ValueError(
            f"cv={cv!r} holds out some rows more than once, and a promise counts every row once: "
            "use folds that do not overlap, or a single split."
        )
    return splits


def _require_unseen(splits: list[Split], group: AnyArray | None) -> None:
    for number, (train, test) in enumerate(splits):
        if np.intersect1d(train, test).size:
            raise ValueError(
                f"Split {number} of cv trains on rows that it also holds out; a threshold needs "
                "rows that the model has not seen."
            )
        if group is not None and np.intersect1d(group[train], group[test]).size:
            raise ValueError(
                f"Split {number} of cv trains on groups of which it also holds rows out; "
                "use cv=0.5 or a group splitter such as GroupKFold, which keep groups whole."
            )


def require_fitted(estimator: Any) -> None:
    """Stop with advice if a ``prefit`` estimator is not fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"cv='prefit' needs a fitted estimator, and this {type(estimator).__name__} is not "
            "fitted. Fit it on other rows first, or let cv=0.5 hold out half of these. (Cloning, as in "
            "a grid search, forgets the fit; sklearn.frozen.FrozenEstimator keeps it.)"
        ) from error


def params_of_rows(params: dict[str, Any], rows: IntArray, n_rows: int) -> dict[str, Any]:
    """Fit parameters of some rows: values that come one per row are cut, anything else passes."""
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


def _checked_cv(cv: Any, y: AnyArray) -> Any:
    try:
        return check_cv(cv, y, classifier=True)
    except ValueError as error:
        raise ValueError(
            "cv must be 'prefit', a fraction of rows to hold out such as 0.5, a number of folds of "
            f"at least 2, a splitter or an iterable of splits, got {cv!r}."
        ) from error


def _rows(index: Any, y: AnyArray) -> IntArray:
    rows: IntArray = np.arange(y.shape[0])[index]
    return rows
