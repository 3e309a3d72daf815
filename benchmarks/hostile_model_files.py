"""Random damage and forgery of model files: how many cases were tried, and how many went wrong.

The cases are those of ``tests/hostile/model_files.py``, each from its own seed. They run in batches in
other processes, so that a crash is counted and ends only its batch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "hostile_model_files.md"
KINDS = {
    "flipped": "one to eight bytes of the file changed",
    "cut": "a piece of the file missing",
    "forged bytes": "bytes of one entry changed, checksums right",
    "forged schema": "one to three changes of the description of objects",
    "forged array": "an array of another shape, type or content",
    "forged tree": "an extreme number in a node of a tree",
}
OUTCOMES = ("refused", "loaded", "loaded, prediction failed")


def batch(kind: str, first: int, last: int) -> Counter[str]:
    """Outcomes of some cases; a batch that ends by a crash counts as one wrong case."""
    command = [sys.executable, "-m", "tests.hostile.model_files", str(first), str(last), kind]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"process ended with {run.returncode}: {run.stderr[-200:]}", flush=True)
        return Counter({"wrong": 1})
    found = json.loads(run.stdout)
    for seed, what in found["wrong"]:
        print(f"{kind}, seed {seed}: {what}", flush=True)
    counts = Counter(found["outcomes"])
    wrong = sum(number for name, number in counts.items() if name.startswith("wrong"))
    return Counter({name: counts[name] for name in OUTCOMES}) + Counter({"wrong": wrong})


def report(n_cases: int, size: int) -> str:
    """Try all cases and describe what happened."""
    rows, total = [], Counter()
    for kind, words in KINDS.items():
        counts: Counter[str] = Counter()
        for first in range(0, n_cases, size):
            counts += batch(kind, first, min(first + size, n_cases))
        print(f"{kind}: {dict(counts)}", flush=True)
        cells = [f"{counts[name]:,}" for name in (*OUTCOMES, "wrong")]
        rows.append([words, f"{n_cases:,}", *cells])
        total += counts
    cells = [f"{total[name]:,}" for name in (*OUTCOMES, "wrong")]
    rows.append(["all", f"{n_cases * len(KINDS):,}", *cells])
    header = ["case", "tried", "refused", "loaded and used", "loaded, prediction failed", "wrong"]
    return "\n".join(
        [
            "# Damaged and forged model files",
            "",
            "Small model files of each estimator, and of gradient boosting, support vector machines, "
            "sparse kernel models and extra trees, each changed at random, loaded, and used to score "
            "a few rows. Wrong is: a crash, an endless loop, an error other than the one of a damaged "
            "file, or other scores from a damaged file than from the whole one. A forged file may "
            "load: its numbers are then others, and a prediction may raise an error.",
            "",
            markdown_table(header, rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=3_000, help="number of cases of each kind")
    parser.add_argument("--batch", type=int, default=3_000, help="cases in one process")
    options = parser.parse_args()
    write_signed(
        RESULT, report(options.cases, options.batch), "benchmarks hostile_model_files", ["skops"]
    )


if __name__ == "__main__":
    main()
