"""The web service of the guide, around a real model."""

import itertools
import sys
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba.persistence import SavedModel, load_model
from tests.hostile.service import tried

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "service.rst"


def code_of_the_guide(program="service_app"):
    """The lines of the guide below the caption, as far as they are indented."""
    text = GUIDE.read_text(encoding="utf-8")
    lines = text.partition(f":caption: {program}.py\n")[2].splitlines()
    block = itertools.takewhile(lambda line: not line or line.startswith("   "), lines)
    return textwrap.dedent("\n".join(block))


def client_of(program, model, monkeypatch):
    with warnings.catch_warnings():
        # Starlette deprecates the packages below its test client one after another.
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    monkeypatch.setenv("MODEL", str(model))
    # Types of a request are looked up by name in the module.
    module = types.ModuleType(program)
    monkeypatch.setitem(sys.modules, program, module)
    exec(compile(code_of_the_guide(program), f"{program}.py", "exec"), vars(module))
    return TestClient(module.app)


@pytest.fixture
def client(model, monkeypatch):
    return client_of("service_app", model, monkeypatch)


def test_hostile_bodies_at_once(client, files):
    rows = pd.read_csv(files / "test.csv").drop(columns="outcome")
    sent = rows.astype(object).where(rows.notna(), None).to_dict("records")
    assert tried(sys.modules["service_app"], sent, range(60)) == []


@pytest.mark.parametrize("value", [{"a": 1}, [1.0], 10**400, "x" * 10_000, "１a"])
def test_a_value_that_is_no_number_is_named_with_its_column(client, value):
    row = {"a": 1.0, "b": value, "c": 2.0, "city": "Oslo"}
    answer = client.post("/scores", json=[{**row, "b": 1.0}, row])
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("The column 'b' must hold numbers, as in training")
    assert len(answer.json()["detail"]) < 150


def test_the_service_scores_rows(client, model, files):
    rows = pd.read_csv(files / "test.csv")
    sent = rows.astype(object).where(rows.notna(), None).to_dict("records")
    answer = client.post("/scores", json=sent)
    assert answer.status_code == 200
    saved = load_model(model)
    expected = saved.decision_function(rows)
    np.testing.assert_allclose([one["score"] for one in answer.json()], expected, rtol=1e-12)
    assert [one["predicted"] for one in answer.json()] == saved.predict(rows).tolist()
    assert client.post("/scores", json=[]).json() == []
    missing = client.post("/scores", json=[{"a": 1.0, "c": 2.0, "city": "Oslo"}])
    assert missing.status_code == 422
    assert "needs the columns 'b'" in missing.json()["detail"]


@pytest.mark.parametrize(
    "promise", ["fpr=0.2", "tpr=0.6", "alerts=0.3"], ids=lambda words: words.partition("=")[0]
)
@pytest.mark.parametrize("positive", ["bad", "good"])
def test_labels_by_a_promise_follow_from_the_scores(
    run, files, tmp_path, monkeypatch, promise, positive
):
    path = tmp_path / "promised.aucuba"
    words = f"--target outcome --pos-label {positive} --promise {promise} --cv 2 --out {path}"
    dropped = ("--no-probe", "--drop", "times", "--drop", "query")
    fitted = run("fit", files / "train.csv", *words.split(), *dropped)
    assert fitted.code == 0, fitted.err
    rows = pd.read_csv(files / "test.csv")
    sent = rows.astype(object).where(rows.notna(), None).to_dict("records")
    answer = client_of("service_app", path, monkeypatch).post("/scores", json=sent).json()
    expected = load_model(path).predict(rows).tolist()
    assert [one["predicted"] for one in answer] == expected
    assert len(set(expected)) == 2


def test_the_service_tells_which_values_training_has_not_seen(client):
    usual = {"a": 0.1, "b": 0.2, "c": 0.3, "city": "Oslo"}
    rows = [usual, usual | {"a": 1e6}, usual | {"city": "Lima", "b": -1e3}, usual | {"city": None}]
    answer = client.post("/scores", json=rows).json()
    assert [len(one["notes"]) for one in answer] == [0, 1, 2, 0]
    assert answer[1]["notes"][0].startswith("'a' is unlike the training rows (number, -")
    assert any("category: 'Oslo', 'Paris', 'Rome'" in note for note in answer[2]["notes"])
    columns = client.get("/columns").json()
    assert list(columns) == ["a", "b", "c", "city"]


def test_student_and_graph_take_the_place_of_a_stack(run, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["amount", "age"])
    frame["outcome"] = np.where(frame["amount"] + rng.normal(size=300) > 0.5, "bad", "good")
    monkeypatch.chdir(tmp_path)
    frame.to_csv("train.csv", index=False)
    told = ("--target", "outcome", "--pos-label", "bad", "--model", "stack", "--cv", "2")
    fitted = run("fit", "train.csv", *told, "--no-probe", "--out", "stack.aucuba")
    assert fitted.code == 0, fitted.err
    stack = load_model("stack.aucuba")
    sent = frame[["age", "amount"]].to_dict("records")

    exec(compile(code_of_the_guide("student"), "student.py", "exec"), {})
    answer = client_of("service_app", "student.aucuba", monkeypatch).post("/scores", json=sent)
    same = np.array([one["predicted"] for one in answer.json()]) == stack.predict(frame)
    assert same.mean() > 0.9
    assert answer.json()[0]["score"] == load_model("student.aucuba").decision_function(frame)[0]

    assert run("export", "stack.aucuba", "--onnx", "stack.onnx").code == 0
    answer = client_of("graph_app", "stack.onnx", monkeypatch).post("/scores", json=sent)
    rounded = frame[["amount", "age"]].astype(np.float32).astype(float)
    found = [one["score"] for one in answer.json()]
    np.testing.assert_allclose(found, stack.decision_function(rounded), atol=1e-6)
    assert [one["predicted"] for one in answer.json()] == stack.predict(rounded).tolist()


def test_the_service_of_a_graph_refuses_what_it_cannot_score(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    from aucuba.export import to_onnx

    X = np.random.default_rng(0).normal(size=(60, 2))
    model = LogisticRegression().fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0] > 0)
    (tmp_path / "linear.onnx").write_bytes(to_onnx(model).SerializeToString())
    client = client_of("graph_app", tmp_path / "linear.onnx", monkeypatch)
    assert client.post("/scores", json=[]).json() == []
    for body, words in (
        ('[{"a": 1.0}]', "needs the column 'b'"),
        ('[{"a": 1.0, "b": 1e39}]', "too large"),
        ('[{"a": 1.0, "b": "many"}]', "valid number"),
        ('[{"a": 1.0, "b": null}]', "takes no missing values"),
    ):
        refused = client.post("/scores", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == 422
        assert words in refused.text


def test_a_saved_array_model_knows_no_columns():
    X = np.random.default_rng(0).normal(size=(60, 2))
    saved = SavedModel(LogisticRegression().fit(X, X[:, 0] > 0))
    assert saved.columns() == {}
    assert saved.unusual_values(X[:3] * 1e9) == [[], [], []]
