"""Columns by kind: what each preparation keeps of them."""

import pickle

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeClassifier

from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._splines import PortableSplines
from aucuba._columns._table_columns import Columns, NamedColumns
from aucuba.ensemble import RegionStack

pd = pytest.importorskip("pandas")


def frame(n_rows=120):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "curve": rng.uniform(-1, 1, n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "name": np.array(["a", "b", "c"])[rng.integers(3, size=n_rows)],
            "level": pd.Categorical(np.array(["low", "high"])[rng.integers(2, size=n_rows)]),
            "whole": pd.array(rng.integers(0, 50, n_rows), dtype="Int64"),
        }
    )


def test_kinds_of_columns():
    columns = Columns.from_table(frame())
    assert columns.categorical == [2, 3]
    assert columns.numeric == [0, 1, 4]
    assert columns.smooth == [0, 4]
    array = Columns.from_table(frame()[["curve", "flag"]].to_numpy(dtype=float))
    assert (array.categorical, array.numeric, array.smooth) == ([], [0, 1], [0])


@pytest.mark.parametrize("preparation", ["for_linear", "for_splines", "for_trees"])
@pytest.mark.parametrize("column", ["name", "level", "flag", "whole"])
def test_every_kind_of_column_reaches_the_model(preparation, column):
    X = frame()
    y = X[column] == {"name": "b", "level": "low", "flag": True}.get(column, 0)
    if column == "whole":
        y = X["whole"] > 25
    tree = preparation == "for_trees"
    model = DecisionTreeClassifier(random_state=0) if tree else LogisticRegression(C=100.0)
    model = getattr(Columns.from_table(X), preparation)(model).fit(X, y)
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.99


def test_splines_bend_and_straight_lines_do_not():
    X = frame()
    y = X["curve"].abs() > 0.5
    columns, quality = Columns.from_table(X), {}
    for name in ("for_linear", "for_splines"):
        model = getattr(columns, name)(LogisticRegression(C=100.0)).fit(X, y)
        quality[name] = roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert quality["for_splines"] > 0.99 > 0.85 > quality["for_linear"]


def awkward(n_rows=150):
    """Every kind of column that tables have beside plain floats, and what it should become."""
    rng = np.random.default_rng(1)
    number = rng.normal(size=n_rows)
    gaps = rng.random(n_rows) < 0.2
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * number), unit="D")
    names = np.where(number > 0, "yes", "no").astype(object)
    names[gaps] = None
    whole = pd.array(np.round(3 * number), dtype="Int64")
    whole[gaps] = pd.NA
    frame = pd.DataFrame(
        {
            "whole": whole,
            "truth": pd.array(number > 0, dtype="boolean"),
            "text": pd.array(names, dtype="string"),
            "mixed": np.array([7 if one > 0 else "seven" for one in number], dtype=object),
            "when": when,
            "zoned": when.tz_localize("UTC"),
            "took": when - when[0],
            "loose": np.where(gaps, None, number).astype(object),
            "label": pd.Categorical(names),
        }
    )
    return frame, number, gaps


def test_awkward_columns_are_numbers_or_codes():
    frame, number, gaps = awkward()
    columns = Columns.from_table(frame)
    assert columns.categorical == [2, 3, 8]
    plain = PlainColumns(columns.categorical, columns.dates).fit(frame)
    table = plain.transform(frame)
    assert table.dtype == np.float64
    assert np.array_equal(np.isnan(table[:, 0]), gaps)
    assert table[~gaps, 0] == pytest.approx(np.round(3 * number)[~gaps])
    assert np.array_equal(table[:, 1], number > 0)
    days = np.round(100 * number)
    for place in (4, 5, 6):
        assert np.diff(table[:, place]) == pytest.approx(np.diff(days))
    assert table[~gaps, 7] == pytest.approx(number[~gaps])
    for place in (2, 8):
        assert np.array_equal(np.isnan(table[:, place]), gaps)
        assert np.unique(table[~gaps, place]).tolist() == [0.0, 1.0]
    assert np.unique(table[:, 3]).tolist() == [0.0, 1.0]
    new = frame[:3].copy()
    new["text"] = ["never seen", "yes", None]
    assert np.isnan(plain.transform(new)[:, 2]).tolist() == [True, False, True]


@pytest.mark.parametrize("preparation", ["for_linear", "for_splines", "for_trees"])
def test_models_take_awkward_columns(preparation):
    frame, number, _ = awkward()
    tree = preparation == "for_trees"
    model = DecisionTreeClassifier(random_state=0) if tree else LogisticRegression(C=100.0)
    for column in ("when", "zoned", "took", "loose"):
        part = frame[[column, "label"]]
        y = number > 0.7
        fitted = getattr(Columns.from_table(part), preparation)(model).fit(part, y)
        assert roc_auc_score(y, fitted.predict_proba(part)[:, 1]) > 0.85


