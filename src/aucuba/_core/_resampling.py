"""Splits of the rows of a fit, and out-of-fold scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, StratifiedKFold, check_cv
from sklearn.utils import column_or_1d

from aucuba._core._typing import AnyArray, FloatArray, IntArray

# Rows to train on and rows to test, by their places.
Split = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class KeptRows:
    """The rows of positive weight among the rows given to ``fit``.

    Parameters
    ----------
    index : ndarray of int
        Places of the rows.
    X, y, groups
        All rows, since these are what a splitter splits; groups may be None.
    """

    index: IntArray
    X: Any
    y: AnyArray
    groups: Any = None

    @property
    def labels(self) -> AnyArray:
        """Labels of the kept rows."""
        return np.asarray(self.y[self.index])

    def splits(self, cv: Any) -> list[Split]:
        """Split all rows by ``cv``, as scikit-learn reads it, and number the kept rows anew."""
        place = np.full(len(self.y), -1)
        place[self.index] = np.arange(self.index.size)
        given = check_cv(cv, self.y, classifier=True).split(self.X, self.y, self.groups)
        renumbered = ((place[train], place[test]) for train, test in given)
        splits = [(train[train >= 0], test[test >= 0]) for train, test in renumbered]
        for number, (train, test) in enumerate(splits):
            n_both = np.intersect1d(train, test).size
            if n_both:
                raise ValueError(
                    f"Split {number} of cv trains on {n_both} of the rows that it tests, so its "
                    "scores would not be out of fold; remove them from its training part."
                )
        return splits

    def among_all(self, values: FloatArray, fill: float) -> FloatArray:
        """Return the values of the kept rows at their places among all rows, ``fill`` elsewhere."""
        full = np.full((len(self.y), *values.shape[1:]), fill)
        full[self.index] = values
        return full


def shuffled_folds(y: AnyArray, n_folds: int, seed: int, groups: Any = None) -> list[Split]:
    """Draw folds: stratified by class, or of whole groups."""
    if groups is None:
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))
    folds = GroupKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(y, y, groups))


def halvings(y: AnyArray, n_repeats: int, seed: int, groups: Any = None) -> list[Split]:
    """Draw halves that each train once and test once: stratified by class, or of whole groups."""
    if groups is None:
        halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=seed)
        return list(halves.split(y, y))
    return [
        split
        for repeat in range(n_repeats)
        for split in shuffled_folds(y, 2, seed + repeat, groups)
    ]


def partition(cv: Any, kept: KeptRows, seed: int) -> list[Split]:
    """Return folds that test every kept row once.

    A number of folds is stratified and shuffled; other values of ``cv`` are the user's splits.
    """
    labels = kept.labels
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        fewest = int(np.unique(labels, return_counts=True)[1].min())
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
        return shuffled_folds(labels, min(int(cv), fewest), seed)
    folds = [fold for fold in kept.splits(cv) if fold[1].size]
    tests = [np.empty(0, np.intp), *(test for _, test in folds)]
    tested = np.bincount(np.concatenate(tests), minlength=labels.size)
    if not np.all(tested == 1):
        raise ValueError(
            f"cv must test every row exactly once; it never tests {int(np.sum(tested == 0))} rows and "
            f"tests {int(np.sum(tested > 1))} rows repeatedly. Use a splitter such as "
            "StratifiedKFold."
        )
    require_both_classes(folds, labels)
    return folds


def require_both_classes(
    splits: Iterable[Split], y: AnyArray, sample_weight: Any | None = None
) -> None:
    """Raise if a split trains on one class; a row of weight zero does not train."""
    trains = None if sample_weight is None else column_or_1d(sample_weight) > 0
    for number, (train, _) in enumerate(splits):
        labels = np.unique(y[train] if trains is None else y[train][trains[train]])
        if labels.size < 2:
            among = "" if trains is None else " among the rows of sample_weight above zero"
            raise ValueError(
                f"Split {number} of cv trains on one class only, {labels.tolist()}{among}; use a "
                "stratified splitter, fewer folds, or more rows of the other class."
            )


@dataclass(frozen=True)
class OutOfFold:
    """Scores of rows by models that have not seen them, averaged over the splits that test a row.

    Parameters
    ----------
    scores : ndarray of shape (n_scorers, n_covered)
    covered : ndarray of int
        The rows that some split tests.
    """

    scores: FloatArray
    covered: IntArray

    @classmethod
    def from_parts(
        cls, n_rows: int, splits: Iterable[Split], parts: Iterable[FloatArray]
    ) -> OutOfFold:
        """Collect one array of shape (n_scorers, n_test) for each of the first splits."""
        parts = list(parts)
        total = np.zeros((parts[0].shape[0], n_rows))
        count = np.zeros(n_rows)
        for (_, test), part in zip(splits, parts, strict=False):
            total[:, test] += part
            count[test] += 1
        covered = np.flatnonzero(count)
        return cls(total[:, covered] / count[covered], covered)
