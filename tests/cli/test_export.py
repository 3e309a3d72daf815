"""``aucuba export``."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from aucuba.persistence import load_model


@pytest.fixture
def rows(tmp_path):
    """A file of numbers with gaps, and text labels."""
    rng = np.random.default_rng(0)
    # Multiples of 1/64 are the same in single precision.
    X = np.round(64 * rng.normal(size=(1_200, 3))) / 64
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[::9, "c"] = np.nan
    bad = X[:, 0] + X[:, 1] + rng.normal(size=1_200) > 1.2
    frame["label"] = np.where(bad, "fraud", "legit")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.fixture
def model(run, rows, tmp_path):
    path = tmp_path / "model"
    fitted = run("fit", rows, "--target", "label", "--out", path, "--promise", "fpr=0.1")
    assert fitted.code == 0, fitted.err
    return path


def test_onnx_with_the_threshold_inside(run, rows, model, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    out = tmp_path / "model.onnx"
    result = run("export", model, "--onnx", out, "--calibration", rows, "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    saved = load_model(model)
    assert facts["promise"] == saved.model[-1].promise_
    assert "recomputed" in facts["promise_kept_by"]
    assert "0 are flagged by only one" in facts["compared_on_rows.csv"]
    session = onnxruntime.InferenceSession(out.read_bytes())
    frame = pd.read_csv(rows)
    X = frame[["a", "b", "c"]].to_numpy(np.float32)
    (label,) = session.run(["label"], {"X": X})
    np.testing.assert_array_equal(label, saved.predict(frame))
    assert set(label) == {"fraud", "legit"}


def test_other_rows_are_refused_and_nothing_is_written(run, rows, model, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    frame = pd.read_csv(rows)
    frame.loc[5, "a"] += 1
    frame.iloc[:-1].to_csv(tmp_path / "other.csv", index=False)
    out = tmp_path / "model.onnx"
    result = run("export", model, "--onnx", out, "--calibration", tmp_path / "other.csv")
    assert result.code == 2
    assert "are not those of the fit" in result.err
    assert not out.exists()


def test_categories(run, rows, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    frame = pd.read_csv(rows)
    town = np.where(frame["label"] == "fraud", "Rome", "Oslo").astype(object)
    frame.insert(1, "town", np.random.default_rng(0).permuted(town.reshape(-1, 4), axis=1).ravel())
    frame.loc[::7, "town"] = None
    frame.to_csv(tmp_path / "towns.csv", index=False)
    model, out = tmp_path / "model", tmp_path / "model.onnx"
    fitted = run(
        *(
            "fit",
            tmp_path / "towns.csv",
            "--target",
            "label",
            "--promise",
            "fpr=0.1",
            "--out",
            model,
        )
    )
    assert fitted.code == 0, fitted.err
    result = run("export", model, "--onnx", out, "--calibration", tmp_path / "towns.csv", "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert "recomputed" in facts["promise_kept_by"]
    assert "0 are flagged by only one" in facts["compared_on_towns.csv"]
    session = onnxruntime.InferenceSession(out.read_bytes())
    given = {
        "X": frame[["a", "b", "c"]].to_numpy(np.float32),
        "town": frame[["town"]].fillna("").to_numpy(object),
    }
    (label,) = session.run(["label"], given)
    np.testing.assert_array_equal(label, load_model(model).predict(frame))


def test_sql(run, rows, model, tmp_path):
    out = tmp_path / "model.sql"
    assert run("export", model, "--sql", out, "--table", "clients").code == 0
    frame = pd.read_csv(rows)
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("clients", connection, index=False)
        found = pd.read_sql_query(out.read_text(), connection)
    saved = load_model(model)
    np.testing.assert_allclose(found["score"], saved.decision_function(frame), atol=1e-9)
    np.testing.assert_array_equal(found["flag"] == 1, saved.predict(frame) == "fraud")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --onnx FILE, --sql FILE, or both"),
        (["--sql", "x.sql", "--check", "rows.csv"], "--check is for --onnx"),
    ],
)
def test_options_that_have_no_effect(run, model, options, message):
    result = run("export", model, *options)
    assert result.code == 2
    assert message in result.err
