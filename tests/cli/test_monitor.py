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


def timed(times):
    return pd.DataFrame({"y": 0, "predicted": [1, *[0] * (len(times) - 1)], "when": times})


@pytest.mark.parametrize(
    ("every", "times", "batches"),
    [
        # The last hours of a Sunday in New York are Monday in UTC; ISO weeks begin on Mondays and lie
        # in the year of their Thursday.
        (
            "week",
            [
                "2026-01-01 12:00:00",
                "2025-12-28",
                "2025-12-28 22:00:00-05:00",
                "2025-12-29T00:00:00Z",
            ],
            {"2025-W52": 1, "2026-W01": 4},
        ),
        (
            "day",
            ["2026-01-02 00:30:00+01:00", "2026-01-02", "2025-12-31 23:59:59", "2026-01-01"],
            {"2025-12-31": 1, "2026-01-01": 3, "2026-01-02": 4},
        ),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_days_and_weeks_are_batches_in_the_order_of_time(
    tmp_path, capsys, every, times, batches, ending
):
    path = tmp_path / f"log.{ending}"
    if ending == "csv":
        timed(times).to_csv(path, index=False)
    else:
        timed(pd.to_datetime(times, utc=True, format="ISO8601")).to_parquet(path)
    options = ["--limit", 0.5, "--time", "when", "--json"]
    for shown in ([], ["--every", "day"]) if every == "day" else (["--every", "week"],):
        assert run("monitor", path, *options, *shown) == 0
        result = json.loads(capsys.readouterr().out)
        assert {row["batch"]: row["n_counted"] for row in result["batches"]} == batches
        assert [row["batch"] for row in result["batches"]] == list(batches)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--every", "week"], "--every needs --time COLUMN"),
        (
            ["--time", "when", "--every", "month"],
            "--every must be one of 'day', 'week', got 'month'",
        ),
        (["--time", "y"], "The column 'y' for --time: '0' is not a date; write dates as"),
        (["--time", "when", "--batch", "y"], "--batch does not go with --time"),
        (["--time", "gone"], "There is no column 'gone' for --time"),
    ],
)
def test_batches_of_time_that_cannot_be(tmp_path, capsys, options, message):
    timed(["2026-01-01", "2026-01-02"]).to_csv(tmp_path / "log.csv", index=False)
    assert run("monitor", tmp_path / "log.csv", "--limit", 0.5, *options) == 2
    assert message in capsys.readouterr().err


def test_a_model_brings_its_target_and_its_promise(tmp_path, frame, capsys):
    frame = pd.concat([frame] * 4, ignore_index=True)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model, scored = tmp_path / "model.aucuba", tmp_path / "scored.csv"
    fit = ["--target", "outcome", "--pos-label", "bad", "--promise", "alerts=0.2", "--cv", 0]
    assert run("fit", tmp_path / "rows.csv", *fit, "--no-probe", "--out", model) == 0
    assert run("predict", model, tmp_path / "rows.csv", "--id", "outcome", "--out", scored) == 0
    named = ["--rate", "alerts", "--limit", 0.2, "--target", "outcome", "--labels", "good", "bad"]
    capsys.readouterr()
    found = []
    for options in (named, ["--model", model], ["--model", model, "--limit", 0.02]):
        assert run("monitor", scored, *options, "--json") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] != found[2]
    # A state keeps the limit that it began with.
    state = ["--state", tmp_path / "state.json"]
    assert run("monitor", scored, "--model", model, "--limit", 0.02, *state) == 0
    assert run("monitor", scored, "--model", model, *state) == 0
    assert run("monitor", scored, "--model", model, "--rate", "fpr") == 2
    assert "or the --model that promised it" in capsys.readouterr().err


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


def late_table(day, labelled, seed=0):
    """Rows of one day; misses have no label yet."""
    rng = np.random.default_rng([seed, day])
    frame = pd.DataFrame(
        {"y": "sick", "predicted": np.where(rng.uniform(size=60) < 0.6, "sick", "well")}
    )
    frame["when"] = str(np.datetime64("2026-01-01") + day)
    frame["known"] = str(np.datetime64("2026-01-01") + day + (0 if not labelled else 20))
    missed = frame["predicted"] == "well"
    if labelled:
        return frame[missed]
    frame.loc[missed, ["y", "known"]] = None
    return frame


