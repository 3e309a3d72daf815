"""A member whose fit can be interrupted from outside, importable in a process of its own."""

import os
import signal
import time
from pathlib import Path

from sklearn.linear_model import LogisticRegression

from aucuba.ensemble import RegionStack
from tests.ensemble.data import numbers

SIGN = "AUCUBA_TEST_SIGN"


class Waiting(LogisticRegression):
    """Makes the file that `SIGN` names, then waits to be interrupted; without one, fits at once."""

    def fit(self, X, y, sample_weight=None):
        sign = os.environ.get(SIGN)
        if sign:
            Path(sign).touch()
            time.sleep(600)
        return super().fit(X, y, sample_weight)


def interrupted_stack(memory):
    members = ["linear_logistic", ("waiting", Waiting())]
    return RegionStack((0.0, 0.2), estimators=members, cv=3, memory=memory, random_state=0)


def run(memory):
    """Fit until interrupted, even if the tests were started where SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupted_stack(memory).fit(*numbers())
