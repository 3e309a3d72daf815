"""How much of a stack's lead is stacking, and how much is the region? The presets and their controls.

The splits, sets and ranges of ``any_model_quality``. For each preset there is a plain stack of the same
members, trees, folds and blend, every member fitted by log-loss: no rounds chosen by partial AUC, no
re-weighting, no direct step. One cell is a data set, a split and a range; finished cells are kept in
``results/any_model_presets.csv`` and a rerun computes what is missing, the first split of every set
first.

    python -m benchmarks any_model_presets [set ...]

Needs ``aucuba[boosting]`` and CatBoost. Fits that do not depend on the range are shared through
``memory``, so that the seconds, processor time of all three ranges, are no timings.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from catboost import CatBoostClassifier
from scipy import stats
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucuba.ensemble import RegionStack
from aucuba.ensemble._defaults import PRESETS
from aucuba.metrics import partial_auc_score
from benchmarks._lightgbm_search import SearchedLightGBM
from benchmarks.any_model_quality import (
    CELLS as EARLIER_CELLS,
)
from benchmarks.any_model_quality import (
    RANGES,
    RESULTS,
    SETS,
    halves,
    markdown,
    restructured,
    tuned_lightgbm,
)
from reproductions.paired import corrected_p, holm
from reproductions.tables import write_signed

CELLS = RESULTS / "any_model_presets.csv"
TABLE = RESULTS / "any_model_presets.md"
GUIDE_TABLE = Path(__file__).parents[1] / "docs" / "guides" / "any_model_presets.inc"
N_SPLITS = 5
# Boosting has no weights and its rounds by log-loss, the linear model is logistic regression; all other
# members are the same.
_BY_LOG_LOSS = {"boosting": "boosting_log_loss", "linear": "linear_logistic"}
PLAIN = {
    f"plain {preset}": [
        {"member": _BY_LOG_LOSS.get(name, name), **settings}
        for name, settings in PRESETS[preset].items()
    ]
    for preset in ("default", "best")
}
SEARCHED = "LightGBM, stack's time"
# Fitted once for all ranges.
WITHOUT_RANGE = ("CatBoost", "StackingClassifier", SEARCHED)
PASSES = [
    (split, methods)
    for methods in (
        ["default", "plain default"],
        ["best", "plain best"],
        ["fast", "StackingClassifier"],
        ["CatBoost", SEARCHED],
    )
    for split in range(N_SPLITS)
]
# From the study of single models and of the stack as it was, with six members and no presets.
EARLIER = {"stack": "earlier stack", "LightGBM": "LightGBM"}
METHODS = ["LightGBM", *WITHOUT_RANGE, "earlier stack", "fast"]
METHODS += ["plain default", "default", "plain best", "best"]
PAIRS = [
    *(("default", base) for base in ("LightGBM", *WITHOUT_RANGE)),
    *(("best", base) for base in ("LightGBM", *WITHOUT_RANGE)),
    ("plain default", "LightGBM"),
    ("plain best", "LightGBM"),
    ("default", "plain default"),
    ("best", "plain best"),
    ("best", "default"),
    ("default", "fast"),
    ("default", "earlier stack"),
    ("best", "earlier stack"),
]


def without_range(name, X, y, split):
    """A classifier that does not depend on the range."""
    if name == "LightGBM":
        return tuned_lightgbm(X, y, split)
    if name == SEARCHED:
        start = time.process_time()
        RegionStack((0.0, 0.05), random_state=split).fit(X, y)
        return SearchedLightGBM(time.process_time() - start, split)
    if name == "CatBoost":
        return CatBoostClassifier(
            thread_count=1, verbose=False, allow_writing_files=False, random_seed=split
        )
    seed = {"random_state": split}
    members = [
        ("boosting", HistGradientBoostingClassifier(**seed)),
        ("forest", RandomForestClassifier(**seed)),
        ("extra_trees", ExtraTreesClassifier(**seed)),
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    ]
    return StackingClassifier(members)


def make_stack(name, limits, split, memory):
    settings = {"plan": PLAIN[name]} if name in PLAIN else {"preset": name}
    return RegionStack(limits, **settings, memory=memory, random_state=split)


def cells_of(name, data, split, memory):
    """pAUC in every range, and the processor seconds of all together."""
    X_train, X_test, y_train, y_test = data
    values = {}
    if name in ("LightGBM", *WITHOUT_RANGE):
        model = without_range(name, X_train, y_train, split)
        start = time.process_time()
        score = model.fit(X_train, y_train.astype(int)).predict_proba(X_test)[:, 1]
        for limits in RANGES:
            values[limits] = partial_auc_score(y_test, score, fpr_range=limits)
        return values, time.process_time() - start
    start = time.process_time()
    for limits in RANGES:
        stack = make_stack(name, limits, split, memory).fit(X_train, y_train)
        score = stack.decision_function(X_test)
        values[limits] = partial_auc_score(y_test, score, fpr_range=limits)
    return values, time.process_time() - start


def run(names, sets=SETS, path=CELLS, passes=PASSES):
    """Compute the missing cells, written as soon as they are known."""
    RESULTS.mkdir(exist_ok=True)
    done = set(read(path))
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(["set", "split", "range", "method", "pauc", "seconds"])
        for split, methods in passes:
            for name in names:
                wanted = [m for m in methods if (name, str(RANGES[-1]), m, split) not in done]
                if not wanted:
                    continue
                data = halves(*sets[name](), split)
                memory = tempfile.mkdtemp(prefix="any_model_presets_")
                try:
                    for method in wanted:
                        with threadpool_limits(1):
                            values, seconds = cells_of(method, data, split, memory)
                        for limits, value in values.items():
                            row = [name, split, limits, method, f"{value:.6f}", f"{seconds:.2f}"]
                            writer.writerow(row)
                        file.flush()
                        shown = ", ".join(f"{100 * value:.1f}" for value in values.values())
                        print(f"{name} {split} {method}: {shown} ({seconds:.0f} s)", flush=True)
                finally:
                    shutil.rmtree(memory, ignore_errors=True)


def read(path, rename=None):
    """100 pAUC by (set, range, method, split)."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if rename is None or row["method"] in rename]
    return {
        (
            row["set"],
            row["range"],
            (rename or {}).get(row["method"], row["method"]),
            int(row["split"]),
        ): 100 * float(row["pauc"])
        for row in rows
    }


