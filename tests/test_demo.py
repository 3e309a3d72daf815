import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import aucuba.demo
from aucuba.__main__ import main as program
from aucuba.demo import _PAGES, main


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The demo as a program: what it prints as JSON."""
    folder = tmp_path_factory.mktemp("demo") / "new folder"
    words = [sys.executable, "-m", "aucuba.demo", "--json", "--output", str(folder)]
    ran = subprocess.run(words, check=True, timeout=600, capture_output=True, text=True)
    return json.loads(ran.stdout)


def test_a_model_of_ours_is_clearly_ahead_in_the_band_with_rivals_beside_it(done):
    rows = {row["model"]: row for row in done["models"]}
    assert rows["logistic regression"]["against_logistic"] is None
    for name in ("PartialAUCClassifierCV", "RegionStack"):
        assert rows[name]["against_logistic"]["low"] > 0
        assert rows[name]["found"] > rows["logistic regression"]["found"]
    for rival in ("histogram boosting", "random forest"):
        assert 0 < rows[rival]["partial_auc"]["value"] < 1


def test_the_promise_is_printed_and_kept(done):
    assert "at most 0.01, with confidence 0.95" in done["promise"]["promise"]
    assert done["promise"]["false_alarms"] <= 0.01
    assert done["promise"]["found"] > 0


def test_the_reports_are_written(done):
    report, stack = Path(done["report"]), Path(done["stack_report"])
    assert 'id="coefficients"' in report.read_text()
    assert 'id="members"' in stack.read_text()
    for page in (report, stack):
        assert page.stat().st_size < 2_000_000
        assert "At 1 % false alarms it finds" in page.read_text()


def test_every_seed_is_zero():
    source = inspect.getsource(aucuba.demo)
    assert set(re.findall(r"(?:random_state=|default_rng\()(\w+)", source)) == {"0"}


def test_the_pages_are_of_models_that_are_ahead(done):
    rows = {row["model"]: row for row in done["models"]}
    for name in _PAGES:
        assert rows[name]["against_logistic"]["low"] > 0


def test_the_report_is_opened_only_on_request(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("aucuba.demo.webbrowser.open", opened.append)
    monkeypatch.setattr("aucuba.demo.two_kinds_of_fraud", small_problem)
    monkeypatch.setattr("aucuba.demo._models", few_models)
    main(tmp_path, as_json=True)
    assert opened == []
    (report, _) = main(tmp_path, as_json=True, open_report=True)
    assert opened == [report.resolve().as_uri()]


def small_problem():
    from sklearn.datasets import make_classification
    from sklearn.model_selection import train_test_split

    X, y = make_classification(4500, weights=[0.8], random_state=0)
    return tuple(train_test_split(X, y, test_size=0.4, stratify=y, random_state=0))


def few_models():
    from sklearn.linear_model import LogisticRegression

    from aucuba import PartialAUCClassifierCV
    from aucuba.ensemble import RegionStack

    return {
        "logistic regression": LogisticRegression(),
        "RegionStack": RegionStack((0.0, 0.05), cv=2, preset="fast", random_state=0),
        "PartialAUCClassifierCV": PartialAUCClassifierCV((0.0, 0.05), Cs=1, random_state=0),
    }


def test_a_file_in_the_way(tmp_path, capsys):
    pytest.importorskip("typer")
    place = tmp_path / "file"
    place.write_text("")
    for folder in (place, place / "below"):
        assert program(["demo", "--output", str(folder)]) == 2
        assert "is a file, not a folder" in capsys.readouterr().err


def test_the_demo_needs_the_base_install_only():
    code = (
        "import sys\n"
        "for name in ('matplotlib', 'pandas', 'typer', 'rich', 'skops', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "import aucuba.demo, aucuba.report"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
