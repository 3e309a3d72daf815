"""Conditions on columns of every kind: which are listed, how they read, whom they meet."""

from itertools import pairwise

import numpy as np
import pytest

from aucuba._base._dates import as_days
from aucuba._rows._sample import Sample
from aucuba.scorecard._conditions import (
    Condition,
    column_conditions,
    roundest_moment,
    shortest_between,
)
from aucuba.scorecard._table import ScoredColumns

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 400


def listed(values, positive=None, weight=None, *, both_sides=False):
    frame = pd.DataFrame({"a": values})
    columns = ScoredColumns.from_table(frame)
    positive = RNG.random(len(frame)) < 0.3 if positive is None else positive
    base = Condition(0, "a", "missing", is_date=columns.kinds[0] == "date")
    sample = Sample(positive, weight)
    return column_conditions(columns.values[0], sample, base, both_sides=both_sides)


def texts(found):
    return [condition.text for condition, _ in found]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (59.7, 60.4, 60.0),
        (1234.0, 1789.0, 1500.0),
        (0.0012, 0.0019, 0.002 - 0.0005),
        (0.31, 0.314, 0.31),
        (-3.0, 2.0, 0.0),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
    ],
)
def test_cuts_have_as_few_digits_as_keep_the_split(low, high, expected):
    found = shortest_between(low, high)
    assert low <= found < high
    assert found == pytest.approx(expected, abs=0.6 * (high - low))
    assert len(repr(found)) <= len(repr(expected)) + 1


def test_cut_of_two_values_keeps_the_split_whatever_they_are():
    values = np.sort(np.concatenate([RNG.normal(size=50), RNG.lognormal(8, 3, 50)]))
    for low, high in pairwise(values):
        assert low <= shortest_between(low, high) < high


def test_cut_keeps_the_split_of_rounded_values():
    tenths = np.arange(-30, 31) / 10
    for low, high in pairwise(tenths):
        cut = shortest_between(low, high)
        assert low <= cut < high
        assert np.float32(low) <= cut < np.float32(high)
    # Both are one number of single precision, or none.
    assert shortest_between(1e9, 1e9 + 1) == 1e9
    assert 1e300 <= shortest_between(1e300, 2e300) < 2e300


def test_rows_met_are_distinct_and_not_too_rare():
    found = listed(RNG.normal(size=N))
    marks = {rows.tobytes() for _, rows in found}
    assert len(marks) == len(found) > 10
    assert all(5 <= rows.sum() <= N - 5 for _, rows in found)
    assert all(condition.test == ">" for condition, _ in found)


def test_few_values_are_cut_between_all():
    assert (
        texts(listed(np.tile([1, 2, 5], 50))) == ["a > 1", "a > 3"]
        or len(listed(np.tile([1, 2, 5], 50))) == 2
    )


def test_a_step_of_the_rate_is_found():
    values = RNG.permutation(np.arange(1000.0))
    found = listed(values, values > 437)
    assert any(437 <= condition.value < 438 for condition, _ in found)


def test_zero_and_one_read_as_equality():
    (condition, rows), *rest = listed(np.arange(N) % 2)
    assert not rest
    assert condition.text == "a = 1"
    assert np.array_equal(rows, np.arange(N) % 2 == 1)
    assert condition.opposite().text == "a != 1"


def test_groups_of_categories_go_by_their_rates():
    names = np.array(["single", "married", "divorced", "widowed"])
    place = np.arange(N) % 4
    positive = RNG.random(N) < np.array([0.1, 0.05, 0.6, 0.7])[place]
    found = listed(names[place], positive)
    assert "a is divorced or widowed" in texts(found)
    pair = next(c for c, _ in found if c.text == "a is divorced or widowed")
    assert np.array_equal(pair.met(names[place].astype(object)), place >= 2)
    unseen = np.array(["other", np.nan], dtype=object)
    assert not pair.met(unseen).any()
    assert pair.opposite().met(unseen).tolist() == [True, False]


