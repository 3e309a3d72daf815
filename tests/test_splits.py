"""Kept rows, folds, out-of-fold scores and seeds, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba._base._callbacks import Progress
from aucuba._base._parallel import draw_seed, map_parallel, with_fixed_seed
from aucuba._rows._out_of_fold import Folds, OutOfFold, partition
from aucuba._rows._splits import (
    KeptRows,
    halvings,
    held_out_split,
    latest_split,
    require_both_classes,
    shuffled_folds,
    splits_by,
    time_blocks,
    time_folds,
)
from aucuba.changepoint import IntervalRegressionCV
from aucuba.ensemble import RegionReweighted
from aucuba.linear import PartialAUCClassifierCV

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


def same_splits(got, expected):
    for one, other in zip(got, expected, strict=True):
        for part, rows in zip(one, other, strict=True):
            np.testing.assert_array_equal(part, rows)


@given(st.integers(0, 2**31 - 1), st.integers(2, 7), st.integers(0, 60))
def test_folds_are_those_of_scikit_learn(seed, n_folds, n_more):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(2 * n_folds + n_more) < n_folds)
    expected = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))
    same_splits(shuffled_folds(y, n_folds, seed), expected)
    same_splits(shuffled_folds(np.where(y, "no", "yes"), n_folds, seed), expected)
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=seed)
    same_splits(halvings(y, 3, seed), halves.split(y, y))


def test_folds_of_tensors_are_those_of_arrays():
    torch = pytest.importorskip("torch")
    there = torch.as_tensor(Y)
    splits = shuffled_folds(there, 3, 0) + halvings(there, 2, 0)
    assert all(isinstance(part, torch.Tensor) for split in splits for part in split)
    same_splits(splits, shuffled_folds(Y, 3, 0) + halvings(Y, 2, 0))


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
        tests = [test for _, test in partition(cv, rows, 0).splits]
        assert sorted(np.concatenate(tests)) == list(range(18))
    with pytest.raises(ValueError, match=r"never tests \d+ rows"):
        partition(ShuffleSplit(2, random_state=0), rows, 0)
    halves = np.arange(0, 24, 2), np.arange(1, 24, 2)
    with pytest.raises(ValueError, match="Split 0 of cv trains on one class only"):
        partition([halves, halves[::-1]], rows, 0)
    with pytest.raises(ValueError, match="at least two folds"):
        partition(1, rows, 0)
    with pytest.warns(UserWarning, match="using 2 folds instead of cv=5"):
        assert len(partition(5, kept([0, 1, 2, 3, 4, 6]), 0).splits) == 2


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


times = st.lists(st.integers(0, 12), min_size=6, max_size=40)


@given(times, st.integers(2, 6))
def test_blocks_are_of_equal_count_in_order_of_time(listed, n_blocks):
    time = np.array(listed)
    block = time_blocks(time, n_blocks)
    assert sorted(set(block)) == list(range(block.max() + 1))
    place = [int(np.sum(time < one)) * n_blocks // time.size for one in time]
    for one in range(time.size):
        assert [k == place[one] for k in place] == (block == block[one]).tolist()
        assert (block[time <= time[one]] <= block[one]).all()
    if len(set(listed)) == len(listed):
        counts = np.bincount(block)
        assert counts.max() - counts.min() <= 1


@given(
    times, st.integers(2, 4), st.lists(st.integers(0, 6), min_size=40, max_size=40), st.booleans()
)
def test_blocks_of_time_train_on_earlier_rows_of_other_groups(listed, cv, groups, grouped):
    time = np.array(listed)
    group = np.array(groups[: time.size]) if grouped else None
    block = time_blocks(time, cv + 1)
    if block.max() < 2:
        with pytest.raises(ValueError, match="at least three are needed"):
            time_folds(cv, time, group)
        return
    folds = time_folds(cv, time, group)
    for number, (train, test) in enumerate(folds, start=1):
        assert test.tolist() == np.flatnonzero(block == number).tolist()
        tested = set() if group is None else set(group[test])
        expected = [
            row
            for row in range(time.size)
            if block[row] < number and (group is None or group[row] not in tested)
        ]
        assert train.tolist() == expected
    found = Folds(folds, time.size, group)
    assert found.covered.tolist() == np.flatnonzero(block > 0).tolist()
    assert np.isnan(found.among_rows(np.ones(found.covered.size), np.nan)[block == 0]).all()
    for (_, test), (others, among) in zip(folds, found.splits_of_scores(), strict=True):
        assert found.covered[among].tolist() == test.tolist()
        rest = found.covered[others]
        tested = set() if group is None else set(group[test])
        assert rest.tolist() == [
            row
            for row in found.covered
            if row not in test and (group is None or group[row] not in tested)
        ]


def test_the_latest_rows_are_held_out_with_all_of_their_earliest_time():
    time = np.array([3, 1, 2, 2, 5, 4])
    train, test = latest_split(time, 0.5, None)
    assert (train.tolist(), test.tolist()) == ([1, 2, 3], [0, 4, 5])
    assert latest_split(time, 0.6, None)[1].tolist() == [0, 2, 3, 4, 5]
    train, _ = latest_split(time, 0.5, np.array([0, 0, 1, 2, 2, 3]))
    assert train.tolist() == [2]
    with pytest.raises(ValueError, match="No row is earlier than the latest 3 of 6"):
        latest_split(np.zeros(6), 0.5, None)


def test_rows_that_share_a_query_or_a_group_stay_together():
    rows = KeptRows(np.arange(6), None, Y[:6], groups=np.array([0, 0, 1, 2, 3, 3]))
    joined = rows.resampled_by(["a", "b", "b", "c", "c", "d"], None).group_of
    assert joined[0] == joined[1] == joined[2]
    assert joined[3] == joined[4] == joined[5]
    assert joined[0] != joined[3]
    assert rows.resampled_by(None, None).groups is rows.groups


def test_groups_are_drawn_whole_and_a_given_split_must_keep_them():
    groups = np.arange(24) // 2
    rows = kept(np.arange(2, 20)).resampled_by(groups, None)
    for train, test in partition(3, rows, 0).splits:
        assert not set(rows.group_of[train]) & set(rows.group_of[test])
    odd = list(KFold(3, shuffle=True, random_state=0).split(Y))
    with pytest.raises(ValueError, match="Split 0 of cv trains on rows of"):
        partition(odd, rows, 0)
    partition(list(GroupKFold(3).split(Y, Y, groups)), rows, 0)
    few = kept(np.arange(24)).resampled_by(np.where(Y == 1, 0, np.arange(24)), None)
    with pytest.raises(ValueError, match=r"two groups of each class; got cv=3 and 1 group"):
        partition(3, few, 0)


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (np.arange(23), "time has 23 entries for 24 rows"),
        ([None, *range(23)], "time has 1 missing or infinite entries, the first in row 0"),
        (np.where(np.arange(24) == 3, np.nan, 0.0), "time has 1 missing or infinite"),
        (np.array(["NaT", *["2024-01-01"] * 23], dtype="datetime64[D]"), "the first in row 0"),
        (["yesterday"] * 24, "'yesterday' is not a date"),
    ],
)
def test_times_that_cannot_be_ordered(time, message):
    with pytest.raises(ValueError, match=message):
        kept(np.arange(24)).resampled_by(None, time)


def test_times_are_numbers_or_dates():
    days = np.datetime64("2024-01-30") + np.arange(24)[::-1]
    for time in (np.arange(24.0)[::-1], days, [str(day) for day in days], days.tolist()):
        assert kept(np.arange(24)).resampled_by(None, time).time.tolist() == list(range(24))[::-1]
    # Text is read, not sorted as text.
    mixed = ["2024-01-01 23:00:00+05:00", "2024-01-01 20:00:00Z", *["2025-01-01"] * 22]
    assert kept(np.arange(24)).resampled_by(None, mixed).time.tolist() == [0, 1, *[2] * 22]


@pytest.mark.parametrize("cv", [1, True, KFold(3), [(np.arange(4), np.arange(4, 24))]])
def test_with_time_cv_is_a_number_of_blocks(cv):
    rows = kept(np.arange(24)).resampled_by(None, np.arange(24))
    with pytest.raises(ValueError, match="With time, cv is the number of blocks to be scored"):
        partition(cv, rows, 0)


def test_blocks_of_time_need_both_classes():
    first = KeptRows(np.arange(24), np.zeros((24, 1)), np.arange(24) > 12)
    with pytest.raises(ValueError, match="Split 0 of cv trains on one class only"):
        partition(3, first.resampled_by(None, np.arange(24)), 0)
    last = KeptRows(np.arange(24), np.zeros((24, 1)), np.arange(24) > 3)
    with pytest.raises(ValueError, match="18 rows after the first block of time are of one class"):
        partition(3, last.resampled_by(None, np.arange(24)), 0)


@pytest.mark.parametrize("stratified", [True, False])
def test_a_part_is_held_out_by_class_by_group_or_by_time(stratified):
    y = np.arange(40) % 4 == 0
    train, test = held_out_split(0.5, y, 0, stratified=stratified)
    assert sorted([*train, *test]) == list(range(40))
    assert test.size == 20
    assert not stratified or y[test].sum() == 5
    again = held_out_split(0.5, y, 0, stratified=stratified)[1]
    assert again.tolist() == test.tolist()
    groups = np.arange(40) // 4
    train, test = held_out_split(0.5, y, 0, groups=groups, stratified=stratified)
    assert set(groups[train]).isdisjoint(groups[test])
    test = held_out_split(0.5, y, 0, time=np.arange(40), stratified=stratified)[1]
    assert test.tolist() == list(range(20, 40))


def test_the_same_mistake_in_cv_has_the_same_words_everywhere():
    X, y = np.random.default_rng(0).normal(size=(24, 2)), Y
    seen = [(np.arange(13), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    odd = list(KFold(2, shuffle=True, random_state=0).split(X))
    groups = np.arange(24) // 2
    limits = np.column_stack([X[:, 0] - 1, X[:, 0] + 1])
    fits = {
        "linear": lambda cv, **given: PartialAUCClassifierCV((0, 0.5), cv=cv).fit(X, y, **given),
        "ensemble": lambda cv, **given: RegionReweighted(LogisticRegression(), (0, 0.5), cv=cv).fit(
            X, y, **given
        ),
        "changepoint": lambda cv, **given: IntervalRegressionCV(cv=cv).fit(X, limits, **given),
    }
    for name, fit in fits.items():
        with pytest.raises(ValueError, match="Split 0 of cv trains on 1 of the rows that it tests"):
            fit(seen)
        with pytest.raises(ValueError, match="a splitter or an iterable of splits, got 'three'"):
            fit("three")
        if name != "changepoint":
            with pytest.raises(
                ValueError, match=r"Split 0 of cv trains on rows of \d+ of the groups"
            ):
                fit(odd, groups=groups)


def test_masks_are_splits_too():
    mask = np.arange(24) < 12
    ((train, test),) = splits_by([(mask, ~mask)], Y[:, np.newaxis], Y)
    assert (train.tolist(), test.tolist()) == (list(range(12)), list(range(12, 24)))
