"""The main job end to end on a data set that ships with scikit-learn: ``python -m aucuba.demo``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba._typing import FloatArray, IntArray
from aucuba.linear import AUMClassifier, PartialAUCClassifierCV
from aucuba.metrics import compare_partial_auc, partial_auc_interval, partial_auc_score
from aucuba.report import ScoredSample, classifier_report, write_page

FPR_RANGE = (0.0, 0.05)


def main(output: Path) -> list[Path]:
    """Train three models, print them side by side and write the reports; returns their paths."""
    X_train, X_test, y_train, y_test = odd_digits()
    print(
        f"Odd or even? {y_train.size} handwritten digits to learn from, {y_test.size} to test on."
    )
    print(f"What counts: false positive rates from {FPR_RANGE[0]:g} to {FPR_RANGE[1]:g}.\n")
    models = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "AUMClassifier": AUMClassifier(max_iter=200),
        "PartialAUCClassifierCV": PartialAUCClassifierCV(FPR_RANGE, random_state=0),
    }
    fitted = {
        name: make_pipeline(StandardScaler(), model).fit(X_train, y_train)
        for name, model in models.items()
    }
    scores = {name: model.decision_function(X_test) for name, model in fitted.items()}
    _print_table(y_test, scores)
    output.mkdir(parents=True, exist_ok=True)
    paths = {
        "PartialAUCClassifierCV": output / "report.html",
        "AUMClassifier": output / "line_search.html",
    }
    for name, path in paths.items():
        _write_report(fitted[name], X_test, y_test, scores, name, path)
    print("\nOne data set proves little; benchmarks/results has many, losses included.")
    print(f"Report:               {paths['PartialAUCClassifierCV'].resolve()}")
    print(f"Line-search explorer: {paths['AUMClassifier'].resolve()}")
    return list(paths.values())


def odd_digits() -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Images of 8 by 8 pixels, half to learn from and half to test on; odd digits are positive."""
    X, digit = load_digits(return_X_y=True)
    parts: Any = train_test_split(X, digit % 2, test_size=0.5, stratify=digit, random_state=0)
    return tuple(parts)


def _print_table(y: IntArray, scores: dict[str, FloatArray]) -> None:
    band = f"pAUC[{FPR_RANGE[0]:g}, {FPR_RANGE[1]:g}]"
    print(f"{'':24}{band:26}{'AUC':10}difference in pAUC")
    base = scores["logistic regression"]
    for name, score in scores.items():
        interval = partial_auc_interval(y, score, fpr_range=FPR_RANGE, random_state=0)
        spread = f"{interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]"
        line = f"{name:24}{spread:26}{partial_auc_score(y, score):<10.4f}"
        if score is not base:
            other = compare_partial_auc(y, score, base, fpr_range=FPR_RANGE, random_state=0)
            line += f"{other.difference:+.4f} [{other.low:+.4f}, {other.high:+.4f}]"
        print(line.rstrip())


def _write_report(
    model: Pipeline, X: Any, y: IntArray, scores: dict[str, FloatArray], name: str, path: Path
) -> None:
    page = classifier_report(
        model[-1],
        ScoredSample(y, scores[name], scores["logistic regression"]),
        fpr_range=FPR_RANGE,
        X=model[:-1].transform(X),
        feature_names=[f"pixel {row},{column}" for row, column in np.ndindex(8, 8)],
        title=f"{name} on handwritten digits",
        labels=("even", "odd"),
    )
    write_page(page, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train, compare and report on a small data set.")
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    main(parser.parse_args().output)
