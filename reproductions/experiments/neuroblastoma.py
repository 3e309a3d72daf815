"""Learned penalties on 3,418 labelled copy-number profiles, against simple rules.

Every fold of a scheme is the test set once. Compared: one constant penalty with the fewest training
errors; BIC (log n) and interval regression, each as it is and with such a constant; and the supervised
detector (interval regression, AUM descent, intercept with the fewest training errors).

``python -m reproductions neuroblastoma``
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.changepoint import SupervisedChangepointDetector, best_shift, penalty_roc
from reproductions.data.changepoints import LabelledSequences, load_neuroblastoma
from reproductions.experiment import Cell, Experiment, Row


@dataclass(frozen=True)
class Settings:
    """Fold schemes, and which sequences are kept."""

    schemes: tuple[str, ...]
    every: int


def predictions(
    problem: LabelledSequences, train: IntArray, test: IntArray
) -> dict[str, FloatArray]:
    """Predict the test log penalties by all methods."""
    known = problem.subset(train)

    def shifted(log_penalty: FloatArray) -> FloatArray:
        """With the constant that makes the fewest training errors."""
        return log_penalty[test] - best_shift(known, -log_penalty[train])

    log_log_n = problem.features[:, problem.feature_name.index("log2.n")]
    detector = SupervisedChangepointDetector(random_state=0)
    detector.fit_features(problem.features[train], known)
    regression = detector.interval_regression_.predict(problem.features[:, detector.used_features_])
    return {
        "constant": shifted(np.zeros(len(problem.name))),
        "BIC": log_log_n[test],
        "BIC + constant": shifted(log_log_n),
        "interval regression": regression[test],
        "interval regression + constant": shifted(regression),
        "detector": detector.predict_log_penalty_features(problem.features[test]),
    }


@lru_cache(maxsize=1)
def load(scheme: str, every: int) -> LabelledSequences:
    """Read the sequences with the folds of one scheme, or some of them."""
    return load_neuroblastoma(scheme).every(every)


def cells(settings: Settings) -> list[Cell]:
    """List schemes and folds."""
    return [
        (scheme, int(fold))
        for scheme in settings.schemes
        for fold in np.unique(load(scheme, settings.every).fold)
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Test all methods in one fold; AUC is left out where the fold has one kind of label only."""
    scheme, fold = cell
    problem = load(scheme, settings.every)
    test, train = np.flatnonzero(problem.fold == fold), np.flatnonzero(problem.fold != fold)
    held_out = problem.subset(test)
    both = any(e.fp.any() for e in held_out) and any(e.fn.any() for e in held_out)
    rows = []
    for method, log_penalty in predictions(problem, train, test).items():
        wrong = [e.at(value) for e, value in zip(held_out, log_penalty, strict=True)]
        fp, fn = np.sum(wrong, axis=0)
        row: Row = {"scheme": scheme, "fold": fold, "method": method, "fp": fp, "fn": fn}
        row["n_labels"] = sum(e.n_labels for e in held_out)
        if both:
            row["auc"] = penalty_roc(held_out, log_penalty).auc
        rows.append(row)
    return rows


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate totals over the folds of each scheme, and the mean AUC of its folds."""
    lines = [
        "# Learned penalties on neuroblastoma",
        "",
        "Totals over the test folds of each scheme; AUC: mean ± standard deviation over the folds with "
        "both kinds of labels. *BIC* is the penalty log n without learning; *+ constant*: multiplied "
        "by the factor with the fewest training errors."
        + (f" Every {settings.every}th sequence only." if settings.every > 1 else ""),
        "",
        "| folds | method | test label errors | % | false positives | false negatives "
        "| mean test AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in rows):
            group = [row for row in rows if (row["scheme"], row["method"]) == (scheme, method)]
            fp, fn, labels = (sum(row[name] for row in group) for name in ("fp", "fn", "n_labels"))
            wrong = fp + fn
            auc = [row["auc"] for row in group if "auc" in row]
            lines.append(
                f"| {scheme} | {method} | {wrong:.0f} / {labels:.0f} | {100 * wrong / labels:.2f} "
                f"| {fp:.0f} | {fn:.0f} | {np.mean(auc):.4f} ± {np.std(auc):.4f} |"
            )
    return "\n".join(lines)


EXPERIMENT = Experiment(
    reproduces="ours, in the manner of AUM 2024: learned penalties on neuroblastoma",
    data=("neuroblastoma",),
    settings={
        "full": Settings(("sequenceID", "profileID", "profileSize", "chrom"), 1),
        "quick": Settings(("sequenceID",), 4),
        "tiny": Settings(("sequenceID",), 24),
    },
    tolerance={"auc": 1e-6},
    cells=cells,
    compute=compute,
    report=report,
)
