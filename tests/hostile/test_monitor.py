"""Streams that made a monitor say "ok" about a broken rate, and states that cannot be."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.cli import main
from aucuba.threshold import RateMonitor

pd = pytest.importorskip("pandas")

# Half of the rows of each class are flagged: whatever the labels are called, that is no rate of 0.05.
NEGATIVE = np.arange(4000) % 4 < 3
FLAGGED = np.arange(4000) // 4 % 2 == 0
SPELLINGS = {
    "booleans": (False, True),
    "numbers": (0, 1),
    "floats": (0.0, 1.0),
    "text": ("legit", "fraud"),
    "other text": ("a", "b"),
    "swapped numbers": (1, 0),
}


def spelled(is_positive, labels):
    return np.array(labels)[is_positive.astype(int)]


@pytest.mark.parametrize("named", [*SPELLINGS, "unnamed"])
@pytest.mark.parametrize("target", SPELLINGS)
@pytest.mark.parametrize("flag", SPELLINGS)
def test_no_spelling_of_labels_hides_a_broken_rate(named, target, flag):
    monitor = RateMonitor(0.05, labels=SPELLINGS.get(named))
    y_true, y_flag = spelled(~NEGATIVE, SPELLINGS[target]), spelled(FLAGGED, SPELLINGS[flag])
    try:
        monitor.update(y_true, y_flag)
    except ValueError:
        assert monitor.n_counted == 0
    else:
        assert monitor.status == "broken"


@pytest.mark.parametrize("rate", ["fpr", "tpr", "precision"])
@pytest.mark.parametrize("only", ["legit", "healthy"])
def test_text_without_a_positive_label_is_unknown(rate, only):
    column = np.full(5000, only)
    monitor = RateMonitor(0.5, rate=rate).update(column, column)
    assert monitor.status == "unknown"
    assert "unknown" in repr(monitor)
    assert RateMonitor.from_json(monitor.to_json()).status == "unknown"
    monitor.update(["fraud"], [only])
    assert monitor.labels == (only, "fraud")
    assert monitor.status != "unknown"


def test_the_second_of_two_plain_texts_is_not_taken_for_the_positive():
    monitor = RateMonitor(0.05).update(["sick"] * 9, ["sick"] * 9)
    with pytest.raises(ValueError, match="'healthy'"):
        monitor.update(["healthy"], ["sick"])
    assert monitor.status == "unknown"


@pytest.mark.parametrize("labels", [None, (0, 1), (False, True), (0.0, 1.0)])
@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float32, object])
def test_zeros_alone_are_negatives(labels, kind):
    column = np.zeros(500).astype(bool).astype(kind)
    assert RateMonitor(0.05, labels=labels).update(column, column).status == "ok"


@pytest.mark.parametrize(
    "column",
    [
        [0, 1, 2],
        [0, -1],
        ["0", "1"],
        [0, np.nan],
        [0, None],
        ["legit", "Fraud"],
        ["legit", "fraud "],
        ["legit", 1],
        pd.array([0, pd.NA], dtype="Int64"),
        np.array([b"0", b"1"]),
    ],
)
def test_any_other_value_is_an_error(column):
    for labels in ((0, 1), (False, True), ("legit", "fraud")):
        monitor = RateMonitor(0.05, labels=labels)
        with pytest.raises(ValueError, match="y_true"):
            monitor.update(column, np.zeros(len(column), dtype=bool))
        assert (monitor.n_counted, monitor.history) == (0, [])


@given(
    st.lists(st.sampled_from(["legit", "fraud", "Fraud", "x", "0", "1"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["legit", "fraud", "y"]), min_size=8, max_size=8),
)
def test_unnamed_text_is_read_right_or_not_at_all(target, flag):
    flag = flag[: len(target)]
    monitor = RateMonitor(0.5)
    try:
        monitor.update(target, flag)
    except ValueError:
        return
    seen = {*target, *flag}
    assert len(seen) <= 2
    if monitor.status != "unknown":
        _, positive = monitor.labels
        assert positive.lower() in ("fraud", "1")
        negative = np.array(target) != positive
        assert monitor.n_counted == negative.sum()
        assert monitor.n_against == (np.array(flag) == positive)[negative].sum()


def run(tmp_path, capsys, frame, *options):
    frame.to_csv(tmp_path / "log.csv", index=False)
    code = main(["monitor", str(tmp_path / "log.csv"), "--limit", "0.05", "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("target", "flag", "options"),
    [
        (("legit", "fraud"), ("legit", "fraud"), ()),
        (("legit", "fraud"), ("legit", "fraud"), ("--labels", "legit", "fraud")),
        (("a", "b"), ("a", "b"), ("--labels", "a", "b")),
        ((0, 1), (False, True), ()),
        ((0, 1), (False, True), ("--labels", "0", "1")),
        ((False, True), (0, 1), ("--labels", "false", "true")),
        ((0.0, 1.0), (0, 1), ()),
        ((1, 2), (1.0, 2.0), ("--labels", "1", "2")),
    ],
)
def test_the_command_sees_half_of_the_negatives_flagged(tmp_path, capsys, target, flag, options):
    frame = pd.DataFrame({"y": spelled(~NEGATIVE, target), "predicted": spelled(FLAGGED, flag)})
    code, result = run(tmp_path, capsys, frame, *options)
    assert (code, result["status"]) == (0, "broken")
    assert result["batches"][0]["n_counted"] == NEGATIVE.sum()


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (("healthy", "sick"), ()),
        (("legit", "fraud"), ("--labels", "legit", "Fraud")),
        (("legit", "fraud"), ("--labels", "0", "1")),
        ((0, 1), ("--labels", "legit", "fraud")),
    ],
)
def test_the_command_refuses_labels_that_it_cannot_place(tmp_path, capsys, labels, options):
    frame = pd.DataFrame({"y": spelled(~NEGATIVE, labels), "predicted": spelled(FLAGGED, labels)})
    code, result = run(tmp_path, capsys, frame, *options)
    assert code == 2
    assert "labels=" in result["error"]


def test_predict_then_monitor_with_the_labels_of_the_model(tmp_path, capsys):
    for needed in ("typer", "rich", "skops"):
        pytest.importorskip(needed)
    rng = np.random.default_rng(0)
    score = rng.normal(size=400)
    frame = pd.DataFrame(
        {"a": score, "y": np.where(score + rng.normal(size=400) > 1, "bad", "good")}
    )
    data, model, out = (str(tmp_path / name) for name in ("t.csv", "m.aucuba", "s.csv"))
    frame.to_csv(data, index=False)
    fast = ["--cv", "0", "--model", "svc", "--fpr-range", "0", "0.5", "--pos-label", "bad"]
    assert main(["fit", data, *fast, "--out", model]) == 0
    assert main(["predict", model, data, "--out", out, "--id", "y"]) == 0
    capsys.readouterr()
    code, result = run(tmp_path, capsys, pd.read_csv(out), "--model", model)
    assert code == 0
    assert result["status"] == "broken"
    assert result["batches"][0]["n_counted"] == (frame["y"] == "good").sum()
    both = ("--model", model, "--labels", "good", "bad")
    code, result = run(tmp_path, capsys, pd.read_csv(out), *both)
    assert (code, "leave one of them out" in result["error"]) == (2, True)


def restored_with(monitor, change):
    content = json.loads(monitor.to_json())
    change(content["state"])
    return RateMonitor.from_json(json.dumps(content))


def set_evidence(name, value):
    return lambda state: state["evidence"].__setitem__(name, value)


@pytest.mark.parametrize(
    "change",
    [
        set_evidence("known", [-1, 0]),
        set_evidence("known", [10, 11]),
        set_evidence("for_ok", [1e400, 0]),
        set_evidence("for_ok", [10, -3]),
        set_evidence("for_broken", [1000, 900]),
        set_evidence("for_broken", [10]),
        set_evidence("for_broken", ["10", "1"]),
        set_evidence("log_evidence", -1.0),
        set_evidence("log_evidence", None),
        set_evidence("log_detector", -50.0),
        set_evidence("detector", [1e999] * 6),
        set_evidence("run", 0),
        set_evidence("run", True),
        lambda state: state["cohorts"].__setitem__("cells", {"3": {"": [[0, 0, -1], [0, 0, 0]]}}),
        lambda state: state["cohorts"].__setitem__("cells", {"3": {"": [[0, 0, 0.5], [0, 0, 0]]}}),
        lambda state: state["cohorts"].__setitem__("cells", {"x": {}}),
        lambda state: state["cohorts"].__setitem__("cells", [1]),
        lambda state: state.__setitem__("cohorts", None),
        lambda state: state.__setitem__("history", [[1, 2]]),
        lambda state: state["history"][0].__setitem__(1, -5),
        lambda state: state["history"][0].__setitem__(6, 17),
        lambda state: state.__setitem__("evidence", []),
    ],
)
def test_impossible_states_are_refused(change):
    monitor = RateMonitor(0.1, label_horizon=3)
    monitor.update(np.zeros(200), np.arange(200) % 20 == 0, event_time=np.arange(200) % 9, as_of=9)
    assert restored_with(monitor, lambda state: None).to_json() == monitor.to_json()
    with pytest.raises(ValueError, match=r"not the text of RateMonitor\.to_json"):
        restored_with(monitor, change)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"aucuba_monitor": 1e999}', "1" * 5000, "null"])
def test_other_text_leaks_no_other_error(text):
    with pytest.raises(ValueError, match=r"not the text of RateMonitor\.to_json"):
        RateMonitor.from_json(text)
