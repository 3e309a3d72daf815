"""Limits of intervals by the present code beside those of an earlier commit, sample by sample.

Run with ``python -m benchmarks.interval_same_limits --tree FOLDER``, the source tree of the earlier
commit (``git archive 4db03e1 | tar -x -C FOLDER``). Either code computes the interval by
``method="auto"`` of every cell that `interval_coverage` has from that commit, on the same samples and
the same resamples. ``--tests 785fb15`` compares the tests that commit made for `interval_tests`.
Without ``--tree`` the page is written again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import aucuba
from benchmarks._coverage_cells import Cell, by_name
from benchmarks._coverage_tables import SAME_LIMITS, cell_named, differences, earlier
from benchmarks._limits_of_tree import N_RESAMPLES
from benchmarks.interval_tests import SAME_TESTS, cluster_call, cluster_rows, test_call, test_rows
from benchmarks.interval_tests import STORE as TESTS_STORE
from reproductions.tables import markdown_table, write_signed

NAME = "interval_same_limits"
RESULTS = Path(os.environ.get("OUT", Path(__file__).parent / "results"))
# Samples per cell, by the most rows of a sample.
SAMPLES = {400: 8, 2_000: 4, 12_000: 2, 100_000: 1}
# Largest differences in half-widths, and what they are called.
PRESENT = Path(aucuba.__file__).parents[1]
# Tests per row of `interval_tests`, and how they are called.
N_TESTS = 20
TESTS = {"tests": (test_rows, test_call), "clusters": (cluster_rows, cluster_call)}
CLASSES = (
    (1e-9, "none"),
    (0.01, "up to 1 %"),
    (0.02, "1 to 2 %"),
    (0.1, "2 to 10 %"),
    (9e9, "more"),
)


def columns() -> list[tuple]:
    """Return every column's samples and measures."""
    found: dict[str, list[str]] = {}
    for cell, measure in earlier():
        found.setdefault(cell, []).append(measure)
    return [_column(cell_named(name), wanted) for name, wanted in found.items()]


def _column(cell: Cell, wanted: list[str]) -> tuple:
    rng = np.random.default_rng(list(cell.name.encode()))
    n_samples = next(n for rows, n in SAMPLES.items() if cell.n_rows <= rows)
    samples = [cell.draw(rng, "by_class") for _ in range(n_samples)]
    known = by_name(cell)
    return cell.name, samples, {name: known[name] for name in wanted}


def by_tree(source: Path, drawn: list[tuple], calls: list[tuple]) -> tuple[list, list]:
    """Compute all limits and tests with the library of a source tree."""
    runner = Path(__file__).parent / "_limits_of_tree.py"
    with tempfile.TemporaryDirectory() as folder:
        given, found = (Path(folder) / one for one in ("samples", "limits"))
        given.write_bytes(pickle.dumps((drawn, calls)))
        environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(runner), str(given), str(found)]
        subprocess.run(command, env=environment, check=True)
        return pickle.loads(found.read_bytes())


def compare_tests(tree: Path, code: str) -> None:
    """Write how many tests of the rows made by a commit have another p-value or limit today."""
    store, calls = json.loads(TESTS_STORE.read_text(encoding="utf-8")), []
    for study, (rows, call) in TESTS.items():
        for row in rows():
            name = f"{study} {row}"
            if store.get(name, {}).get("code") == [code]:
                rng = np.random.default_rng([1, *name.encode()])
                calls += [(name, call(row, rng)) for _ in range(N_TESTS)]
    then, now = (by_tree(one, [], calls)[1] for one in (tree / "src", PRESENT))
    differing: Counter = Counter({row: 0 for row, *_ in now})
    for (row, *old), (_, *new) in zip(then, now, strict=True):
        differing[row] += not np.allclose(old, new, rtol=1e-9, atol=1e-12)
    path = RESULTS / SAME_TESTS.name
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known |= {row: {"code": code, "tests": N_TESTS, "differing": n} for row, n in differing.items()}
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def compare(tree: Path) -> None:
    """Write the largest difference of either limit per cell, in half-widths of the present interval."""
    drawn = columns()
    then, now = (
        {row[:3]: row[3:] for row in by_tree(one, drawn, [])[0]} for one in (tree / "src", PRESENT)
    )
    largest: dict[tuple[str, str], float] = {}
    counted: Counter = Counter()
    for key, (low, high) in now.items():
        moved = max(abs(low - then[key][0]), abs(high - then[key][1]))
        share = moved / max((high - low) / 2, 1e-12)
        largest[key[:2]] = max(largest.get(key[:2], 0.0), share)
        counted[key[:2]] += 1
    with (RESULTS / SAME_LIMITS.name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("cell", "measure", "samples", "largest"))
        for (cell, measure), share in largest.items():
            writer.writerow((cell, measure, counted[cell, measure], f"{share:.3g}"))


def report() -> str:
    """Count the cells of every measure by their largest difference."""
    found, counts = differences(), {}
    for (_, measure), share in found.items():
        name = next(name for most, name in CLASSES if share <= most)
        counts.setdefault(measure, Counter())[name] += 1
    rows = []
    for measure, of in counts.items():
        worst, cell = max((share, one[0]) for one, share in found.items() if one[1] == measure)
        cells = [f"{of[name]}" if of[name] else "" for _, name in CLASSES]
        rows.append([measure, *cells, f"{100 * worst:.2g} %", cell if worst > 1e-9 else ""])
    total = sum(counts.values(), Counter())
    tested = json.loads(SAME_TESTS.read_text(encoding="utf-8")) if SAME_TESTS.exists() else {}
    codes = Counter(one["code"] for one in tested.values())
    differ = [f"{row} ({one['differing']})" for row, one in tested.items() if one["differing"]]
    header = ["measure", *(name for _, name in CLASSES), "largest", "at"]
    return "\n\n".join(
        [
            "# Intervals of today beside those of an earlier commit",
            f"The {len(found):,} cells that `interval_coverage.md` has from commit 4db03e1: limits by "
            "both codes on the same samples (eight of up to 400 rows, four of up to 2,000, two of up "
            f"to 12,000, else one) and the same {N_RESAMPLES} resamples. A cell counts by the largest "
            "difference of a limit over its samples, in half-widths of the interval. Limits that "
            "move by a share d of the half-width change the probability of a tail of 2.5 % by about "
            "d times 11 points, so that of 1 % is .1 point; what happens only in samples that were not "
            "drawn is not seen.",
            f"No difference: {total['none']:,} cells; up to 2 %: "
            f"{total['up to 1 %'] + total['1 to 2 %']:,}; more: "
            f"{total['2 to 10 %'] + total['more']:,}, which `interval_coverage.md` has in italics "
            "unless they were run again.",
            markdown_table(header, rows),
            "## Tests",
            f"{N_TESTS} simulated tests per row of `interval_tests.md`, of "
            + " and ".join(f"{n} rows by commit {code}" for code, n in codes.items())
            + ": p-values and limits of either code to nine digits. "
            + ("None differs." if not differ else "Tests that differ: " + "; ".join(differ) + "."),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, help="source tree of the earlier commit")
    parser.add_argument("--tests", metavar="COMMIT", help="compare the tests made by that commit")
    options = parser.parse_args()
    if options.tests:
        compare_tests(options.tree, options.tests)
    elif options.tree is not None:
        compare(options.tree)
    write_signed(RESULTS / f"{NAME}.md", report(), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
