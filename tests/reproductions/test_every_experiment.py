"""Every experiment runs in its smallest form, and a rerun gives the same values."""

import re

import pytest

from reproductions import __main__ as command
from reproductions.experiment import is_time, read_rows, run


def without_times(rows):
    """Rows without what is measured anew in every run."""
    return [
        {key: value for key, value in row.items() if key != "cell" and not is_time(key)}
        for row in rows
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", command.names())
def test_smallest_form(name, tmp_path, needs):
    experiment = command.load(name)
    needs(*experiment.data)
    path = run(name, experiment, "tiny", results=tmp_path, progress=tmp_path / "progress")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert re.search(r"^\|.*\|$", text, re.MULTILINE)
    assert f"Written by `python -m reproductions {name} --tiny`; " in text
    assert "nan" not in text
    assert (tmp_path / f"{name}.png").exists() == (experiment.draw is not None)
    settings = experiment.settings["tiny"]
    cell = experiment.cells(settings)[0]
    kept = read_rows(tmp_path / f"{name}.csv")
    first = [row for row in kept if row["cell"] == " / ".join(map(str, cell))]
    again = without_times(experiment.compute(cell, settings))
    assert without_times(first) == again
