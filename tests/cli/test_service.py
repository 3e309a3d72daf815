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


def code_of_the_guide():
    """The lines of the guide below the caption, as far as they are indented."""
    lines = (
        GUIDE.read_text(encoding="utf-8").partition(":caption: service_app.py\n")[2].splitlines()
    )
    block = itertools.takewhile(lambda line: not line or line.startswith("   "), lines)
    return textwrap.dedent("\n".join(block))


@pytest.fixture
def client(model, monkeypatch):
    with warnings.catch_warnings():
        # Starlette deprecates the packages below its test client one after another.
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    monkeypatch.setenv("MODEL", str(model))
    # Types of a request are looked up by name in the module.
    module = types.ModuleType("service_app")
    monkeypatch.setitem(sys.modules, "service_app", module)
    exec(compile(code_of_the_guide(), "service_app.py", "exec"), vars(module))
    return TestClient(module.app)


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


def test_the_service_tells_which_values_training_has_not_seen(client):
    usual = {"a": 0.1, "b": 0.2, "c": 0.3, "city": "Oslo"}
    rows = [usual, usual | {"a": 1e6}, usual | {"city": "Lima", "b": -1e3}, usual | {"city": None}]
    answer = client.post("/scores", json=rows).json()
    assert [len(one["notes"]) for one in answer] == [0, 1, 2, 0]
    assert answer[1]["notes"][0].startswith("'a' is unlike the rows of training (number, -")
    assert any("category: 'Oslo', 'Paris', 'Rome'" in note for note in answer[2]["notes"])
    columns = client.get("/columns").json()
    assert list(columns) == ["a", "b", "c", "city"]


def test_a_saved_array_model_knows_no_columns():
    X = np.random.default_rng(0).normal(size=(60, 2))
    saved = SavedModel(LogisticRegression().fit(X, X[:, 0] > 0))
    assert saved.columns() == {}
    assert saved.unusual_values(X[:3] * 1e9) == [[], [], []]
