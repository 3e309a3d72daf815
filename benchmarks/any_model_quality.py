"""Any model in the region: re-weighting and stacking against tuned LightGBM on real tables.

Five stratified 50/50 splits of at most 10,000 rows; our estimators at their defaults. One cell is a
data set, a split and a range; finished cells are kept in ``results/any_model_quality.csv`` and a rerun
computes what is missing. Fits that do not depend on the range are shared through ``memory``, so the
seconds in the csv are no timings; ``any_model_cost.py`` measures those.

    python -m benchmarks.any_model_quality [set ...]

Needs ``aucuba[boosting]``. The rows of linear models come from ``results/partial_auc_quality.csv``.
The stacks in the csv are of the six members that there were before there were presets, which
``any_model_presets`` compares; a fresh run computes them with the members of today.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split

from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._defaults import PRESETS
from aucuba.ensemble._table import log_odds
from aucuba.metrics import partial_auc_score
from reproductions.data.imbalanced import load_a9a, load_adbench
from reproductions.paired import corrected_p
from reproductions.tables import write_signed

RANGES = [(0.0, 0.05), (0.0, 0.1), (0.02, 0.05)]
N_SPLITS = 5
MAX_ROWS = 10_000
RESULTS = Path(__file__).parent / "results"
CELLS = RESULTS / "any_model_quality.csv"
LINEAR_CELLS = RESULTS / "partial_auc_quality.csv"
TABLE = RESULTS / "any_model_quality.md"
GUIDE_TABLE = Path(__file__).parents[1] / "docs" / "guides" / "any_model_quality.inc"
# Smaller sets first.
NAMES = [
    *("yeast", "letter", "Waveform", "Wilt", "satimage-2", "landsat", "annthyroid"),
    *("mammography", "magic_gamma", "cover", "campaign", "ALOI"),
]
SETS = {name: (lambda name=name: load_adbench(name)) for name in NAMES}
SETS["a9a"] = lambda: (lambda X, y: (X.toarray(), y))(*load_a9a())
STACKS = {
    "stack": None,
    "stack, no extra trees": [name for name in PRESETS["default"] if name != "extra_trees"],
    "stack, boosting and forest": ["boosting", "forest"],
}
BASES = ["LightGBM", "HGB", "forest"]
METHODS = [f"{base}{kind}" for base in BASES for kind in ("", " re-weighted", " permuted")]
METHODS += list(STACKS)
RATE = {"learning_rate": 0.05}
LINEAR = {"logistic CV": "logistic", "direct CV": "linear, direct"}


def halves(X, y, split):
    """Training and test half, at most MAX_ROWS together; the split of the linear study."""
    if X.shape[0] > MAX_ROWS:
        kept, _ = train_test_split(
            np.arange(X.shape[0]), train_size=MAX_ROWS, stratify=y, random_state=split
        )
        X, y = X[kept], y[kept]
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)


def cross_validated(X, y, split, params, callbacks=()):
    """Least five-fold log-loss of LightGBM and its number of rounds."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=split).split(X, y))
    history = lightgbm.cv(
        {"objective": "binary", "num_threads": 1, "verbosity": -1, **RATE, **params},
        lightgbm.Dataset(X, y.astype(float)),
        num_boost_round=1000,
        folds=folds,
        callbacks=[lightgbm.early_stopping(50, verbose=False), *callbacks],
    )
    losses = history["valid binary_logloss-mean"]
    return min(losses), int(np.argmin(losses)) + 1


def with_rounds(rounds, params):
    return lightgbm.LGBMClassifier(
        n_estimators=rounds, n_jobs=1, random_state=0, verbose=-1, **RATE | params
    )


def tuned_lightgbm(X, y, split):
    """LightGBM at rate .05 with the number of rounds of best five-fold log-loss."""
    _, rounds = cross_validated(X, y, split, {})
    return with_rounds(rounds, {})


def permuted_control(model, X, y, X_test, split):
    """Scores of half plain, half re-weighted, with the weights shuffled within each class."""
    weights, shuffle = model.weights_.copy(), np.random.default_rng(split)
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        weights[rows] = shuffle.permutation(weights[rows])
    refit = type(model.estimator_)(**model.estimator_.get_params())
    refit.fit(X, y.astype(int), sample_weight=weights)
    return (log_odds(model.estimator_, X_test) + log_odds(refit, X_test)) / 2