def test_late_labels_of_two_files(tmp_path, capsys):
    state = tmp_path / "state.json"
    options = ["--rate", "tpr", "--limit", 0.8, "--labels", "well", "sick", "--label-horizon", 30]
    times = ["--state", state, "--time", "when", "--label-time", "known", "--json"]
    library = RateMonitor(0.8, rate="tpr", labels=("well", "sick"), label_horizon=30.0)
    for day in range(45):
        today = str(np.datetime64("2026-01-01") + day)
        late_table(day, False).to_csv(tmp_path / "new.csv", index=False)
        assert run("monitor", tmp_path / "new.csv", *options, *times, "--as-of", today) == 0
        said = json.loads(capsys.readouterr().out)
        new = late_table(day, False)
        library.update(new["y"], new["predicted"], event_time=new["when"], as_of=today)
        if day >= 20:
            late_table(day - 20, True).to_csv(tmp_path / "late.csv", index=False)
            more = ["--as-of", today, "--late-labels"]
            assert run("monitor", tmp_path / "late.csv", *times, *more) == 0
            said = json.loads(capsys.readouterr().out)
            late = late_table(day - 20, True)
            library.update_labels(
                late["y"],
                late["predicted"],
                event_time=late["when"],
                label_time=late["known"],
                as_of=today,
            )
        assert said["status"] != "ok"
    assert said["status"] == library.status == "broken"
    assert state.read_text().strip() == library.to_json()
    assert run("monitor", tmp_path / "late.csv", *times, "--as-of", today, "--every", "week") == 2
    assert "--every week differs from day" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as-of", "2026-01-01"], "--as-of is for --label-horizon; leave it out"),
        (["--label-horizon", 3], "--label-horizon needs --time COLUMN and --as-of DATE"),
        (["--label-horizon", 3, "--batch", "when"], "--batch does not go with --label-horizon"),
        (
            ["--label-horizon", 3, "--time", "when", "--as-of", "2026-01-01", "--late-labels"],
            "--late-labels needs --label-time COLUMN",
        ),
    ],
)
def test_times_need_a_horizon(tmp_path, capsys, options, message):
    frame = late_table(0, False)
    frame["y"] = "sick"
    frame.to_csv(tmp_path / "log.csv", index=False)
    plain = ["--limit", 0.1, "--labels", "well", "sick"]
    assert run("monitor", tmp_path / "log.csv", *plain, *options) == 2
    assert message in capsys.readouterr().err


def test_a_change_is_acknowledged(tmp_path, capsys):
    state = tmp_path / "state.json"
    pd.DataFrame({"y": 0, "predicted": np.arange(60) > 50}).to_csv(tmp_path / "a.csv", index=False)
    options = ["--limit", 0.1, "--state", state, "--average-run-length", 50, "--json"]
    assert run("monitor", tmp_path / "a.csv", *options) == 0
    assert json.loads(capsys.readouterr().out)["changed"]
    pd.DataFrame({"y": [0], "predicted": [0]}).to_csv(tmp_path / "b.csv", index=False)
    assert run("monitor", tmp_path / "b.csv", *options, "--acknowledge") == 0
    assert not json.loads(capsys.readouterr().out)["changed"]


def test_days_without_rows_go_on(tmp_path, capsys):
    state, log = tmp_path / "state.json", tmp_path / "log.csv"
    rows = late_table(0, False).assign(y="sick", known="2026-01-01")
    rows.to_csv(log, index=False)
    options = ["--rate", "tpr", "--limit", 0.3, "--labels", "well", "sick", "--label-horizon", 3]
    times = ["--state", state, "--time", "when", "--json", "--as-of"]
    assert run("monitor", log, *options, *times, "2026-01-01") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "unsure"
    rows[:0].to_csv(log, index=False)
    assert run("monitor", log, *times, "2026-01-10") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ok"
    times.remove("--json")
    assert run("monitor", log, *times, "2026-01-11") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "batch counted waiting late observed" in shown
    assert "ok over all counted rows since 2026-01-01" in shown
    assert run("monitor", log, "--limit", 0.3, "--json") == 2
    assert "log.csv has no rows" in capsys.readouterr().out
