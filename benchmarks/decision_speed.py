"""Time of average precision, decisions and maxima on a million scores, in sorts of the same scores.

Run with ``python -m benchmarks decision_speed``. Processor time, the least of alternating repetitions.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit

from aucuba.metrics import (
    average_precision_score,
    decision_curve,
    detection_cost_score,
    enrichment_factor_score,
    expected_cost_score,
    f_measure_score,
    gains_table,
    kolmogorov_smirnov_score,
    net_benefit_score,
    score_interval,
    value_recall,
    youden_score,
)
from reproductions.tables import markdown_table, write_signed

NAME = "decision_speed"
RESULTS = Path(__file__).parent / "results"
N_ROWS, REPEATS = 1_000_000, 3


def timed(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.05
    score = rng.normal(size=N_ROWS) + 1.5 * y
    risk, amount = expit(score - 3), rng.uniform(1, 9, N_ROWS)
    best = {"threshold": "best"}
    calls = {
        "average precision": (4, lambda: average_precision_score(y, score)),
        "average precision, expected ties": (
            4,
            lambda: average_precision_score(y, score, ties="expected"),
        ),
        "F1 at a threshold": (4, lambda: f_measure_score(y, score, threshold=1.0)),
        "F1, best": (4, lambda: f_measure_score(y, score)),
        "net benefit": (4, lambda: net_benefit_score(y, risk, threshold=0.1)),
        "expected cost": (4, lambda: expected_cost_score(y, score, threshold=1.0)),
        "detection cost, actual": (4, lambda: detection_cost_score(y, score)),
        "detection cost, minimum": (4, lambda: detection_cost_score(y, score, **best)),
        "Youden": (4, lambda: youden_score(y, score)),
        "Kolmogorov-Smirnov": (4, lambda: kolmogorov_smirnov_score(y, score)),
        "lift at 0.1": (4, lambda: enrichment_factor_score(y, score, fraction=0.1)),
        "decision curve at one threshold, with band": (
            10,
            lambda: decision_curve(y, risk, thresholds=[0.1]),
        ),
        "gains table": (4, lambda: gains_table(y, score)),
        "value recall": (4, lambda: value_recall(y, score, amount, fraction=0.1)),
        "average precision with interval": (
            10,
            lambda: score_interval("average_precision", y, score),
        ),
        "net benefit with interval": (
            10,
            lambda: score_interval("net_benefit", y, risk, threshold=0.1),
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in ("sort", *calls)}
    for _ in range(REPEATS):
        for name, (_, call) in calls.items():
            found["sort"].append(timed(lambda: np.argsort(score)))
            found[name].append(timed(call))
    sort = min(found["sort"])
    rows = []
    for name, (limit, _) in calls.items():
        ratio = min(found[name]) / sort
        shown = f"{ratio:.1f}" if ratio <= limit else f"**{ratio:.1f}**"
        rows.append([name, f"{1000 * min(found[name]):.0f}", shown, limit])
    text = [
        "# A million scores",
        f"Processor time of {N_ROWS:,} rows (5 % positive), the least of {REPEATS} alternating "
        f"repetitions on a busy machine; one `numpy.argsort` of the scores takes {1000 * sort:.0f} ms. "
        "Bold rows take more sorts than the aim.",
        markdown_table(["call", "ms", "sorts", "aim"], rows),
    ]
    write_signed(RESULTS / f"{NAME}.md", "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
