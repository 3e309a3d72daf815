"""RateMonitor: what it counts, what it says, and what it keeps."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.threshold import RateMonitor

COUNTED = {
    "fpr": lambda y, f: (~y, f),
    "tpr": lambda y, f: (y, ~f),
    "precision": lambda y, f: (f, ~y),
    "alerts": lambda y, f: (np.ones_like(f), f),
}


def batch(seed=0, n=400):
    rng = np.random.default_rng(seed)
    y = rng.uniform(size=n) < 0.4
    return y, rng.uniform(size=n) < np.where(y, 0.8, 0.1)


@pytest.mark.parametrize("rate", COUNTED)
def test_counts_the_rows_of_its_rate(rate):
    y, flagged = batch()
    counted, against = COUNTED[rate](y, flagged)
    monitor = RateMonitor(0.5, rate=rate).update(y, flagged)
    assert monitor.n_counted == counted.sum()
    assert monitor.n_against == against[counted].sum()
    loss = against[counted].mean()
    assert monitor.observed == pytest.approx(1 - loss if rate in ("tpr", "precision") else loss)
    low, high = monitor.interval
    assert low < monitor.observed < high


@pytest.mark.parametrize("rate", COUNTED)
def test_says_ok_broken_and_unsure(rate):
    y, flagged = batch(n=3000)
    observed = RateMonitor(0.5, rate=rate).update(y, flagged).observed
    worse = -0.08 if rate in ("tpr", "precision") else 0.08
    assert RateMonitor(observed + worse, rate=rate).update(y, flagged).status == "ok"
    assert RateMonitor(observed - worse, rate=rate).update(y, flagged).status == "broken"
    assert RateMonitor(observed, rate=rate).update(y, flagged).status == "unsure"


@pytest.mark.parametrize("rate", ["fpr", "tpr"])
def test_labels_of_flagged_rows_alone_say_nothing(rate):
    monitor = RateMonitor(0.5, rate=rate)
    monitor.update(np.full(200, rate == "tpr"), np.ones(200))
    assert monitor.n_counted == 200
    for _ in range(2):
        assert (monitor.status, monitor.reason) == ("unsure", "flagged_only")
        monitor = RateMonitor.from_json(monitor.to_json())
    monitor.update([rate == "fpr"], [0])
    said = {"fpr": "broken", "tpr": "ok"}[rate]
    for _ in range(2):
        assert (monitor.status, monitor.reason) == (said, "")
        monitor = RateMonitor.from_json(monitor.to_json()).update([0], [1])
    assert RateMonitor(0.5, rate="precision").update(np.ones(200), np.ones(200)).status == "ok"


def test_ok_says_over_which_rows():
    monitor = RateMonitor(0.1, ok_window=100)
    assert repr(monitor.update(np.zeros(100), np.zeros(100))).endswith(
        "ok over all counted rows since the first, 0 observed in 100 counted"
    )
    assert "since" not in repr(monitor.update([0], [0]))
    assert "ok over all counted rows since number 101," in repr(
        monitor.update(np.zeros(90), np.zeros(90))
    )


def test_broken_stays_and_ok_does_not():
    monitor = RateMonitor(0.1)
    monitor.update(np.zeros(300), np.zeros(300))
    assert monitor.status == "ok"
    monitor.update(np.zeros(40), np.ones(40))
    assert monitor.status != "ok"
    monitor.update(np.zeros(60), np.ones(60))
    assert monitor.status == "broken"
    monitor.update(np.zeros(100_000), np.zeros(100_000))
    assert monitor.status == "broken"


def test_change_is_seen_long_before_the_history_is_undone():
    rng = np.random.default_rng(0)
    monitor = RateMonitor(0.05).update(np.zeros(100_000), rng.uniform(size=100_000) < 0.03)
    assert (monitor.status, monitor.changed) == ("ok", False)
    monitor.update(np.zeros(1000), rng.uniform(size=1000) < 0.12)
    assert monitor.changed
    assert monitor.status != "broken"


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(0, 5))
def test_batches_do_not_matter(sizes, seed):
    y, flagged = batch(seed, sum(sizes))
    once = RateMonitor(0.15).update(y, flagged)
    parts = RateMonitor(0.15)
    for rows in np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]):
        parts.update(y[rows], flagged[rows])
    assert parts.log_evidence == pytest.approx(once.log_evidence)
    assert parts.log_detector == pytest.approx(once.log_detector)
    assert (parts.n_counted, parts.n_against) == (once.n_counted, once.n_against)


def test_counts_of_alerts():
    monitor = RateMonitor(0.05, rate="alerts")
    by_rows = RateMonitor(0.05, rate="alerts").update(None, np.arange(1000) % 50 == 0)
    monitor.update_alerts(20, 1000)
    assert monitor.interval == by_rows.interval
    assert monitor.status == by_rows.status
    monitor.update_alerts(0, 0)
    for _ in range(5):
        monitor.update_alerts(300, 1000)
    assert (monitor.status, monitor.changed) == ("broken", True)
    with pytest.raises(ValueError, match="says nothing about rate='fpr'"):
        RateMonitor(0.05).update_alerts(1, 2)
    for bad in ((3, 2), (-1, 2), (1.5, 2), (True, 2)):
        with pytest.raises(ValueError, match="n_flagged"):
            monitor.update_alerts(*bad)


def test_groups_count_once_by_their_mean():
    y = np.zeros(7, dtype=int)
    flagged = np.array([1, 0, 0, 0, 1, 1, 0])
    groups = np.array(["b", "b", "a", "a", "c", "c", "c"])
    monitor = RateMonitor(0.2).update(y, flagged, groups=groups)
    assert monitor.n_counted == 3
    assert monitor.n_against == pytest.approx(0.5 + 0 + 2 / 3)
    ones = RateMonitor(0.2).update(y, flagged, groups=np.arange(7))
    assert ones.log_evidence == RateMonitor(0.2).update(y, flagged).log_evidence
    with pytest.raises(ValueError, match="groups has 2 entries for 7 rows"):
        monitor.update(y, flagged, groups=[1, 2])


def test_labels():
    named = RateMonitor(0.2, labels=("ok", "fraud"))
    named.update(["fraud", "ok", "ok"], ["ok", "fraud", "ok"])
    assert (named.n_counted, named.n_against) == (2, 1)
    mixed = RateMonitor(0.2, labels=("ok", "fraud")).update(["fraud", "ok"], [False, True])
    assert (mixed.n_counted, mixed.n_against) == (1, 1)
    against_the_rest = RateMonitor(0.2, labels=([0, 2], 1)).update([0, 1, 2], [1, 1, 0])
    assert (against_the_rest.n_counted, against_the_rest.n_against) == (2, 1)
    with pytest.raises(ValueError, match=r"y_true has the values .*labels=\(negative, positive\)"):
        RateMonitor(0.2).update(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="y_true has 2 entries for 3 rows"):
        RateMonitor(0.2).update([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="rate='fpr' needs y_true"):
        RateMonitor(0.2).update(None, [0, 1])


def test_json_goes_on_where_it_stopped():
    y, flagged = batch(1)
    monitor = RateMonitor(0.15, confidence=0.9, average_run_length=500.0)
    fresh = RateMonitor.from_json(monitor.to_json())
    monitor.update(y, flagged)
    again = RateMonitor.from_json(monitor.to_json())
    json.loads(monitor.to_json(), parse_constant=lambda name: pytest.fail(name))
    for one in (monitor, again):
        one.update(*batch(2))
    assert again.history == monitor.history
    assert again.to_json() == monitor.to_json()
    assert fresh.update(y, flagged).history == monitor.history[:1]
    assert repr(again) == repr(monitor)


@pytest.mark.parametrize(
    "labels",
    [
        (0, np.int64(1)),
        ("ok", np.str_("fraud")),
        (["a", "b"], "c"),
        (False, True),
        (np.array([3, 2]), 1),
    ],
)
def test_labels_of_arrays_survive_json(labels):
    monitor = RateMonitor(0.2, labels=labels)
    restored = RateMonitor.from_json(monitor.to_json())
    assert restored.labels[1] == labels[1]
    assert restored.labels == monitor.labels
    np.testing.assert_array_equal(np.ravel(restored.labels[0]), np.ravel(labels[0]))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"aucuba_monitor": 9}', '{"aucuba_monitor": 1}'])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"not the text of RateMonitor\.to_json"):
        RateMonitor.from_json(text)


def test_a_damaged_state_is_refused():
    content = json.loads(RateMonitor(0.1).to_json())
    content["state"]["evidence"]["detector"] = [0.0]
    with pytest.raises(ValueError, match="detector of shape"):
        RateMonitor.from_json(json.dumps(content))


def test_frame_and_plot():
    pd = pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    monitor = RateMonitor(0.05)
    assert len(monitor.to_frame()) == 0
    monitor.update([1, 1], [0, 1])
    for seed in range(4):
        monitor.update(*batch(seed))
    frame = monitor.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["n_counted"].is_monotonic_increasing
    assert frame["status"].iloc[-1] == monitor.status == "broken"
    ax = monitor.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(label.startswith("broken after") for label in labels)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), frame["observed"].iloc[1:])
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"limit": 1.5}, "limit must lie"),
        ({"limit": 0.1, "rate": "auc"}, "rate must be one of"),
        ({"limit": 0.1, "confidence": 1}, "confidence must lie"),
        ({"limit": 0.1, "average_run_length": 0}, "average_run_length must be"),
        ({"limit": 0.1, "labels": "ab"}, "labels must be a pair"),
        ({"limit": 0.1, "labels": (0, 1, 2)}, "labels must be a pair"),
        ({"limit": 0.1, "labels": (1, True)}, "as both negative and positive"),
        ({"limit": 0.1, "labels": (0, float("nan"))}, "labels must be text, numbers or booleans"),
        ({"limit": 0.1, "labels": ([], None)}, "labels must be text, numbers or booleans"),
    ],
)
def test_bad_parameters(options, match):
    with pytest.raises(ValueError, match=match):
        RateMonitor(**options)
