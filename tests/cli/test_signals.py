"""Changepoint models from long tables: training, prediction, report, and tables that cannot be used."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli import main
from aucuba.persistence import load_model

N_SIGNALS, N_SAMPLES = 24, 40


def jump(k):
    """First sample after the jump of a signal, if it has one."""
    return 14 + k // 2


@pytest.fixture(scope="module")
def signals():
    """Signals of different noise, a jump in every second; names that look like numbers."""
    rng = np.random.default_rng(0)
    parts = []
    for k in range(N_SIGNALS):
        noise = 10.0 ** rng.uniform(-1, 1)
        mean = 8 * noise * (k % 2) * (np.arange(N_SAMPLES) >= jump(k))
        value = mean + noise * rng.normal(size=N_SAMPLES)
        parts.append(pd.DataFrame({"sequence": f"{k:02d}", "value": value}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def labels():
    kinds = ["one" if k % 2 else "none" for k in range(N_SIGNALS)]
    names = [f"{k:02d}" for k in range(N_SIGNALS)]
    return pd.DataFrame({"sequence": names, "start": 0, "end": 39, "kind": kinds})


UNITS = {
    "index": lambda number: number,
    "position": lambda number: 1000 + 25 * np.asarray(number),
    "time": lambda number: pd.Timestamp("2024-01-01") + pd.to_timedelta(number, unit="h"),
}


def in_unit(signals, labels, unit):
    """The same tables with coordinates; those without are numbered."""
    convert = UNITS[unit]
    marks = labels.assign(start=convert(labels["start"]), end=convert(labels["end"]))
    if unit == "index":
        return signals, marks
    return signals.assign(**{unit: convert(signals.groupby("sequence").cumcount())}), marks


def write(folder, signals, labels):
    """Write both tables; rows of different signals need not stand together."""
    if "sequence" in signals:
        signals = signals.iloc[np.argsort(signals.groupby("sequence").cumcount(), kind="stable")]
    signals.to_csv(folder / "signals.csv", index=False)
    labels.to_csv(folder / "labels.csv", index=False)


def quietly(*words):
    """Run a command outside of a test; gives its exit code."""
    return main([str(word) for word in words])


def fit(run, folder, *options):
    return run(
        *("fit", folder / "signals.csv", "--labels", folder / "labels.csv"),
        *("--model", "changepoint", "--max-segments", "5", "--cv", "3", *options),
        *("--out", folder / "model.aucuba"),
    )


@pytest.fixture(scope="module", params=list(UNITS))
def trained(request, tmp_path_factory, signals, labels):
    """A folder with tables in one unit and the model trained on them, and the tables."""
    folder = tmp_path_factory.mktemp(request.param)
    tables = in_unit(signals, labels, request.param)
    write(folder, *tables)
    assert fit(quietly, folder) == 0
    return folder, request.param, *tables


@pytest.fixture(scope="module")
def tables(tmp_path_factory, signals, labels):
    """A folder with numbered signals, their labels and the model trained on them."""
    folder = tmp_path_factory.mktemp("numbered")
    write(folder, signals, labels)
    assert fit(quietly, folder) == 0
    return folder


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


def test_the_model_is_that_of_the_python_api(trained):
    folder, _, rows, marks = trained
    detector = SupervisedChangepointDetector(5, cv=3, random_state=0).fit(rows, marks)
    saved = load_model(folder / "model.aucuba").model
    # A csv file keeps every digit.
    np.testing.assert_array_equal(saved.coef_, detector.coef_)
    assert (saved.intercept_, saved.status_) == (detector.intercept_, detector.status_)
    assert saved.score(rows, marks) == detector.score(rows, marks) > 0.9


def test_changes_are_those_of_the_python_api(run, trained, tmp_path):
    folder, unit, rows, _ = trained
    out = tmp_path / "changes.csv"
    done = run("predict", folder / "model.aucuba", folder / "signals.csv", "--out", out, "--json")
    assert done.code == 0, done.err
    found = pd.read_csv(out, dtype={"sequence": str}, parse_dates=[unit] if unit == "time" else [])
    assert list(found.columns) == ["sequence", unit]
    expected = load_model(folder / "model.aucuba").model.predict(rows)
    assert sum(map(len, expected)) == done.json["n_changes"] == len(found) > 0
    assert done.json["sequences"] == N_SIGNALS
    for name, changes in zip(rows["sequence"].unique(), expected, strict=True):
        listed = found.loc[found["sequence"] == name, unit].to_numpy()
        np.testing.assert_array_equal(listed, changes)
    # The truth, which knows nothing of the detector: most jumps, in the unit of the table.
    jumps = {(f"{k:02d}", UNITS[unit](jump(k))) for k in range(1, N_SIGNALS, 2)}
    right = jumps & set(zip(found["sequence"], found[unit], strict=True))
    assert len(right) > 0.7 * len(jumps)


def test_the_report_reads_labels_in_the_unit_of_the_signals(run, trained, tmp_path):
    folder, _, rows, marks = trained
    out = tmp_path / "r.html"
    done = run(
        *("report", folder / "model.aucuba", folder / "signals.csv"),
        *("--labels", folder / "labels.csv", "--out", out),
    )
    assert done.code == 0, done.err
    right = load_model(folder / "model.aucuba").model.score(rows, marks)
    wrong = round((1 - right) * len(marks))
    assert f"{wrong} label errors on {N_SIGNALS} signals." in out.read_text()


def test_changes_on_stdout(run, tables, tmp_path):
    words = ("predict", tables / "model.aucuba", tables / "signals.csv", "--out")
    done = run(*words, "-")
    run(*words, tmp_path / "c.csv")
    assert done.out == (tmp_path / "c.csv").read_text()
    assert f"note: {N_SIGNALS} sequences, " in done.err


def test_no_change_leaves_the_header(run, tables, tmp_path):
    flat = pd.DataFrame({"sequence": "a", "value": np.random.default_rng(1).normal(size=30)})
    flat.to_csv(tmp_path / "s.csv", index=False)
    done = run("predict", tables / "model.aucuba", tmp_path / "s.csv", "--out", "-")
    assert (done.code, done.out) == (0, "sequence,index\n")


def test_names_that_look_like_formulas(run, tables, signals, tmp_path):
    one = signals[signals["sequence"] == "01"].assign(sequence="=A1")
    one.to_csv(tmp_path / "s.csv", index=False)
    words = ("predict", tables / "model.aucuba", tmp_path / "s.csv", "--out", "-")
    for options, name in (((), "=A1"), (("--escape-formulas",), "'=A1")):
        found = pd.read_csv(StringIO(run(*words, *options).out))
        assert set(found["sequence"]) == {name}


def test_info_names_the_training(run, tables):
    done = run("info", tables / "model.aucuba")
    assert done.code == 0, done.err
    shown = " ".join(done.out.split())
    assert "SupervisedChangepointDetector" in shown
    assert "trained on signals.csv, 24 sequences, 960 samples, 24 labels" in shown
    training = run("info", tables / "model.aucuba", "--json").json["metadata"]["training"]
    assert training["samples"] == N_SIGNALS * N_SAMPLES


def test_fit_says_what_was_kept(run, tables, tmp_path, signals, labels):
    write(tmp_path, signals, labels)
    done = fit(run, tmp_path, "--json")
    assert done.json["fit"]["status"] == load_model(tables / "model.aucuba").model.status_
    assert done.json["training"]["labels"] == N_SIGNALS


def test_settings_reach_the_detector(run, tmp_path, signals, labels):
    write(tmp_path, signals.assign(value=signals["value"].abs().round()), labels)
    words = ("--loss", "poisson", "--max-iter", "7", "--random-state", "3")
    assert fit(run, tmp_path, *words).code == 0
    detector = load_model(tmp_path / "model.aucuba").model
    assert (detector.loss, detector.max_iter, detector.random_state) == ("poisson", 7, 3)
    assert (detector.max_segments, detector.cv) == (5, 3)


def test_parquet_names_meet_those_of_csv(run, tables, signals, labels, tmp_path):
    numbered = signals.assign(sequence=signals["sequence"].astype(int))
    numbered.to_parquet(tmp_path / "s.parquet")
    labels.assign(sequence=labels["sequence"].astype(int)).to_csv(tmp_path / "l.csv", index=False)
    done = run(
        *("report", tables / "model.aucuba", tmp_path / "s.parquet"),
        *("--labels", tmp_path / "l.csv", "--out", tmp_path / "r.html"),
    )
    assert done.code == 0, done.err


def test_separators_hold_for_both_tables(run, tables, signals, labels, tmp_path):
    for name, table in (("signals", signals), ("labels", labels)):
        table.to_csv(tmp_path / f"{name}.csv", index=False, sep=";", decimal=",")
    assert fit(run, tmp_path, "--delimiter", ";", "--decimal", ",").code == 0
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.aucuba").model.coef_,
        load_model(tables / "model.aucuba").model.coef_,
    )


def test_open_and_weighted_labels(run, signals, labels, tmp_path):
    marks = labels.assign(
        end=np.where(labels["kind"] == "none", np.inf, 39.0), weight=1 + labels.index % 3
    )
    write(tmp_path, signals, marks)
    assert fit(run, tmp_path).code == 0
    saved = load_model(tmp_path / "model.aucuba").model
    detector = SupervisedChangepointDetector(5, cv=3, random_state=0).fit(signals, marks)
    np.testing.assert_array_equal(saved.coef_, detector.coef_)


def with_cell(table, row, column, value):
    changed = table.astype({column: object})
    changed.loc[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, m: (s.drop(columns="value"), m), "no column 'value' for the samples"),
        (lambda s, m: (s.drop(columns="sequence"), m), "no column 'sequence' for the signals"),
        (lambda s, m: (with_cell(s, 3, "value", "high"), m), "'value' holds text"),
        (lambda s, m: (with_cell(s, 3, "value", ""), m), "'value' has missing"),
        (lambda s, m: (with_cell(s, 0, "sequence", ""), m), "row 1 names no sequence"),
        (lambda s, m: (s.assign(position="left"), m), "'position' holds text"),
        (lambda s, m: (s.assign(position=1), m), "strictly increasing"),
        (lambda s, m: (s.assign(time="soon"), m), "'time' must hold numbers, or dates"),
        (
            lambda s, m: (s.assign(time="2024-01-01 00:00:00+02:00"), m),
            "without an offset",
        ),
        (
            lambda s, m: (in_unit(s, m, "time")[0], m),
            "'start' holds numbers, but the time of the signals is dates",
        ),
        (lambda s, m: (s, in_unit(s, m, "time")[1]), "'start' holds text"),
        *(
            (
                lambda s, m, name=name: (s, m.drop(columns=name)),
                f"no column {name!r} for the labels",
            )
            for name in ("sequence", "start", "end", "kind")
        ),
        (lambda s, m: (s, with_cell(m, 2, "kind", "many")), "row 3, of the sequence '02', has the"),
        (lambda s, m: (s, with_cell(m, 2, "kind", "None")), "has the kind 'None'"),
        (lambda s, m: (s, with_cell(m, 2, "sequence", "zz")), "'zz', which is not among the"),
        (lambda s, m: (s, with_cell(m, 2, "start", "early")), "'start' holds text"),
        (lambda s, m: (s, with_cell(m, 2, "end", "")), "'end' has missing"),
        (lambda s, m: (s, m.assign(weight="much")), "'weight' holds text"),
        (lambda s, m: (s, m.assign(start=500, end=600)), "lies outside the signal"),
    ],
)
def test_tables_that_cannot_be_used(run, signals, labels, tmp_path, change, message):
    write(tmp_path, *change(signals, labels))
    rejected(fit(run, tmp_path), message)
    assert not (tmp_path / "model.aucuba").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "value"], "--target does not apply to --model changepoint"),
        (["--pos-label", "one"], "--pos-label does not apply"),
        (["--fpr-range", "0", "0.1"], "--fpr-range does not apply"),
        (["--max-fpr", "0.1"], "--max-fpr does not apply"),
        (["--min-tpr", "0"], "--min-tpr does not apply"),
        (["--C", "0"], "--C does not apply"),
        (["--qid", "sequence"], "--qid does not apply"),
        (["--sample-weight", "value"], "--sample-weight does not apply"),
        (["--drop", "value"], "--drop does not apply"),
        (["--category", "value"], "--category does not apply"),
        (["--promise", "fpr=0.1"], "--promise does not apply"),
        (["--no-probe"], "--probe does not apply"),
        (["--confidence", "0.95"], "--confidence does not apply"),
        (["--cv", "1"], "--cv must be at least 2"),
        (["--loss", "huber"], "loss must be"),
        (["--max-segments", "0"], "--max-segments must be"),
    ],
)
def test_options_that_do_not_apply(run, tables, tmp_path, options, message):
    words = ("--labels", tables / "labels.csv", "--model", "changepoint")
    done = run("fit", tables / "signals.csv", *words, *options, "--out", tmp_path / "m.aucuba")
    rejected(done, message)


@pytest.mark.parametrize("options", [["--labels", "l.csv"], ["--max-segments", "5"]])
def test_options_of_changepoint_models_alone(run, files, tmp_path, options):
    done = run("fit", files / "train.npz", *options, "--out", tmp_path / "m.aucuba")
    rejected(done, f"{options[0]} is for --model changepoint")


def test_labels_are_needed(run, tables, tmp_path):
    words = ("--model", "changepoint", "--out", tmp_path / "m.aucuba")
    rejected(run("fit", tables / "signals.csv", *words), "needs --labels")
    rejected(run("fit", tables / "signals.csv", "--model", "tree", "--out", "m"), "changepoint")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--id", "value"], "--id does not apply to a changepoint model"),
        (["--unknown", "ignore"], "--unknown does not apply to a changepoint model"),
    ],
)
def test_options_of_predict_that_do_not_apply(run, tables, tmp_path, options, message):
    words = ("predict", tables / "model.aucuba", tables / "signals.csv", *options)
    rejected(run(*words, "--out", tmp_path / "c.csv"), message)


def test_commands_that_need_scores_say_so(run, tables):
    done = run("evaluate", tables / "model.aucuba", tables / "signals.csv")
    rejected(done, "is a changepoint model, which has no scores")
