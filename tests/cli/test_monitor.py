"""``aucuba monitor``: batches from a file, and a state that goes on."""

import json

import numpy as np
import pandas as pd
import pytest

from aucuba.cli import main
from aucuba.threshold import RateMonitor


def table(seed=0, n=600, rate=0.02, days=3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.uniform(size=n) < 0.1, "fraud", "ok")
    flagged = np.where(y == "fraud", 0.8, rate) > rng.uniform(size=n)
    day = np.repeat([f"day {k}" for k in range(days)], n // days)
    return pd.DataFrame({"day": day, "y": y, "predicted": np.where(flagged, "fraud", "ok")})


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_batches_are_those_of_the_library(tmp_path, capsys):
    frame = table()
    frame.to_csv(tmp_path / "log.csv", index=False)
    options = ["--limit", 0.1, "--labels", "ok", "fraud", "--batch", "day", "--json"]
    assert run("monitor", tmp_path / "log.csv", *options) == 0
    result = json.loads(capsys.readouterr().out)
    monitor = RateMonitor(0.1, labels=("ok", "fraud"))
    for _, part in frame.groupby("day"):
        monitor.update(part["y"], part["predicted"])
    assert [row["batch"] for row in result["batches"]] == ["day 0", "day 1", "day 2"]
    for row, expected in zip(result["batches"], monitor.history, strict=True):
        assert row["n_counted"] == expected["n_counted"]
        assert row["log_evidence"] == pytest.approx(expected["log_evidence"])
    assert (result["status"], result["changed"]) == (monitor.status, monitor.changed)
    assert run("monitor", tmp_path / "log.csv", *options[:-1]) == 0
    assert "day 2" in capsys.readouterr().out


def test_state_goes_on_and_breaks(tmp_path, capsys):
    state = tmp_path / "state.json"
    for number, rate in enumerate((0.02, 0.02, 0.4)):
        path = tmp_path / f"{number}.csv"
        table(number, rate=rate).to_csv(path, index=False)
        limit = ["--limit", 0.1] if number == 0 else []
        assert run("monitor", path, "--state", state, "--labels", "ok", "fraud", *limit) == 0
    assert "broken" in capsys.readouterr().out
    assert RateMonitor.from_json(state.read_text()).status == "broken"
    assert run("monitor", path, "--state", state, "--limit", 0.2, "--labels", "ok", "fraud") == 2
    assert "--limit 0.2 differs from 0.1" in capsys.readouterr().err


def test_alerts_need_no_labels_and_groups_count_once(tmp_path, capsys):
    frame = pd.DataFrame({"predicted": [1, 0, 0, 0, 1, 1], "who": list("aabbcc")})
    frame.to_csv(tmp_path / "log.csv", index=False)
    options = ["--limit", 0.5, "--rate", "alerts", "--groups", "who", "--json"]
    assert run("monitor", tmp_path / "log.csv", *options) == 0
    (row,) = json.loads(capsys.readouterr().out)["batches"]
    assert (row["n_counted"], row["n_against"]) == (3, 1.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--limit is needed"),
        (["--limit", 0.1, "--flag", "flagged"], "There is no column 'flagged' for --flag"),
        (["--limit", 3], "limit must lie in"),
        (["--limit", 0.1, "--rate", "auc"], "rate must be one of"),
    ],
)
def test_bad_options(tmp_path, capsys, options, message):
    table().to_csv(tmp_path / "log.csv", index=False)
    assert run("monitor", tmp_path / "log.csv", *options) == 2
    assert message in capsys.readouterr().err


def test_missing_labels(tmp_path, capsys):
    frame = table()
    frame.loc[4, "y"] = None
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert run("monitor", tmp_path / "log.csv", "--limit", 0.1) == 2
    assert "'y' is missing in 1 rows, the first of them row 5" in capsys.readouterr().err
