"""One cell of every experiment, computed again, is what the committed table was made from."""

import re
from dataclasses import replace

import pytest

from reproductions import __main__ as command
from reproductions.data import sources
from reproductions.experiment import RESULTS, check, is_time, key_of, read_rows
from reproductions.experiments import pauc_protein


def made_by_this_code(name):
    """Skip a table that says which earlier code it comes from."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    earlier = re.search(r"^From commit \w{7}: .+$", text, re.MULTILINE)
    if earlier:
        pytest.skip(f"{name}: {earlier[0]}")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", command.names())
def test_a_cell_is_as_committed(name):
    made_by_this_code(name)
    experiment = command.load(name)
    missing = [folder for folder in experiment.data if sources.missing(folder)]
    if missing:
        pytest.skip(f"{name} needs {', '.join(missing)}")
    try:
        differences = check(name, experiment)
    except FileNotFoundError as absent:
        pytest.skip(f"{name}: {absent}")
    assert not differences


@pytest.mark.parametrize("name", command.names())
def test_tolerances_are_declared_for_the_columns_there_are(name):
    made_by_this_code(name)
    experiment = command.load(name)
    rows = read_rows(RESULTS / f"{name}.csv")
    columns = {column for row in rows for column in row}
    assert set(experiment.tolerance) <= columns
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float) and not value.is_integer() and not is_time(column):
                assert column in {*experiment.tolerance, "beta", "C", "chosen"}, column


def test_results_hold_whole_runs():
    for name in ("letters", "contours", "pauc_table1", "pauc_wisconsin"):
        experiment = command.load(name)
        rows = read_rows(RESULTS / f"{name}.csv")
        cells = experiment.cells(experiment.settings["full"])
        assert [key_of(cell) for cell in cells] == list(dict.fromkeys(row["cell"] for row in rows))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pauc": 0.2501}, "f_1, row 0, pauc: 0.25 committed, 0.2501 computed"),
        ({"function": "f_3"}, "f_1, row 0, function: 'f_1' committed, 'f_3' computed"),
        ({"more": 1}, "f_1, row 0, more: None committed, 1 computed"),
        ({"pauc": 0.25 + 1e-14, "seconds": 9.0}, None),
    ],
)
def test_what_differs_is_named(change, message):
    experiment = command.load("pauc_table1")
    changed = replace(
        experiment,
        compute=lambda cell, settings: [experiment.compute(cell, settings)[0] | change],
    )
    assert check("pauc_table1", changed) == ([] if message is None else [message])
    twice = replace(experiment, compute=lambda *given: 2 * experiment.compute(*given))
    assert check("pauc_table1", twice) == ["f_1: 2 rows, committed are 1"]


def test_the_command_checks_and_skips(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    # Tests before this one may have read the set.
    pauc_protein.load.cache_clear()
    assert command.main(["--check", "pauc_table1", "pauc_protein"]) == 0
    shown = capsys.readouterr().out
    assert "pauc_table1: as committed (" in shown
    assert "pauc_protein: not checked. No data file adbench/cover.npz" in shown
    monkeypatch.setattr(command, "check", lambda name, experiment: ["x: 1 committed, 2 computed"])
    assert command.main(["--check", "letters"]) == 1
    assert "letters: 1 differ\n  x: 1 committed, 2 computed (" in capsys.readouterr().out
