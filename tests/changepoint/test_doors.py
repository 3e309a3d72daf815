"""Signals as long tables and as pandas Series; labels in their coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from aucuba.changepoint import Label, SupervisedChangepointDetector
from tests.changepoint.test_detector import make_signals

pd = pytest.importorskip("pandas")


def detector():
    return SupervisedChangepointDetector(6, random_state=0)


@pytest.fixture(scope="module")
def plain():
    signals, labels = make_signals(24)
    return signals, labels, detector().fit(signals, labels)


def long_table(signals, place=None):
    return pd.concat(
        [
            pd.DataFrame(
                {"sequence": f"s{k}", "value": y} | ({} if place is None else place(y.size))
            )
            for k, y in enumerate(signals)
        ],
        ignore_index=True,
    )


def label_frame(labels, unit):
    return pd.DataFrame(
        [
            {"sequence": f"s{k}", "start": unit(label.start), "end": unit(label.end)}
            | {"kind": label.kind}
            for k, rows in enumerate(labels)
            for label in rows
        ]
    )


@pytest.mark.parametrize(
    ("column", "at"),
    [
        (None, lambda sample: sample),
        ("position", lambda sample: 1000 + 50 * np.asarray(sample)),
        ("time", lambda sample: pd.Timestamp("2020-01-01") + pd.to_timedelta(sample, "h")),
    ],
)
def test_a_long_table_is_the_same_fit(plain, column, at):
    signals, labels, expected = plain
    place = None if column is None else lambda n: {column: at(np.arange(n))}
    table, regions = long_table(signals, place), label_frame(labels, at)
    model = detector().fit(table, regions)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    found = model.predict(table)
    for changes, first in zip(found, expected.predict(signals), strict=True):
        if column is None:
            np.testing.assert_array_equal(changes, first)
        else:
            assert list(pd.Series(changes)) == list(pd.Series(at(first)))
    assert model.score(table, regions) == expected.score(signals, labels)


def test_rows_of_a_table_keep_their_order_within_a_sequence(plain):
    signals, _, model = plain
    table = long_table(signals[:2])
    mixed = pd.concat([table[1::2], table[::2]]).sort_index(kind="stable")
    assert [c.tolist() for c in model.predict(mixed)] == [
        c.tolist() for c in model.predict(signals[:2])
    ]


def test_series_give_values_of_their_index(plain):
    signals, labels, model = plain
    days = pd.date_range("2021-03-01", periods=60, freq="D")
    series = [pd.Series(y, index=days) for y in signals]
    for changes, first in zip(model.predict(series), model.predict(signals), strict=True):
        assert list(pd.DatetimeIndex(changes)) == list(days[first])
    dated = [
        [
            Label(
                days[0] + pd.Timedelta(days=label.start),
                days[0] + pd.Timedelta(days=label.end),
                label.kind,
            )
            for label in rows
        ]
        for rows in labels
    ]
    assert model.score(series, dated) == model.score(signals, labels)
    named = pd.Series(signals[1], index=[f"row {k}" for k in range(60)])
    assert model.predict([named])[0].tolist() == ["row 20", "row 40"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="value"), "needs the column 'value'"),
        (lambda t: t.rename(columns={"sequence": "id"}), "needs the column 'sequence'"),
        (lambda t: t.assign(sequence=None), "'sequence' has missing values"),
        (lambda t: t.assign(position=0.0), "Sequence 's0': positions must be finite and strictly"),
        (lambda t: t[:0], "signals is empty"),
    ],
)
def test_bad_tables(plain, change, message):
    signals, _, model = plain
    with pytest.raises(ValueError, match=message):
        model.predict(change(long_table(signals[:3])))
