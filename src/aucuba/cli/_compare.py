"""``aucuba compare``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aucuba.cli._console import Grid, emit, progress_bar, signed_with_interval, with_interval
from aucuba.cli._options import (
    AsJson,
    DataFile,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    FprRange,
    MaxFpr,
    MinTpr,
    Qid,
    RandomState,
    SampleWeight,
    Target,
    Unknown,
    chance_level,
    chosen_range,
    lowest_tpr,
)

if TYPE_CHECKING:
    from aucuba.cli._record import FitRecord
    from aucuba.cli._samples import LabelledTable

_Models = Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Two or more model files.")]


def compare(
    models: _Models,
    data: DataFile,
    target: Target = None,
    fpr_range: FprRange = None,
    max_fpr: MaxFpr = None,
    min_tpr: MinTpr = None,
    qid: Qid = None,
    sample_weight: SampleWeight = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Compare models on the same labelled rows; differences are to the first model, paired.

    All models must have been trained for the same target, positive label and queries.
    """
    from aucuba.cli._record import load_fitted
    from aucuba.cli._samples import evaluation_table
    from aucuba.cli._tables import TableFile

    if len(models) < 2:
        raise ValueError("compare needs at least two models and then DATA.")
    fitted = {path: load_fitted(path) for path in models}
    _refuse_different_samples({p: record for p, (_, record) in fitted.items()}, target, qid)
    trained = fitted[models[0]][1]
    region: dict[str, Any] = {
        "fpr_range": chosen_range(fpr_range, max_fpr, trained.fpr_range),
        "min_tpr": lowest_tpr(min_tpr, trained.min_tpr),
    }
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    roles: dict[str, Any] = {"target": target, "sample_weight": sample_weight, "qid": qid}
    rows: list[dict[str, Any]] = []
    first: Any = None
    with progress_bar("Comparing") as bar:
        bar.total(len(models))
        for path in models:
            saved, record = fitted[path]
            table = evaluation_table(saved, record, file, **roles, unknown=unknown)
            score = saved.model.decision_function(table.X)
            first = score if first is None else first
            measured = _compared(table, score, first, region, random_state)
            rows.append({"model": str(path), **measured})
            bar.advance()
    chance = chance_level(**region)
    result = {"data": str(data), **region, "chance": chance, "models": rows}
    low, high = region["fpr_range"]
    title = f"pAUC[{low:g}, {high:g}], chance {chance:.4f}"
    emit(result, _shown(rows, title), as_json=as_json)


def _refuse_different_samples(
    records: Mapping[Path, FitRecord], target: str | None, qid: str | None
) -> None:
    """All models are measured on one sample, so what defines it must be the same in all."""
    defining: list[tuple[str, str | None, Callable[[FitRecord], str | None], str]] = [
        ("positive label", None, lambda record: record.labels.key, ""),
        ("target", target, lambda record: record.target, " Give --target."),
        ("queries", qid, lambda record: record.qid, " Give --qid."),
    ]
    for name, given, value_of, remedy in defining:
        values = {path: value_of(record) for path, record in records.items()}
        if given is None and len(set(values.values())) > 1:
            shown = ", ".join(f"{path} has {value or 'none'}" for path, value in values.items())
            raise ValueError(f"The models differ in their {name}: {shown}.{remedy}")


def _compared(
    table: LabelledTable,
    score: Any,
    first: Any,
    region: Mapping[str, Any],
    random_state: int,
) -> dict[str, Any]:
    from aucuba.metrics import compare_scores, partial_auc_score, score_interval

    rows = table.weight_and_query
    options = {**region, "random_state": random_state, **rows}
    return {
        "partial_auc": asdict(score_interval("partial_auc", table.y, score, **options)),
        "auc": partial_auc_score(table.y, score, **rows),
        "against_first": asdict(
            compare_scores("partial_auc", table.y, score, first, **options).pair
        ),
    }


def _shown(rows: list[dict[str, Any]], title: str) -> Grid:
    grid = Grid("model", title, "AUC", "difference", "p-value")
    for index, row in enumerate(rows):
        other = row["against_first"]
        grid.add_line(
            Path(row["model"]).name,
            with_interval(row["partial_auc"]),
            f"{row['auc']:.4f}",
            "" if index == 0 else signed_with_interval(other),
            "" if index == 0 else f"{other['p_value']:.3g}",
        )
    return grid
