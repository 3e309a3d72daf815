"""Columns of categories, dates and missing values for linear models: in memory and on Dask."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from aucuba import (
    ColumnPreparer,
    FixedFPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
)

pd = pytest.importorskip("pandas")


def frame(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2022-01-01")
    rows = pd.DataFrame(
        {
            "number": 1e3 * rng.normal(size=n_rows) + 5,
            "gaps": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            "nullable": pd.array(rng.integers(0, 9, n_rows), "Int64"),
            "constant": np.full(n_rows, 0.1),
            "city": rng.choice(["Rome", "Oslo", None, "Bonn"], n_rows),
            "rare": rng.choice(["x", "y", "z"], n_rows, p=[0.895, 0.1, 0.005]),
            "when": start + pd.to_timedelta(rng.integers(0, 800 * 86_400, n_rows), unit="s"),
            "day": [
                str(start + pd.Timedelta(days=int(k)))[:10] for k in rng.integers(0, 9, n_rows)
            ],
        }
    )
    rows.loc[rng.random(n_rows) < 0.1, "when"] = pd.NaT
    rows.loc[::50, "nullable"] = pd.NA
    return rows


def many_categories():
    """More names than codes, many of them equally frequent, with few and with no missing values."""
    rng = np.random.default_rng(1)
    names = np.char.add("c", rng.integers(0, 300, 1500).astype(str)).astype(object)
    common = np.char.add("c", np.minimum(rng.geometric(0.1, 1500), 30).astype(str)).astype(object)
    with_gaps = np.where(np.arange(1500) % 300 == 0, None, names)
    return pd.DataFrame({"names": names, "gaps": with_gaps, "common": common})


def changing():
    """Blocks whose values, taken alone, are of other kinds than those of all rows."""
    text = np.array(["2024-01-01"] * 100 + ["soon"] * 50 + [None] * 50, dtype=object)
    mixed = np.array([1, 2] * 50 + ["b"] * 50 + [2.0] * 50, dtype=object)
    late = np.array([None] * 100 + [3.0, 4.0] * 50, dtype=object)
    empty = np.full(200, None, dtype=object)
    dates = np.array([None] * 50 + ["2024-05-01 10:00", "2024-06-01"] * 75, dtype=object)
    numbers = np.r_[np.full(100, np.nan), np.arange(100.0)]
    columns = {"text": text, "mixed": mixed, "late": late, "empty": empty, "dates": dates}
    return pd.DataFrame({**columns, "numbers": numbers})


FRAMES = {"frame": frame, "many": many_categories, "changing": changing}


def dense(table):
    return table.toarray() if sparse.issparse(table) else table


def in_blocks(rows, n_blocks=4):
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    # Dask's own type of text would turn numbers beside text into text.
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(rows, npartitions=n_blocks)


@pytest.fixture(autouse=True)
def _in_one_thread():
    """A client of another test must not compute for this one."""
    try:
        import dask
    except ImportError:
        yield
        return
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("n_blocks", [1, 4])
def test_blocks_teach_what_all_rows_teach(name, n_blocks):
    rows = FRAMES[name]()
    want, blocks = ColumnPreparer().fit(rows), in_blocks(rows, n_blocks)
    got = ColumnPreparer().fit(blocks)
    assert got.get_feature_names_out().tolist() == want.get_feature_names_out().tolist()
    assert got.feature_names_in_.tolist() == list(rows.columns)
    prepared, expected = got.transform(blocks).compute(), want.transform(rows)
    assert type(prepared) is type(expected)
    np.testing.assert_allclose(dense(prepared), dense(expected), atol=1e-9)
    # Rows that training has seen nothing like: unknown names, gaps in columns without gaps.
    other = rows.iloc[::7].copy()
    for column in other.columns:
        kind = rows[column].dtype.kind
        other[column] = np.nan if kind == "f" else pd.NaT if kind == "M" else other[column]
    np.testing.assert_allclose(dense(got.transform(other)), dense(want.transform(other)), atol=1e-9)
    ours, theirs = (one.columns_.plain_ for one in (got, want))
    np.testing.assert_array_equal(ours.empty_, theirs.empty_)
    assert ours.training_ranges() == theirs.training_ranges()
    assert ours.known_categories() == theirs.known_categories()


def test_an_array_of_dask_with_gaps():
    da = pytest.importorskip("dask.array")
    X = frame()[["number", "gaps"]].to_numpy()
    got = ColumnPreparer().fit(da.from_array(X, chunks=(150, 1)))
    assert got.transform(da.from_array(X, chunks=(150, 2))).shape == (600, 3)
    np.testing.assert_allclose(
        got.transform(X), ColumnPreparer().fit(X).transform(X), rtol=1e-9, atol=1e-12
    )


@pytest.fixture(scope="module")
def labelled():
    rows = frame(1500)
    rng = np.random.default_rng(3)
    score = rows["number"] / 1e3 + (rows["city"] == "Rome") + rows["gaps"].isna()
    return rows, (score + rng.normal(size=len(rows)) > 1.5).astype(int)


def make_model():
    return make_pipeline(ColumnPreparer(), PartialAUCClassifier((0.0, 0.2)))


def test_a_pipeline_on_dask_is_that_of_the_rows_in_memory(labelled):
    rows, y = labelled
    want = make_model().fit(rows, y)
    blocks = in_blocks(rows)
    got = make_model().fit(blocks, in_blocks(y))
    expected = want.decision_function(rows)
    np.testing.assert_allclose(got.decision_function(rows), expected, atol=1e-6)
    np.testing.assert_allclose(got.decision_function(blocks).compute(), expected, atol=1e-6)
    promised = FixedFPRClassifier(got, 0.2, cv="prefit").fit(blocks, in_blocks(y))
    in_memory = FixedFPRClassifier(got, 0.2, cv="prefit").fit(rows, y)
    assert promised.threshold_ == pytest.approx(in_memory.threshold_, abs=1e-12)
    assert promised.promise_ == in_memory.promise_


def test_its_model_files_know_the_columns(labelled, tmp_path):
    pytest.importorskip("skops")
    from aucuba.persistence import load_model, save_model

    rows, y = labelled
    save_model(make_model().fit(in_blocks(rows), in_blocks(y)), tmp_path / "model.aucuba")
    saved = load_model(tmp_path / "model.aucuba")
    assert saved.columns()["rare"] == "category: 'x', 'y', 'z'"
    (unusual,) = saved.unusual_values(rows[:1].assign(rare="q"))
    assert unusual == ["'rare' is unlike the training rows (category: 'x', 'y', 'z')"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_learns_the_same(labelled):
    distributed = pytest.importorskip("distributed")
    rows = labelled[0]
    want = ColumnPreparer().fit(rows)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None):
        blocks = in_blocks(rows)
        got = ColumnPreparer().fit(blocks)
        prepared = got.transform(blocks).compute()
    np.testing.assert_allclose(dense(prepared), dense(want.transform(rows)), atol=1e-9)


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_other_tables(package):
    pytest.importorskip(package)
    rows = frame()[["number", "gaps", "city"]]
    if package == "polars":
        import polars

        table = polars.from_pandas(rows)
    else:
        import pyarrow

        table = pyarrow.Table.from_pandas(rows)
    want, got = ColumnPreparer().fit(rows), ColumnPreparer().fit(table)
    assert got.get_feature_names_out().tolist() == want.get_feature_names_out().tolist()
    np.testing.assert_allclose(dense(got.transform(table)), dense(want.transform(rows)))


def test_indicators_of_a_category_enter_together():
    rng = np.random.default_rng(0)
    city, noise = rng.choice(["Oslo", "Rome", "Bern", "Kyiv"], 400), rng.normal(size=(400, 2))
    rows = pd.DataFrame({"a": noise[:, 0], "city": city, "b": noise[:, 1]})
    rows.loc[::9, "b"] = np.nan
    y = np.isin(city, ["Oslo", "Rome"]) ^ (rng.random(400) < 0.1)
    preparer = ColumnPreparer().fit(rows)
    source = preparer.source_columns()
    names = preparer.get_feature_names_out()
    assert [rows.columns[k] for k in source] == [
        name.removeprefix("missingindicator_").partition("_")[0] for name in names
    ]
    model = PartialAUCClassifierCV(max_features=1, feature_groups=source, Cs=1, cv=2)
    model.set_params(random_state=0).fit(preparer.transform(rows), y)
    assert names[model.support_].tolist() == [f"city_{name}" for name in np.unique(city)]


def test_other_columns_are_refused():
    rows = frame()
    blocks = in_blocks(rows)
    model = ColumnPreparer().fit(blocks)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(blocks[["city", "number"]])
    other = rows.assign(day="tomorrow")
    with pytest.raises(ValueError, match="'day' held dates in training, and 'tomorrow'"):
        model.transform(in_blocks(other)).compute()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "text",
            "^could not convert string to float: 'text'. Text, dates and missing values need a C",
        ),
        (np.nan, "^Input X contains NaN. Text, dates and missing values need a ColumnPreparer"),
        (np.inf, r"^Input X contains infinity or a value too large for dtype\('float64'\)\.$"),
    ],
)
def test_a_model_without_it_names_it(entry, message):
    X, y = np.array([[0.0], [1.0], [2.0], [entry]], dtype=object), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=message):
        PartialAUCClassifier((0.0, 0.5)).fit(X, y)