def test_columns_without_values_are_zero():
    X = np.column_stack([np.arange(6.0), np.full(6, np.nan)])
    plain = PlainColumns().fit(X)
    assert plain.transform(X)[:, 1].tolist() == [0.0] * 6
    X[0, 1] = 5.0
    assert plain.transform(X)[:, 1].tolist() == [0.0] * 6
    assert np.isnan(X[1, 1])


def test_a_column_that_is_empty_in_one_fold():
    X = np.column_stack([np.random.default_rng(0).normal(size=(120, 2)), np.full(120, np.nan)])
    X[[3, 5], 2] = [1.0, 2.0]
    y = X[:, 0] > 0.3
    stack = RegionStack((0.0, 0.3), cv=2, random_state=0).fit(X, y)
    assert np.isfinite(stack.decision_function(X)).all()


def test_values_that_are_neither_text_nor_numbers_are_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [{"x": 1}, None]})
    with pytest.raises(TypeError, match="The column 'b' holds a dict"):
        Columns.from_table(frame)


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame, number, gaps = awkward()
    part = frame[["whole", "truth", "text", "when"]]
    same = polars.DataFrame(
        {
            "whole": [None if value is pd.NA else int(value) for value in part["whole"]],
            "truth": part["truth"].tolist(),
            "text": [None if gap else name for name, gap in zip(part["text"], gaps, strict=True)],
            "when": part["when"].to_list(),
        }
    )
    kinds = Columns.from_table(same)
    assert kinds == Columns.from_table(part)
    first, second = (
        PlainColumns(kinds.categorical, kinds.dates).fit(one).transform(one) for one in (part, same)
    )
    assert first == pytest.approx(second, nan_ok=True)
    stack = RegionStack((0.0, 0.3), estimators=["forest", "linear"], cv=2, random_state=0)
    assert np.isfinite(stack.fit(same, number > 0.5).decision_function(same)).all()


@pytest.mark.parametrize("degree", [1, 3])
def test_splines_survive_as_numbers(degree):
    x = np.random.default_rng(0).normal(size=(200, 2))
    splines = PortableSplines(n_knots=6, degree=degree, knots="quantile", extrapolation="linear")
    features = splines.fit_transform(x)
    plain = SplineTransformer(n_knots=6, degree=degree, knots="quantile", extrapolation="linear")
    np.testing.assert_array_equal(features, plain.fit_transform(x))
    again = pickle.loads(pickle.dumps(splines))
    wide = np.linspace(-9, 9, 50)[:, None] * [1.0, 1.0]
    np.testing.assert_array_equal(again.transform(wide), plain.transform(wide))
    saved = splines.__getstate__()["bsplines_"]
    assert all(isinstance(part, np.ndarray | int | bool) for one in saved for part in one)
    assert clone(splines).get_params() == splines.get_params()


