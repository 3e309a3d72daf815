"""Splits of the rows of a fit, and out-of-fold scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, StratifiedKFold, check_cv
from sklearn.utils import column_or_1d

from aucuba._base._dates import time_index
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import query_index

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
    time : ndarray of int, default=None
        Rank of the time of every row.
    """

    index: IntArray
    X: Any
    y: AnyArray
    groups: Any = None
    time: IntArray | None = None

    def resampled_by(self, groups: Any, time: Any) -> KeptRows:
        """Check and add what resampling has to respect; earlier groups (queries) stay whole too."""
        n_rows = len(self.y)
        number = query_index(groups, n_rows, "groups")
        if number is None:
            groups = self.groups
        elif self.groups is not None:
            groups = _joined(np.unique(self.groups, return_inverse=True)[1], number)
        return replace(self, groups=groups, time=time_index(time, n_rows))

    @property
    def labels(self) -> AnyArray:
        """Labels of the kept rows."""
        return np.asarray(self.y[self.index])

    @property
    def group_of(self) -> IntArray | None:
        """Number of the group of every kept row; None without groups."""
        if self.groups is None:
            return None
        kept = np.asarray(self.groups)[self.index]
        return np.unique(kept, return_inverse=True)[1].astype(np.intp)

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


@dataclass(frozen=True)
class Folds:
    """Splits with disjoint tests, for out-of-fold scores.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Rows to train on and rows to score.
    n_rows : int
    group : ndarray of int, default=None
        Group of every row.
    interchangeable : bool, default=False
        Whether rows may be scored by any model that has not seen them: no groups, times or splits of
        the user's say otherwise.
    """

    splits: list[Split]
    n_rows: int
    group: IntArray | None = None
    interchangeable: bool = False

    @property
    def covered(self) -> IntArray:
        """The rows that are scored, in order."""
        return np.sort(np.concatenate([test for _, test in self.splits]))

    def among_rows(self, values: FloatArray, fill: float) -> FloatArray:
        """Return the values of the scored rows at their places among all rows, ``fill`` elsewhere."""
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

        Where every row is scored these are the same splits. Blocks of time have nothing scored before
        the first of them, so that a model of scores learns from all other blocks.
        """
        covered = self.covered
        if covered.size == self.n_rows:
            return self.splits
        group = self.scored_group
        tests = [np.searchsorted(covered, test) for _, test in self.splits]
        everything = np.arange(covered.size)
        return [(_unseen(np.setdiff1d(everything, test), test, group), test) for test in tests]


def partition(cv: Any, kept: KeptRows, seed: int) -> Folds:
    """Return folds that test every kept row once; in order of time, every row after the first block.

    A number of folds is drawn, stratified by class or of whole groups; other values of ``cv`` are the
    user's splits.
    """
    labels, group = kept.labels, kept.group_of
    if kept.time is not None:
        folds = time_folds(cv, kept.time[kept.index], group)
    elif _is_number(cv):
        folds = _drawn(int(cv), labels, seed, group)
    else:
        folds = [fold for fold in kept.splits(cv) if fold[1].size]
        _require_one_test_each(folds, labels.size)
        _require_whole_groups(folds, group)
    require_both_classes(folds, labels)
    free = kept.time is None and group is None and _is_number(cv)
    found = Folds(folds, labels.size, group, free)
    if np.unique(labels[found.covered]).size < 2:
        raise ValueError(
            f"The {found.covered.size} rows after the first block of time are of one class only; give "
            "more blocks as cv, so that the first is shorter."
        )
    return found


def _drawn(n_folds: int, labels: AnyArray, seed: int, group: IntArray | None) -> list[Split]:
    units, noun = (np.arange(labels.size), "row") if group is None else (group, "group")
    fewest = min(np.unique(units[labels == label]).size for label in np.unique(labels))
    if n_folds < 2 or fewest < 2:
        raise ValueError(
            f"Out-of-fold scores need at least two folds and two {noun}s of each class; got "
            f"cv={n_folds} and {fewest} {noun}(s) of the smaller class."
        )
    if fewest < n_folds:
        warnings.warn(
            f"The smaller class has {fewest} {noun}s: using {fewest} folds instead of cv={n_folds}.",
            UserWarning,
            stacklevel=5,
        )
    return shuffled_folds(labels, min(n_folds, fewest), seed, group)


def time_blocks(time: IntArray, n_blocks: int) -> IntArray:
    """Number blocks of equal count in order of time; rows of equal time are in the same block."""
    place, count = np.unique(time, return_inverse=True, return_counts=True)[1:]
    earlier = np.cumsum(count) - count
    block = earlier[place] * n_blocks // time.size
    return np.unique(block, return_inverse=True)[1].astype(np.intp)


def time_folds(cv: Any, time: IntArray, group: IntArray | None) -> list[Split]:
    """Split into ``cv + 1`` blocks of time, each but the first tested by models of earlier blocks.

    Earlier rows of a tested group do not train.
    """
    if not _is_number(cv) or cv < 2:
        raise ValueError(
            "With time, cv is the number of blocks to be scored, each by models of earlier rows: at "
            f"least 2, got {cv!r}."
        )
    block = time_blocks(time, int(cv) + 1)
    n_scored = int(block.max())
    if n_scored < 2:
        raise ValueError(
            f"time has {np.unique(time).size} different value(s), which make {n_scored + 1} block(s); "
            "at least three are needed. Give finer times, or none."
        )
    splits = []
    for number in range(1, n_scored + 1):
        test = np.flatnonzero(block == number)
        splits.append((_unseen(np.flatnonzero(block < number), test, group), test))
    return splits


def latest_split(time: IntArray, fraction: float, group: IntArray | None) -> Split:
    """Hold out the latest part of the rows, with all rows of its earliest time.

    Earlier rows of a group held out do not train.
    """
    n_held_out = int(np.ceil(fraction * time.size))
    first = np.sort(time)[time.size - n_held_out]
    test = np.flatnonzero(time >= first)
    if test.size == time.size:
        raise ValueError(
            f"No row is earlier than the latest {n_held_out} of {time.size}, which are held out, so "
            "nothing is left to train on; give finer times, or hold out less."
        )
    return _unseen(np.flatnonzero(time < first), test, group), test


def _unseen(train: IntArray, test: IntArray, group: IntArray | None) -> IntArray:
    """Drop the training rows whose group is tested."""
    return train if group is None else train[~np.isin(group[train], group[test])]


def _joined(first: IntArray, second: IntArray) -> IntArray:
    """Number the smallest units that neither of two groupings splits."""
    n_first = int(first.max()) + 1
    n_nodes = n_first + int(second.max()) + 1
    links = coo_array((np.ones(first.size), (first, n_first + second)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(links, directed=False)[1][first], dtype=np.intp)


def _is_number(cv: Any) -> bool:
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def _require_one_test_each(folds: list[Split], n_rows: int) -> None:
    tests = [np.empty(0, np.intp), *(test for _, test in folds)]
    tested = np.bincount(np.concatenate(tests), minlength=n_rows)
    if not np.all(tested == 1):
        raise ValueError(
            f"cv must test every row exactly once; it never tests {int(np.sum(tested == 0))} rows and "
            f"tests {int(np.sum(tested > 1))} rows repeatedly. Use a splitter such as "
            "StratifiedKFold."
        )


def _require_whole_groups(folds: list[Split], group: IntArray | None) -> None:
    for number, (train, test) in enumerate(folds):
        n_both = 0 if group is None else np.intersect1d(group[train], group[test]).size
        if n_both:
            raise ValueError(
                f"Split {number} of cv trains on rows of {n_both} of the groups that it tests; give cv "
                "as a number, or a group splitter such as GroupKFold."
            )


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
        if covered.size < n_rows:
            total, count = total[:, covered], count[covered]
        total /= count
        return cls(total, covered)

    def in_common(self, other: OutOfFold) -> tuple[IntArray, IntArray, IntArray]:
        """Return the rows that both cover, and their places in either."""
        here = np.isin(self.covered, other.covered, assume_unique=True, kind="table")
        there = np.isin(other.covered, self.covered, assume_unique=True, kind="table")
        return self.covered[here], np.flatnonzero(here), np.flatnonzero(there)
