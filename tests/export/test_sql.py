"""Linear models as SQL, run in SQLite and DuckDB."""

import sqlite3

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from aucuba import (
    ColumnPreparer,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
)
from aucuba.export import to_sql

RANGE = (0.0, 0.2)
X, Y = make_classification(900, 4, n_redundant=0, weights=[0.8], random_state=0)
GAPS = np.where((np.arange(900) % 5 == 0)[:, None] & (np.arange(4) < 2), np.nan, X)
NAMES = ["a", "b b", 'c"', "d; DROP TABLE rows --"]
PREPARED = ColumnTransformer(
    [
        ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), [0, 1]),
        ("m", MaxAbsScaler(), [3]),
    ]
)


def run(statement, rows, connection=None):
    connection = connection or sqlite3.connect(":memory:")
    columns = ", ".join('"' + name.replace('"', '""') + '" DOUBLE' for name in NAMES)
    connection.execute(f"CREATE TABLE rows ({columns})")
    values = [[None if np.isnan(x) else float(x) for x in row] for row in rows]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", values)
    found = connection.execute(statement)
    names = [one[0] for one in found.description]
    table = np.array(found.fetchall(), dtype=float)
    return table[:, names.index("score")], table[:, names.index("flag")].astype(bool)


MODELS = [
    PartialAUCClassifier(RANGE),
    PartialAUCClassifier(RANGE, pos_label=0),
    PartialAUCClassifierCV(RANGE, cv=2, random_state=0),
    LogisticRegression(),
    make_pipeline(StandardScaler(), PartialAUCSVC(RANGE)),
    make_pipeline(PREPARED, PartialAUCClassifier(RANGE)),
    make_pipeline(ColumnPreparer(), PartialAUCClassifier(RANGE)),
    FixedFPRClassifier(make_pipeline(StandardScaler(), LogisticRegression()), 0.1, random_state=0),
    FixedFPRClassifier(LogisticRegression(), 0.4, random_state=0, pos_label=0),
    FixedFPRClassifier(LogisticRegression(), 0.4, random_state=0, score_direction="low"),
    FixedTPRClassifier(LogisticRegression(), 0.5, random_state=0),
    make_pipeline(StandardScaler(), FixedPrecisionClassifier(LogisticRegression(), 0.3, 0.6)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_scores_and_flags(model):
    rows = GAPS if PREPARED in getattr(model, "named_steps", {}).values() else X
    model.fit(rows, Y)
    score, flag = run(to_sql(model, columns=NAMES), rows)
    np.testing.assert_allclose(score, model.decision_function(rows), atol=1e-12)
    last = model[-1] if hasattr(model, "steps") else model
    positive = getattr(last, "pos_label_", 1)
    np.testing.assert_array_equal(flag, model.predict(rows) == positive)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_duckdb_computes_the_same(model):
    duckdb = pytest.importorskip("duckdb")
    rows = GAPS if PREPARED in getattr(model, "named_steps", {}).values() else X
    statement = to_sql(model.fit(rows, Y), columns=NAMES)
    with duckdb.connect() as connection:
        score, flag = run(statement, rows, connection)
    expected = run(statement, rows)
    np.testing.assert_allclose(score, expected[0], atol=1e-12)
    np.testing.assert_array_equal(flag, expected[1])


@pytest.mark.parametrize(
    ("kind", "inside"), [(FixedFPRClassifier, True), (FixedTPRClassifier, False)]
)
def test_rows_on_the_threshold_go_to_the_safe_side(kind, inside):
    model = kind(LogisticRegression(), 0.3, random_state=0).fit(X, Y)
    scores = model.estimator_.decision_function(X)
    place = int(np.argsort(scores)[450])
    for step in (-1, 0, 1):
        model.threshold_ = float(scores[place] + step * np.spacing(abs(scores[place])))
        _, flag = run(to_sql(model, columns=NAMES), X)
        python = scores > model.threshold_
        assert not np.any(flag & ~python if inside else python & ~flag)
        assert flag[place] == (not inside)


def test_the_promise_is_a_comment():
    model = FixedFPRClassifier(LogisticRegression(), 0.1, random_state=0).fit(X, Y)
    assert to_sql(model).startswith(f"-- {model.promise_}\n")
    both = FixedFPRClassifier(LogisticRegression(), 0.4, min_tpr=0.5, random_state=0).fit(X, Y)
    assert to_sql(both).startswith("WITH")
    folds = FixedFPRClassifier(LogisticRegression(), 0.1, cv=3, random_state=0).fit(X, Y)
    assert to_sql(folds).startswith("WITH")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RandomForestClassifier(2), "RandomForestClassifier is not linear"),
        (PartialAUCSVC(RANGE, kernel="rbf", loss="tight"), "not linear"),
        (make_pipeline(RandomForestClassifier(2)), "not linear"),
        (
            FixedFPRClassifier(LogisticRegression(), 0.4, response_method="predict_proba"),
            "compares predict_proba",
        ),
    ],
)
def test_refusals(model, words):
    with pytest.raises(ValueError, match=words):
        to_sql(model.fit(X, Y))


def test_columns_that_are_no_numbers_are_refused_in_words():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).assign(kind=np.where(Y, "a", "b")).rename(columns=str)
    model = make_pipeline(ColumnPreparer(), LogisticRegression()).fit(frame, Y)
    with pytest.raises(
        ValueError, match=r"^Columns of categories or dates cannot be written as SQL"
    ):
        to_sql(model)


def test_a_wrong_number_of_names():
    with pytest.raises(ValueError, match="2 names; the model has 4 columns"):
        to_sql(LogisticRegression().fit(X, Y), columns=["a", "b"])
