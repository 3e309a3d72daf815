"""PromiseLedger: how it divides the error, what it refuses, and what it keeps."""

import json

import numpy as np
import pytest

from aucuba.cli import main
from aucuba.report._ledger import ledger_section
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PromiseLedger,
    RateMonitor,
)
from tests.threshold.bases import FirstFeature, prefit


def rows(day, n=1500, seed=0):
    """Rows of the hundred days from ``day`` on."""
    rng = np.random.default_rng([seed, day])
    y = (np.arange(n) % 2).astype(int)
    return (rng.normal(size=n) + 2 * y)[:, None], y, day + np.arange(n) // 15


def calibrated(ledger, day, model=None, **options):
    X, y, time = rows(day)
    model = FixedFPRClassifier(prefit(), 0.1, cv="prefit") if model is None else model
    return ledger.calibrate(model, X, y, time=time, **options)


def watch(ledger, first, n_days=20, rate=0.05):
    rng = np.random.default_rng(first)
    for day in range(first, first + n_days):
        flagged = rng.uniform(size=50) < rate
        ledger.monitor.update(np.zeros(50), flagged, event_time=np.full(50, day), as_of=day)


def test_errors_add_up_to_the_confidence():
    ledger, models = PromiseLedger(0.9), []
    for k in range(4):
        models.append(calibrated(ledger, 200 * k))
        watch(ledger, 200 * k + 101)
    a = 1 - 0.9
    for k, (model, entry) in enumerate(zip(models, ledger.entries, strict=True), 1):
        part = a / (2 * k * (k + 1))
        assert model.confidence == pytest.approx(1 - part)
        assert model.violation_probability_ <= part
        assert entry["error"] == entry["monitor_error"] == pytest.approx(part)
    assert ledger.monitor.confidence == pytest.approx(1 - a / 80)
    assert ledger.spent == pytest.approx(a * (1 - 1 / 5))
    many = sum(a / (k * (k + 1)) for k in range(1, 100_000))
    assert many == pytest.approx(a, rel=1e-4)
    assert ledger.is_guaranteed


@pytest.mark.parametrize(
    "model",
    [
        FixedFPRClassifier(FirstFeature(), 0.1, cv=0.5),
        FixedTPRClassifier(FirstFeature(), 0.8, cv=0.5),
        FixedPrecisionClassifier(FirstFeature(), 0.7, cv=0.5, random_state=0),
    ],
)
def test_the_monitor_watches_the_promised_rate(model):
    ledger = PromiseLedger()
    fitted = calibrated(ledger, 0, model)
    assert fitted is not model
    assert model.confidence == 0.95
    assert ledger.monitor.rate == ledger.entries[0]["rate"]
    assert ledger.monitor.limit == ledger.entries[0]["limit"]
    # The latest half of the rows sets the threshold.
    assert fitted.estimator_.rows_.size == 750


def test_rows_that_a_monitor_counted_are_refused():
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    watch(ledger, 101, 30)
    before = ledger.to_json()
    with pytest.raises(ValueError, match="465 rows are from days that the monitor"):
        calibrated(ledger, 100)
    assert ledger.to_json() == before
    calibrated(ledger, 100, reuse=True)
    assert not ledger.is_guaranteed
    assert "[no guarantee]" in ledger.summary()
    watch(ledger, 201)
    calibrated(ledger, 300)
    assert [entry["is_guaranteed"] for entry in ledger.entries] == [True, False, True]


def test_rows_of_any_earlier_monitor_are_refused_to_the_end_of_its_day():
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    watch(ledger, 101, 30)
    X, y, time = rows(131)
    model = FixedFPRClassifier(prefit(), 0.1, cv="prefit")
    with pytest.raises(ValueError, match="1500 rows are from days"):
        ledger.calibrate(model, X, y, time=np.full(time.size, 130.9))
    calibrated(ledger, 131)
    # The second monitor has counted nothing; the rows of the first stay refused.
    with pytest.raises(ValueError, match="465 rows are from days"):
        calibrated(ledger, 100)
    with pytest.raises(ValueError, match="must both be dates"):
        ledger.calibrate(model, X, y, time=np.datetime64("2026-01-01") + time)


