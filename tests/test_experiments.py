"""Every experiment says how it is run, and runs nothing when it is asked wrongly."""

import pkgutil
import runpy
import sys
from pathlib import Path

import pytest

from reproductions import experiments

FOLDER = Path(experiments.__path__[0])
NAMES = [item.name for item in pkgutil.iter_modules([str(FOLDER)]) if item.name[0] != "_"]


def run(name, argument, monkeypatch):
    """The exit status of a script run with one argument."""
    monkeypatch.setattr(sys, "argv", [name, argument])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    return ended.value.code


@pytest.mark.parametrize("name", NAMES)
def test_help(name, monkeypatch, capsys):
    assert run(name, "--help", monkeypatch) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: ")
    assert "--output" in shown


@pytest.mark.parametrize("name", NAMES)
def test_unknown_arguments(name, monkeypatch, capsys):
    assert run(name, "--colour", monkeypatch) == 2
    assert "unrecognized arguments: --colour" in capsys.readouterr().err


def test_unknown_networks(monkeypatch, capsys):
    assert run("link_prediction", "--networks=dblp", monkeypatch) == 2
    assert "invalid choice: 'dblp'" in capsys.readouterr().err
