"""The main job end to end on a data set that ships with scikit-learn: ``python -m aucuba.demo``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba._core._typing import FloatArray, IntArray
from aucuba.linear import AUMClassifier, PartialAUCClassifierCV
from aucuba.metrics import compare_partial_auc, partial_auc_interval, partial_auc_score
from aucuba.report import ScoredSample, classifier_report, write_page

FPR_RANGE = (0.0, 0.05)


def main(output: Path, *, as_json: bool = False) -> list[Path]:
    """Train three models, print them side by side and write the reports; returns their paths.

    With ``as_json`` nothing is printed but one JSON object at the end.
    """
    check_folder(output)
    X_train, X_test, y_train, y_test = odd_digits()
    if not as_json:
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
    rows = [_measured(name, y_test, scores) for name in scores]
    if not as_json:
        _print_table(rows)
    output.mkdir(parents=True, exist_ok=True)
    paths = {
        "PartialAUCClassifierCV": output / "report.html",
        "AUMClassifier": output / "line_search.html",
    }
    for name, path in paths.items():
        _write_report(fitted[name], X_test, y_test, scores, name, path)
    report, explorer = (str(path.resolve()) for path in paths.values())
    if as_json:
        result = {"fpr_range": FPR_RANGE, "models": rows, "report": report, "explorer": explorer}
        print(json.dumps(result))
    else:
        print("\nOne data set proves little; benchmarks/results has many, losses included.")
        print(f"Report:               {report}")
        print(f"Line-search explorer: {explorer}")
    return list(paths.values())


def check_folder(output: Path) -> None:
    """One error, before any work, where the folder for the reports cannot be made."""
    for place in (output, *output.parents):
        if place.exists():
            if not place.is_dir():
                raise ValueError(f"{place} is a file, not a folder; choose another --output.")
            return


def odd_digits() -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Images of 8 by 8 pixels, half to learn from and half to test on; odd digits are positive."""
    X, digit = load_digits(return_X_y=True)
    parts: Any = train_test_split(X, digit % 2, test_size=0.5, stratify=digit, random_state=0)
    return tuple(parts)


def _measured(name: str, y: IntArray, scores: dict[str, FloatArray]) -> dict[str, Any]:
    """Partial AUC with its interval, AUC, and the difference to logistic regression."""
    score, base = scores[name], scores["logistic regression"]
    interval = partial_auc_interval(y, score, fpr_range=FPR_RANGE, random_state=0)
    other = compare_partial_auc(y, score, base, fpr_range=FPR_RANGE, random_state=0)
    return {
        "model": name,
        "partial_auc": asdict(interval),
        "auc": float(partial_auc_score(y, score)),
        "against_logistic": None if score is base else asdict(other),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    band = f"pAUC[{FPR_RANGE[0]:g}, {FPR_RANGE[1]:g}]"
    print(f"{'':24}{band:26}{'AUC':10}difference in pAUC")
    for row in rows:
        here, other = row["partial_auc"], row["against_logistic"]
        spread = f"{here['value']:.4f} [{here['low']:.4f}, {here['high']:.4f}]"
        line = f"{row['model']:24}{spread:26}{row['auc']:<10.4f}"
        if other is not None:
            line += f"{other['difference']:+.4f} [{other['low']:+.4f}, {other['high']:+.4f}]"
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    words = parser.parse_args()
    try:
        main(words.output, as_json=words.json)
    except ValueError as error:
        parser.error(str(error))
