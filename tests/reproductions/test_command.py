"""``python -m reproductions``: names, sizes, errors, interrupts."""

import csv

import pytest

from reproductions import __main__ as command
from reproductions.experiment import SIZES, Experiment, run


def test_list_names_every_experiment(capsys):
    assert command.main(["--list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown[:-1]] == command.names()
    assert shown[-1].startswith("Data directory: ")


@pytest.mark.parametrize("name", command.names())
def test_every_experiment_has_all_sizes(name):
    experiment = command.load(name)
    assert tuple(experiment.settings) == SIZES
    assert experiment.reproduces


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lettres"], "no experiment lettres; choose from "),
        ([], "name an experiment, or use --all"),
        (["letters", "--colour"], "unrecognized arguments: --colour"),
        (["letters", "--quick", "--tiny"], "not allowed with argument --quick"),
    ],
)
def test_a_wrong_call_is_one_clear_error(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_missing_data_is_one_line_and_the_others_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path / "nowhere"))
    results = tmp_path / "results"
    assert command.main(["ohsumed", "letters", "--tiny", "--output", str(results)]) == 1
    shown = capsys.readouterr()
    assert "ohsumed: No data file ohsumed" in shown.err
    assert shown.out.strip() == str(results / "letters.md")
    assert {path.name for path in results.iterdir()} == {"letters.csv", "letters.md", "letters.png"}


class Interrupted:
    """Three cells of which the second fails until it is told not to."""

    def __init__(self, fails=True):
        self.fails = fails
        self.computed = []

    def compute(self, cell, settings):
        if self.fails and cell == ("b", 2):
            raise KeyboardInterrupt
        self.computed.append(cell)
        return [{"name": cell[0], "value": cell[1] / 3 * settings}]

    def experiment(self):
        return Experiment(
            reproduces="nothing",
            settings=dict.fromkeys(SIZES, 0.1),
            cells=lambda settings: [("a", 1), ("b", 2), ("c", 3)],
            compute=self.compute,
            report=lambda rows, settings: "\n".join(repr(row["value"]) for row in rows),
            tolerance={},
        )


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_an_interrupted_run_continues_with_equal_values(tmp_path):
    whole, halved = Interrupted(fails=False), Interrupted()
    told = []
    options = {"progress": tmp_path / "progress"}
    run("x", whole.experiment(), "tiny", results=tmp_path / "whole", **options)
    with pytest.raises(KeyboardInterrupt):
        run("x", halved.experiment(), "tiny", results=tmp_path / "halved", **options)
    assert not (tmp_path / "halved").exists()
    halved.fails = False
    run(
        "x",
        halved.experiment(),
        "tiny",
        results=tmp_path / "halved",
        listen=lambda *state: told.append(state),
        **options,
    )
    assert halved.computed == [("a", 1), ("b", 2), ("c", 3)]
    assert told == [(0, 3, "a / 1"), (1, 3, "b / 2"), (2, 3, "c / 3"), (3, 3, "")]
    for name in ("x.csv", "x.md"):
        assert (tmp_path / "halved" / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert [float(row["value"]) for row in rows_of(tmp_path / "whole" / "x.csv")] == [
        k / 3 * 0.1 for k in (1, 2, 3)
    ]
    assert not list((tmp_path / "progress").iterdir())


def test_cells_of_other_settings_are_not_mixed_in(tmp_path):
    study = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run("x", study.experiment(), "tiny", results=tmp_path, progress=tmp_path / "progress")
    study.fails, study.computed = False, []
    other = study.experiment()
    other.settings["tiny"] = 0.2
    run("x", other, "tiny", results=tmp_path, progress=tmp_path / "progress")
    assert study.computed == [("a", 1), ("b", 2), ("c", 3)]
