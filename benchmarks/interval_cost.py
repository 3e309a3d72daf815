"""Time and memory of intervals of a million rows with 2,000 resamples."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from aucuba.metrics import score_interval
from reproductions.tables import markdown_table, write_signed

NAME = "interval_cost"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
N_ROWS, N_RESAMPLES = 1_000_000, 2_000
CASES = {
    "partial AUC [0, 0.05], 1 % positive": (0.01, "partial_auc", {"fpr_range": [0.0, 0.05]}),
    "partial AUC [0, 0.05], 1 % positive, DeLong": (
        0.01,
        "partial_auc",
        {"fpr_range": [0.0, 0.05], "method": "delong"},
    ),
    "TPR at FPR 0.01, 1 % positive": (0.01, "tpr_at_fpr", {"fpr": 0.01}),
    "BEDROC, 1 % positive": (0.01, "bedroc", {}),
    "TPR at FPR 0.01, half positive": (0.5, "tpr_at_fpr", {"fpr": 0.01}),
}


def measure(case: str) -> dict[str, float]:
    """Seconds of CPU and of sorting the scores once, and gigabytes at the peak, beside the rows."""
    prevalence, metric, options = CASES[case]
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < prevalence
    score = rng.normal(size=N_ROWS) + y
    start = time.process_time()
    np.argsort(score)
    sort = time.process_time() - start
    # Compile the loops, and let the library be imported.
    score_interval(metric, y[:2000], score[:2000], n_resamples=2, random_state=0, **options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    options = {"method": "bootstrap", **options}
    score_interval(metric, y, score, n_resamples=N_RESAMPLES, random_state=0, **options)
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "sort": sort, "peak": after / 2**20, "rows": before / 2**20}


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
        return
    rows = []
    for case in CASES:
        command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{NAME}", case]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        shown = [f"{found['seconds']:.1f}", f"{found['seconds'] / found['sort']:.0f}"]
        rows.append([case, *shown, f"{found['peak']:.2f}", f"{found['rows']:.2f}"])
    header = ["interval", "seconds of CPU", "sorts", "peak (GiB)", "of it before (GiB)"]
    text = [
        "# Cost of intervals",
        f"{N_ROWS:,} rows, {N_RESAMPLES:,} resamples by the bootstrap unless another method is named; "
        "one core. Sorts: in units of one `np.argsort` of the scores. Peak: resident memory of the "
        "whole process; the last column is what Python, the library and the rows take without an "
        "interval.",
        markdown_table(header, rows),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
