"""Quality of single precision in the fits of folds: ``python -m benchmarks.wide_precision [--table]``.

In tables of more than 200 columns `PartialAUCClassifierCV` fits parts of the rows in single precision;
the fits of all rows stay in double precision. Every problem is fitted with double precision throughout
and as released, on the halves of `partial_auc_quality`: up to five stratified splits, standardised on
the training half. The descent on the region ends early, so the last digits of X move the model; the
control shows how much: double precision throughout, every entry of X times 1 + 1e-10 z with z standard
normal.
Points of pAUC x 100 on the test half, above those of double precision. The sets were fixed before the
first cell was read; the control was added after four cells, and three of four ranges were dropped after
29 cells for the time they take. Finished cells are kept in ``results/wide_precision.json`` and a rerun
computes what is missing.
Writes ``benchmarks/results/wide_precision.md``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from aucuba import PartialAUCClassifierCV
from aucuba.design import TableDesign
from aucuba.metrics import partial_auc_score
from benchmarks._comparison_cells import WIDE
from benchmarks.partial_auc_quality import N_SPLITS, halves
from reproductions.data.imbalanced import load_tweets
from reproductions.paired import corrected_p
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "wide_precision.md"
RANGES = ((0.0, 0.05),)
NOISE = 1e-10
CELLS = RESULT.with_suffix(".json")
# Fingerprints are sparse, so nothing of theirs is in single precision.
SETS = {name: load for name, load in WIDE.items() if "fingerprints" not in name}
SETS["tweets, all 12,000"] = load_tweets


def fitted(limits, X, y):
    start = time.process_time()
    model = PartialAUCClassifierCV(limits, random_state=0).fit(X, y)
    return model, time.process_time() - start


def cell(data, limits):
    """Test partial AUC, C, weight of the region's model and seconds: double, control, as released."""
    X_train, X_test, y_train, y_test = data
    noise = np.random.default_rng(0).standard_normal(X_train.shape)
    with mock.patch.object(TableDesign, "in_single_precision", lambda design: design):
        fits = [fitted(limits, X, y_train) for X in (X_train, X_train * (1 + NOISE * noise))]
    fits.append(fitted(limits, X_train, y_train))
    return [
        [
            partial_auc_score(y_test, model.decision_function(X_test), fpr_range=limits),
            model.C_,
            model.blend_,
            seconds,
        ]
        for model, seconds in fits
    ]


def compute():
    cells = json.loads(CELLS.read_text()) if CELLS.exists() else {}
    for split in range(N_SPLITS):
        for name, load in SETS.items():
            for limits in RANGES:
                key = f"{name}|{limits}|{split}"
                if key not in cells:
                    cells[key] = cell(halves(*load(), split), limits)
                    print(key, flush=True)
                    CELLS.write_text(json.dumps(cells, indent=0) + "\n")
    return cells


def main(argv=None):
    warnings.simplefilter("ignore")
    given = sys.argv[1:] if argv is None else argv
    cells = json.loads(CELLS.read_text()) if "--table" in given else compute()
    lines, gaps, equal_C = [], [], []
    for name in SETS:
        for limits in RANGES:
            keys = [f"{name}|{limits}|{split}" for split in range(N_SPLITS)]
            found = np.array([cells[key] for key in keys if key in cells])
            if not len(found):
                continue
            value, C, blend, seconds = np.moveaxis(found, 2, 0)
            gap = 100 * (value - value[:, [0]])
            gaps.append(gap)
            equal_C.append(C[:, [0]] == C)
            line = [name, str(limits), str(len(found)), f"{100 * value[:, 0].mean():.2f}"]
            for k in (1, 2):
                own = gap[:, k]
                line += [f"{own.mean():+.3f}", f"{np.abs(own).max():.3f}"]
                line.append(f"{np.abs(blend[:, k] - blend[:, 0]).max():.2f}")
            p = corrected_p(gap[:, 2] - gap[:, 1])
            lines.append(
                [
                    *line,
                    "-" if np.isnan(p) else f"{p:.2f}",
                    f"{np.median(seconds[:, 0] / seconds[:, 2]):.1f}",
                ]
            )
    columns = ["set", "range", "splits", "double"]
    for one in ("control", "single"):
        columns += [f"{one} - double", "largest", "change of blend_"]
    columns += ["p, single - control", "times faster"]
    text = (__doc__ or "").split("\n\n", 1)[1].rsplit("\nWrites", 1)[0].replace("``", "`")
    each, same = np.concatenate(gaps), np.concatenate(equal_C).sum(axis=0)
    sentences = [
        f"{one}: mean {each[:, k].mean():+.4f} points, standard deviation {each[:, k].std():.3f}, "
        f"largest {np.abs(each[:, k]).max():.3f}, the C of double precision in {same[k]} of {same[0]}."
        for k, one in ((1, "Control"), (2, "Single precision"))
    ]
    summary = "Over all fits. " + " ".join(sentences)
    table = markdown_table(columns, lines)
    title = "# Single precision in the fits of folds"
    page = f"{title}\n\n{text.strip()}\n\n{summary}\n\n{table}"
    write_signed(RESULT, page, "benchmarks wide_precision")


if __name__ == "__main__":
    main()
