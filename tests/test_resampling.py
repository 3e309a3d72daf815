"""Kept rows, folds, out-of-fold scores and seeds, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba._core._callbacks import Progress
from aucuba._core._parallel import map_parallel
from aucuba._core._resampling import (
    KeptRows,
    OutOfFold,
    halvings,
    partition,
    require_both_classes,
    shuffled_folds,
)
from aucuba._core._seeds import draw_seed, with_fixed_seed

Y = np.arange(24) % 2


def kept(index):
    return KeptRows(np.asarray(index), np.zeros((24, 1)), Y)


@given(st.sets(st.integers(0, 23), min_size=1))
def test_splits_of_kept_rows_are_the_splits_of_all_rows_without_the_others(chosen):
    index = sorted(chosen)
    rows = kept(index)
    for got, given_ in zip(rows.splits(KFold(4)), KFold(4).split(Y), strict=True):
        for part, whole in zip(got, given_, strict=True):
            assert [index[place] for place in part] == [row for row in whole if row in chosen]
    values = np.arange(len(index), dtype=float)
    full = rows.among_all(values, np.nan)
    assert full[index].tolist() == values.tolist()
    assert np.isnan(full).sum() == 24 - len(index)


@pytest.mark.parametrize("groups", [None, np.arange(24) // 4])
def test_folds_and_halves_test_every_row_and_keep_groups_whole(groups):
    folds = shuffled_folds(Y, 3, 0, groups)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(24))
    halves = halvings(Y, 5, 0, groups)
    assert len(halves) == 10
    assert (np.bincount(np.concatenate([test for _, test in halves])) == 5).all()
    for train, test in [*folds, *halves]:
        assert not set(train) & set(test)
        assert groups is None or not set(groups[train]) & set(groups[test])


def test_a_partition_tests_every_kept_row_once():
    rows = kept(np.arange(2, 20))
    for cv in (3, KFold(4), list(KFold(2).split(Y)), LeaveOneOut()):
        tests = [test for _, test in partition(cv, rows, 0)]
        assert sorted(np.concatenate(tests)) == list(range(18))
    with pytest.raises(ValueError, match=r"never tests \d+ rows"):
        partition(ShuffleSplit(2, random_state=0), rows, 0)
    halves = np.arange(0, 24, 2), np.arange(1, 24, 2)
    with pytest.raises(ValueError, match="Split 0 of cv trains on one class only"):
        partition([halves, halves[::-1]], rows, 0)
    with pytest.raises(ValueError, match="at least two folds"):
        partition(1, rows, 0)
    with pytest.warns(UserWarning, match="using 2 folds instead of cv=5"):
        assert len(partition(5, kept([0, 1, 2, 3, 4, 6]), 0)) == 2


def test_rows_of_weight_zero_do_not_train():
    splits = [(np.arange(12), np.arange(12, 24))]
    require_both_classes(splits, Y)
    with pytest.raises(ValueError, match=r"\[0\] among the rows of sample_weight above zero"):
        require_both_classes(splits, Y, 1.0 - Y)


def test_out_of_fold_scores_are_means_over_the_splits_that_test_a_row():
    splits = [(np.array([0]), np.array([1, 2])), (np.array([0]), np.array([2, 4]))]
    parts = [np.array([[1.0, 2.0], [5.0, 6.0]]), np.array([[4.0, 8.0], [0.0, 1.0]])]
    found = OutOfFold.from_parts(6, splits, parts)
    assert found.covered.tolist() == [1, 2, 4]
    assert found.scores.tolist() == [[1.0, 3.0, 8.0], [5.0, 3.0, 1.0]]
    assert OutOfFold.from_parts(6, splits, parts[:1]).covered.tolist() == [1, 2]


def test_only_seeds_that_are_not_set_are_fixed():
    forest = make_pipeline(StandardScaler(), RandomForestClassifier())
    seed = draw_seed(0)
    assert with_fixed_seed(forest, seed)[-1].random_state == seed == draw_seed(0)
    assert with_fixed_seed(RandomForestClassifier(random_state=3), seed).random_state == 3


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_results_come_in_order_until_somebody_asks_to_stop(n_jobs):
    heard = []
    progress = Progress(lambda row: heard.append(row["tasks"]) or len(heard) == 3)
    items = progress.until_stopped(range(50))
    found = map_parallel(pow, items, 2, n_jobs=n_jobs, progress=progress)
    assert heard == [1, 2, 3]
    assert found == [k**2 for k in range(len(found))]
    # Workers may have begun any number of tasks by then.
    assert len(found) == 3 if n_jobs is None else len(found) >= 3
