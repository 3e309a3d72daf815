"""``aucuba evaluate`` and ``aucuba compare``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from aucuba._core._typing import FloatArray
from aucuba._core._validation import check_fpr_range
from aucuba.cli._console import emit, grid, progress_bar
from aucuba.cli._options import (
    AsJson,
    DataFile,
    Delimiter,
    Format,
    FprRange,
    Group,
    ModelFile,
    Seed,
    Target,
    Unknown,
    Weight,
)
from aucuba.cli._record import FitRecord, load_fitted
from aucuba.cli._samples import Sample, evaluation_sample
from aucuba.cli._tables import TableFile
from aucuba.metrics import (
    compare_partial_auc,
    partial_auc_interval,
    partial_auc_score,
    tpr_at_fpr_score,
)
from aucuba.persistence import SavedModel


def evaluate(
    model: ModelFile,
    data: DataFile,
    target: Target = None,
    fpr: FprRange = None,
    group: Group = None,
    weight: Weight = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a model on labelled rows, against logistic regression on the same columns."""
    saved, record = load_fitted(model)
    fpr_range = check_fpr_range(record.fpr_range if fpr is None else fpr, "--fpr")
    file = TableFile.of(data, format, delimiter)
    with progress_bar(f"Evaluating {model.name}"):
        sample = evaluation_sample(
            saved, record, file, target=target, weight=weight, group=group, unknown=unknown
        )
        score = saved.model.decision_function(sample.X)
        base = baseline_scores(saved, sample)
        shared: dict[str, Any] = {"sample_weight": sample.weight, "qid": sample.group}
        regions = {}
        for name, region in (("partial_auc", fpr_range), ("auc", (0.0, 1.0))):
            options = {"fpr_range": region, "random_state": seed, **shared}
            interval = partial_auc_interval(sample.y, score, **options)
            comparison = compare_partial_auc(sample.y, score, base, **options)
            regions[name] = {**asdict(interval), "against_logistic": asdict(comparison)}
        tpr = tpr_at_fpr_score(sample.y, score, fpr=fpr_range[1], **shared)
    result = {
        "model": str(model),
        "data": sample.summary(),
        "fpr_range": list(fpr_range),
        **regions,
        "tpr_at_fpr": {"fpr": fpr_range[1], "tpr": tpr},
    }
    emit(result, *_evaluation_shown(result), as_json=as_json)


def compare(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL", help="Two or more model files.")],
    data: DataFile,
    target: Target = None,
    fpr: FprRange = None,
    group: Group = None,
    weight: Weight = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare models on the same labelled rows; differences are to the first model, paired.

    All models must have been trained for the same target, positive label and queries.
    """
    if len(models) < 2:
        raise ValueError("compare needs at least two models and then DATA.")
    fitted = [load_fitted(path) for path in models]
    records = {str(path): record for path, (_, record) in zip(models, fitted, strict=True)}
    _refuse_different_samples(records, target, group)
    fpr_range = check_fpr_range(fitted[0][1].fpr_range if fpr is None else fpr, "--fpr")
    file = TableFile.of(data, format, delimiter)
    rows: list[dict[str, Any]] = []
    first: FloatArray | None = None
    with progress_bar("Comparing") as bar:
        bar.total(len(models))
        for path, (saved, record) in zip(models, fitted, strict=True):
            sample = evaluation_sample(
                saved, record, file, target=target, weight=weight, group=group, unknown=unknown
            )
            score = saved.model.decision_function(sample.X)
            first = score if first is None else first
            rows.append({"model": str(path), **_compared(sample, score, first, fpr_range, seed)})
            bar.advance()
    result = {"data": str(data), "fpr_range": list(fpr_range), "models": rows}
    table = grid(
        "model", f"pAUC[{fpr_range[0]:g}, {fpr_range[1]:g}]", "AUC", "difference", "p-value"
    )
    for index, row in enumerate(rows):
        table.add_row(
            Path(row["model"]).name,
            _with_interval(row["partial_auc"]),
            f"{row['auc']:.4f}",
            "" if index == 0 else _signed(row["against_first"]),
            "" if index == 0 else f"{row['against_first']['p_value']:.3g}",
        )
    emit(result, table, as_json=as_json)


def baseline_scores(saved: SavedModel, sample: Sample) -> FloatArray:
    """Scores of the logistic regression that was saved with the model."""
    scores: FloatArray = saved.baseline.decision_function(saved.model[:-1].transform(sample.X))
    return scores


def _refuse_different_samples(
    records: Mapping[str, FitRecord], target: str | None, group: str | None
) -> None:
    """All models are measured on one sample, so what defines it must be the same in all."""
    defining: list[tuple[str, str | None, Callable[[FitRecord], str | None], str]] = [
        ("positive label", None, lambda record: record.labels.key, ""),
        ("target", target, lambda record: record.target, " Give --target."),
        ("queries", group, lambda record: record.group, " Give --group."),
    ]
    for name, given, value_of, remedy in defining:
        values = {path: value_of(record) for path, record in records.items()}
        if given is None and len(set(values.values())) > 1:
            shown = ", ".join(f"{path} has {value or 'none'}" for path, value in values.items())
            raise ValueError(f"The models differ in their {name}: {shown}.{remedy}")


def _compared(
    sample: Sample, score: Any, first: Any, fpr_range: tuple[float, float], seed: int
) -> dict[str, Any]:
    shared: dict[str, Any] = {"sample_weight": sample.weight, "qid": sample.group}
    options = {"fpr_range": fpr_range, "random_state": seed, **shared}
    return {
        "partial_auc": asdict(partial_auc_interval(sample.y, score, **options)),
        "auc": partial_auc_score(sample.y, score, **shared),
        "against_first": asdict(compare_partial_auc(sample.y, score, first, **options)),
    }


def _evaluation_shown(result: dict[str, Any]) -> list[Any]:
    low, high = result["fpr_range"]
    table = grid("", "value [95 %]", "logistic regression", "difference [95 %]", "p-value")
    names = {"partial_auc": f"pAUC[{low:g}, {high:g}]", "auc": "AUC"}
    for key, name in names.items():
        other = result[key]["against_logistic"]
        table.add_row(
            name,
            _with_interval(result[key]),
            f"{other['values'][1]:.4f}",
            _signed(other),
            f"{other['p_value']:.3g}",
        )
    at = result["tpr_at_fpr"]
    table.add_row(f"TPR at FPR {at['fpr']:g}", f"{at['tpr']:.4f}", "", "", "")
    data = result["data"]
    return [f"{data['rows']} rows, {data['positives']} positive, from {data['file']}", table]


def _with_interval(interval: dict[str, Any]) -> str:
    return f"{interval['value']:.4f} [{interval['low']:.4f}, {interval['high']:.4f}]"


def _signed(comparison: dict[str, Any]) -> str:
    return f"{comparison['difference']:+.4f} [{comparison['low']:+.4f}, {comparison['high']:+.4f}]"
