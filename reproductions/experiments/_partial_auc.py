"""Methods, tuning and report of the partial AUC tables (Narasimhan and Agarwal, ICML 2013)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from aucuba import PartialAUCSVC
from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba.metrics import partial_auc_score
from aucuba.solvers import Status
from reproductions.baselines import GreedyCombination, PAUCBoost
from reproductions.experiment import Row
from reproductions.experiments._statistics import standard_error
from reproductions.paired import tests_of, wilcoxon_p
from reproductions.tables import markdown_table

Range = tuple[float, float]
Split = tuple[IntArray, IntArray]
OURS = "SVM_pAUC"
METHODS = (OURS, "SVM_AUC", "pAUCBoost", "greedy", "logistic regression")
# How the structural SVMs are solved: by Algorithm 2 with the paper's epsilon alone, or to a certified
# gap of 1e-3 of the objective as well. Many models have such a certificate, so two solvers show how far
# they are apart. The bundle method begins with steps of Algorithm 2 and keeps to them while the gap
# closes quickly; then both are one.
RULES: dict[str, tuple[str, float | None]] = {
    "paper": ("cutting_plane", None),
    "tight": ("bundle", 1e-3),
    "planes": ("cutting_plane", 1e-3),
}
TIGHT = ("tight", "planes")
TOLERANCE = {"pauc": 1e-6, "chosen": 0, "roughness": 0, "zero_as_good": 0}
TOLERANCE |= {
    f"{rule}_{name}": TOLERANCE[name]
    for rule in TIGHT
    for name in ("pauc", "chosen", "zero_as_good")
}


@dataclass(frozen=True)
class Tuning:
    """Grids of the supplement, section C: C and the number of boosting steps; epsilon of the SVMs.

    The weights of roughness are three of the five of the public program of AUCBoost.
    """

    grid: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
    tol: float = 1e-4
    n_steps: int = 1000
    n_intervals: int = 100
    roughness: tuple[float, ...] = (1e-5, 10**-1.5, 1e2)


QUICK = Tuning(grid=(0.1, 1.0, 10.0), n_steps=50, n_intervals=20, roughness=(1e-5,))
TINY = Tuning(grid=(1.0,), tol=1e-2, n_steps=5, n_intervals=2, roughness=(1e-5,))
NO_ASVM = (
    "ASVM is not run: its abstract, the papers that cite it and public code were searched, and none "
    "prints its objective."
)


def folds(y: BoolArray, seed: int) -> list[Split]:
    """Make five stratified folds."""
    split = StratifiedKFold(5, shuffle=True, random_state=seed)
    return [(train, test) for train, test in split.split(np.zeros(y.size), y)]


Make = Callable[[float], Any]


def svm(fpr_range: Range, tuning: Tuning, rule: str) -> Make:
    """Construct the structural SVM of a range by C; the whole axis is SVM_AUC."""
    solver, rtol = RULES[rule]
    return lambda C: PartialAUCSVC(
        fpr_range, loss="structural", C=C, tol=tuning.tol, rtol=rtol, solver=solver
    )


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


def best_boosting(
    X: FloatArray, y: BoolArray, splits: Sequence[Split], fpr_range: Range, tuning: Tuning
) -> tuple[float, int]:
    """Choose weight of roughness and number of steps by the held-out parts, the first of equals."""
    n_steps = tuning.n_steps
    means = []
    for roughness in tuning.roughness:
        total = np.zeros(n_steps)
        for rows, held in splits:
            model = PAUCBoost(fpr_range, n_steps=n_steps, roughness=roughness).fit(X[rows], y[rows])
            values = [
                partial_auc_score(y[held], scores, fpr_range=fpr_range)
                for scores in model.staged_decision_function(X[held])
            ]
            # A model that stopped early stays as it is.
            total += np.pad(values, (0, n_steps - len(values)), mode="edge")
        means.append(total)
    weight, steps = np.unravel_index(int(np.argmax(means)), np.shape(means))
    return tuning.roughness[weight], int(steps) + 1


@dataclass(frozen=True)
class Trial:
    """One method's task: rows to tune and fit on, rows to test on, the range and the grids.

    ``splits`` with one entry is a validation set, and the model is fitted on its training part; with
    several it is cross-validation, and the model is fitted on all rows.
    """

    X: FloatArray
    y: BoolArray
    splits: Sequence[Split]
    test: tuple[FloatArray, BoolArray]
    fpr_range: Range
    tuning: Tuning

    def measured(self, method: str) -> Row:
        """Tune, fit and test one method; the SVMs by every rule."""
        start = time.process_time()
        if method == "greedy":
            row = self._tested(GreedyCombination(self.fpr_range, n_intervals=self._intervals))
        elif method == "pAUCBoost":
            row = self._boosted()
        elif method == "logistic regression":
            row = self._by_C(lambda C: LogisticRegression(C=C, max_iter=2000), self.fpr_range)
        else:
            scored = self.fpr_range if method == OURS else (0.0, 1.0)
            row = self._by_C(svm(scored, self.tuning, "paper"), scored)
            row["seconds"] = time.process_time() - start
            for rule in TIGHT:
                tight = self._by_C(svm(scored, self.tuning, rule), scored)
                row |= {f"{rule}_{name}": value for name, value in tight.items()}
        row.setdefault("seconds", time.process_time() - start)
        return {"method": method, **row}

    @property
    def _intervals(self) -> int:
        return self.tuning.n_intervals

    def _boosted(self) -> Row:
        found = best_boosting(self.X, self.y, self.splits, self.fpr_range, self.tuning)
        model = PAUCBoost(self.fpr_range, n_steps=found[1], roughness=found[0])
        return self._tested(model) | {"chosen": found[1], "roughness": found[0]}

    def _by_C(self, make: Make, scored: Range) -> Row:
        chosen = by_grid(make, self.tuning.grid, self.X, self.y, self.splits, scored)
        return self._tested(make(chosen)) | {"chosen": chosen}

    def _tested(self, model: Any) -> Row:
        train = self.splits[0][0] if len(self.splits) == 1 else np.arange(self.y.size)
        X, y = self.test
        scores = model.fit(self.X[train], self.y[train]).decision_function(X)
        row: Row = {"pauc": partial_auc_score(y, scores, fpr_range=self.fpr_range)}
        if isinstance(model, PartialAUCSVC):
            row["zero_as_good"] = int(model.status_ == str(Status.ZERO_AS_GOOD))
        return row


def report(
    rows: list[Row], paper: dict[str, float | str], range_name: str, test_over_train: float
) -> str:
    """Tabulate means over the splits beside the paper's numbers.

    A star marks a method whose difference from SVM_pAUC over the splits is significant at 95 % by the
    two-sided Wilcoxon test, as in the paper.
    """
    units = list(dict.fromkeys(row["cell"].rpartition(" / ")[0] for row in rows))

    def values(method: str, column: str = "pauc") -> FloatArray:
        found = {
            row["cell"].rpartition(" / ")[0]: row[column] for row in rows if row["method"] == method
        }
        return np.array([100 * found[unit] for unit in units])

    ours, table = values(OURS), []
    for method in dict.fromkeys([*paper, *(row["method"] for row in rows)]):
        group = [row for row in rows if row["method"] == method]
        if not group:
            table.append([method, "not run", *[""] * 5, paper[method]])
            continue
        mine = values(method)
        star, beside = "", ["", "", ""]
        if method != OURS:
            apart = mine - ours
            star = " \\*" if wilcoxon_p(apart) < 0.05 else ""
            beside = [f"{apart.mean():+.2f} ± {standard_error(apart):.2f}"]
            beside += tests_of(apart, test_over_train)
        tight = ""
        if "tight_pauc" in group[0]:
            one, other = (values(method, f"{rule}_pauc") for rule in TIGHT)
            tight = f"{one.mean():.2f} / {other.mean():.2f} ({np.abs(one - other).max():.2f})"
        seconds = np.mean([row["seconds"] for row in group])
        shown = [f"{mine.mean():.2f}{star}", *beside, tight, f"{seconds:.1f}"]
        table.append([method, *shown, paper.get(method, "")])
    header = [
        "method",
        f"pAUC({range_name}) x 100",
        "minus SVM_pAUC",
        "p, Wilcoxon",
        "p, corrected",
    ]
    return markdown_table([*header, "tight certificates", "CPU s", "paper"], table)


def protocol(rows: list[Row], tuning: Tuning, test_over_train: float) -> str:
    """Say how the methods were tuned and tested, and where zero was as good as a fit."""
    shown = []
    for rule, column in (("the paper's rule", "zero_as_good"), ("bundle", "tight_zero_as_good")):
        for method in (OURS, "SVM_AUC"):
            idle = [row[column] for row in rows if row["method"] == method]
            shown.append(f"{method}, {rule}: {sum(idle)} of {len(idle)}")
    return (
        "SVM_pAUC and SVM_AUC: Algorithm 2 with the paper's epsilon "
        f"{tuning.tol:g} alone. Tight certificates: a gap of 1e-3 of the objective as well, by the "
        "bundle method / by Algorithm 2, and in brackets how far the two are apart in a split at most: "
        "many models have the same certificate. Fits for which zero is certified as good within the "
        f"tolerance: {'; '.join(shown)}. C from {', '.join(f'{C:g}' for C in tuning.grid)}; pAUCBoost: "
        f"up to {tuning.n_steps} steps (paper: 1000) and a weight of roughness from "
        f"{', '.join(f'{w:.2g}' for w in tuning.roughness)}; greedy: H = {tuning.n_intervals} (paper: "
        "100). \\*: two-sided Wilcoxon test over the splits against SVM_pAUC, p < .05, as in the "
        "paper; "
        f"corrected: Nadeau and Bengio's test, with {test_over_train:g} test rows per training row, "
        "which allows for the overlap of the splits. Differences ± one standard error. Logistic "
        "regression is ours, tuned in the same way."
    )