class TestDates:
    MOMENTS = ("2019-12-31 23:30:00", "2024-02-29 00:15:00", "2021-06-07 12:00:00")

    @pytest.fixture(params=["datetime64", "text", "object", "zoned", "offset"])
    def when(self, request):
        moments = pd.to_datetime(pd.Series(self.MOMENTS))
        return {
            "datetime64": moments,
            "text": pd.Series(self.MOMENTS),
            "object": moments.astype(object),
            "zoned": moments.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
            "offset": pd.Series([f"{one}+00:00" for one in self.MOMENTS]),
        }[request.param]

    def test_calendar_and_elapsed_time(self, when):
        X = pd.DataFrame({"n": [1.0, 2.0, 3.0], "when": when})
        # Three rows cover two years, and no full cycle of anything else.
        assert Columns.from_table(X).dates == [(1, ["year"])]
        plain = PlainColumns((), [(1, ["year", "month", "weekday", "hour"])]).fit(X)
        names = plain.get_feature_names_out().tolist()
        assert names[2:] == ["when_year", "when_month", "when_weekday", "when_hour"]
        table = plain.transform(X)
        expected = [(2019, 12, 1, 23), (2024, 2, 3, 0), (2021, 6, 0, 12)]
        assert table[:, 2:].tolist() == [list(row) for row in expected]
        elapsed = [pd.Timestamp(one).timestamp() / 86400 for one in self.MOMENTS]
        assert table[:, 1] == pytest.approx(elapsed, rel=1e-14)

    @pytest.mark.parametrize(
        ("hours", "parts"),
        [
            # First and last hour, and the parts that this span covers.
            ((0, 22), []),
            ((0, 23), ["hour"]),
            ((0, 6 * 24 - 1), ["hour"]),
            ((0, 7 * 24 - 1), ["weekday", "hour"]),
            ((0, 335 * 24 - 1), ["weekday", "hour"]),
            ((0, 336 * 24), ["month", "weekday", "hour"]),
            ((0, 366 * 24), ["year", "month", "weekday", "hour"]),
        ],
    )
    def test_a_part_enters_with_a_full_cycle(self, hours, parts):
        moments = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(*hours, 1), unit="h")
        last = pd.Timestamp("2024-01-01") + pd.Timedelta(hours[1], unit="h")
        X = pd.DataFrame({"when": moments.append(pd.DatetimeIndex([last]))})
        assert Columns.from_table(X).dates == [(0, parts)]

    @pytest.mark.parametrize("preparation", ["for_linear", "for_splines", "for_trees"])
    def test_later_dates_count_as_the_last_of_training(self, preparation):
        rng = np.random.default_rng(0)
        days = pd.date_range("2023-12-20", periods=60)
        X = pd.DataFrame({"day": days, "n": rng.normal(size=60)})
        y = np.arange(60) > 30
        model = DecisionTreeClassifier(random_state=0)
        if preparation != "for_trees":
            model = LogisticRegression(C=100.0)
        fitted = getattr(Columns.from_table(X), preparation)(model).fit(X, y)
        score = {}
        for name, day in [("last", days[-1]), ("later", pd.Timestamp("2031-02-18"))]:
            new = X.assign(day=day)
            # The weekday is known and may differ; it is that of the last day of training here.
            new["day"] = new["day"] - pd.Timedelta((new["day"][0] - days[-1]).days % 7, unit="D")
            score[name] = fitted.predict_proba(new)[:, 1]
        np.testing.assert_array_equal(score["later"], score["last"])

    def test_rows_far_outside_the_range_of_training(self):
        X = pd.DataFrame(
            {
                "n": [0.0, 10.0, np.nan, 4.0],
                "day": pd.to_datetime(["2024-01-01", "2024-01-21", None, "2024-01-05"]),
                "city": ["a", "b", "a", "b"],
                "none": [np.nan] * 4,
            }
        )
        columns = Columns.from_table(X)
        plain = PlainColumns(columns.categorical, columns.dates).fit(X)
        assert not np.any(list(plain.far_outside(X).values()))
        new = X.assign(
            n=[-5.0, -5.1, 15.0, 15.1],
            day=pd.to_datetime(["2023-12-22", "2023-12-21", "2024-01-31", "2024-02-01"]),
            city="never seen",
            none=1.0,
        )
        far = plain.far_outside(new)
        assert sorted(far) == ["day", "n", "none"]
        assert far["n"].tolist() == far["day"].tolist() == [False, True, False, True]
        assert not far["none"].any()
        ranges = plain.training_ranges()
        assert ranges == {"n": "0 to 10", "day": "2024-01-01 to 2024-01-21"}

    def test_missing_dates(self):
        X = pd.DataFrame({"day": ["2020-03-02", None, "2021-04-05"]})
        prepared = Columns.from_table(X).for_linear(None)[0].fit(X)
        assert np.isfinite(prepared.transform(X)).all()
        assert "missingindicator_day" in prepared.get_feature_names_out()

    @pytest.mark.parametrize("word", ["2020-13-01", "2020-1-1", "20200101", "Oslo"])
    def test_other_text_is_a_category(self, word):
        X = pd.DataFrame({"day": ["2020-03-02", word]})
        assert Columns.from_table(X).categorical == [0]

    def test_a_weekday_can_be_learned(self):
        X = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=140)})
        y = (X["day"].dt.day_of_week >= 5).to_numpy()
        model = Columns.from_table(X).for_linear(LogisticRegression(C=100.0)).fit(X, y)
        assert roc_auc_score(y, model.decision_function(X)) == 1.0


def test_names_of_prepared_columns():
    city = ["Oslo"] * 20 + ["Rome"] * 20 + ["Ulm"] * 3 + ["Bonn"] * 2 + [None] * 15
    X = pd.DataFrame({"age": [np.nan, *range(59)], "city": city})
    prepared = Columns.from_table(X).for_linear(None)[0].fit(X)
    expected = ["age", "missingindicator_age", "city_Oslo", "city_Rome", "city_(missing)"]
    assert prepared.get_feature_names_out().tolist() == [*expected, "city_(rare)"]
    table = prepared.transform(X)
    np.testing.assert_array_equal(table[:, 3], np.array(city) == "Rome")
    np.testing.assert_array_equal(table[:, 5], [one in ("Ulm", "Bonn") for one in city])
    assert prepared.plain_.known_categories() == {"city": {"Oslo", "Rome", "Ulm", "Bonn"}}


def test_sparse_where_most_entries_are_zero():
    X = pd.DataFrame({"code": [f"c{k}" for k in range(20)] * 15})
    columns = Columns.from_table(X)
    narrow, wide = (columns.for_linear(None, sparse=one)[0] for one in (True, False))
    result = narrow.fit_transform(X)
    assert issparse(result)
    np.testing.assert_array_equal(result.toarray(), wide.fit_transform(X))
    np.testing.assert_array_equal(narrow.transform(X[:5]).toarray(), wide.transform(X[:5]))


def test_columns_are_found_by_name():
    X = frame()
    chosen = NamedColumns(["whole", "name"]).fit(X)
    assert chosen.transform(X[["name", "flag", "whole"]]).columns.tolist() == ["whole", "name"]
    with pytest.raises(ValueError, match="needs the columns 'whole', which X lacks"):
        chosen.transform(X[["name"]])
    with pytest.raises(ValueError, match=r"got ndarray\. Pass a DataFrame"):
        chosen.transform(np.zeros((3, 2)))
