"""Cost of the cross-validated linear classifier: ``python -m benchmarks partial_auc_cv_cost``.

`PartialAUCClassifierCV` beside `LogisticRegressionCV` with the same seven values of C and five folds,
scored by log-loss: processor seconds of one thread, the least of three fits in turn, and their ratio.
Real tables are cut to at most 100,000 rows. Writes ``benchmarks/results/partial_auc_cv_cost.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from aucuba import PartialAUCClassifierCV
from reproductions.data import data_file
from reproductions.data.imbalanced import load_adbench
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "partial_auc_cv_cost.md"
MAX_ROWS = 100_000
N_RUNS = 3


def made(n_rows, n_features=30):
    """A made table, a tenth of its rows positive and one in twenty labels wrong."""
    return make_classification(
        n_rows, n_features, n_informative=10, weights=[0.9], flip_y=0.05, random_state=0
    )


def load_celeba():
    with np.load(data_file("adbench", "celeba.npz")) as file:
        return file["X"], file["y"] == 1


PROBLEMS = {
    "made, 1,000 x 30": lambda: made(1_000),
    "made, 10,000 x 30": lambda: made(10_000),
    "made, 100,000 x 30": lambda: made(100_000),
    "celeba": load_celeba,
    "cover": lambda: load_adbench("cover"),
    "campaign": lambda: load_adbench("campaign"),
}


def prepared(load):
    X, y = load()
    if y.size > MAX_ROWS:
        rows = np.random.default_rng(0).permutation(y.size)[:MAX_ROWS]
        X, y = X[rows], y[rows]
    return StandardScaler().fit_transform(X.astype(np.float64)), y


def seconds(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def measure(X, y):
    """Return the least seconds of either classifier, fitted in turn."""
    theirs, ours = [], []
    for _ in range(N_RUNS):
        logistic = LogisticRegressionCV(
            Cs=np.logspace(-3, 3, 7),
            cv=5,
            scoring="neg_log_loss",
            l1_ratios=(0,),
            use_legacy_attributes=False,
        )
        theirs.append(seconds(logistic, X, y))
        ours.append(seconds(PartialAUCClassifierCV(random_state=0), X, y))
    return min(theirs), min(ours)


def main():
    warnings.simplefilter("ignore")
    rows = []
    for name, load in PROBLEMS.items():
        X, y = prepared(load)
        theirs, ours = measure(X, y)
        rows.append(
            [
                name,
                f"{X.shape[0]:,} x {X.shape[1]}",
                f"{theirs:.3f}",
                f"{ours:.3f}",
                f"{ours / theirs:.1f}",
            ]
        )
        print(*rows[-1], flush=True)
    header = ["table", "size", "LogisticRegressionCV", "PartialAUCClassifierCV", "ratio"]
    text = (
        "# Cost of the cross-validated linear classifier\n\n"
        "Processor seconds of one thread, least of three fits in turn, defaults at range (0, .05);\n"
        "logistic regression with the same seven values of C and five folds, scored by log-loss.\n\n"
    )
    write_signed(RESULT, text + markdown_table(header, rows), "benchmarks partial_auc_cv_cost")


if __name__ == "__main__":
    main()