class Split:
    """One split of one set: fits every method once, whatever cells ask for it."""

    def __init__(self, X, y, split, memory):
        self.data, self.split, self.memory = halves(X, y, split), split, memory
        X_train, _, y_train, _ = self.data
        self.bases = {
            "LightGBM": tuned_lightgbm(X_train, y_train, split),
            "HGB": HistGradientBoostingClassifier(early_stopping=False),
            "forest": RandomForestClassifier(),
        }

    def reweighted_cells(self, base, limits):
        """pAUC of the base, of its re-weighting and of the control."""
        X_train, X_test, y_train, y_test = self.data
        model = RegionReweighted(
            self.bases[base], limits, memory=self.memory, random_state=self.split
        ).fit(X_train, y_train)
        scores = {
            base: log_odds(model.estimator_, X_test),
            f"{base} re-weighted": model.decision_function(X_test),
            f"{base} permuted": permuted_control(model, X_train, y_train, X_test, self.split),
        }
        return {
            name: partial_auc_score(y_test, score, fpr_range=limits)
            for name, score in scores.items()
        }

    def stack_cell(self, name, limits):
        """pAUC of one stack."""
        X_train, X_test, y_train, y_test = self.data
        stack = RegionStack(
            limits, estimators=STACKS[name], memory=self.memory, random_state=self.split
        ).fit(X_train, y_train)
        score = stack.decision_function(X_test)
        return {name: partial_auc_score(y_test, score, fpr_range=limits)}


def read_done():
    if not CELLS.exists():
        return set()
    with CELLS.open() as file:
        return {(r["set"], int(r["split"]), r["range"], r["method"]) for r in csv.DictReader(file)}


def run(names):
    """Compute the missing cells, a line each, written as soon as it is known."""
    RESULTS.mkdir(exist_ok=True)
    done = read_done()
    with CELLS.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(["set", "split", "range", "method", "pauc", "seconds"])
        for name in names:
            X, y = SETS[name]()
            for split in range(N_SPLITS):
                wanted = {(name, split, str(r), m) for r in RANGES for m in METHODS}
                if wanted <= done:
                    continue
                memory = tempfile.mkdtemp(prefix="any_model_")
                try:
                    run_split(name, Split(X, y, split, memory), done, writer, file)
                finally:
                    shutil.rmtree(memory, ignore_errors=True)


def run_split(name, one, done, writer, file):
    for limits in RANGES:
        tasks = [(one.reweighted_cells, base) for base in BASES]
        tasks += [(one.stack_cell, stack) for stack in STACKS]
        for task, first in tasks:
            if (name, one.split, str(limits), first) in done:
                continue
            start = time.perf_counter()
            cells = task(first, limits)
            seconds = (time.perf_counter() - start) / len(cells)
            for method, value in cells.items():
                writer.writerow([name, one.split, limits, method, f"{value:.6f}", f"{seconds:.2f}"])
            file.flush()
            shown = ", ".join(f"{method} {100 * value:.1f}" for method, value in cells.items())
            print(f"{name} split {one.split} {limits}: {shown} ({seconds:.1f} s each)", flush=True)


def read_cells():
    """100 pAUC by (set, range, method) and split; linear models where the other study has them."""
    values = {}
    for path, rename in ((CELLS, None), (LINEAR_CELLS, LINEAR)):
        if not path.exists():
            continue
        with path.open() as file:
            for row in csv.DictReader(file):
                method = row["method"] if rename is None else rename.get(row["method"])
                if method is not None:
                    cell = values.setdefault((row["set"], row["range"], method), {})
                    cell[int(row["split"])] = 100 * float(row["pauc"])
    return values


def lifts(values, cells, method, base):
    """Mean paired gain and its p-value in every cell that has all splits of both methods."""
    rows = []
    for name, limits in cells:
        got, reference = (values.get((name, limits, m), {}) for m in (method, base))
        gain = np.array([got[s] - reference[s] for s in sorted(set(got) & set(reference))])
        if gain.size == N_SPLITS:
            rows.append((gain.mean(), corrected_p(gain)))
    return np.array(rows).reshape(-1, 2)


