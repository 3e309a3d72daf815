"""Methods, tuning and report of the partial AUC tables (Narasimhan and Agarwal, ICML 2013)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from aucuba import PartialAUCSVC
from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba.metrics import partial_auc_score
from reproductions.baselines import GreedyCombination, PAUCBoost
from reproductions.experiment import Row
from reproductions.tables import markdown_table

Range = tuple[float, float]
Split = tuple[IntArray, IntArray]
OURS = "SVM_pAUC"


@dataclass(frozen=True)
class Tuning:
    """Grids of the supplement, section C: C and the number of boosting steps; epsilon of the SVMs."""

    grid: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
    tol: float = 1e-4
    n_steps: int = 1000
    n_intervals: int = 100


def folds(y: BoolArray, seed: int) -> list[Split]:
    """Make five stratified folds."""
    split = StratifiedKFold(5, shuffle=True, random_state=seed)
    return [(train, test) for train, test in split.split(np.zeros(y.size), y)]


Make = Callable[[float], Any]


def svm(fpr_range: Range, tuning: Tuning) -> Make:
    """Construct the structural SVM of a range by C; the whole axis is SVM_AUC."""
    return lambda C: PartialAUCSVC(fpr_range, loss="structural", C=C, tol=tuning.tol)


def by_grid(
    make: Make,
    grid: Sequence[float],
    X: FloatArray,
    y: BoolArray,
    splits: Sequence[Split],
    scored: Range,
) -> float:
    """Choose the value of highest mean partial AUC on the held-out parts, the smallest of equals."""
    means = []
    for value in grid:
        found = [
            partial_auc_score(
                y[held],
                make(value).fit(X[rows], y[rows]).decision_function(X[held]),
                fpr_range=scored,
            )
            for rows, held in splits
        ]
        means.append(np.mean(found))
    return grid[int(np.argmax(means))]


def best_number_of_steps(
    X: FloatArray, y: BoolArray, splits: Sequence[Split], fpr_range: Range, n_steps: int
) -> int:
    """Choose the number of boosting steps with the highest mean partial AUC on the held-out parts."""
    total = np.zeros(n_steps)
    for rows, held in splits:
        model = PAUCBoost(fpr_range, n_steps=n_steps).fit(X[rows], y[rows])
        values = [
            partial_auc_score(y[held], scores, fpr_range=fpr_range)
            for scores in model.staged_decision_function(X[held])
        ]
        # A model that stopped early stays as it is.
        total += np.pad(values, (0, n_steps - len(values)), mode="edge")
    return int(np.argmax(total)) + 1


def fitted(
    method: str,
    X: FloatArray,
    y: BoolArray,
    splits: Sequence[Split],
    fpr_range: Range,
    tuning: Tuning,
) -> tuple[Any, float]:
    """Tune one method on the splits and fit it on the training rows of the first protocol.

    ``splits`` with one entry is a validation set, and the model is fitted on its training part; with
    several it is cross-validation, and the model is fitted on all rows.
    """
    train = splits[0][0] if len(splits) == 1 else np.arange(y.size)
    if method == "greedy":
        model = GreedyCombination(fpr_range, n_intervals=tuning.n_intervals)
        return model.fit(X[train], y[train]), float("nan")
    if method == "pAUCBoost":
        steps = best_number_of_steps(X, y, splits, fpr_range, tuning.n_steps)
        return PAUCBoost(fpr_range, n_steps=steps).fit(X[train], y[train]), float(steps)
    make, scored = {
        OURS: (svm(fpr_range, tuning), fpr_range),
        "SVM_AUC": (svm((0.0, 1.0), tuning), (0.0, 1.0)),
        "logistic regression": (lambda C: LogisticRegression(C=C, max_iter=2000), fpr_range),
    }[method]
    chosen = by_grid(make, tuning.grid, X, y, splits, scored)
    return make(chosen).fit(X[train], y[train]), chosen


def measured(
    method: str,
    data: tuple[FloatArray, BoolArray, Sequence[Split]],
    test: tuple[FloatArray, BoolArray],
    fpr_range: Range,
    tuning: Tuning,
) -> Row:
    """Tune, fit and test one method."""
    start = time.process_time()
    model, chosen = fitted(method, *data, fpr_range, tuning)
    value = partial_auc_score(test[1], model.decision_function(test[0]), fpr_range=fpr_range)
    row: Row = {"method": method, "pauc": value}
    if not np.isnan(chosen):
        row["chosen"] = chosen
    return row | {"seconds": time.process_time() - start}


def report(rows: list[Row], paper: dict[str, float | str], range_name: str) -> str:
    """Tabulate means over the splits beside the paper's numbers.

    A star marks a method whose difference from SVM_pAUC over the splits is significant at 95 % by the
    two-sided Wilcoxon test, as in the paper.
    """
    units = list(dict.fromkeys(row["cell"].rpartition(" / ")[0] for row in rows))

    def values(method: str) -> FloatArray:
        found = {
            row["cell"].rpartition(" / ")[0]: row["pauc"] for row in rows if row["method"] == method
        }
        return np.array([100 * found[unit] for unit in units])

    ours, table = values(OURS), []
    for method in dict.fromkeys([*paper, *(row["method"] for row in rows)]):
        if not any(row["method"] == method for row in rows):
            table.append([method, "not run", "", "", paper[method]])
            continue
        mine = values(method)
        apart = mine - ours
        star, difference = "", ""
        if method != OURS:
            error = apart.std(ddof=1) / apart.size**0.5
            difference = f"{apart.mean():+.2f} ± {error:.2f}"
            p = wilcoxon(apart).pvalue if np.any(apart) else 1.0
            star = " \\*" if p < 0.05 else ""
        seconds = np.mean([row["seconds"] for row in rows if row["method"] == method])
        shown = [f"{mine.mean():.2f}{star}", difference, f"{seconds:.1f}", paper.get(method, "")]
        table.append([method, *shown])
    header = ["method", f"pAUC({range_name}) x 100", "minus SVM_pAUC", "CPU s", "paper"]
    return markdown_table(header, table)
