"""Every experiment runs in its smallest form, and a rerun gives the same values."""

import re

import pytest

from reproductions import __main__ as command
from reproductions.experiment import run

# Measured, so different from run to run; everything else must be equal.
MEASURED = ("seconds", "search_ms", "oracle_ms")


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


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["letters", "ohsumed", "aum_figure5"])
def test_first_cell_twice(name, needs):
    experiment = command.load(name)
    needs(*experiment.data)
    settings = experiment.settings["tiny"]
    cell = experiment.cells(settings)[0]
    first, second = (
        [
            {key: value for key, value in row.items() if key not in MEASURED}
            for row in experiment.compute(cell, settings)
        ]
        for _ in range(2)
    )
    assert first == second
