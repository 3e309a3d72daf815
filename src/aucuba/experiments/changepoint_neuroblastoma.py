"""Learned penalties on 3,418 labelled copy-number profiles, against simple rules.

Every fold of a scheme is the test set once. Compared: one constant penalty with the fewest training
errors; BIC (log n, without and with a learned constant); interval regression; the supervised detector
(interval regression, AUM descent, intercept with the fewest training errors); and the latter without
descent.

``python -m aucuba.experiments.changepoint_neuroblastoma --output FILE``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aucuba._typing import FloatArray, IntArray
from aucuba.changepoint import (
    IntervalRegressionCV,
    SupervisedChangepointDetector,
    penalty_roc,
    target_intervals,
)
from aucuba.changepoint.roc import best_shift
from aucuba.datasets.changepoints import LabelledSequences, load_neuroblastoma

SCHEMES = ("sequenceID", "profileID", "profileSize", "chrom")
Predictor = Callable[[LabelledSequences, IntArray, IntArray], FloatArray]


@dataclass(frozen=True)
class Result:
    """Test errors of one method in one fold."""

    scheme: str
    fold: int
    method: str
    errors: float
    fp: float
    fn: float
    n_labels: float
    auc: float


def _shifted(
    problem: LabelledSequences, log_penalty: FloatArray, train: IntArray, test: IntArray
) -> FloatArray:
    """Test predictions, with the constant that makes the fewest training errors."""
    return log_penalty[test] - best_shift(problem.subset(train), -log_penalty[train])


def constant(problem: LabelledSequences, train: IntArray, test: IntArray) -> FloatArray:
    """One penalty for all."""
    return _shifted(problem, np.zeros(len(problem.name)), train, test)


def bic(problem: LabelledSequences, train: IntArray, test: IntArray) -> FloatArray:
    """The penalty log n, without learning."""
    return _log_log_n(problem)[test]


def bic_shifted(problem: LabelledSequences, train: IntArray, test: IntArray) -> FloatArray:
    """The penalty log n times a learned constant."""
    return _shifted(problem, _log_log_n(problem), train, test)


def interval_regression(problem: LabelledSequences, train: IntArray, test: IntArray) -> FloatArray:
    """L1 interval regression with its own intercept."""
    X = problem.features[:, np.isfinite(problem.features).all(axis=0)]
    order = np.random.default_rng(0).permutation(train)
    model = IntervalRegressionCV().fit(X[order], target_intervals(problem.subset(order)))
    prediction: FloatArray = model.predict(X[test])
    return prediction


def detector(problem: LabelledSequences, train: IntArray, test: IntArray) -> FloatArray:
    """Interval regression, AUM descent and the intercept with the fewest errors."""
    return _detector(1000, problem, train, test)


def detector_without_descent(
    problem: LabelledSequences, train: IntArray, test: IntArray
) -> FloatArray:
    """The detector's start with the intercept with the fewest errors."""
    return _detector(0, problem, train, test)


METHODS: dict[str, Predictor] = {
    "constant": constant,
    "BIC": bic,
    "BIC + constant": bic_shifted,
    "interval regression": interval_regression,
    "detector, no descent": detector_without_descent,
    "detector": detector,
}


def _log_log_n(problem: LabelledSequences) -> FloatArray:
    return problem.features[:, problem.feature_name.index("log2.n")]


def _detector(
    max_iter: int, problem: LabelledSequences, train: IntArray, test: IntArray
) -> FloatArray:
    model = SupervisedChangepointDetector(max_iter=max_iter, random_state=0)
    model.fit_features(problem.features[train], problem.subset(train))
    return model.predict_log_penalty_features(problem.features[test])


def results(schemes: tuple[str, ...] = SCHEMES) -> Iterator[Result]:
    """Test results of all methods and folds."""
    for scheme in schemes:
        problem = load_neuroblastoma(scheme)
        for fold in np.unique(problem.fold):
            test, train = np.flatnonzero(problem.fold == fold), np.flatnonzero(problem.fold != fold)
            for method, predict in METHODS.items():
                roc = penalty_roc(problem.subset(test), predict(problem, train, test))
                yield Result(
                    scheme, int(fold), method, roc.errors, roc.fp, roc.fn, roc.n_labels, roc.auc
                )


def table(rows: list[Result]) -> str:
    """A Markdown table: totals over the folds of each scheme, and the mean AUC of its folds."""
    lines = [
        "| folds | method | test label errors | % | false positives | false negatives "
        "| mean test AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for scheme in dict.fromkeys(row.scheme for row in rows):
        for method in METHODS:
            group = [row for row in rows if (row.scheme, row.method) == (scheme, method)]
            wrong, fp, fn, labels = (
                sum(getattr(row, name) for row in group)
                for name in ("errors", "fp", "fn", "n_labels")
            )
            auc = [row.auc for row in group]
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
    options = parser.parse_args(arguments)
    text = table(list(results(tuple(options.schemes)))) + "\n"
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
