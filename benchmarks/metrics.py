"""What the metrics cost, in units of one ``np.argsort`` of the same scores, and what importing costs.

Run with ``python -m benchmarks metrics``; it rewrites ``benchmarks/results/metrics.md``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

# One thread for all rivals, set before NumPy loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import roc_auc_score

from aucuba._roc._curve import range_average, roc_curve
from aucuba._rows._sample import RankingSample
from aucuba.metrics import partial_auc_score, score_interval
from aucuba.metrics._measures import evaluate
from reproductions.tables import markdown_table, write_signed

N_ROWS = 1_000_000
N_RESAMPLES = 20
BAND = (0.02, 0.05)
CORE_LIMIT = 3.0
IMPORT_LIMIT = 1.5
DELONG_LIMIT = 10.0
# Every other measure of the library with one setting.
BY_NAME = {
    "two_way_partial_auc": {"min_tpr": 0.5, "max_fpr": 0.3},
    "log_auc": {"fpr_range": (0.001, 0.1)},
    "rate_at_threshold": {"rate": "tpr", "threshold": 1.0},
    "tpr_at_fpr": {"fpr": 0.01},
    "fpr_at_tpr": {"tpr": 0.9},
    "equal_error_rate": {},
    "precision_at_recall": {"recall": 0.5},
    "recall_at_precision": {"precision": 0.5},
    "precision_at_k": {"k": 1000},
    "recall_at_k": {"k": 1000},
    "enrichment_factor": {"fraction": 0.01},
    "rie": {"alpha": 20.0},
    "bedroc": {"alpha": 20.0},
}
RESULT = Path(__file__).parent / "results" / "metrics.md"


def best_of(rivals: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Time each rival in turns and return its shortest processor time in seconds.

    A busy minute of the machine then hurts all of them alike. One round before the first warms caches
    and compiles kernels.
    """
    best = dict.fromkeys(rivals, float("inf"))
    for job in rivals.values():
        job()
    for _ in range(repeats):
        for name, job in rivals.items():
            start = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - start)
    return best


def metric_times() -> dict[str, float]:
    """Seconds of every variant on the same scores, timed in turns."""
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.1
    score = rng.normal(size=N_ROWS) + y
    tied = np.round(score, 2)
    weight = rng.uniform(0.5, 2.0, size=N_ROWS)
    plain, weighted = (
        RankingSample.from_arrays(y, score),
        RankingSample.from_arrays(y, score, weight),
    )
    with_ties = RankingSample.from_arrays(y, tied)
    # A sample sorts its rows once; every round has a new one.
    return best_of(
        {
            "np.argsort": lambda: np.argsort(score),
            "np.argsort, rounded scores": lambda: np.argsort(tied),
            "core": lambda: range_average(roc_curve(replace(plain)), *BAND),
            "core, rounded scores": lambda: range_average(roc_curve(replace(with_ties)), *BAND),
            "core, weighted": lambda: range_average(roc_curve(replace(weighted)), *BAND),
            "partial_auc_score": lambda: partial_auc_score(y, score, fpr_range=BAND),
            "partial_auc_score, weighted": lambda: partial_auc_score(
                y, score, fpr_range=BAND, sample_weight=weight
            ),
            **{
                f"{name}, by name": lambda name=name, params=params: evaluate(
                    name, y, score, **params
                )
                for name, params in BY_NAME.items()
            },
            "roc_auc_score (scikit-learn)": lambda: roc_auc_score(y, score),
            "score_interval, DeLong": lambda: score_interval(
                "partial_auc", y, score, fpr_range=BAND, method="delong"
            ),
            f"score_interval, {N_RESAMPLES} resamples": lambda: score_interval(
                "partial_auc",
                y,
                score,
                fpr_range=BAND,
                n_resamples=N_RESAMPLES,
                random_state=0,
                method="bootstrap",
            ),
        },
        repeats=5,
    )


def import_times() -> dict[str, float]:
    """Seconds that a fresh interpreter spends on each import (start-up not counted)."""

    def timed(package: str) -> float:
        code = f"import time; t = time.process_time(); import {package}; print(time.process_time() - t)"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return float(run.stdout)

    # The package loads its names when they are first used, so the metrics are timed as well.
    best = dict.fromkeys(("sklearn", "aucuba", "aucuba.metrics"), float("inf"))
    for _ in range(7):
        for package in best:
            best[package] = min(best[package], timed(package))
    return best


def in_argsorts(seconds: dict[str, float]) -> dict[str, float]:
    """Each time over that of sorting the same scores."""
    return {
        name: taken / seconds["np.argsort, rounded scores" if "rounded" in name else "np.argsort"]
        for name, taken in seconds.items()
    }


def main() -> None:
    """Time, check the promises, write the table."""
    seconds, imports = metric_times(), import_times()
    ratio = in_argsorts(seconds)
    interval = next(name for name in ratio if "resamples" in name)
    by_name = max(value for name, value in ratio.items() if name.endswith("by name"))
    delong = ratio["score_interval, DeLong"]
    slowest_core = max(value for name, value in ratio.items() if name.startswith("core"))
    import_ratio = max(imports["aucuba"], imports["aucuba.metrics"]) / imports["sklearn"]
    assert slowest_core <= CORE_LIMIT, f"core costs {slowest_core:.2f} argsorts"
    assert import_ratio < IMPORT_LIMIT, f"import costs {import_ratio:.2f} x sklearn"

    table = markdown_table(
        ["what", "ms", "argsorts"],
        [(name, f"{1e3 * seconds[name]:.0f}", f"{ratio[name]:.2f}") for name in seconds],
    )
    import_table = markdown_table(
        ["import", "s", "of sklearn's"],
        [
            (name, f"{taken:.2f}", f"{taken / imports['sklearn']:.2f}")
            for name, taken in imports.items()
        ],
    )
    write_signed(
        RESULT,
        f"""# Cost of the metrics

{N_ROWS:,} scores, one thread, FPR in [{BAND[0]}, {BAND[1]}]; processor time, best of 5 rounds in
turns. "Core" is what `partial_auc_score` does after input validation (`roc_curve`, then
`range_average`); "rounded" scores have about a thousand distinct values and are compared with sorting
those. The slowest core costs {slowest_core:.2f} argsorts (promised: at most {CORE_LIMIT:g}), the
slowest other measure, its validation included, {by_name:.2f} (promised: {CORE_LIMIT:g}), DeLong's
interval {delong:.2f} (promised: {DELONG_LIMIT:g}). One bootstrap resample costs
{ratio[interval] / N_RESAMPLES:.2f} argsorts.

{table}

Importing, best of 7 fresh interpreters in turns (promised: below {IMPORT_LIMIT:g} x scikit-learn):

{import_table}
""",
        "benchmarks metrics",
    )


if __name__ == "__main__":
    main()
