"""Random exports: hostile names and values in SQL, run in SQLite, and in ONNX graphs.

A case is a linear model behind random preparation. It is wrong where the statement reads another
column, a score or flag differs from Python's by more than rounding, a promise is broken on a tie, or
where anything but one ValueError comes of what cannot be exported.
"""

import sqlite3
import warnings

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from aucuba import (
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
)
from aucuba.export import to_sql

NAMES = [
    *("a", "term0", "TERM1", "terms", "input", "rows", "select", "order by", "rowid", "x0"),
    *("0", "1e5", "x" * 10_000, "null", "true", "case", "*", "sum(a)", "score_", "flags", "\x01"),
    *('"', '""', "'", "`", "[a]", "a.b", 'a"."b', 'a" AS "b', "a; DROP TABLE t --", "/*", "*/", "--"),
    *("", " ", "\n", "\t", "a\n--", "\\", "%s", "?", ":a", "$1", "@v", "{0}", "é", "\u202eabc"),
    *("𝒂", "\ufeff", "\x7f", "<script>"),
]  # fmt: skip
REFUSED = ["score", "FLAG", "Score", "a\0b", "\0"]
EXTREMES = [0.0, -0.0, 5e-324, 1e-320, -1e-308, 1e-9, 1e9, -1e15, 1e100, -1e100, 1e150, 3.5, 1 / 3]
PROMISES = [
    *(None, FixedFPRClassifier, FixedTPRClassifier, FixedPrecisionClassifier),
]
# Flags less than Python, more, or the same.
_ONLY = {FixedFPRClassifier: -1, FixedTPRClassifier: 1}


def random_model(rng, n_columns):
    """A fitted model, and rows like those that trained it with gaps if it fills them."""
    X = rng.normal(size=(160, n_columns)) * 10.0 ** rng.integers(-3, 4, size=n_columns)
    if rng.random() < 0.3:
        X = np.round(X / X.std(axis=0)) * X.std(axis=0)
    y = (rng.permutation(160) < 80).astype(int)
    X[:, 0] += X[:, 0].std() * y
    gaps = rng.random() < 0.5
    steps = [[], [StandardScaler()], [MaxAbsScaler()]][rng.integers(3)]
    if gaps:
        steps = [SimpleImputer(add_indicator=bool(rng.integers(2))), *steps]
    last = [LogisticRegression(), PartialAUCClassifier((0.0, 0.3))][rng.integers(2)]
    kind = PROMISES[rng.integers(len(PROMISES))]
    model = make_pipeline(*steps, last)
    if kind is not None:
        options = {"pos_label": int(rng.integers(2))} if rng.random() < 0.5 else {}
        model = kind(model, 0.3, 0.6, random_state=0, **options)
    rows = X.copy()
    if gaps:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    try:
        return model.fit(rows, y), rows, kind
    except ValueError as error:
        # Few rows may show no threshold of a precision; the base has none to show.
        if not str(error).startswith("No threshold has a precision"):
            raise
        return model.estimator.fit(rows, y), rows, None


def hostile_rows(rng, model, rows, kind):
    """Rows of the data, rows of extreme values, and the threshold moved onto the score of a row."""
    extreme = rng.choice(EXTREMES, size=(20, rows.shape[1])) * rng.choice([-1.0, 1.0], size=(20, 1))
    rows = np.vstack([rows[:60], extreme, np.repeat(rows[:1], 5, axis=0)])
    if kind is not None:
        place = int(rng.integers(len(rows)))
        base = model.decision_function(rows) + model.threshold_
        step = int(rng.integers(-1, 2)) * np.spacing(abs(base[place]))
        model.threshold_ = float(base[place] + step)
        model.thresholds_ = np.array([model.threshold_])
    return rows


def check_sql(seed: int) -> None:
    """Write a model as SQL and run it on a table with more columns than the model has."""
    with warnings.catch_warnings():
        # Columns of other scales are meant.
        warnings.simplefilter("ignore")
        _check_sql(np.random.default_rng(seed))


def _check_sql(rng) -> None:
    names = rng.permutation(np.array(NAMES, dtype=object)).tolist()
    # A table of SQLite has no two names that differ in case only.
    n_columns, n_more = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    columns, more, table = names[:n_columns], names[n_columns : n_columns + n_more], names[-1]
    model, rows, kind = random_model(rng, n_columns)
    if rng.random() < 0.1:
        bad = [*columns[1:], REFUSED[rng.integers(len(REFUSED))]]
        _refused(lambda: to_sql(model, table, columns=bad))
        return
    model_rows = hostile_rows(rng, model, rows, kind)
    connection = sqlite3.connect(":memory:")
    every = rng.permutation(np.array([*columns, *more], dtype=object)).tolist()
    listed = ", ".join(_quoted(name) for name in every)
    connection.execute(f"CREATE TABLE {_quoted(table)} ({listed})")
    values = {name: model_rows[:, place] for place, name in enumerate(columns)}
    values |= {name: rng.normal(size=len(model_rows)) * 1e6 for name in more}
    cells = [
        [None if np.isnan(x) else float(x) for x in row]
        for row in np.array([values[name] for name in every]).T
    ]
    marks = ", ".join("?" for _ in every)
    connection.executemany(f"INSERT INTO {_quoted(table)} VALUES ({marks})", cells)
    found = connection.execute(to_sql(model, table, columns=columns))
    shown = [one[0] for one in found.description]
    result = np.array(found.fetchall(), dtype=float)
    assert shown[-2:] == ["score", "flag"]
    assert len(result) == len(model_rows)
    _compare(model, kind, model_rows, result[:, -2], result[:, -1].astype(bool))


def check_graph(seed: int) -> None:
    """Write a model as an ONNX graph and run it on rows of single precision."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from aucuba.export import to_onnx

    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, rows, kind = random_model(rng, int(rng.integers(1, 5)))
        single = np.clip(hostile_rows(rng, model, rows, None), -1e30, 1e30).astype(np.float32)
        rows = hostile_rows(rng, model, single.astype(np.float64), kind)[:85].astype(np.float32)
        made = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    score, flag = session.run(["score", "flag"], {"X": np.clip(rows, -1e30, 1e30)})
    _compare(model, kind, np.clip(rows, -1e30, 1e30).astype(np.float64), score, flag)


def _compare(model, kind, rows, score, flag) -> None:
    expected = model.decision_function(rows)
    last = model if kind is not None else model[-1]
    positive = getattr(last, "pos_label_", model.classes_[1])
    own = model.predict(rows) == positive
    # Terms as large as their sum is not may cancel.
    size = np.abs(np.nan_to_num(rows)).max(axis=1) + 1
    limit = 0.0 if kind is None else abs(model.threshold_)
    assert np.all(np.abs(score - expected) <= 1e-9 * (size * 1e3 + limit + 1)), "score"
    side = _ONLY.get(kind, 0) if kind is None or model.guarantee_ else 0
    if side:
        assert not np.any(flag & ~own if side < 0 else own & ~flag), "promise"
    near = np.abs(expected) <= 1e-9 * (size * 1e3 + limit + 1)
    assert np.array_equal(flag[~near], own[~near]), "flag"


def _refused(work) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        work()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
