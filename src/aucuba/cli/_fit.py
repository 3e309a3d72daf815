"""``aucuba fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from aucuba._core._callbacks import HAS_CALLBACKS
from aucuba._core._files import check_place
from aucuba._core._validation import check_choice, check_fpr_range, check_positive_number
from aucuba.cli._console import FitProgress, emit, grid, progress_bar
from aucuba.cli._options import (
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
from aucuba.cli._record import FitRecord
from aucuba.cli._samples import Sample, training_sample
from aucuba.cli._tables import TableFile
from aucuba.cli._wording import in_options
from aucuba.ensemble import RegionStack
from aucuba.linear import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV
from aucuba.persistence import save_model

SURROGATES = ("direct", "tight", "structural", "aum")
_DEFAULT_RANGE = (0.0, 0.1)


def fit(
    data: DataFile,
    out: Annotated[Path, typer.Option(metavar="MODEL", help="The model file to write.")],
    target: Target = None,
    positive: Positive = None,
    fpr: FprRange = None,
    kind: Annotated[
        str,
        typer.Option("--model", help="linear, or stack: several models together, slow and strong."),
    ] = "linear",
    surrogate: Annotated[
        str | None,
        typer.Option(
            help="Loss of a linear model: direct, tight, structural, or aum for the whole curve.",
            show_default="direct",
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            metavar="FOLDS",
            help="Folds to choose everything by; 0: one fit with --C.",
            show_default="5, and 10 halvings",
        ),
    ] = None,
    C: Annotated[
        float | None,
        typer.Option(
            "--C", help="Weight of the loss against the penalty, for --cv 0.", show_default="1"
        ),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(
            help="Most iterations of a fit.",
            show_default="1000; 100 for aum and a single direct fit",
        ),
    ] = None,
    group: Group = None,
    weight: Weight = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; repeatable.")
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of categories that look like numbers."),
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model for a range of false positive rates and save it.

    Text columns become categories and missing values are filled in; how is saved with the model.
    """
    fpr_range = check_fpr_range(_DEFAULT_RANGE if fpr is None else fpr, "--fpr")
    if check_choice(kind, "--model", ("linear", "stack")) == "stack":
        classifier = make_stack(fpr_range, cv, seed, surrogate=surrogate, C=C, max_iter=max_iter)
        surrogate = "stack"
    else:
        surrogate = check_choice(surrogate or "direct", "--surrogate", SURROGATES)
        classifier = make_classifier(surrogate, fpr_range, cv, C, max_iter, seed)
    check_place(out, data)
    file = TableFile.of(data, format, delimiter)
    with progress_bar(f"Reading {data.name}"):
        sample = training_sample(
            file,
            target=target,
            positive=positive,
            weight=weight,
            group=group,
            dropped=drop or [],
            categories=category or [],
        )
    if surrogate in ("aum", "stack") and sample.group is not None:
        option = "--surrogate aum" if surrogate == "aum" else "--model stack"
        raise ValueError(f"{option} knows no queries; leave --group out or choose another.")
    if surrogate == "stack" and sample.schema.n_features is not None:
        raise ValueError("--model stack needs named columns, not svmlight; use --model linear.")
    if cv:
        _check_folds(cv, sample)
    model, baseline = _train(classifier, sample)
    record = FitRecord(
        sample.roles.target,
        sample.labels,
        fpr_range,
        surrogate,
        sample.roles.weight,
        sample.roles.group,
        sample.schema,
        sample.summary(),
    )
    save_model(out, model, baseline=baseline, metadata=record.to_json())
    result = {"model": str(out), **record.to_json(), "fit": fit_facts(model[-1])}
    emit(result, *_shown(record, result["fit"]), f"Model: {out}", as_json=as_json)


