"""Tables of several libraries give the same model, and the names of their columns."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba import (
    AUMClassifier,
    FixedFPRClassifier,
    PartialAUCClassifier,
    RegionReweighted,
    RegionStack,
)
from aucuba.metrics import partial_auc_score

pd = pytest.importorskip("pandas")

RANGE = (0.0, 0.3)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 0.8).astype(int)
NUMBERS = pd.DataFrame(X, columns=["a", "b", "c"])
MIXED = NUMBERS.assign(city=np.where(X[:, 1] > 0, "Rome", "Oslo"))
MODELS = {
    "linear": lambda: PartialAUCClassifier(RANGE),
    "aum": lambda: AUMClassifier(tol=0.1),
    "reweighted": lambda: RegionReweighted(LogisticRegression(), RANGE, cv=2, random_state=0),
    "stack": lambda: RegionStack(RANGE, estimators=["linear"], cv=2, random_state=0),
    "promised": lambda: FixedFPRClassifier(LogisticRegression(), 0.3, random_state=0),
}


class Stream:
    """A table that can do nothing but stream Arrow columns, and only once."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def pyarrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def stream(frame):
    return Stream(pyarrow(frame))


def narwhals(frame):
    return pytest.importorskip("narwhals").from_native(polars(frame))


def lazy(frame):
    return polars(frame).lazy()


def duckdb(frame):
    return pytest.importorskip("duckdb").connect().from_arrow(pyarrow(frame))


TABLES = [polars, pyarrow, stream, narwhals, lazy, duckdb]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_same_scores_and_names(name, table):
    frame = MIXED if name == "stack" else NUMBERS
    expected = MODELS[name]().fit(frame, Y)
    model = MODELS[name]().fit(table(frame), Y)
    scores = model.decision_function(table(frame))
    np.testing.assert_allclose(scores, expected.decision_function(frame), atol=1e-12)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.predict(table(frame)), expected.predict(frame))


def test_levels_and_probabilities_of_streams():
    model = MODELS["promised"]().fit(NUMBERS, Y)
    levels = model.decision_levels(stream(NUMBERS))
    np.testing.assert_array_equal(levels, model.decision_levels(NUMBERS))
    found = model.predict_proba(stream(NUMBERS))
    np.testing.assert_allclose(found, model.predict_proba(NUMBERS), atol=1e-12)


# Scikit-learn has it so for labels in a table.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("table", TABLES)
def test_labels_weights_and_scores_from_tables_of_one_column(table):
    columns = pd.DataFrame({"y": Y, "score": X[:, 0], "weight": np.arange(Y.size) % 3 + 1})
    y, score, weight = (table(columns[[name]]) for name in columns)
    found = partial_auc_score(y, score, fpr_range=RANGE, sample_weight=weight)
    expected = partial_auc_score(Y, X[:, 0], fpr_range=RANGE, sample_weight=columns["weight"])
    assert found == pytest.approx(expected)
    for name, make in MODELS.items():
        model = make().fit(table(NUMBERS), table(columns[["y"]]))
        expected = make().fit(NUMBERS, Y).decision_function(NUMBERS)
        found = model.decision_function(table(NUMBERS))
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("table", TABLES)
def test_model_files_of_the_command_line(table, tmp_path):
    """Numbers, categories, dates and gaps, in another order than in training, with more beside."""
    pytest.importorskip("typer")
    from aucuba.cli import main
    from aucuba.persistence import load_model

    frame = MIXED.assign(y=Y, day=pd.Timestamp("2026-01-01") + pd.to_timedelta(X[:, 2], unit="D"))
    frame.loc[::7, "a"] = None
    frame.loc[::5, "city"] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = ["fit", tmp_path / "rows.csv", "--no-probe", "--out", tmp_path / "m.aucuba"]
    assert main([str(word) for word in words]) == 0
    saved = load_model(tmp_path / "m.aucuba")
    expected = saved.decision_function(frame)
    given = frame[["y", "day", "city", "c", "b", "a"]]
    found = saved.decision_function(table(given))
    # Dates of a csv file have seconds.
    np.testing.assert_allclose(found, expected, atol=1e-9)
    far = given.assign(b=1e6, city="Paris")
    assert saved.unusual_values(table(far)) == saved.unusual_values(far)
    with pytest.raises(ValueError, match="The model needs the columns 'b', which X lacks"):
        saved.predict(table(given.drop(columns="b")))


def test_columns_of_labels_and_scores():
    expected = partial_auc_score(Y, X[:, 0], fpr_range=RANGE)
    columns = [pytest.importorskip("polars").Series, pytest.importorskip("pyarrow").array]
    for column in columns:
        assert partial_auc_score(column(Y), column(X[:, 0]), fpr_range=RANGE) == expected
