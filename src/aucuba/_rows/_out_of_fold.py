"""Out-of-fold scores, and the folds that give them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._rows._splits import (
    KeptRows,
    Split,
    hashed_folds,
    is_number,
    require_both_classes,
    shuffled_folds,
    time_folds,
    without_tested_groups,
)


@dataclass(frozen=True)
class Folds:
    """Splits with disjoint tests.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Rows to train on and rows to score.
    n_rows : int
    group : ndarray of int, default=None
        Group of every row.
    interchangeable : bool, default=False
        Whether any model that has not seen a row may score it, because there are no groups, times or
        splits given by the user.
    """

    splits: list[Split]
    n_rows: int
    group: IntArray | None = None
    interchangeable: bool = False

    @property
    def covered(self) -> IntArray:
        """The scored rows, in order."""
        return np.sort(np.concatenate([test for _, test in self.splits]))

    def among_rows(self, values: FloatArray, fill: float) -> FloatArray:
        """Return the values of the scored rows at their positions among all rows, else ``fill``."""
        full = np.full((self.n_rows, *values.shape[1:]), fill)
        full[self.covered] = values
        return full

    @property
    def scored_group(self) -> IntArray | None:
        """Group of every scored row, numbered without gaps; None without groups."""
        if self.group is None:
            return None
        return np.unique(self.group[self.covered], return_inverse=True)[1].astype(np.intp)

    def splits_of_scores(self) -> list[Split]:
        """Split the scored rows, numbered among themselves, for a model of their scores.

        Where every row is scored these are the same splits. No row before the first block of time is
        scored, so a model of scores learns from all other blocks.
        """
        covered = self.covered
        if covered.size == self.n_rows:
            return self.splits
        group = self.scored_group
        tests = [np.searchsorted(covered, test) for _, test in self.splits]
        everything = np.arange(covered.size)
        return [
            (without_tested_groups(np.setdiff1d(everything, test), test, group), test)
            for test in tests
        ]


def partition(cv: Any, kept: KeptRows, seed: int, *, hashed: bool = False) -> Folds:
    """Return folds that test every kept row once; with times, every row after the first block.

    If ``cv`` is a number, folds are drawn, stratified by class or of whole groups; other values are the
    user's splits. With ``hashed``, rows without groups are drawn by a hash of their numbers instead,
    and the rows of every split are in order.
    """
    labels, group = kept.labels, kept.group_of
    free = kept.time is None and group is None and is_number(cv)
    if kept.time is not None:
        folds = time_folds(cv, kept.time[kept.index], group)
    elif is_number(cv):
        n_folds = _possible_folds(int(cv), labels, group, hashed=hashed and free)
        if hashed and free:
            folds = [fold for fold in hashed_folds(kept.index, n_folds, seed) if fold[1].size]
        else:
            folds = shuffled_folds(labels, n_folds, seed, group)
    else:
        folds = [fold for fold in kept.splits(cv) if fold[1].size]
        _require_one_test_each(folds, labels.size)
    if hashed:
        folds = [(np.sort(train), np.sort(test)) for train, test in folds]
    require_both_classes(folds, labels)
    found = Folds(folds, labels.size, group, free and not hashed)
    if np.unique(labels[found.covered]).size < 2:
        raise ValueError(
            f"The {found.covered.size} rows after the first block of time are of one class only; give "
            "a larger cv, so that the first block is shorter."
        )
    return found


def _possible_folds(n_folds: int, labels: AnyArray, group: IntArray | None, *, hashed: bool) -> int:
    """Return the number of folds, at most one per row or group of the smaller class.

    Hashed folds need not hold both classes and keep their number.
    """
    units, noun = (np.arange(labels.size), "row") if group is None else (group, "group")
    fewest = min(np.unique(units[labels == label]).size for label in np.unique(labels))
    if n_folds < 2 or fewest < 2:
        raise ValueError(
            f"Out-of-fold scores need at least two folds and two {noun}s of each class; got "
            f"cv={n_folds} and {fewest} {noun}(s) of the smaller class."
        )
    if hashed or fewest >= n_folds:
        return n_folds
    warn_user(
        f"The smaller class has {fewest} {noun}s: using {fewest} folds instead of cv={n_folds}.",
        FewRowsWarning,
    )
    return fewest


def _require_one_test_each(folds: list[Split], n_rows: int) -> None:
    tests = [np.empty(0, np.intp), *(test for _, test in folds)]
    tested = np.bincount(np.concatenate(tests), minlength=n_rows)
    if not np.all(tested == 1):
        raise ValueError(
            f"cv must test every row exactly once; it never tests {int(np.sum(tested == 0))} rows and "
            f"tests {int(np.sum(tested > 1))} rows repeatedly. Use a splitter such as "
            "StratifiedKFold."
        )


@dataclass(frozen=True)
class OutOfFold:
    """Scores of rows by models that have not seen them, averaged over the splits that test a row.

    Parameters
    ----------
    scores : ndarray or tensor of shape (n_scorers, n_covered)
        On the device of the parts.
    tested : ndarray or tensor of bool
        Whether some split tests a row.
    """

    scores: Vector
    tested: Vector

    @cached_property
    def covered(self) -> Any:
        """The rows that some split tests, in order."""
        return arrays_of(self.tested).places(self.tested)

    @classmethod
    def from_parts(cls, n_rows: int, splits: Iterable[Split], parts: Iterable[Vector]) -> OutOfFold:
        """Collect one array of shape (n_scorers, n_test) for each of the first splits."""
        parts = list(parts)
        arrays = arrays_of(parts[0])
        total = arrays.zeros(parts[0].shape[0] * n_rows).reshape(-1, n_rows)
        count = arrays.zeros(n_rows)
        for (_, test), part in zip(splits, parts, strict=False):
            rows = arrays.index(test)
            total[:, rows] += part
            count[rows] += 1
        tested = count > 0
        if not bool(tested.all()):
            total, count = total[:, tested], count[tested]
        total /= count
        return cls(total, tested)

    def in_common(self, other: OutOfFold) -> tuple[Any, Any, Any]:
        """Return the rows that both cover, and which of the scores of either are theirs."""
        both = self.tested & other.tested
        return arrays_of(both).places(both), both[self.tested], both[other.tested]
