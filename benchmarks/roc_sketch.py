"""A ROC curve of 50 million rows from chunks of one million, against all rows at once.

Run with ``python -m benchmarks roc_sketch``; it rewrites ``benchmarks/results/roc_sketch.md``. The
measure of all rows needs about 3 GB.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

# One thread for both, set before NumPy loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from aucuba.metrics import RocSketch, partial_auc_score
from reproductions.tables import markdown_table, write_signed

N_ROWS = 50_000_000
CHUNK = 1_000_000
PREVALENCE = 0.02
FPR_RANGE = (0.0, 0.05)
RESULT = Path(__file__).parent / "results" / "roc_sketch.md"


def chunk(number: int) -> tuple[Any, Any]:
    """Draw the rows of one chunk: labels and scores that are one standard deviation apart."""
    rng = np.random.default_rng(number)
    y = rng.random(CHUNK) < PREVALENCE
    return y, rng.normal(size=CHUNK) + y


def main() -> None:
    y, score = np.empty(N_ROWS, dtype=bool), np.empty(N_ROWS)
    sketch, busy = RocSketch(FPR_RANGE), 0.0
    for number in range(N_ROWS // CHUNK):
        rows = slice(number * CHUNK, (number + 1) * CHUNK)
        y[rows], score[rows] = chunk(number)
        start = time.perf_counter()
        sketch.update(y[rows], score[rows])
        busy += time.perf_counter() - start
    start = time.perf_counter()
    value = sketch.partial_auc()
    ask = time.perf_counter() - start
    size = sketch.nbytes
    text = sketch.to_json()
    assert RocSketch.from_json(text).partial_auc() == value
    start = time.perf_counter()
    want = partial_auc_score(y, score, fpr_range=FPR_RANGE)
    at_once = time.perf_counter() - start
    halves = [RocSketch(FPR_RANGE).update(y[k::2], score[k::2]) for k in (0, 1)]
    assert halves[1].merge(halves[0]).to_json() == text
    assert abs(value - want) <= 1e-12
    assert size < 100e6
    rows = [
        ["rows, positives", f"{sketch.n_rows:,}, {sketch.n_positives:,}"],
        ["pAUC[0, 0.05] of the sketch", f"{value:.15f}"],
        ["difference from `partial_auc_score`", f"{abs(value - want):.1e}"],
        ["bytes of the sketch (JSON text)", f"{size / 1e6:.1f} MB ({len(text) / 1e6:.1f} MB)"],
        ["bytes of all labels and scores", f"{(y.nbytes + score.nbytes) / 1e6:.0f} MB"],
        ["covered FPR at the default capacity", f"{sketch.covered_fpr:.4f}"],
        ["seconds per update of one million rows", f"{busy * CHUNK / N_ROWS:.2f}"],
        ["seconds to ask the sketch for the value", f"{ask:.2f}"],
        ["seconds of `partial_auc_score` on all rows", f"{at_once:.1f}"],
        ["merge of two halves: same bits", "yes"],
    ]
    write_signed(
        RESULT,
        "# A ROC curve in chunks\n\n" + markdown_table(["", "measured"], rows),
        "benchmarks roc_sketch",
    )


if __name__ == "__main__":
    main()
