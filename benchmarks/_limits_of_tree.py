"""Limits of given samples by the library that is on the path: ``python FILE SAMPLES RESULTS``.

It imports nothing of the benchmarks, so that a source tree of any commit can run it.
"""

from __future__ import annotations

import math
import pickle
import sys
import warnings
from pathlib import Path

from aucuba.metrics import compare_scores, score_interval

N_RESAMPLES = 100
ALIKE = 0.2
# Tables of the normal model, by measure and sizes of the classes.
KNOWN: dict = {}
CURRENT: list = []


def share_tables() -> None:
    """Let all intervals of a measure have one table of the normal model."""
    # Trees of before this model can still be asked for tests.
    import aucuba.metrics._intervals as library
    from aucuba.metrics._normal_model import NormalModel

    class Shared(NormalModel):
        @classmethod
        def of(cls, measure, positives, negatives):
            # Where either class is drawn in its own number the sizes do not count; elsewhere the
            # first of about the same size stands for all, in either tree.
            sizes = [] if measure.sampling == "by_class" else [positives, negatives]
            key = (CURRENT[0], *(round(math.log(one) / ALIKE) for one in sizes))
            if key not in KNOWN:
                KNOWN[key] = super().of(measure, positives, negatives)
            return KNOWN[key]

    library.NormalModel = Shared


def limits_of(columns: list) -> list:
    """Return (column, measure, sample, low, high) of every interval."""
    if columns:
        share_tables()
    found = []
    for column, samples, measures in columns:
        for number, (y, score, weight, group) in enumerate(samples):
            rows = {"sample_weight": weight, "groups": group}
            draws = {"n_resamples": N_RESAMPLES, "random_state": number}
            for name, (metric, params) in measures.items():
                CURRENT[:] = [f"{metric} {params}"]
                one = score_interval(metric, y, score, **rows, **draws, **params)
                found.append((column, name, number, one.low, one.high))
    return found


def tests_of(calls: list) -> list:
    """Return (row, p-value, low, high) of every test."""
    found = []
    for row, (metric, y, a, b, options) in calls:
        one = compare_scores(metric, y, a, b, **options)
        found.append((row, one.p_value, one.low, one.high))
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    columns, calls = pickle.loads(Path(sys.argv[1]).read_bytes())
    Path(sys.argv[2]).write_bytes(pickle.dumps((limits_of(columns), tests_of(calls))))
