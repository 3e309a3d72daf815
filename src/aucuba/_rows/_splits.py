"""Split rows: folds, halves, blocks of time, held-out parts, hashed rows; with or without groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import column_or_1d

from aucuba._base._arrays import Vector, arrays_of, on_host
from aucuba._base._estimator import BinaryClassifier, Classes, two_classes
from aucuba._base._parallel import draw_seed
from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import labels_of_rows, query_index, row_weights, time_index
from aucuba._rows._sample import Sample, warn_about_queries

# Indices of rows to train on and of rows to test; tensors where the rows' classes are.
Split = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class KeptRows:
    """The rows of positive weight among the rows given to ``fit``.

    Parameters
    ----------
    index : ndarray of int
        Indices of the kept rows.
    X, y, groups
        All rows, as a splitter expects them; groups may be None. Labels that are a tensor stay where
        they are until a splitter asks for them, with X None.
    time : ndarray of int, default=None
        Rank of the time of every row.
    whole : bool, default=False
        Whether splits given by the user must also keep groups whole.
    """

    index: IntArray
    X: Any
    y: Any
    groups: Any = None
    time: IntArray | None = None
    whole: bool = False

    def resampled_by(self, groups: Any, time: Any) -> KeptRows:
        """Check and add groups and times, which splits then respect; queries also stay whole."""
        if groups is None and time is None:
            return self
        n_rows = len(self.y)
        number = query_index(groups, n_rows, "groups")
        ranks = time_index(time, n_rows)
        if number is None:
            return replace(self, time=ranks)
        if self.groups is not None:
            number = _joined(np.unique(self.groups, return_inverse=True)[1], number)
        return replace(self, groups=number, time=ranks, whole=True)

    @property
    def labels(self) -> AnyArray:
        """Labels of the kept rows."""
        return np.asarray(on_host(self.y)[self.index])

    @property
    def group_of(self) -> IntArray | None:
        """Number of the group of every kept row; None without groups."""
        if self.groups is None:
            return None
        kept = np.asarray(self.groups)[self.index]
        return np.unique(kept, return_inverse=True)[1].astype(np.intp)

    def splits(self, cv: Any, random_state: Any = None) -> list[Split]:
        """Split all rows by ``cv`` and renumber the kept rows.

        With groups, a number of folds draws folds of whole groups; any other value is read as
        scikit-learn reads it.
        """
        if self.groups is not None and is_number(cv):
            given = group_folds(self.groups, int(cv), draw_seed(random_state))
        else:
            y = on_host(self.y)
            X = y[:, np.newaxis] if self.X is None else self.X
            given = splits_by(cv, X, y, self.groups, whole=self.whole)
        place = np.full(len(self.y), -1)
        place[self.index] = np.arange(self.index.size)
        renumbered = ((place[train], place[test]) for train, test in given)
        return [(train[train >= 0], test[test >= 0]) for train, test in renumbered]

    def among_all(self, values: FloatArray, fill: float) -> FloatArray:
        """Return the values of the kept rows at their positions among all rows, else ``fill``."""
        full = np.full((len(self.y), *values.shape[1:]), fill)
        full[self.index] = values
        return full


def is_number(cv: Any) -> bool:
    """Return whether ``cv`` is a number of folds."""
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def splits_by(
    cv: Any, X: Any, y: AnyArray | None, groups: Any = None, *, whole: bool = False, also: str = ""
) -> list[Split]:
    """Split by ``cv`` as scikit-learn reads it, and check that no split trains on what it tests.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
        A number gives folds that are stratified if there are labels.
    X, y, groups
        As in a splitter.
    whole : bool, default=False
        Whether a split may not train on some rows of a group and test others.
    also : str, default=""
        Other kinds of ``cv`` that the caller accepts, for the error message.
    """
    try:
        splitter = check_cv(cv, y, classifier=y is not None)
    except ValueError as error:
        raise ValueError(
            f"cv must be {also}a number of folds of at least 2, a splitter or an iterable of splits, "
            f"got {cv!r}."
        ) from error
    places = np.arange(X.shape[0] if y is None else len(y))
    # A user's splitter may ignore groups, and a split may hold masks instead of indices.
    known = {} if groups is None else {"groups": groups}
    splits = [(places[train], places[test]) for train, test in splitter.split(X, y, **known)]
    require_unseen(splits, np.asarray(groups) if whole and groups is not None else None)
    return splits


def rows_to_fit(
    estimator: BinaryClassifier,
    X: Any,
    y: Any,
    n_rows: int,
    sample_weight: Any,
    *,
    qid: Any = None,
    groups: Any = None,
    time: Any = None,
) -> tuple[Sample, KeptRows, Classes]:
    """Check the columns that accompany X, find the classes, and drop rows of zero weight.

    A warning counts the queries that cannot be ranked.

    Parameters
    ----------
    estimator : BinaryClassifier
        Its ``pos_label`` is used, and its name in error messages.
    X : table or None
        Passed to a splitter; None for a table that is not in memory.
    y, sample_weight, qid, groups, time
        Columns of ``n_rows`` entries; all but y may be None.

    Returns
    -------
    sample : Sample
        The kept rows; ``groups`` become its group.
    kept : KeptRows
    classes : Classes
    """
    labels = labels_of_rows(y, n_rows, type(estimator).__name__)
    weight, query = row_weights(sample_weight, n_rows), query_index(qid, n_rows)
    classes, positive, index = two_classes(labels, weight, estimator.pos_label)
    if X is None:
        # A splitter needs the number of rows, not their content.
        X = np.broadcast_to(0.0, (n_rows, 1))
    kept = KeptRows(index, X, labels, qid).resampled_by(groups, time)
    group = None if groups is None else kept.groups
    sample = Sample(positive, weight, query, group, label=classes.pos_label)
    if index.size < n_rows:
        sample = sample.take(index)
    warn_about_queries(sample)
    return sample, kept, classes


def shuffled_folds(y: Vector, n_folds: int, seed: int, groups: Any = None) -> list[Split]:
    """Draw folds: stratified by class, or of whole groups."""
    if groups is None:
        return _stratified_folds(y, n_folds, np.random.RandomState(seed))
    return group_folds(groups, n_folds, seed)


def _stratified_folds(y: Vector, n_folds: int, rng: np.random.RandomState) -> list[Split]:
    """Draw the folds of scikit-learn's `StratifiedKFold` where the labels of two classes are.

    Only the order of the fold numbers is drawn on the host, in one byte per row: a device has other
    random numbers, and the folds of a table must not depend on where it lives.
    """
    arrays, n_rows = arrays_of(y), len(y)
    # Scikit-learn counts the classes in the order in which they come.
    first = y == y[0]
    n_first, drawn = int(first.sum()), []
    for start, stop in ((0, n_first), (n_first, n_rows)):
        # Fold k has every ``n_folds``-th row of the rows in order of class.
        counts = [len(range(start + (k - start) % n_folds, stop, n_folds)) for k in range(n_folds)]
        drawn.append(np.arange(n_folds, dtype=np.min_scalar_type(n_folds)).repeat(counts))
        rng.shuffle(drawn[-1])
    fold = arrays.empty(n_rows)
    by_class = arrays.join([arrays.places(first), arrays.places(~first)])
    fold[by_class] = arrays.vector(arrays.index(np.concatenate(drawn)))
    return [(arrays.places(fold != k), arrays.places(fold == k)) for k in range(n_folds)]


def drawn_within_classes(
    positive: BoolArray, rows: IntArray, most: int, rng: Any, *, fewest: int = 1
) -> IntArray:
    """Draw about ``most`` of the rows, in their order, with both classes in proportion.

    At least ``fewest`` rows of each class are drawn, or all it has.
    """
    if rows.size <= most:
        return rows
    drawn = []
    for label in (False, True):
        members = rows[positive[rows] == label]
        size = max(fewest, round(most * members.size / rows.size))
        drawn.append(rng.choice(members, min(size, members.size), replace=False))
    return np.sort(np.concatenate(drawn))


def group_folds(
    groups: Any, n_folds: int, seed: int | None = None, *, y: AnyArray | None = None
) -> list[Split]:
    """Make folds of whole groups, shuffled if a seed is given, stratified if labels are."""
    kind: Any = GroupKFold if y is None else StratifiedGroupKFold
    folds = kind(n_folds, shuffle=seed is not None, random_state=seed)
    return list(folds.split(groups, y, groups=groups))


def halvings(y: Vector, n_repeats: int, seed: int, groups: Any = None) -> list[Split]:
    """Draw pairs of halves, each to train once and test once: stratified, or of whole groups."""
    if groups is None:
        rng = np.random.RandomState(seed)
        return [split for _ in range(n_repeats) for split in _stratified_folds(y, 2, rng)]
    return [split for repeat in range(n_repeats) for split in group_folds(groups, 2, seed + repeat)]


def held_out_split(
    fraction: float,
    y: AnyArray,
    random_state: Any,
    *,
    groups: IntArray | None = None,
    time: IntArray | None = None,
    stratified: bool = True,
) -> Split:
    """Hold out a fraction of the rows: the latest by time, whole groups, or random rows.

    Random rows are stratified by class if asked.
    """
    if time is not None:
        return latest_split(time, fraction, groups)
    kind: Any = StratifiedShuffleSplit if stratified else ShuffleSplit
    kind = kind if groups is None else GroupShuffleSplit
    splitter = kind(1, test_size=fraction, random_state=random_state)
    train, test = next(splitter.split(np.zeros((len(y), 1)), y, groups))
    return train, test


def latest_split(time: IntArray, fraction: float, group: IntArray | None) -> Split:
    """Hold out the latest part of the rows, including all rows at its earliest time.

    Earlier rows of a held-out group do not train.
    """
    n_held_out = int(np.ceil(fraction * time.size))
    first = np.sort(time)[time.size - n_held_out]
    test = np.flatnonzero(time >= first)
    if test.size == time.size:
        raise ValueError(
            f"No row is earlier than the latest {n_held_out} of {time.size}, which are held out, so "
            "nothing is left to train on; give finer times, or hold out less."
        )
    return without_tested_groups(np.flatnonzero(time < first), test, group), test


def time_blocks(time: IntArray, n_blocks: int) -> IntArray:
    """Number blocks of equal count in order of time; rows of equal time are in the same block."""
    place, count = np.unique(time, return_inverse=True, return_counts=True)[1:]
    earlier = np.cumsum(count) - count
    block = earlier[place] * n_blocks // time.size
    number: IntArray = np.unique(block, return_inverse=True)[1].astype(np.intp)
    return number


def time_folds(cv: Any, time: IntArray, group: IntArray | None) -> list[Split]:
    """Split into ``cv + 1`` blocks of time; models of earlier blocks test each but the first.

    Earlier rows of a tested group do not train.
    """
    if not is_number(cv) or cv < 2:
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
        splits.append((without_tested_groups(np.flatnonzero(block < number), test, group), test))
    return splits


def hashed_folds(rows: IntArray, n_folds: int, seed: int) -> list[Split]:
    """Split rows by a hash of their numbers in the whole table, whatever blocks they lie in.

    The fold of a row does not depend on other rows.
    """
    number = fold_numbers(rows, n_folds, seed)
    return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(n_folds)]


def fold_numbers(rows: IntArray, n_folds: int, seed: int) -> IntArray:
    """Assign rows to folds, nearly equal in size, by a hash of their numbers and a seed."""
    mixed = _mixed(rows.astype(np.uint64) + _mixed(np.array([seed], dtype=np.uint64)))
    return (mixed % np.uint64(n_folds)).astype(np.intp)


def without_tested_groups(train: IntArray, test: IntArray, group: IntArray | None) -> IntArray:
    """Drop the training rows whose group is tested."""
    return train if group is None else train[~np.isin(group[train], group[test])]


def require_unseen(splits: Iterable[Split], group: AnyArray | None = None) -> None:
    """Raise if a split trains on rows that it tests, or on rows of a group that it tests."""
    for number, (train, test) in enumerate(splits):
        n_rows = np.intersect1d(train, test).size
        if n_rows:
            raise ValueError(
                f"Split {number} of cv trains on {n_rows} of the rows that it tests; remove them from "
                "its training part, so that the model has not seen the rows that it scores."
            )
        n_groups = 0 if group is None else np.intersect1d(group[train], group[test]).size
        if n_groups:
            raise ValueError(
                f"Split {number} of cv trains on rows of {n_groups} of the groups that it tests; give "
                "cv as a number, or a group splitter such as GroupKFold."
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


def _joined(first: IntArray, second: IntArray) -> IntArray:
    """Number the smallest units that neither of two groupings splits."""
    n_first = int(first.max()) + 1
    n_nodes = n_first + int(second.max()) + 1
    links = coo_array((np.ones(first.size), (first, n_first + second)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(links, directed=False)[1][first], dtype=np.intp)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of 64-bit numbers by the finaliser of splitmix64, where overflow is intended."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