def test_missing_values_meet_only_their_own_condition():
    values = np.where(np.arange(N) % 5 == 0, np.nan, RNG.normal(size=N))
    found = listed(values)
    assert "a is missing" in texts(found)
    assert {condition.test for condition, _ in found} >= {">", "<=", "missing"}
    for condition, rows in found:
        assert rows[np.isnan(values)].any() == (condition.test == "missing")


def test_complements_are_met_by_all_other_rows():
    marker = np.where(np.arange(N) % 5 == 0, np.nan, RNG.normal(size=N))
    status = np.where(np.arange(N) % 7 == 0, None, np.array(["a", "b", "c"])[np.arange(N) % 3])
    flag = np.where(np.arange(N) % 3 == 0, np.nan, np.arange(N) % 2)
    for values in (marker, status, flag):
        column = ScoredColumns.from_table(pd.DataFrame({"a": values})).values[0]
        for condition, rows in listed(values):
            other = condition.complement()
            assert np.array_equal(other.met(column), ~rows)
            assert other.complement() == condition
    assert Condition(0, "a", ">", 2.0).complement().text == "a <= 2 or is missing"
    group = Condition(0, "a", "in", ("x", "y"))
    assert group.complement().text == "a is not x or y, or is missing"
    assert group.complement().complement().text == "a is x or y"


def test_one_side_is_enough_without_missing_values():
    values = RNG.normal(size=N)
    assert {c.test for c, _ in listed(values)} == {">"}
    assert {c.test for c, _ in listed(values, both_sides=True)} == {">", "<="}


def test_groups_of_all_other_categories_are_left_out():
    names, place = np.array(["a", "b", "c", "d"]), np.arange(N) % 4
    positive = RNG.random(N) < np.array([0.1, 0.2, 0.6, 0.7])[place]
    met = np.array([rows for _, rows in listed(names[place], positive)])
    assert not any(np.array_equal(one, ~other) for one in met for other in met)
    assert len(met) == 5
    two = [condition.text for condition, _ in listed(names[place % 2], positive)]
    assert len(two) == 1


def test_dates_are_cut_at_whole_days():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) // 2, "D")
    found = listed(days)
    assert all(float(condition.value).is_integer() for condition, _ in found)
    assert found[0][0].text.startswith("a > 2024-0")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("2021-03-04", "2023-10-01", "2022-01-01"),
        ("2023-03-04", "2023-10-01", "2023-07-01"),
        ("2023-03-04", "2023-03-07", "2023-03-05"),
        ("2023-03-04", "2023-03-05", "2023-03-04"),
        ("2024-05-01 13:10", "2024-05-01 16:50", "2024-05-01 15:00"),
        ("2024-05-01 13:10:20", "2024-05-01 13:50", "2024-05-01 13:30"),
        ("2024-05-01 13:10:20", "2024-05-01 13:10:50", "2024-05-01 13:10:35"),
        ("2024-05-01 13:10:20.25", "2024-05-01 13:10:20.5", "2024-05-01 13:10:20.250000"),
        ("1605-03-04", "1605-04-04", "1605-04-01"),
    ],
)
def test_dates_are_cut_at_round_moments(low, high, expected):
    low, high = as_days(np.array([low, high], dtype="datetime64[us]"))
    one = Condition(0, "a", ">", roundest_moment(low, high), is_date=True)
    assert low <= one.value < high
    assert one.shown_value == expected


def test_weights_are_copies():
    values, weight = RNG.normal(size=N).round(1), RNG.integers(1, 5, N)
    positive = RNG.random(N) < 0.3
    once = listed(values, positive, weight.astype(float))
    copied = listed(np.repeat(values, weight), np.repeat(positive, weight))
    assert texts(once) == texts(copied)


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="The column 'a' holds infinity"):
        listed(np.append(np.arange(10.0), np.inf))