def comparison_rows(values, cells):
    """Header and one row for each pair of methods."""
    pairs = [(method, "LightGBM") for method in [*STACKS, "HGB", "forest"]]
    for base in BASES:
        pairs += [(f"{base} re-weighted", base), (f"{base} re-weighted", f"{base} permuted")]
        pairs += [(f"{base} permuted", base)]
    table = [
        [
            "method",
            "against",
            "cells",
            "mean lift",
            "median",
            "wins",
            "losses",
            "worst",
            "p (cells)",
        ]
    ]
    for method, base in pairs:
        rows = lifts(values, cells, method, base)
        if len(rows) == 0:
            continue
        gain, p = rows.T
        overall = stats.ttest_1samp(gain, 0.0).pvalue if len(gain) > 1 else np.nan
        wins, losses = np.sum((p < 0.05) & (gain > 0)), np.sum((p < 0.05) & (gain < 0))
        points = [f"{value:+.2f}" for value in (gain.mean(), np.median(gain), gain.min())]
        counts = [f"{wins}", f"{losses}"]
        table.append(
            [method, base, f"{len(gain)}", *points[:2], *counts, points[2], f"{overall:.3f}"]
        )
    return table


def absolute_rows(values, cells, columns):
    """Make a header, one row per cell, and means over the cells with all splits of all methods."""
    table = [["set", "range", "splits", *columns]]
    for name, limits in cells:
        got = [values.get((name, limits, method), {}) for method in columns]
        shown = [f"{np.mean(list(one.values())):.1f}" if one else "" for one in got]
        table.append([name, limits, str(len(values[name, limits, "LightGBM"])), *shown])
    full = [
        cell
        for cell in cells
        if all(len(values.get((*cell, method), {})) == N_SPLITS for method in METHODS)
    ]
    means = []
    for method in columns:
        got = [values.get((*cell, method), {}) for cell in full]
        each = [np.mean(list(one.values())) for one in got if one]
        means.append(f"{np.mean(each):.1f}" if full and len(each) == len(full) else "")
    return [*table, [f"mean of {len(full)} full cells", "", "", *means]]


def write_table():
    """Lifts with paired t-tests, then absolute values: for reading here, and for the guide."""
    values = read_cells()
    cells = [(n, str(r)) for n in SETS for r in RANGES if (n, str(r), "LightGBM") in values]
    splits = sum(len(values.get((n, r, "stack"), {})) for n, r in cells)
    total = len(SETS) * len(RANGES) * N_SPLITS
    finished = f"{splits} of {total} set-split-range cells are finished."
    comparison = comparison_rows(values, cells)
    absolute = absolute_rows(values, cells, [*LINEAR.values(), *METHODS])
    lines = [
        "# Any model in the region",
        "",
        "pAUC x 100 on held-out halves of at most 10,000 rows, five 50/50 splits, all estimators at",
        "their defaults; LightGBM has its number of rounds chosen by five-fold log-loss. Wins and",
        "losses: p < .05 over the splits of a cell (set and range) in a t-test that is corrected for",
        "their overlap (Nadeau and Bengio 2003); the last column",
        "tests the mean lifts of the cells, which are not independent (three ranges per set). Lifts",
        "are of cells with all five splits.",
        "`permuted`: the same weights shuffled within each class, at the same cost.",
        f"{finished} The cells are in the csv beside it.",
        "",
        *markdown(comparison),
        "",
        "Absolute values, mean over the splits finished (linear models: `partial_auc_quality.csv`):",
        "",
        *markdown(absolute),
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_quality", ("lightgbm",))
    kept = [k for k, name in enumerate(absolute[0]) if "permuted" not in name and "," not in name]
    kept.insert(4, absolute[0].index("linear, direct"))
    narrow = [[row[k] for k in kept] for row in absolute]
    guide = [finished, "", *restructured(comparison), "", *restructured(narrow)]
    GUIDE_TABLE.write_text("\n".join(guide) + "\n")


def markdown(table):
    head, *rows = ["| " + " | ".join(row) + " |" for row in table]
    return [head, "|" + "---|" * len(table[0]), *rows]


def restructured(table):
    quoted = [", ".join(f'"{cell}"' for cell in row) for row in table]
    return [".. csv-table::", "   :header-rows: 1", "", *(f"   {row}" for row in quoted)]


def main(names=None):
    try:
        run(names or list(SETS))
    finally:
        write_table()


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        write_table()
    else:
        main(sys.argv[1:] or None)
