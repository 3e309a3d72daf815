"""Readable cards in the region: RegionScorecard against FasterRisk, optbinning, rounded L1 and others.

    AUCUBA_RIVALS=FOLDER python -m benchmarks.scorecards [cells SPLITS [rivals]]

Stratified 50/50 splits of at most 10,000 rows. One cell is a set, a split, a number of items, a range
and a method; finished cells are kept in ``results/scorecards.csv``, and ``cells 5`` computes what is
missing of five splits: with ``rivals`` optbinning and explainable boosting too. Without arguments only
the table is written. FasterRisk and the rounded regression choose from the same binary conditions.
"""

from __future__ import annotations

import sys

from benchmarks._scorecard_cells import SETS, Cells, run

EVERYONE = ("FasterRisk", "optbinning", "EBM")


def compute(n_splits, methods):
    cells = Cells()
    for split in range(n_splits):
        for name in SETS:
            try:
                run(name, split, cells, methods)
            except Exception as error:
                print(f"{name}, split {split}: {error!r}", flush=True)
            print(name, split, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["cells"]:
        compute(int(sys.argv[2]), EVERYONE if "rivals" in sys.argv else ("FasterRisk",))
