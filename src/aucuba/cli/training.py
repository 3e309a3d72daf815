"""``aucuba fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from aucuba._callbacks import HAS_CALLBACKS
from aucuba._validation import check_choice, check_fpr_range
from aucuba.cli.console import FitProgress, emit, grid, progress_bar
from aucuba.cli.options import (
    AsJson,
    DataFile,
    Delimiter,
    Format,
    FprRange,
    Group,
    Positive,
    Seed,
    Target,
    Weight,
)
from aucuba.cli.samples import Sample, training_sample
from aucuba.linear import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV
from aucuba.persistence import save_model
from aucuba.tables import TableFile

SURROGATES = ("direct", "tight", "structural", "aum")
_DEFAULT_RANGE = (0.0, 0.1)


def fit(
    data: DataFile,
    out: Annotated[Path, typer.Option(metavar="MODEL", help="The model file to write.")],
    target: Target = None,
    positive: Positive = None,
    fpr: FprRange = None,
    surrogate: Annotated[
        str, typer.Option(help="Loss: direct, tight, structural, or aum for the whole curve.")
    ] = "direct",
    cv: Annotated[
        int | None,
        typer.Option(
            help="Number of folds to choose everything by; 0: one fit with the given --C."
        ),
    ] = None,
    C: Annotated[
        float, typer.Option("--C", help="Weight of the loss against the penalty, for --cv 0.")
    ] = 1.0,
    group: Group = None,
    weight: Weight = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; repeatable.")
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a linear model for a range of false positive rates and save it.

    Text columns become categories and missing values are filled in; how is saved with the model.
    """
    check_choice(surrogate, "--surrogate", SURROGATES)
    fpr_range = check_fpr_range(_DEFAULT_RANGE if fpr is None else fpr, "--fpr")
    classifier = make_classifier(surrogate, fpr_range, cv, C, seed)
    file = TableFile.of(data, format, delimiter)
    with progress_bar(f"Reading {data.name}"):
        sample = training_sample(file, target, positive, weight, group, drop or [])
    if surrogate == "aum" and sample.group is not None:
        raise ValueError("--surrogate aum knows no queries; leave --group out or choose another.")
    model, baseline = _train(classifier, sample)
    metadata = _metadata(sample, fpr_range, surrogate)
    save_model(out, model, baseline=baseline, metadata=metadata)
    result = {"model": str(out), **metadata, "fit": fit_facts(model[-1])}
    emit(result, *_shown(result), as_json=as_json)


def make_classifier(
    surrogate: str, fpr_range: tuple[float, float], cv: int | None, C: float, seed: int
) -> Any:
    """The estimator that the options name."""
    if surrogate == "aum":
        return AUMClassifier()
    if cv == 0:
        return PartialAUCClassifier(fpr_range, surrogate=surrogate, C=C, random_state=seed)
    if cv is not None and cv < 2:
        raise ValueError(f"--cv must be 0 or at least 2, got {cv}.")
    return PartialAUCClassifierCV(fpr_range, surrogate=surrogate, cv=cv, random_state=seed)


def fit_facts(classifier: Any) -> dict[str, Any]:
    """Certificate and choices of a fitted classifier, those that it has."""
    names = ("status_", "n_iter_", "objective_", "lower_bound_", "gap_", "C_", "blend_")
    facts = {name[:-1]: vars(classifier)[name] for name in names if name in vars(classifier)}
    if vars(classifier).get("partial_auc_"):
        facts["partial_auc"] = classifier.partial_auc_
    return {"estimator": type(classifier).__name__, **facts}


def _train(classifier: Any, sample: Sample) -> tuple[Pipeline, LogisticRegression]:
    """The pipeline, and logistic regression on the same numbers."""
    preprocessing = sample.schema.preprocessing()
    fit_params: dict[str, Any] = {"sample_weight": sample.weight}
    if sample.group is not None:
        fit_params["qid"] = sample.group
    with progress_bar(f"Training {type(classifier).__name__}") as bar:
        X = preprocessing.fit_transform(sample.X)
        if HAS_CALLBACKS:
            classifier.set_callbacks(FitProgress(bar))
        try:
            classifier.fit(X, sample.y, **fit_params)
        finally:
            if HAS_CALLBACKS:
                classifier.set_callbacks()
        C = vars(classifier).get("C_", 1.0) if _is_direct(classifier) else 1.0
        baseline = LogisticRegression(C=C, max_iter=1000)
        baseline.fit(X, sample.y, sample_weight=sample.weight)
    return Pipeline([("features", preprocessing), ("classifier", classifier)]), baseline


def _is_direct(classifier: Any) -> bool:
    """Whether ``C_``, where there is one, was chosen for logistic regression."""
    return bool(classifier.get_params().get("surrogate") == "direct")


def _metadata(sample: Sample, fpr_range: tuple[float, float], surrogate: str) -> dict[str, Any]:
    return {
        "writer": "aucuba fit",
        "target": sample.roles.target,
        "positive": sample.labels.positive,
        "negative": sample.labels.negative,
        "fpr_range": list(fpr_range),
        "surrogate": surrogate,
        "weight": sample.roles.weight,
        "group": sample.roles.group,
        "schema": sample.schema.to_json(),
        "training": sample.summary(),
    }


def _shown(result: dict[str, Any]) -> list[Any]:
    training, facts = result["training"], result["fit"]
    low, high = result["fpr_range"]
    lines: list[Any] = [
        f"{training['rows']} rows, {training['positives']} positive "
        f"({result['target']} = {result['positive']}), {training['features']} columns"
    ]
    if result["surrogate"] == "aum":
        lines.append("Trained for the whole ROC curve (AUM)")
    else:
        lines.append(f"Trained for false positive rates in [{low:g}, {high:g}]")
    lines.append(facts["status"])
    if "partial_auc" in facts:
        table = grid("out-of-sample", "partial AUC")
        for name, value in facts["partial_auc"].items():
            table.add_row(name, f"{value:.4f}")
        lines.append(table)
    return [*lines, f"Model: {result['model']}"]
