"""`AUMClassifier` against logistic regression: ``python -m benchmarks aum_quality``.

Test AUC x 100 on five 50/50 splits of at most 10,000 rows, features standardised on the training half.
The start of the descent was chosen on other splits of the first twelve tables; the last three had no
part in it. Writes ``benchmarks/results/aum_quality.md``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from aucuba import AUMClassifier
from benchmarks.partial_auc_quality import SETS, halves
from reproductions.data import data_file
from reproductions.data.imbalanced import ADBENCH
from reproductions.paired import corrected_p
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "aum_quality.md"
SPLITS = range(5, 10)
BASELINE = "logistic"
METHODS = {
    BASELINE: lambda: LogisticRegression(max_iter=1000),
    "AUM": lambda: AUMClassifier(),
    "AUM, from the class means": lambda: AUMClassifier(start="means"),
    "AUM, stopped by held-out AUC": lambda: AUMClassifier(validation_fraction=0.2, random_state=0),
}


def load_unseen(name):
    with np.load(data_file("adbench", f"{name}.npz")) as file:
        return file["X"].astype(np.float64), file["y"] == 1


def load(name):
    return SETS[name]() if name in SETS else load_unseen(name)


def scores_of(name):
    """Test AUC x 100, shape (n_splits, n_methods)."""
    X, y = load(name)
    rows = []
    for split in SPLITS:
        X_train, X_test, y_train, y_test = halves(X, y, split)
        models = [make().fit(X_train, y_train) for make in METHODS.values()]
        rows.append([100 * roc_auc_score(y_test, m.decision_function(X_test)) for m in models])
    return np.array(rows)


def main(names=()):
    warnings.simplefilter("ignore")
    lines, gains = [], {method: [] for method in METHODS if method != BASELINE}
    for name in names or [*ADBENCH, "a9a", "celeba", "donors"]:
        values = scores_of(name)
        row = [name, f"{values[:, 0].mean():.2f}"]
        for method, column in zip(gains, values[:, 1:].T, strict=True):
            gain = column - values[:, 0]
            sure = corrected_p(gain) < 0.05
            mark = (" +" if gain.mean() > 0 else " -") if sure else ""
            gains[method].append((gain.mean(), mark))
            row.append(f"{column.mean():.2f}{mark}")
        lines.append(row)
        print(*row, flush=True)
    summary = [
        [
            method,
            f"{np.mean([g for g, _ in of]):+.2f}",
            f"{np.median([g for g, _ in of]):+.2f}",
            sum(g > 0 for g, _ in of),
            sum(g < 0 for g, _ in of),
            sum(mark == " +" for _, mark in of),
            sum(mark == " -" for _, mark in of),
            f"{min(g for g, _ in of):+.2f}",
        ]
        for method, of in gains.items()
    ]
    text = "\n\n".join(
        [
            "# AUMClassifier against logistic regression",
            __doc__.split("\n\n")[1].rpartition(" Writes")[0],
            "`+` / `-`: better / worse than logistic regression with C = 1, t-test over the splits "
            "corrected for their overlap (Nadeau and Bengio 2003), p < .05.",
            markdown_table(["table", *METHODS], lines),
            markdown_table(
                ["method", "mean", "median", "up", "down", "wins", "losses", "worst table"], summary
            ),
        ]
    )
    write_signed(RESULT, text, "benchmarks aum_quality")


if __name__ == "__main__":
    main(sys.argv[1:])
