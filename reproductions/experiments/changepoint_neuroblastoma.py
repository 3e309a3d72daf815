"""Learned penalties on 3,418 labelled copy-number profiles, against simple rules.

Every fold of a scheme is the test set once. Compared: one constant penalty with the fewest training
errors; BIC (log n) and interval regression, each as it is and with such a constant; and the supervised
detector (interval regression, AUM descent, intercept with the fewest training errors).

``python -m reproductions.experiments.changepoint_neuroblastoma --output FILE``
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aucuba._core._typing import FloatArray, IntArray
from aucuba.changepoint import SupervisedChangepointDetector, best_shift, penalty_roc
from reproductions.data.changepoints import LabelledSequences, load_neuroblastoma

SCHEMES = ("sequenceID", "profileID", "profileSize", "chrom")


@dataclass(frozen=True)
class Result:
    """Test errors of one method in one fold; AUC is NaN where the fold has one kind of label only."""

    scheme: str
    fold: int
    method: str
    fp: float
    fn: float
    n_labels: float
    auc: float


def predictions(
    problem: LabelledSequences, train: IntArray, test: IntArray
) -> dict[str, FloatArray]:
    """Test log penalties of all methods."""
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


def results(schemes: tuple[str, ...] = SCHEMES) -> Iterator[Result]:
    """Test results of all methods and folds."""
    for scheme in schemes:
        problem = load_neuroblastoma(scheme)
        for fold in np.unique(problem.fold):
            test, train = np.flatnonzero(problem.fold == fold), np.flatnonzero(problem.fold != fold)
            held_out = problem.subset(test)
            both = any(e.fp.any() for e in held_out) and any(e.fn.any() for e in held_out)
            for method, log_penalty in predictions(problem, train, test).items():
                wrong = [e.at(value) for e, value in zip(held_out, log_penalty, strict=True)]
                fp, fn = np.sum(wrong, axis=0)
                auc = penalty_roc(held_out, log_penalty).auc if both else np.nan
                labels = sum(e.n_labels for e in held_out)
                yield Result(scheme, int(fold), method, float(fp), float(fn), labels, auc)


def table(rows: list[Result]) -> str:
    """A Markdown table: totals over the folds of each scheme, and the mean AUC of its folds."""
    lines = [
        "| folds | method | test label errors | % | false positives | false negatives "
        "| mean test AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for scheme in dict.fromkeys(row.scheme for row in rows):
        for method in dict.fromkeys(row.method for row in rows):
            group = [row for row in rows if (row.scheme, row.method) == (scheme, method)]
            fp, fn, labels = (
                sum(getattr(row, name) for row in group) for name in ("fp", "fn", "n_labels")
            )
            wrong = fp + fn
            auc = [row.auc for row in group if not np.isnan(row.auc)]
            lines.append(
                f"| {scheme} | {method} | {wrong:.0f} / {labels:.0f} | {100 * wrong / labels:.2f} "
                f"| {fp:.0f} | {fn:.0f} | {np.mean(auc):.4f} ± {np.std(auc):.4f} |"
            )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Run all schemes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES))
    parser.add_argument("--output", type=Path, default=None, help="Markdown file; else the screen")
    parser.add_argument("--machine", default="this machine", help="words for the heading")
    options = parser.parse_args(arguments)
    text = "\n\n".join(
        [
            "# Learned penalties on neuroblastoma",
            f"Written by `python -m reproductions.experiments.changepoint_neuroblastoma`; "
            f"{options.machine}, "
            f"{datetime.date.today()}. Totals over the test folds of each scheme; AUC: mean ± standard "
            "deviation over the folds with both kinds of labels. *BIC* is the penalty log n without "
            "learning; *+ constant*: multiplied by the factor with the fewest training errors.",
            table(list(results(tuple(options.schemes)))) + "\n",
        ]
    )
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
