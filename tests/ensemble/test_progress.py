"""What a long training of a stack shows and tells: the bar of verbose=1, and callbacks."""

import io
import itertools
import re
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba import RegionStack
from aucuba._base import _progress_bar
from aucuba._base._callbacks import HAS_CALLBACKS
from aucuba._base._progress_bar import ProgressBar, progress_bar
from aucuba.ensemble._defaults import PRESETS
from tests.ensemble.data import numbers
from tests.listeners import StopAfter

QUICKSTART = Path(__file__).parents[2] / "docs" / "quickstart.rst"
MEMBERS = [("first", LogisticRegression()), ("second", LogisticRegression(C=0.1))]
LINE = re.compile(
    r"RegionStack: (first|second) \[([#.]{24})\] (\d) of 8 fits, \d+:\d\d, about \d+:\d\d left"
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def stack(**params):
    return RegionStack((0.0, 0.2), estimators=MEMBERS, cv=3, random_state=0, **params)


def test_a_bar_is_on_stderr_only_if_asked_for(capsys):
    X, y = numbers()
    stack().fit(X, y)
    assert capsys.readouterr() == ("", "")
    stack(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    # Not a terminal: a line per member, and one at the end.
    lines = [LINE.fullmatch(line) for line in err.splitlines()]
    assert [(line[1], line[3]) for line in lines] == [
        ("first", "1"),
        ("second", "5"),
        ("second", "8"),
    ]
    assert lines[0][2] == "#" * 3 + "." * 21
    assert lines[2][2] == "#" * 24


def test_a_terminal_has_one_line_with_the_time_left(monkeypatch):
    now = itertools.count(0.0, 30.0)
    clock = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr(_progress_bar, "time", clock)
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    X, y = numbers()
    stack(verbose=1).fit(X, y)
    written = _progress_bar.sys.stderr.getvalue()
    states = written.removesuffix("\n").split("\r")[1:]
    assert written.count("\n") == 1
    assert len(states) == 8
    assert all(LINE.fullmatch(state.rstrip()) for state in states)
    # Half a minute per fit.
    assert "2 of 8 fits, 1:00, about 3:00 left" in states[1]
    assert "8 of 8 fits, 4:00, about 0:00 left" in states[7]
    # A shorter state covers the longer one before it.
    assert len(states[7]) >= len(states[6].rstrip())


def test_a_bar_passes_the_wish_to_stop_on(capsys):
    with progress_bar(lambda row: row["stage"] == "b", "Fit", 3, 1) as monitor:
        assert not monitor({"stage": "a"})
        assert monitor({"stage": "b"})
    assert capsys.readouterr().err.count("\n") == 2
    with progress_bar(None, "Fit", 3, 0) as monitor:
        assert monitor is None


def test_a_late_bar_appears_in_terminals_only_and_is_erased(monkeypatch):
    written = []
    for stream, patience in ((Terminal(), 0.0), (Terminal(), 1000.0), (io.StringIO(), 0.0)):
        monkeypatch.setattr("sys.stderr", stream)
        bar = ProgressBar("Reading", 1.0, patience=patience)
        deadline = time.monotonic() + 10
        while patience == 0 and stream.isatty() and not stream.getvalue():
            assert time.monotonic() < deadline
        bar.reach(0.5)
        bar.close()
        written.append(stream.getvalue())
    assert written[1:] == ["", ""]
    assert "\rReading, 0:00" in written[0]
    assert "Reading [############............] 50%, 0:00, about 0:00 left" in written[0]
    assert written[0].endswith("\r")


def test_a_bar_fits_into_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr("sys.stderr", Terminal())
    bar = ProgressBar("A name that is longer than that", 2)
    bar.advance()
    assert _progress_bar.sys.stderr.getvalue() == "\rA name that is long"


@pytest.mark.parametrize(
    ("given", "n_fits"),
    [
        # A forest scored out of bag is one fit; so is each fold of boosting, however far it grows.
        ({}, 1 + 4 + 4),
        ({"max_rows": 10_000}, 1 + 4 + 4),
        ({"max_rows": 200}, 4 + 4 + 4),
        ({"sample_weight": np.repeat([1.0, 2.0], 150)}, 4 + 4 + 4),
        ({"groups": np.arange(300) // 2}, 4 + 4 + 4),
    ],
)
def test_the_bar_counts_the_models_that_are_fitted(given, n_fits, capsys):
    X, y = numbers()
    members = ["forest", "extra_trees", "boosting_tuned"]
    params = {key: value for key, value in given.items() if key == "max_rows"}
    rows = {key: value for key, value in given.items() if key != "max_rows"}
    model = RegionStack((0.0, 0.2), estimators=members, cv=3, random_state=0, verbose=1, **params)
    listener = StopAfter(10_000)
    if HAS_CALLBACKS:
        model.set_callbacks(listener)
    model.fit(X, y, **rows)
    assert listener.heard.count("end iteration") == (n_fits if HAS_CALLBACKS else 0)
    # So many rounds are found best only after the models of the folds have grown once more.
    assert model.members_[2][1][-1].max_iter > 20
    shown = re.findall(r"RegionStack: (\w+) .* (\d+) of (\d+) fits", capsys.readouterr().err)
    assert {int(total) for _, _, total in shown} == {n_fits}
    first = {name: int(done) for name, done, _ in reversed(shown)}
    # Every member begins where the one before it has ended, and the last ends at the end.
    assert first == {"forest": 1, "extra_trees": n_fits - 7, "boosting_tuned": n_fits - 3}
    assert shown[-1][:2] == ("boosting_tuned", str(n_fits))


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_preset_announces_as_many_fits_as_it_makes(preset, capsys):
    X, y = numbers(160)
    listener = StopAfter(10_000)
    model = RegionStack((0.0, 0.2), preset=preset, cv=2, random_state=0, verbose=1)
    model.set_callbacks(listener).fit(X, y)
    announced = int(re.search(r"of (\d+) fits", capsys.readouterr().err)[1])
    assert listener.heard.count("end iteration") == announced


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
def test_the_bar_and_a_callback_hear_the_same(capsys):
    X, y = numbers()
    listener = StopAfter(10_000)
    stack(verbose=1).set_callbacks(listener).fit(X, y)
    assert listener.heard.count("end iteration") == 8
    assert "8 of 8 fits" in capsys.readouterr().err


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
def test_the_callback_of_the_quickstart_ends_a_training():
    text = QUICKSTART.read_text(encoding="utf-8").partition(":caption: time_budget.py\n")[2]
    block = itertools.takewhile(lambda line: not line or line[:3] == "   ", text.splitlines())
    X, y = numbers()
    names = {"stack": stack(), "X_train": X, "y_train": y}
    exec(textwrap.dedent("\n".join(block)), names)
    assert names["budget"].fits == ["first"] * 4 + ["second"] * 4
    assert len(names["stack"].members_) == 2
    cut = stack().set_callbacks(names["TimeBudget"](seconds=0)).fit(X, y)
    assert [name for name, _ in cut.members_] == ["first"]
