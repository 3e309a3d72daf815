"""Random weights, sketches and intervals against exact or simple oracles: cases tried, and cases wrong.

The cases are those of ``tests/hostile/test_statistics.py``, each from its own seed; a case is wrong
where its check fails.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from benchmarks.hostile_numbers import wrong_cases
from reproductions.tables import markdown_table, write_signed
from tests.hostile.test_statistics import (
    check_interval,
    check_mutated_sketch,
    check_rates_of_many_decades,
    check_weights_of_many_decades,
)

RESULT = Path(__file__).parent / "results" / "hostile_metrics.md"
CASES = (
    ("RIE and BEDROC with weights over 24 decades, against 80 digits",
     check_weights_of_many_decades, 5_000),
    ("rates at a threshold with weights over 24 decades, against fractions",
     check_rates_of_many_decades, 5_000),
    ("texts of sketches with changed entries and bytes", check_mutated_sketch, 5_000),
    ("intervals and tests of all measures on 4 to 60 rows, with ties, weights over 20 decades, "
     "clusters and perfect scorers", check_interval, 1_400),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=float, default=1.0, help="run this part of the cases")
    part = parser.parse_args().part
    rows = []
    for words, check, n_cases in CASES:
        n_tried = max(1, int(part * n_cases))
        with warnings.catch_warnings():
            # As in the tests.
            warnings.simplefilter("error")
            rows.append([words, f"{n_tried:,}", len(wrong_cases(check, n_tried))])
        print(rows[-1], flush=True)
    text = f"""# Hostile weights, sketches and intervals

Seeds 0, 1, ... of the generators in `tests/hostile/test_statistics.py`. Wrong: a value off by more than
1e-9, a text that is neither refused as no sketch nor gives answers in their range, an interval without
width, without its value or beyond its limits, a p-value of 0, or any warning of NumPy.

{markdown_table(["cases", "tried", "wrong"], rows)}

The coverage of intervals, its worst cell and the size of tests: `interval_coverage.md`,
`interval_tests.md`.
"""
    write_signed(RESULT, text, "benchmarks hostile_metrics")


if __name__ == "__main__":
    main()
