"""``aucuba evaluate --at``."""

import numpy as np
import pandas as pd
import pytest

from aucuba.cli import main
from aucuba.metrics import operating_point, rates_at_threshold, score_interval
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
    if name == "net_benefit":
        # The model's scores are no probabilities.
        assert found.code == 2
        assert "'net_benefit' needs probabilities" in found.err
        return
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


@pytest.fixture(scope="module")
def promised(tmp_path_factory):
    """A model with a promise, rows like those of training, and rows that moved towards alarms."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("promised")
    for name, n_rows, moved in [("train", 1500, 0), ("like", 3000, 0), ("moved", 1000, 2)]:
        y = (rng.random(n_rows) < 0.2).astype(int)
        frame = pd.DataFrame(rng.normal(size=(n_rows, 2)) + y[:, None] + moved)
        frame = frame.add_prefix("x").assign(w=rng.integers(1, 4, n_rows), y=y)
        frame.to_csv(folder / f"{name}.csv", index=False)
        if name == "like":
            frame[:60].to_csv(folder / "few.csv", index=False)
    options = ["--drop", "w", "--cv", "0", "--no-probe", "--promise", "fpr=0.1"]
    words = ["fit", str(folder / "train.csv"), *options, "--out", str(folder / "m.aucuba")]
    assert main(words) == 0
    return folder


class TestOwnThreshold:
    """What ``evaluate`` and ``compare`` show first: the rates at score 0, and what was promised."""

    @pytest.mark.parametrize(
        ("data", "verdict"),
        [("like", "within"), ("moved", "violated"), ("few", "not decided by these rows")],
    )
    def test_verdicts(self, run, promised, data, verdict):
        words = ["evaluate", promised / "m.aucuba", promised / f"{data}.csv"]
        rows = pd.read_csv(promised / f"{data}.csv")
        score = load_model(promised / "m.aucuba").decision_function(rows)
        want = rates_at_threshold(rows["y"], score, threshold=np.nextafter(0, 1))
        for region_only in ([], ["--region-only"]):
            done = run(*words, *region_only, "--json")
            own = done.json["own_threshold"]
            assert own["fpr"]["value"] == pytest.approx(want.fpr)
            assert own["tpr"]["value"] == pytest.approx(want.tpr)
            assert own["precision"]["value"] == pytest.approx(want.precision)
            assert own["n_flagged"] == (score > 0).sum()
            (limit,) = own["limits"]
            assert (limit["rate"], limit["limit"], limit["promised"]) == ("fpr", 0.1, True)
            assert limit["verdict"] == verdict
            assert ("VIOLATED: FPR (false alarms)" in done.err) == (verdict == "violated")
            shown = run(*words, *region_only).out
            assert shown.index("at the model's threshold") < shown.index("pAUC[")
            line = next(one for one in shown.splitlines() if one.startswith("FPR (false alarms)"))
            assert "at most 0.1, promised" in line
            assert line.rstrip().endswith("VIOLATED" if verdict == "violated" else verdict)

    def test_weights_count(self, run, promised):
        words = ["evaluate", promised / "m.aucuba", promised / "like.csv", "--sample-weight", "w"]
        rows = pd.read_csv(promised / "like.csv")
        score = load_model(promised / "m.aucuba").decision_function(rows)
        threshold = {"threshold": np.nextafter(0, 1), "sample_weight": rows["w"]}
        want = score_interval(
            "rate_at_threshold", rows["y"], score, rate="fpr", method="wilson", **threshold
        )
        for region_only in ([], ["--region-only"]):
            own = run(*words, *region_only, "--json").json["own_threshold"]
            for name in ("value", "low", "high"):
                assert own["fpr"][name] == pytest.approx(getattr(want, name))

    def test_a_rate_that_training_set(self, run, files, model):
        done = run("evaluate", model, files / "test.csv", "--json")
        (limit,) = done.json["own_threshold"]["limits"]
        want = load_model(model).model[-1].predict_fpr_
        assert (limit["limit"], limit["promised"]) == (want, False)
        assert "set in training" in run("evaluate", model, files / "test.csv").out

    def test_compare_shows_thresholds_and_points(self, run, promised, tmp_path):
        words = ["fit", promised / "train.csv", "--drop", "w", "--cv", 0, "--no-probe"]
        run(*words, "--out", tmp_path / "other.aucuba")
        words = [
            "compare",
            promised / "m.aucuba",
            tmp_path / "other.aucuba",
            promised / "moved.csv",
        ]
        done = run(*words, "--at", "fpr=0.05", "--at", "auc_at_k:k=100", "--json")
        alone = run(
            *("evaluate", tmp_path / "other.aucuba", promised / "moved.csv"),
            *("--at", "fpr=0.05", "--at", "auc_at_k:k=100", "--json"),
        )
        first, second = done.json["models"]
        assert first["own_threshold"]["limits"][0]["verdict"] == "violated"
        assert second["own_threshold"] == alone.json["own_threshold"]
        assert second["operating_points"] == alone.json["operating_points"]
        shown = run(*words, "--at", "fpr=0.05").out
        assert shown.index("at its threshold") < shown.index("pAUC[") < shown.index("fpr = 0.05")
        assert "fpr violated" in shown