def gains(values, method, base):
    """Paired gains by set and range, one per split that both have."""
    found = {}
    for (name, limits, one, split), value in values.items():
        other = values.get((name, limits, base, split))
        if one == method and other is not None:
            found.setdefault((name, limits), []).append(value - other)
    return found


def comparison_rows(values, pairs=PAIRS):
    """Header and one row for each pair of methods that have cells in common."""
    head = "method | against | sets | cells | splits | mean | 95 % over sets | median | worst cell"
    table = [[*head.split(" | "), "better / worse cells", "significant"]]
    for method, base in pairs:
        found = gains(values, method, base)
        if not found:
            continue
        cells = {cell: np.mean(gain) for cell, gain in found.items()}
        names = sorted({name for name, _ in cells})
        by_set = np.array(
            [np.mean([v for (n, _), v in cells.items() if n == one]) for one in names]
        )
        half = np.nan
        if len(names) > 1:
            half = stats.t.ppf(0.975, len(names) - 1) * by_set.std(ddof=1) / np.sqrt(len(names))
        mean = np.array(list(cells.values()))
        p = np.array([corrected_p(gain) for gain in found.values()])
        clear = holm(p) < 0.05 if not np.isnan(p).any() else np.zeros(p.size, bool)
        counts = sorted({len(gain) for gain in found.values()})
        worst = min(cells, key=cells.get)
        table.append(
            [
                method,
                base,
                f"{len(names)}",
                f"{len(cells)}",
                "-".join(map(str, sorted({counts[0], counts[-1]}))),
                f"{by_set.mean():+.2f}",
                ""
                if np.isnan(half)
                else f"{by_set.mean() - half:+.2f} to {by_set.mean() + half:+.2f}",
                f"{np.median(mean):+.2f}",
                f"{cells[worst]:+.2f} ({worst[0]})",
                f"{np.sum(mean > 0)} / {np.sum(mean < 0)}",
                f"{np.sum(clear & (mean > 0))} / {np.sum(clear & (mean < 0))}",
            ]
        )
    return table


def absolute_rows(values, rows_of, methods=METHODS):
    """Header and one row for each set and range: means over the splits that the default has."""
    table = [["set", "training rows", "range", *methods]]
    for name in rows_of:
        for limits in map(str, RANGES):
            splits = {s for n, r, m, s in values if (n, r, m) == (name, limits, "default")}
            if not splits:
                continue
            shown = []
            for method in methods:
                got = [values.get((name, limits, method, s)) for s in sorted(splits)]
                known = [value for value in got if value is not None]
                shown.append(f"{np.mean(known):.1f}" if known else "")
            table.append([name, str(rows_of[name]), limits, *shown])
    return table


def write_table():
    values = read(CELLS)
    counted = sum(1 for *_, method, _ in values if method == "default")
    own = dict(values)
    values |= {
        key: value
        for key, value in read(EARLIER_CELLS, EARLIER).items()
        if (key[0], key[1], "default", key[3]) in own
    }
    rows_of = {name: len(halves(*SETS[name](), 0)[0]) for name in SETS}
    comparison, absolute = comparison_rows(values), absolute_rows(values, rows_of)
    total = len(SETS) * len(RANGES) * N_SPLITS
    lines = [
        "# How much is stacking, how much is the region",
        "",
        "Points of pAUC x 100 on held-out halves. `plain`: a stack of the same members, trees, folds",
        "and blend, each member fitted by log-loss. CatBoost and StackingClassifier (boosting, forest,",
        "extra trees, logistic regression) at their defaults; LightGBM with rounds by five-fold",
        "log-loss; with the stack's time: random search over leaves, rate, sampling and penalties by",
        "five-fold log-loss, for the processor seconds of one default fit, plus the fit of the winner;",
        "the earlier stack is that of `any_model_quality.md`. The interval is Student's over sets,",
        "three ranges of a set averaged. Significant: Nadeau and Bengio's corrected t over the splits",
        "of a cell, Holm over the cells, 5 %; one or two splits can hardly show it.",
        "The stacks were fitted up to commit 21c41ed, which gave the members trained for the region",
        "the weight (1 + z) / 2 at a lead of z standard errors. The rule that has replaced it, judged",
        "on the same splits of the default (`one_comparison.md`), moves the mean by less than .01.",
        f"{counted} of {total} cells (set, split, range) of the default are finished; each row of the",
        "first table counts its own.",
        "",
        *markdown(comparison),
        "",
        "Absolute values, means over the splits finished:",
        "",
        *markdown(absolute),
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_presets", ("lightgbm", "catboost"))
    GUIDE_TABLE.write_text("\n".join(restructured(comparison)) + "\n")


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
