"""Fits that are interrupted and begun again with the same memory."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from aucuba.ensemble import RegionReweighted, RegionStack
from tests.ensemble.data import numbers
from tests.ensemble.interruptible import SIGN, interrupted_stack

ROOT = Path(__file__).parents[2]
RANGE = (0.0, 0.2)


class Counted(LogisticRegression):
    """Counts its fits, and is interrupted in one of them."""

    n_fits = 0
    interrupted_in = None

    def fit(self, X, y, sample_weight=None):
        type(self).n_fits += 1
        if self.n_fits == self.interrupted_in:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(Counted, "n_fits", 0)
    monkeypatch.setattr(Counted, "interrupted_in", None)
    return Counted


class SlowToPrint(LogisticRegression):
    """Takes longer to print than joblib allows before it warns."""

    def __repr__(self):
        time.sleep(0.51)
        return "SlowToPrint()"


def two_members(**params):
    members = [("first", Counted()), ("second", Counted(C=0.1))]
    return RegionStack(RANGE, estimators=members, cv=3, random_state=0, **params)


@pytest.mark.parametrize("done", [0, 1, 3, 4, 6, 7])
def test_a_second_fit_reuses_what_the_first_has_finished(done, counted, tmp_path):
    X, y = numbers()
    stack = two_members(memory=str(tmp_path))
    counted.interrupted_in = done + 1
    with pytest.raises(KeyboardInterrupt):
        stack.fit(X, y)
    assert counted.n_fits == done + 1
    assert not hasattr(stack, "members_")
    counted.n_fits, counted.interrupted_in = 0, None
    stack.fit(X, y)
    # Three folds and all rows, twice.
    assert counted.n_fits == 8 - done
    whole = two_members().fit(X, y)
    assert np.array_equal(stack.decision_function(X), whole.decision_function(X))
    assert np.array_equal(stack.oof_scores_, whole.oof_scores_)
    assert stack.report_ == whole.report_


def test_an_interrupted_fit_leaves_the_model_of_the_fit_before(counted, tmp_path):
    X, y = numbers()
    stack = two_members(memory=str(tmp_path)).fit(X, y)
    before = stack.decision_function(X)
    params = stack.get_params(deep=False)
    counted.n_fits, counted.interrupted_in = 0, 6
    with pytest.raises(KeyboardInterrupt):
        stack.fit(X[:200], y[:200])
    assert np.array_equal(stack.decision_function(X), before)
    assert stack.oof_scores_.shape == (300, 2)
    assert stack.get_params(deep=False) == params


def test_other_rows_find_nothing_in_the_memory(counted, tmp_path):
    X, y = numbers()
    two_members(memory=str(tmp_path)).fit(X, y)
    counted.n_fits = 0
    two_members(memory=str(tmp_path)).fit(X + 1.0, y)
    assert counted.n_fits == 8


def test_a_slow_summary_in_the_memory_is_no_warning(tmp_path):
    X, y = numbers()
    model = RegionReweighted(SlowToPrint(), RANGE, cv=2, memory=str(tmp_path), random_state=0)
    model.fit(X, y)
    assert entries(tmp_path)


def entries(folder):
    """Finished results of the memory with the time of their writing."""
    return {path: path.stat().st_mtime_ns for path in Path(folder).rglob("output.pkl")}


@pytest.mark.skipif(os.name == "nt", reason="processes are interrupted by SIGINT")
def test_a_process_that_is_interrupted_leaves_what_it_has_finished(tmp_path):
    memory, sign = tmp_path / "memory", tmp_path / "sign"
    script = f"from tests.ensemble.interruptible import run; run({str(memory)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {SIGN: str(sign), "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not sign.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert "KeyboardInterrupt" in errors
    finished = entries(memory)
    # The first member in three folds and on all rows.
    assert len(finished) == 4
    X, y = numbers()
    stack = interrupted_stack(str(memory)).fit(X, y)
    after = entries(memory)
    assert len(after) == 8
    assert finished.items() <= after.items()
    whole = clone(stack).set_params(memory=None).fit(X, y)
    assert np.array_equal(stack.decision_function(X), whole.decision_function(X))
