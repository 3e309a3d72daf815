"""Readable cards in the region: RegionScorecard against FasterRisk, optbinning, rounded L1 and others.

    AUCUBA_RIVALS=FOLDER python -m benchmarks.scorecards [cells SPLITS [rivals]]

Stratified 50/50 splits of at most 10,000 rows. One cell is a set, a split, a number of items, a range
and a method; finished cells are kept in ``results/scorecards.csv``, and ``cells 5`` computes what is
missing of five splits: with ``rivals`` optbinning and explainable boosting too. Without arguments only
the table is written. FasterRisk and the rounded regression choose from the same binary conditions.
"""

from __future__ import annotations

import sys

import numpy as np

from aucuba._rows._lead import Lead
from aucuba.scorecard._choice import CAUTIONS, chosen_caution
from benchmarks._scorecard_cells import (
    CELLS,
    ITEMS,
    RANGES,
    SETS,
    TUNED_ON,
    Cells,
    run,
)
from reproductions.paired import corrected_p, holm
from reproductions.tables import markdown_table, write_signed

TABLE = CELLS.with_suffix(".md")
RIVALS = ("c=1", "FasterRisk", "rounded L1", "optbinning", "logistic", "EBM")

EVERYONE = ("FasterRisk", "optbinning", "EBM")


def compute(n_splits, methods):
    cells = Cells()
    for split in range(n_splits):
        for items in ITEMS:
            for name in SETS:
                try:
                    run(name, split, cells, methods, (items,))
                except Exception as error:
                    print(f"{name}, split {split}: {error!r}", flush=True)
                print(name, split, items, flush=True)


def chosen(cells, key):
    """The caution that `RegionScorecard` takes in a cell, by the leads kept there."""
    leads = []
    for caution in CAUTIONS:
        row = cells[(*key, f"c={caution:g}")]
        leads.append(Lead(float(row["lead"]), float(row["error"])))
    return f"c={CAUTIONS[chosen_caution(leads)]:g}"


def gains(cells, keys, rival):
    """Points of our card above a rival by set, one per split."""
    found = {}
    for key in keys:
        # Models of all columns have no number of items.
        row = cells.get((*key, rival)) or cells.get((*key[:2], "0", key[3], rival))
        if row is None or row["seconds"] == "nan":
            continue
        ours = float(cells[(*key, chosen(cells, key))]["pauc"])
        found.setdefault(key[0], []).append(100 * (ours - float(row["pauc"])))
    return found


def write_table():
    """Mean gains over sets with tests over their splits, and the seconds."""
    rows = Cells().rows
    names = ("set", "split", "items", "range", "method")
    cells = {tuple(row[name] for name in names): row for row in rows}
    header = ["items, range, against", "sets", "mean gain", "lowest", "highest", "wins", "losses"]
    lines = []
    for items in map(str, ITEMS):
        for limits in RANGES:
            keys = [key[:4] for key in cells if key[2:] == (items, limits, "c=1")]
            for rival in RIVALS:
                by_set = gains(cells, keys, rival)
                if not by_set:
                    continue
                mean = np.array([np.mean(one) for one in by_set.values()])
                p = np.nan_to_num([corrected_p(one) for one in by_set.values()], nan=1.0)
                sure = holm(p) < 0.05
                lines.append(
                    [
                        *(
                            f"{items} items, (0, {limits}), {rival}",
                            mean.size,
                            f"{mean.mean():+.2f}",
                        ),
                        *(f"{mean.min():+.1f}", f"{mean.max():+.1f}"),
                        *(int(np.sum(sure & (mean > 0))), int(np.sum(sure & (mean < 0)))),
                    ]
                )
    text = (
        "# Readable cards in the region\n\nPoints of pAUC (x 100) of `RegionScorecard` on test halves "
        "above others; mean over sets of the mean over splits. Wins and losses: Nadeau and Bengio's "
        "corrected test over the splits of a set, Holm over sets. `c=1` is the same search by log-loss "
        "alone. Cautions and search were chosen after looking at one split of "
        f"{', '.join(TUNED_ON)}.\n\n"
    )
    write_signed(TABLE, text + markdown_table(header, lines), "benchmarks.scorecards")


if __name__ == "__main__":
    if sys.argv[1:2] == ["cells"]:
        compute(int(sys.argv[2]), EVERYONE if "rivals" in sys.argv else ("FasterRisk",))
    write_table()
