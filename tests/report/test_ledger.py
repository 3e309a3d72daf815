"""The timeline of a ledger on the page of a classifier."""

import re

import numpy as np
import pytest

from aucuba.cli import main
from aucuba.report import ScoredSample, classifier_report
from aucuba.threshold import FixedFPRClassifier, PromiseLedger
from tests.report.helpers import body_of, small_table
from tests.threshold.bases import FirstFeature
from tests.threshold.test_ledger import calibrated, watch


def page_of(ledger):
    X, y, _ = small_table()
    model = FixedFPRClassifier(FirstFeature(), 0.1, random_state=0).fit(X, y)
    sample = ScoredSample(y, model.decision_function(X))
    return body_of(classifier_report(model, sample, ledger=ledger), "ledger")


def test_a_timeline_with_an_alarm():
    ledger = PromiseLedger()
    assert "for 0 calibrations" in page_of(ledger)
    calibrated(ledger, 0)
    watch(ledger, 101, 30, rate=0.3)
    calibrated(ledger, 140)
    watch(ledger, 241, 5)
    body = page_of(ledger)
    assert "an error of 0.03333 is spent" in body
    cells = re.findall(r"<td>(.*?)</td>", body)
    first, second = cells[:7], cells[7:]
    assert first[:2] == ["0 to 99", "1,500"]
    assert first[3:6] == ["0.0125", "yes", "broken, changed"]
    history = ledger.monitors[0].history
    alarm = next(row["as_of"] for row in history if row["status"] == "broken" or row["changed"])
    assert first[6].startswith(f"{alarm}, ")
    assert second[3:] == ["0.00417", "yes", "unsure", ""]
    assert body.count('class="curve model"') == 2
    assert body.count('class="curve baseline"') == 2
    assert body.count('class="dot"') == 1
    # The first calibration is on top, and time goes to the right.
    bars = re.findall(r'curve model" d="M([\d.]+) ([\d.]+)L([\d.]+)', body)
    (x0, y0, x1), (x2, y2, _) = [[float(one) for one in bar] for bar in bars]
    assert x0 < x1 < x2
    assert y0 < y2


def test_dates_and_rows_that_were_used_again():
    ledger = PromiseLedger()
    X, y = np.arange(600.0)[:, None] % 7, np.arange(600) % 2
    when = np.datetime64("2026-01-01") + np.arange(600) // 10
    model = FixedFPRClassifier(FirstFeature().fit(X, y), 0.3, cv="prefit")
    ledger.calibrate(model, X, y, time=when)
    day = np.repeat(np.datetime64("2026-03-05"), 20)
    ledger.monitor.update(np.zeros(20), np.zeros(20), event_time=day, as_of="2026-03-06")
    ledger.calibrate(model, X, y, time=when + 40, reuse=True)
    body = page_of(ledger)
    assert "2026-01-01 to 2026-03-01" in body
    assert "no: reuses counted rows" in body
    assert "NO GUARANTEE" in body
    assert re.search(r'class="tick mid">2026-\d\d-\d\d</text>', body)


def test_the_command_line_shows_a_ledger(tmp_path, capsys):
    pytest.importorskip("typer")
    pd = pytest.importorskip("pandas")
    X, y, names = small_table()
    frame = pd.DataFrame(X, columns=names).assign(y=y)
    frame[:200].to_csv(tmp_path / "train.csv", index=False)
    frame[200:].to_csv(tmp_path / "test.csv", index=False)
    ledger = PromiseLedger()
    calibrated(ledger, 0)
    (tmp_path / "ledger.json").write_text(ledger.to_json())
    model, page = tmp_path / "m.aucuba", tmp_path / "page.html"
    assert main(["fit", str(tmp_path / "train.csv"), "--no-probe", "--out", str(model)]) == 0
    arguments = ["report", str(model), str(tmp_path / "test.csv"), "--out", str(page), "--ledger"]
    assert main([*arguments, str(tmp_path / "ledger.json")]) == 0
    assert "Calibrations over time" in page.read_text()
    assert main([*arguments, str(tmp_path / "none.json")]) == 2
    assert main([*arguments, str(tmp_path / "train.csv")]) == 2
    assert "not the text of PromiseLedger" in capsys.readouterr().err
