"""Models of the command line in Python: frames in, the program's scores and labels out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from aucuba import PartialAUCClassifier
from aucuba.persistence import load_model, save_model

FAST = ["--cv", "0", "--model", "svc", "--loss", "tight", "--fpr-range", "0", "0.5"]
STACK = ["--model", "stack", "--cv", "2", "--fpr-range", "0", "0.5"]


@pytest.fixture(scope="module")
def table():
    """Text with gaps, numbers with gaps, truth values, dates and labels of whole numbers."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3 == 0
    city = rng.choice(["Oslo", "Rome", "Bonn"], 90).astype(object)
    city[::11] = None
    number = rng.normal(size=90) + y
    number[::13] = np.nan
    frame = pd.DataFrame({"city": city, "number": number, "flag": rng.random(90) < 0.5})
    return frame.assign(
        day=pd.date_range("2024-01-01", periods=90, freq="31h"), y=np.where(y, 7, 3)
    )


def variants(table, path):
    """The same rows as programs hold them."""
    return {
        "read_csv": pd.read_csv(path),
        "dates parsed": pd.read_csv(path, parse_dates=["day"]),
        "string": pd.read_csv(
            path, dtype={"city": "string", "number": "Float64", "flag": "boolean"}
        ),
        "objects": table.astype(object).where(table.notna(), None),
        "category": table.astype({"city": "category"}),
        "shuffled columns": table[["y", "flag", "day", "city", "number"]],
    }


@pytest.mark.parametrize("options", [FAST, STACK], ids=["linear", "stack"])
def test_frames_get_the_scores_of_the_command_line(run, table, tmp_path, options):
    path, model, out = tmp_path / "t.csv", tmp_path / "m.aucuba", tmp_path / "s.csv"
    table.to_csv(path, index=False)
    assert run("fit", path, *options, "--out", model).code == 0
    assert run("predict", model, path, "--out", out).code == 0
    expected, saved = pd.read_csv(out), load_model(model)
    for name, frame in variants(table, path).items():
        score = saved.decision_function(frame)
        np.testing.assert_allclose(score, expected["score"], rtol=1e-12, err_msg=name)
        np.testing.assert_array_equal(saved.model.decision_function(frame), score)
        predicted = saved.predict(frame)
        assert predicted.dtype.kind == "i"
        np.testing.assert_array_equal(predicted, expected["predicted"], err_msg=name)
        np.testing.assert_array_equal(saved.model.predict(frame), predicted == 7)
    if options is STACK:
        probability = saved.predict_proba(table)
        np.testing.assert_array_equal(np.argsort(probability[:, 1]), np.argsort(score))


def test_rows_one_by_one(run, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    assert run("fit", tmp_path / "t.csv", *FAST, "--out", tmp_path / "m.aucuba").code == 0
    saved = load_model(tmp_path / "m.aucuba")
    whole = saved.decision_function(table)
    for row in (0, 11, 13):
        record = table.iloc[row].to_dict()
        single = pd.DataFrame([{**record, "day": str(record["day"])}])
        assert saved.decision_function(single) == pytest.approx(whole[row], rel=1e-9)
    with pytest.raises(ValueError, match="needs the columns 'number', which X lacks"):
        saved.predict(table.drop(columns="number"))


@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        (["1", "0"], "1", (0, 1)),
        (["-1", "1"], "1", (-1, 1)),
        (["01", "00"], "01", ("00", "01")),
        (["yes", "no"], "yes", ("no", "yes")),
        (["5", "x"], "5", ("x", "5")),
        (["a", "b", "c"], "b", ("other", "b")),
    ],
)
def test_labels_come_back_as_they_were(run, tmp_path, labels, pos_label, expected):
    rng = np.random.default_rng(0)
    y = [labels[k % len(labels)] for k in range(60)]
    frame = pd.DataFrame({"x": rng.normal(size=60) + (np.array(y) == pos_label), "y": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["--pos-label", pos_label, "--out", tmp_path / "m.aucuba"]
    assert run("fit", tmp_path / "t.csv", *FAST, *words).code == 0
    saved = load_model(tmp_path / "m.aucuba")
    assert saved.labels == expected
    assert set(saved.predict(frame).tolist()) == set(expected)


def test_models_saved_in_python_predict_as_they_are(tmp_path):
    X, y = make_classification(200, random_state=0)
    model = PartialAUCClassifier((0.0, 0.5)).fit(X, np.where(y, "b", "a"))
    save_model(model, tmp_path / "m")
    saved = load_model(tmp_path / "m")
    assert saved.labels is None
    np.testing.assert_array_equal(saved.predict(X), model.predict(X))
    np.testing.assert_array_equal(saved.decision_function(X), model.decision_function(X))
    with pytest.raises(AttributeError, match="predict_proba"):
        saved.predict_proba(X)
