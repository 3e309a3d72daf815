"""How long a fit with a time limit takes, by a clock that only its members move."""

import numpy as np
import pytest
from sklearn.base import clone

from aucuba.ensemble import RegionStack
from tests.ensemble.data import numbers
from tests.ensemble.slow import Clock, Slow

RANGE = (0.0, 0.2)


class First(Slow):
    pass


class Second(Slow):
    pass


class Third(Slow):
    pass


def limited(seconds, **params):
    members = [("first", First()), ("second", Second()), ("third", Third())]
    return RegionStack(RANGE, estimators=members, time_limit=seconds, random_state=0, **params)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("seed", range(12))
def test_a_fit_ends_in_time(seed, monkeypatch):
    """Within 1.1 times the limit and what the first member takes, whatever the others cost.

    A model of a trial, on 300 rows at most, must not take more than a tenth of the limit: the one
    under way when the time is over is waited for.
    """
    rng = np.random.default_rng(seed)
    X, y = numbers(1000)
    for kind, scale in ((First, 0.05), (Second, 1.0), (Third, 1.0)):
        monkeypatch.setattr(kind, "seconds", scale * np.exp(rng.uniform(-2, 2)))
        monkeypatch.setattr(kind, "constant", scale * rng.uniform(0, 0.2))
    # Four fifths of the rows in each of five folds, then all.
    first = 6 * First.constant + 5 * First.seconds
    trial = max(kind.constant + 0.3 * kind.seconds for kind in (Second, Third))
    limit = 10 * trial * np.exp(rng.uniform(0, 4))
    stack = limited(limit).fit(X, y)
    assert Clock.now <= 1.1 * limit + first
    assert stack.plan_[0] == {"member": "first"}
    wanted = sum(6 * kind.constant + 5 * kind.seconds for kind in (Second, Third))
    # Trials are on few rows and expect the worst; ten times the need is enough for all.
    if limit > first + 10 * wanted:
        assert len(stack.plan_) == 3


@pytest.mark.usefixtures("clock")
def test_a_trial_ends_when_the_time_is_over(monkeypatch):
    monkeypatch.setattr(First, "seconds", 0.1)
    monkeypatch.setattr(Second, "constant", 3.0)
    X, y = numbers(1000)
    stack = limited(4.0).fit(X, y)
    assert [one["member"] for one in stack.plan_] == ["first"]
    # Two of the three models of the first trial: the second begins before the end.
    assert Clock.now == pytest.approx(0.5 + 6.0)


@pytest.mark.usefixtures("clock")
def test_trials_are_not_remembered(monkeypatch, tmp_path):
    monkeypatch.setattr(First, "seconds", 0.1)
    monkeypatch.setattr(Second, "seconds", 4.0)
    monkeypatch.setattr(Second, "n_fits", 0)
    X, y = numbers(1000)
    stack = limited(15.0, memory=str(tmp_path)).fit(X, y)
    names = [one["member"] for one in stack.plan_]
    assert names == ["first", "third"]
    # A trial that takes no time would let the slow one begin.
    Clock.now = 0.0
    again = clone(stack).fit(X, y)
    assert [one["member"] for one in again.plan_] == names
    assert Second.n_fits == 0