def test_json_goes_on_and_recomputes_the_errors(tmp_path, capsys):
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    watch(ledger, 101)
    calibrated(ledger, 200)
    watch(ledger, 301, 5)
    again = PromiseLedger.from_json(ledger.to_json())
    assert again.to_json() == ledger.to_json()
    assert again.summary() == ledger.summary()
    watch(again, 306)
    assert calibrated(again, 400).confidence == pytest.approx(1 - 0.05 / 24)
    (tmp_path / "ledger.json").write_text(ledger.to_json())
    assert main(["info", str(tmp_path / "ledger.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spent"] == pytest.approx(0.05 * 2 / 3)
    assert main(["info", str(tmp_path / "ledger.json")]) == 0
    assert "an error of 0.03333 is spent" in capsys.readouterr().out
    content = json.loads(ledger.to_json())
    content["entries"][1]["error"] = 1e-9
    with pytest.raises(ValueError, match="calibration 2 has the error 1e-09"):
        PromiseLedger.from_json(json.dumps(content))
    content = json.loads(ledger.to_json())
    content["entries"][0]["monitor"] = json.loads(RateMonitor(0.1).to_json())
    with pytest.raises(ValueError, match="calibration 1 has the error"):
        PromiseLedger.from_json(json.dumps(content))
    with pytest.raises(ValueError, match="not the text of PromiseLedger"):
        PromiseLedger.from_json("[]")


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.pop("promise"),
        lambda entry: entry.update(is_guaranteed=None),
        lambda entry: entry.update(is_guaranteed=1),
        lambda entry: entry.update(n_rows=True),
        lambda entry: entry.update(limit=float("nan")),
        lambda entry: entry.update(threshold="high"),
        lambda entry: entry.update(first="yesterday"),
        lambda entry: entry.update(first=101),
        lambda entry: entry["monitor"]["state"]["history"][0].__setitem__(0, "Monday"),
        lambda entry: entry["monitor"]["state"]["history"][0].__setitem__(3, [1, 2, 3]),
        lambda entry: entry["monitor"]["state"].update(dated="no"),
    ],
)
def test_damaged_entries_are_refused(damage):
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    watch(ledger, 101, 5)
    calibrated(ledger, 200)
    content = json.loads(ledger.to_json())
    damage(content["entries"][0])
    with pytest.raises(ValueError, match=r"not the text of (PromiseLedger|RateMonitor)"):
        PromiseLedger.from_json(json.dumps(content))


def test_a_promise_kept_by_flagging_nothing_is_recorded_too():
    ledger = PromiseLedger()
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    model = FixedFPRClassifier(prefit(), max_fpr=0.01, cv="prefit", on_failure="trivial")
    with pytest.warns(UserWarning, match="flagging nothing"):
        ledger.calibrate(model, X, y, time=np.arange(40))
    again = PromiseLedger.from_json(ledger.to_json())
    assert float(again.entries[0]["threshold"]) == np.inf
    assert again.summary() == ledger.summary()
    assert "inf" in ledger_section(again).body


def test_hashes_tell_models_and_rows_apart():
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    calibrated(ledger, 200)
    first, second = ledger.entries
    assert first["model_hash"] == second["model_hash"]
    assert first["rows_hash"] != second["rows_hash"]


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (AlertBudgetClassifier(prefit(), 0.1, cv="prefit"), "not AlertBudgetClassifier"),
        (FixedFPRClassifier(prefit(), [0.1, 0.2], cv="prefit"), "one limit of one rate"),
        (FixedFPRClassifier(prefit(), 0.1, min_tpr=0.5, cv="prefit"), "one limit of one rate"),
        (FixedFPRClassifier(prefit(), 0.1, strata=0, cv="prefit"), "without strata"),
    ],
)
def test_one_limit_of_one_rate(model, match):
    with pytest.raises(ValueError, match=match):
        calibrated(PromiseLedger(), 0, model)


def test_dates_and_timeline():
    plt = pytest.importorskip("matplotlib.pyplot")
    ledger = PromiseLedger()
    X, y, time = rows(0)
    when = np.datetime64("2026-01-01") + time
    ledger.calibrate(FixedFPRClassifier(prefit(), 0.1, cv="prefit"), X, y, time=when)
    assert ledger.entries[0]["first"] == "2026-01-01"
    day = np.full(50, when.max() + 5)
    ledger.monitor.update(np.zeros(50), np.zeros(50), event_time=day, as_of=day[0])
    ax = ledger.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["calibration", "unsure"]
    plt.close("all")
