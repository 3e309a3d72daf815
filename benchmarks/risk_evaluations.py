"""What one evaluation of a risk costs on arrays, beside the same call of another checkout.

    python -m benchmarks risk_evaluations [folder of the other checkout]

Both take turns in interpreters of their own; processor time of one thread, the least of the rounds. It
rewrites ``benchmarks/results/risk_evaluations.md``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from aucuba.risks import Region, Sample, make_risk
from reproductions.tables import markdown_table, write_signed

SIZES = (1_000, 20_000, 1_000_000)
BANDS = ((0.0, 1.0), (0.0, 0.05), (0.02, 0.05))
ROUNDS = 5
TABLE = Path(__file__).parent / "results" / "risk_evaluations.md"


def times() -> dict[str, float]:
    """Seconds of one evaluation of every risk, by name."""
    rng = np.random.default_rng(0)
    found = {}
    for n_rows in SIZES:
        positive = rng.random(n_rows) < 0.05
        scores = rng.normal(size=n_rows) + positive
        for surrogate in ("structural", "tight", "direct"):
            for band in BANDS:
                risk = make_risk(surrogate, Sample(positive), Region.from_params(band))
                n_calls = max(1, 200_000 // n_rows)
                best = np.inf
                for _ in range(ROUNDS):
                    start = time.process_time()
                    for _ in range(n_calls):
                        risk.value_and_gradient(scores)
                    best = min(best, (time.process_time() - start) / n_calls)
                found[f"{n_rows:,} rows, {surrogate}, {band}"] = float(best)
    return found


def measured_in(folder: Path) -> dict[str, float]:
    """Run `times` with the library of a checkout."""
    here = Path(__file__).parents[1]
    paths = os.pathsep.join([str(folder / "src"), str(here)])
    code = "import json; from benchmarks.risk_evaluations import times; print(json.dumps(times()))"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(answer.stdout)
    return result


def main() -> None:
    here = Path(__file__).parents[1]
    folders = [here, *map(Path, sys.argv[1:2])]
    rounds = [[measured_in(folder) for folder in folders] for _ in range(3)]
    best = [
        {name: min(one[k][name] for one in rounds) for name in rounds[0][0]}
        for k in range(len(folders))
    ]
    header = ["evaluation", "ms", *(["other, ms", "ratio"] if len(folders) > 1 else [])]
    rows = []
    for name, took in best[0].items():
        row = [name.replace("(", "[").replace(")", "]"), f"{1e3 * took:.3f}"]
        if len(folders) > 1:
            row += [f"{1e3 * best[1][name]:.3f}", f"{took / best[1][name]:.2f}"]
        rows.append(row)
    text = (
        "# One evaluation of a risk with its gradient\n\nNumPy arrays, 5 % positives, processor time "
        "of one thread, the least of 15 rounds. The other column is the code before scores could live "
        "on other devices.\n\n" + markdown_table(header, rows)
    )
    write_signed(TABLE, text, "benchmarks risk_evaluations OTHER_CHECKOUT")


if __name__ == "__main__":
    main()
