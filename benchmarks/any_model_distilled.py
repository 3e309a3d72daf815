"""What a student of a stack keeps, and how much faster it is.

    python -m benchmarks any_model_distilled [set ...]

FPR 0 to .05, the first split of the sets of ``any_model_quality``. A set is one line of
``results/any_model_distilled.csv``; a rerun computes what is missing. Needs ``aucuba[boosting]``.
"""

from __future__ import annotations

import csv
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucuba.ensemble import RegionStack
from aucuba.ensemble._distill import student_for, taught
from aucuba.ensemble._table import log_odds
from aucuba.metrics import partial_auc_score
from benchmarks.any_model_quality import RESULTS, SETS, halves, markdown, tuned_lightgbm
from reproductions.tables import write_signed

CELLS = RESULTS / "any_model_distilled.csv"
TABLE = RESULTS / "any_model_distilled.md"
LIMITS = (0.0, 0.05)
N_SCORED = 100_000
METHODS = ["LightGBM", "stack", "student", "student, no synthetic rows", "linear student"]


def seconds_of(score, X):
    rows = np.resize(np.arange(len(X)), N_SCORED)
    start = time.process_time()
    score(X[rows])
    return time.process_time() - start


def cells_of(name):
    """pAUC x 100 and processor seconds for 100,000 rows by method."""
    X_train, X_test, y_train, y_test = halves(*SETS[name](), 0)
    X_train, X_test = np.asarray(X_train, float), np.asarray(X_test, float)
    stack = RegionStack(LIMITS, random_state=0).fit(X_train, y_train)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))

    def student_scores(estimator, n_synthetic):
        # The model that distill returns, without the folds that measure it.
        student = student_for(estimator, X_train)
        model = taught(student, stack._scores, X_train, n_synthetic, 0)
        return lambda X: log_odds(model, X)

    tuned = tuned_lightgbm(X_train, y_train, 0).fit(X_train, y_train)
    scorers = [
        lambda X: log_odds(tuned, X),
        stack.decision_function,
        student_scores(None, None),
        student_scores(None, 0),
        student_scores(linear, None),
    ]
    return {
        method: (
            100 * partial_auc_score(y_test, score(X_test), fpr_range=LIMITS),
            seconds_of(score, X_test),
        )
        for method, score in zip(METHODS, scorers, strict=True)
    }


def read():
    if not CELLS.exists():
        return {}
    with CELLS.open() as file:
        return {row["set"]: row for row in csv.DictReader(file)}


def run(names):
    done = read()
    head = ["set", *METHODS, *(f"{method} (s)" for method in METHODS)]
    with CELLS.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(head)
        for name in names:
            if name in done:
                continue
            with threadpool_limits(1):
                cells = cells_of(name)
            values = [f"{cells[m][0]:.4f}" for m in METHODS]
            writer.writerow([name, *values, *(f"{cells[m][1]:.4f}" for m in METHODS)])
            file.flush()
            print(name, cells, flush=True)


def write_table():
    rows = read()
    table = [["set", *METHODS, "stack (s)", "student (s)", "linear student (s)"]]
    for name, row in rows.items():
        shown = [f"{float(row[m]):.1f}" for m in METHODS]
        seconds = [f"{float(row[f'{m} (s)']):.2f}" for m in ("stack", "student", "linear student")]
        table.append([name, *shown, *seconds])
    value = {m: np.array([float(row[m]) for row in rows.values()]) for m in METHODS}
    took = {m: np.array([float(row[f"{m} (s)"]) for row in rows.values()]) for m in METHODS}
    lead = np.mean(value["stack"] - value["LightGBM"])
    kept = [f"{np.mean(value[m] - value['LightGBM']) / lead:.0%}" for m in METHODS[2:]]
    faster = [f"{np.median(took['stack'] / took[m]):.1f}" for m in METHODS[2:]]
    lines = [
        "# Students of a stack",
        "",
        "pAUC x 100 at FPR 0 to .05 on the test half of the first split, and processor seconds to",
        f"score 100,000 rows on one thread. {len(rows)} of {len(SETS)} sets are finished.",
        "They are of commit 9d2a9f4 and before; the rule that weighs a lead has changed since",
        "(`one_comparison.md`).",
        "",
        *markdown(table),
        "",
        f"Mean lead of the stack over LightGBM: {lead:.2f} points. Kept of it: student {kept[0]},",
        f"without synthetic rows {kept[1]}, linear student {kept[2]}. Median speed relative to the",
        f"stack: student {faster[0]} times, linear student {faster[2]} times.",
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_distilled", ("lightgbm",))


def main(names=None):
    try:
        run(names or list(SETS))
    finally:
        write_table()


if __name__ == "__main__":
    main(sys.argv[1:] or None)
