"""``aucuba evaluate --at``."""

import pytest

from aucuba.metrics import operating_point, score_interval
from aucuba.persistence import load_model


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
