"""Alarms of MAPIE's risk monitor; run by the rivals' interpreter, which has no aucuba."""

import sys

import numpy as np
from mapie.exchangeability_testing import RiskMonitoring


def first_alarm(losses, limit):
    """Rows until the lower bound passes the limit, infinite if never; all rows are negatives."""
    monitor = RiskMonitoring("fpr", test_level=0.05, threshold=limit, tolerance=0.0, warn=False)
    monitor.update(np.zeros(losses.size, dtype=int), losses.astype(int))
    passed = monitor.online_risk_lower_bound_sequence_history > limit
    return float(np.argmax(passed) + 1) if passed.any() else np.inf


def run(asked, answered):
    with np.load(asked) as content:
        streams, limit = content["streams"], float(content["limit"])
    np.save(answered, np.array([first_alarm(losses, limit) for losses in streams]))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
