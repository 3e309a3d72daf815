"""Fixtures for the tests of ensembles."""

import pytest

from aucuba.ensemble import _budget, _runner
from tests.ensemble.slow import Clock


@pytest.fixture
def clock(monkeypatch):
    """Let time limits go by the clock of the slow members."""
    for module in (_budget, _runner):
        monkeypatch.setattr(module, "time", Clock)
    monkeypatch.setattr(Clock, "now", 0.0)
