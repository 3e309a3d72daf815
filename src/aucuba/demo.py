"""Train, compare and report on generated rows: ``python -m aucuba.demo``.

The rows are built to favour the library: two kinds of fraud pull a probability model apart. Results on
real tables, losses included, are in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
import webbrowser
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from aucuba._base._typing import FloatArray, IntArray
from aucuba.ensemble import RegionStack
from aucuba.linear import AUMClassifier, PartialAUCClassifierCV
from aucuba.metrics import compare_scores, score_interval, tpr_at_fpr_score
from aucuba.report import ScoredSample, classifier_report, write_page
from aucuba.threshold import FixedFPRClassifier

FPR_RANGE = (0.0, 0.01)
_BASE = "logistic regression"
# File name of the report, by model.
_PAGES = {"PartialAUCClassifierCV": "report.html", "RegionStack": "stack.html"}


def main(output: Path, *, as_json: bool = False, open_report: bool = False) -> list[Path]:
    """Train models and rivals, print them side by side, write the reports and return their paths.

    With ``as_json`` nothing is printed but one JSON object at the end.
    """
    check_folder(output)
    X_train, X_test, y_train, y_test = two_kinds_of_fraud()
    if not as_json:
        print(
            f"Two kinds of fraud, generated: {y_train.size:,} rows to learn from, {y_test.size:,} to "
            f"test on, {y_test.mean():.0%} frauds."
        )
        print(f"What counts: at most {FPR_RANGE[1]:.0%} false alarms.\n", flush=True)
    fitted = {}
    for name, model in _models().items():
        if not as_json:
            print(f"Training {name} ...", flush=True)
        fitted[name] = model.fit(X_train, y_train)
    scores = {name: _scores(model, X_test) for name, model in fitted.items()}
    rows = [_measured(name, y_test, scores) for name in scores]
    promise = _promised(X_train, y_train, X_test, y_test)
    if not as_json:
        print()
        _print_table(rows)
        _print_promise(promise)
    output.mkdir(parents=True, exist_ok=True)
    paths = {name: output / page for name, page in _PAGES.items()}
    for name, path in paths.items():
        _write_report(fitted[name], X_test, y_test, scores, name, path)
    report, stack = (str(path.resolve()) for path in paths.values())
    if as_json:
        result = {"fpr_range": FPR_RANGE, "models": rows, "promise": promise}
        print(json.dumps({**result, "report": report, "stack_report": stack}))
    else:
        print(
            "\nThe rows are built to make the point; benchmarks/results has real ones, with losses."
        )
        print(f"Report of the linear model: {report}")
        print(f"Report of the stack:        {stack}")
    if open_report:
        webbrowser.open(Path(report).as_uri())
    return list(paths.values())


def check_folder(output: Path) -> None:
    """Raise an error before any work if the folder for the reports cannot be made."""
    for place in (output, *output.parents):
        if place.exists():
            if not place.is_dir():
                raise ValueError(f"{place} is a file, not a folder; choose another --output.")
            return


def two_kinds_of_fraud() -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Draw 10,000 rows, half to learn from and half to test on; about 5 % are frauds.

    Six standard normal columns; 70 % of the frauds are moved one way and the others another.
    """
    rng = np.random.default_rng(0)
    X, fraud = rng.normal(size=(10_000, 6)), rng.random(10_000) < 0.05
    first_kind = rng.random(10_000) < 0.7
    X[fraud & first_kind] += [1, -0.5, 0.8, 0.5, 0, 0]
    X[fraud & ~first_kind] += [-1.5, 3, 0, 0, 1.5, 0]
    y = fraud.astype(np.intp)
    parts: Any = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    return tuple(parts)


def _models() -> dict[str, Any]:
    """Make the baseline, two rivals and three of our models.

    The stack has fewer folds than by default, and boosting smaller trees, which are better here. Every
    seed is 0.
    """
    return {
        _BASE: LogisticRegression(),
        "histogram boosting": HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=0),
        "random forest": RandomForestClassifier(random_state=0, n_jobs=2),
        "AUMClassifier": AUMClassifier(max_iter=200, tol=1e-2),
        "PartialAUCClassifierCV": PartialAUCClassifierCV(FPR_RANGE, n_jobs=2, random_state=0),
        "RegionStack": RegionStack(FPR_RANGE, cv=3, n_jobs=2, random_state=0),
    }


def _scores(model: Any, X: FloatArray) -> FloatArray:
    if isinstance(model, RandomForestClassifier):
        return np.asarray(model.predict_proba(X)[:, 1])
    return np.asarray(model.decision_function(X))


def _measured(name: str, y: IntArray, scores: dict[str, FloatArray]) -> dict[str, Any]:
    """Measure a model in the region, and its difference to logistic regression, with intervals."""
    score, base = scores[name], scores[_BASE]
    interval = score_interval("partial_auc", y, score, fpr_range=FPR_RANGE, random_state=0)
    other = compare_scores("partial_auc", y, score, base, fpr_range=FPR_RANGE, random_state=0)
    return {
        "model": name,
        "partial_auc": asdict(interval),
        "found": float(tpr_at_fpr_score(y, score, fpr=FPR_RANGE[1])),
        "against_logistic": None if score is base else asdict(other.pair),
    }


def _promised(
    X_train: FloatArray, y_train: IntArray, X_test: FloatArray, y_test: IntArray
) -> dict[str, Any]:
    """Set a threshold whose rate of false alarms is promised, and try it on the test rows."""
    model = PartialAUCClassifierCV(FPR_RANGE, n_jobs=2, random_state=0)
    alarm = FixedFPRClassifier(model, max_fpr=FPR_RANGE[1], random_state=0).fit(X_train, y_train)
    flagged = alarm.predict(X_test) == 1
    return {
        "promise": alarm.promise_,
        "false_alarms": float(flagged[y_test == 0].mean()),
        "found": float(flagged[y_test == 1].mean()),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    found = f"found at {FPR_RANGE[1]:.0%}"
    print(f"{'':24}{'pAUC and its interval':24}{found:15}difference to {_BASE}")
    for row in rows:
        here, other = row["partial_auc"], row["against_logistic"]
        spread = f"{here['value']:.2f} [{here['low']:.2f}, {here['high']:.2f}]"
        line = f"{row['model']:24}{spread:24}{row['found']:<15.0%}"
        if other is not None:
            line += f"{other['difference']:+.2f} [{other['low']:+.2f}, {other['high']:+.2f}]"
        print(line.rstrip())


def _print_promise(promise: dict[str, Any]) -> None:
    print(f"\n{promise['promise']}")
    print(
        f"On the test rows: {promise['false_alarms']:.2%} false alarms, {promise['found']:.0%} of the "
        "frauds found (PartialAUCClassifierCV with FixedFPRClassifier)."
    )


def _write_report(
    model: Any, X: FloatArray, y: IntArray, scores: dict[str, FloatArray], name: str, path: Path
) -> None:
    page = classifier_report(
        model,
        ScoredSample(y, scores[name], scores[_BASE]),
        fpr_range=FPR_RANGE,
        X=X,
        feature_names=[f"column {number}" for number in range(1, X.shape[1] + 1)],
        title=f"{name} on two kinds of fraud",
        labels=("honest", "fraud"),
    )
    write_page(page, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train, compare and report on generated rows.")
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    words = parser.parse_args()
    try:
        main(words.output, as_json=words.json, open_report=words.open)
    except ValueError as error:
        parser.error(str(error))
