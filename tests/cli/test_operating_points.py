"""``aucuba evaluate --at``."""

import pytest

from aucuba.metrics import operating_point, score_interval
from aucuba.metrics._measures import MEASURES
from aucuba.persistence import load_model
from tests.measure_cases import PARAMS


def test_points_are_the_library_s(run, files, model):
    at = ["--at", "fpr=0.1", "--at", "recall=0.8", "--at", "precision=0.5", "--at", "k=20"]
    found = run("evaluate", model, files / "test.csv", *at, "--json")
    assert found.code == 0
    rows = found.json["operating_points"]
    assert [row["at"] for row in rows] == [
        {"fpr": 0.1},
        {"tpr": 0.8},
        {"precision": 0.5},
        {"k": 20},
    ]
    assert rows[0]["fpr"] <= 0.1
    assert rows[1]["tpr"] >= 0.8
    assert rows[2]["precision"] >= 0.5
    assert rows[3]["n_flagged"] <= 20
    for row in rows:
        assert row["low"] <= row["value"] <= row["high"]
    shown = run("evaluate", model, files / "test.csv", *at)
    assert "fpr = 0.1" in shown.out
    assert "k = 20" in shown.out


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
def test_point_and_interval_by_hand(run, files, frame, model):
    saved = load_model(model)
    row = run("evaluate", model, files / "test.csv", "--at", "fpr=0.1", "--json").json[
        "operating_points"
    ][0]
    rows = frame.iloc[300:]
    y = (rows["outcome"] == "bad").to_numpy()
    score = saved.decision_function(rows.drop(columns="outcome"))
    point = operating_point(y, score, fpr=0.1)
    assert row["threshold"] == pytest.approx(point.threshold)
    want = score_interval("tpr_at_fpr", y, score, fpr=0.1, random_state=0)
    assert (row["low"], row["high"]) == pytest.approx((want.low, want.high))


@pytest.mark.parametrize("text", ["k=2.5", "k=inf", "k=nan", "k=0"])
def test_a_number_of_rows_is_whole(run, files, model, text):
    failed = run("evaluate", model, files / "test.csv", "--at", text)
    assert failed.code == 2
    assert "k must be a whole number of at least 1" in failed.err


@pytest.mark.parametrize("text", ["fpr", "fpr=a", "auc=0.3", "=0.1"])
def test_what_is_no_point_is_one_line(run, files, model, text):
    failed = run("evaluate", model, files / "test.csv", "--at", text)
    assert failed.code == 2
    assert "--at takes fpr=, tpr= (or recall=), precision= or k=" in failed.err


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_can_be_asked_for(run, files, frame, model, name):
    params = PARAMS[name]
    text = f"{name}:{','.join(f'{key}={as_word(value)}' for key, value in params.items())}"
    found = run("evaluate", model, files / "test.csv", "--at", text.strip(":"), "--json")
    (row,) = found.json["operating_points"]
    assert row["low"] <= row["value"] <= row["high"]
    rows = frame.iloc[300:]
    y = (rows["outcome"] == "bad").to_numpy()
    score = load_model(model).decision_function(rows.drop(columns="outcome"))
    want = score_interval(name, y, score, random_state=0, **params)
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (want.value, want.low, want.high)
    )


def as_word(value):
    return "-".join(str(one) for one in value) if isinstance(value, tuple) else value


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
def test_a_measure_is_a_line_of_the_table(run, files, model):
    found = run("evaluate", model, files / "test.csv", "--at", "auc_at_k:k=20", "--at", "fpr=0.1")
    assert found.code == 0
    assert "k = 20" in found.out
    assert "auc_at_k" in found.out
    wrong = run("evaluate", model, files / "test.csv", "--at", "auc_at_k:rows=20")
    assert wrong.code == 2
    assert "Parameters of the measure 'auc_at_k'" in wrong.err