def make_classifier(
    surrogate: str,
    fpr_range: tuple[float, float],
    cv: int | None,
    C: float | None,
    max_iter: int | None,
    seed: int,
) -> Any:
    """The estimator that the options name; an option without effect on it is an error."""
    if cv is not None and (cv < 0 or cv == 1):
        raise ValueError(f"--cv must be 0 or at least 2, got {cv}.")
    if C is not None:
        check_positive_number(C, "--C")
        if cv != 0 or surrogate == "aum":
            raise ValueError(
                "--C is for a single fit: give --cv 0 with it and a --surrogate other than aum, or "
                "leave it out."
            )
    limit: dict[str, Any] = {}
    if max_iter is not None:
        limit["max_iter"] = int(check_positive_number(max_iter, "--max-iter", integer=True))
    if surrogate == "aum":
        if cv:
            raise ValueError("--surrogate aum has nothing to choose by --cv; leave --cv out.")
        return AUMClassifier(**limit)
    options: dict[str, Any] = {"surrogate": surrogate, "random_state": seed, **limit}
    if cv == 0:
        return PartialAUCClassifier(fpr_range, C=1.0 if C is None else C, **options)
    return PartialAUCClassifierCV(fpr_range, cv=cv, **options)


def make_stack(
    fpr_range: tuple[float, float], cv: int | None, seed: int, **linear_only: Any
) -> RegionStack:
    """A stack with its default members; an option of linear models is an error."""
    given = [
        f"--{name.replace('_', '-')}" for name, value in linear_only.items() if value is not None
    ]
    if given:
        raise ValueError(f"{given[0]} is for --model linear; leave it out for a stack.")
    if cv is not None and cv < 2:
        raise ValueError(f"--cv must be at least 2 for a stack, got {cv}.")
    return RegionStack(fpr_range, cv=5 if cv is None else cv, random_state=seed)


def fit_facts(classifier: Any) -> dict[str, Any]:
    """Certificate and choices of a fitted classifier, those that it has."""
    names = ("status_", "n_iter_", "objective_", "lower_bound_", "gap_", "C_", "blend_")
    facts = {name[:-1]: vars(classifier)[name] for name in names if name in vars(classifier)}
    if vars(classifier).get("partial_auc_"):
        facts["partial_auc"] = classifier.partial_auc_
    if isinstance(classifier, RegionStack):
        facts["partial_auc"] = {row["member"]: row["partial_auc"] for row in classifier.report_}
    return {"estimator": type(classifier).__name__, **facts}


def _train(classifier: Any, sample: Sample) -> tuple[Pipeline, LogisticRegression]:
    """The pipeline, and logistic regression on the same numbers."""
    preprocessing = sample.schema.preprocessing()
    if isinstance(classifier, RegionStack):
        preprocessing.set_params(sparse_threshold=0.0)
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


def _check_folds(cv: int, sample: Sample) -> None:
    """Every fold needs a row of each class, or a query."""
    if sample.group is None:
        n_units, units = int(np.bincount(sample.y).min()), "rows in the smaller class"
    else:
        n_units, units = int(np.unique(sample.group).size), "queries"
    if cv > n_units:
        raise ValueError(f"--cv {cv} needs at least {cv} {units}; there are {n_units}.")


def _shown(record: FitRecord, facts: dict[str, Any]) -> list[Any]:
    training = record.training
    low, high = record.fpr_range
    lines: list[Any] = [
        f"{training['rows']} rows, {training['positives']} positive "
        f"({record.target} = {record.labels.positive}), {record.schema.described()}"
    ]
    if record.surrogate == "aum":
        lines.append("Trained for the whole ROC curve (AUM)")
    else:
        # Not "trained on": with few negatives the loss covers more than this, and a note says so.
        lines.append(f"Meant for false positive rates in [{low:g}, {high:g}]")
    if "status" in facts:
        lines.append(in_options(facts["status"]))
    if "partial_auc" in facts:
        table = grid("out-of-sample", "partial AUC")
        for name, value in facts["partial_auc"].items():
            table.add_row(name, f"{value:.4f}")
        lines.append(table)
    return lines
