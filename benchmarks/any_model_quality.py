"""Any model in the region: re-weighting and stacking against tuned LightGBM on real tables.

Five stratified 50/50 splits of at most 10,000 rows; our estimators at their defaults. One cell is a
data set, a split and a range; finished cells are kept in ``results/any_model_quality.csv`` and a rerun
computes what is missing. Fits that do not depend on the range are shared through ``memory``, so the
seconds in the csv are no timings; ``any_model_cost.py`` measures those.

    python benchmarks/any_model_quality.py [set ...]

Needs ``aucuba[boosting]``. The rows of linear models come from ``results/partial_auc_quality.csv``.
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

from aucuba.datasets.imbalanced import load_a9a, load_adbench
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._scores import log_odds
from aucuba.metrics import partial_auc_score

RANGES = [(0.0, 0.05), (0.0, 0.1), (0.02, 0.05)]
N_SPLITS = 5
MAX_ROWS = 10_000
RESULTS = Path(__file__).parent / "results"
CELLS = RESULTS / "any_model_quality.csv"
LINEAR_CELLS = RESULTS / "partial_auc_quality.csv"
TABLE = RESULTS / "any_model_quality.md"
# Smaller sets first.
NAMES = [
    *("yeast", "letter", "Waveform", "Wilt", "satimage-2", "landsat", "annthyroid"),
    *("mammography", "magic_gamma", "cover", "campaign", "ALOI"),
]
SETS = {name: (lambda name=name: load_adbench(name)) for name in NAMES}
SETS["a9a"] = lambda: (lambda X, y: (X.toarray(), y))(*load_a9a())
STACKS = {
    "stack": None,
    "stack, no extra trees": ["boosting", "forest", "nystroem", "splines", "linear"],
    "stack, boosting and forest": ["boosting", "forest"],
}
BASES = ["LightGBM", "HGB", "forest"]
METHODS = [f"{base}{kind}" for base in BASES for kind in ("", " re-weighted", " permuted")]
METHODS += list(STACKS)
LINEAR = {"logistic CV": "logistic", "direct CV": "linear, direct"}


def halves(X, y, split):
    """Training and test half, at most MAX_ROWS together; the split of the linear study."""
    if X.shape[0] > MAX_ROWS:
        kept, _ = train_test_split(
            np.arange(X.shape[0]), train_size=MAX_ROWS, stratify=y, random_state=split
        )
        X, y = X[kept], y[kept]
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)


def tuned_lightgbm(X, y, split):
    """LightGBM at rate .05 with the number of rounds of best five-fold log-loss."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=split).split(X, y))
    params = {"objective": "binary", "learning_rate": 0.05, "num_threads": 1, "verbosity": -1}
    history = lightgbm.cv(
        params,
        lightgbm.Dataset(X, y.astype(float)),
        num_boost_round=1000,
        folds=folds,
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    rounds = len(history["valid binary_logloss-mean"])
    return lightgbm.LGBMClassifier(
        n_estimators=rounds, learning_rate=0.05, n_jobs=1, random_state=0, verbose=-1
    )


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
    """Mean paired gain and its p-value in every cell that has at least two splits of both."""
    rows = []
    for name, limits in cells:
        got, reference = (values.get((name, limits, m), {}) for m in (method, base))
        gain = np.array([got[s] - reference[s] for s in sorted(set(got) & set(reference))])
        if gain.size > 1:
            p = stats.ttest_1samp(gain, 0.0).pvalue if gain.std() > 0 else 1.0
            rows.append((gain.mean(), p))
    return np.array(rows).reshape(-1, 2)


def comparison_lines(values, cells, pairs):
    lines = [
        "| method | against | cells | mean lift | median | wins | losses | worst cell | p (cells) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for method, base in pairs:
        rows = lifts(values, cells, method, base)
        if len(rows) == 0:
            continue
        gain, p = rows.T
        overall = stats.ttest_1samp(gain, 0.0).pvalue if len(gain) > 1 else np.nan
        wins, losses = np.sum((p < 0.01) & (gain > 0)), np.sum((p < 0.01) & (gain < 0))
        lines.append(
            f"| {method} | {base} | {len(gain)} | {gain.mean():+.2f} | {np.median(gain):+.2f} | "
            f"{wins} | {losses} | {gain.min():+.2f} | {overall:.3f} |"
        )
    return lines


def write_table():
    """Lifts with paired t-tests first, then the absolute values of every cell."""
    values = read_cells()
    cells = [(n, str(r)) for n in SETS for r in RANGES if (n, str(r), "LightGBM") in values]
    splits = sum(len(values[n, r, "stack"]) for n, r in cells if (n, r, "stack") in values)
    pairs = [(method, "LightGBM") for method in [*STACKS, "HGB", "forest"]]
    for base in BASES:
        pairs += [(f"{base} re-weighted", base), (f"{base} re-weighted", f"{base} permuted")]
        pairs += [(f"{base} permuted", base)]
    total = len(SETS) * len(RANGES) * N_SPLITS
    columns = [*LINEAR.values(), *METHODS]
    lines = [
        "# Any model in the region",
        "",
        "pAUC x 100 on held-out halves of at most 10,000 rows, five 50/50 splits, all estimators at",
        "their defaults; LightGBM has its number of rounds chosen by five-fold log-loss. Wins and",
        "losses: paired t-test over the splits of a cell (set and range), p < .01; the last column",
        "tests the mean lifts of the cells. `permuted`: the same weights shuffled within each class,",
        f"the same cost. {splits} of {total} set-split-range cells are finished. 2-core AMD EPYC",
        f"virtual machine, shared, noisy; {time.strftime('%Y-%m-%d')}. Written by",
        "`python benchmarks/any_model_quality.py`; the cells are in the csv beside it.",
        "",
        *comparison_lines(values, cells, pairs),
        "",
        "Absolute values, mean over the splits finished (linear models: `partial_auc_quality.csv`):",
        "",
        "| set | range | splits | " + " | ".join(columns) + " |",
        "|---|---|---|" + "---|" * len(columns),
    ]
    for name, limits in cells:
        got = [values.get((name, limits, method), {}) for method in columns]
        shown = [f"{np.mean(list(one.values())):.1f}" if one else "" for one in got]
        count = len(values[name, limits, "LightGBM"])
        lines.append(f"| {name} | {limits} | {count} | " + " | ".join(shown) + " |")
    lines.append("| mean | | | " + " | ".join(_column_means(values, cells, columns)) + " |")
    TABLE.write_text("\n".join(lines) + "\n")


def _column_means(values, cells, columns):
    """Means over the cells that a method shares with all others; empty where it misses one."""
    means = []
    for method in columns:
        got = [values.get((name, limits, method), {}) for name, limits in cells]
        full = all(got) and bool(got)
        means.append(f"{np.mean([np.mean(list(one.values())) for one in got]):.1f}" if full else "")
    return means


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
