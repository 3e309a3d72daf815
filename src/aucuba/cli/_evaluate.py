"""``aucuba evaluate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aucuba.cli._console import Grid, emit, progress_bar, signed_with_interval, with_interval
from aucuba.cli._operating_points import measure_points, parse_points, points_grid
from aucuba.cli._options import (
    AsJson,
    At,
    DataFile,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    FprRange,
    MaxFpr,
    MinTpr,
    ModelFile,
    Qid,
    RandomState,
    SampleWeight,
    Target,
    Unknown,
    chance_level,
    chosen_range,
    lowest_tpr,
)


def evaluate(
    model: ModelFile,
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
    at: At = None,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a model on labelled rows, against logistic regression on the same columns."""
    from aucuba.cli._record import load_fitted
    from aucuba.cli._samples import evaluation_table
    from aucuba.cli._tables import TableFile
    from aucuba.metrics import compare_partial_auc, partial_auc_interval, tpr_at_fpr_score

    points = parse_points(at or [])
    saved, record = load_fitted(model)
    low, high = chosen_range(fpr_range, max_fpr, record.fpr_range)
    lowest = lowest_tpr(min_tpr, record.min_tpr)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    roles: dict[str, Any] = {"target": target, "sample_weight": sample_weight, "qid": qid}
    with progress_bar(f"Evaluating {model.name}"):
        table = evaluation_table(saved, record, file, **roles, unknown=unknown)
        score = saved.model.decision_function(table.X)
        base = saved.baseline.decision_function(table.X)
        regions = {}
        measured = {"partial_auc": ((low, high), lowest), "auc": ((0.0, 1.0), 0.0)}
        for name, region in measured.items():
            options: dict[str, Any] = {"fpr_range": region[0], "min_tpr": region[1]}
            options |= {"random_state": random_state, **table.weight_and_query}
            interval = partial_auc_interval(table.y, score, **options)
            comparison = compare_partial_auc(table.y, score, base, **options)
            other = {"against_logistic": asdict(comparison), "chance": chance_level(*region)}
            regions[name] = asdict(interval) | other
        tpr = tpr_at_fpr_score(table.y, score, fpr=high, **table.weight_and_query)
        weight = table.weight_and_query.get("sample_weight")
        found = measure_points(points, table.y, score, weight, random_state)
    result = {
        "model": str(model),
        "data": table.summary(),
        "fpr_range": [low, high],
        "min_tpr": lowest,
        **regions,
        "tpr_at_fpr": {"fpr": high, "tpr": tpr},
        "operating_points": found,
    }
    emit(result, *_shown(result), as_json=as_json)


def _shown(result: dict[str, Any]) -> list[Any]:
    low, high = result["fpr_range"]
    grid = Grid("", "value [95 %]", "chance", "logistic regression", "difference [95 %]", "p-value")
    for key, name in {"partial_auc": f"pAUC[{low:g}, {high:g}]", "auc": "AUC"}.items():
        other = result[key]["against_logistic"]
        grid.add_line(
            name,
            with_interval(result[key]),
            f"{result[key]['chance']:.4f}",
            f"{other['values'][1]:.4f}",
            signed_with_interval(other),
            f"{other['p_value']:.3g}",
        )
    at = result["tpr_at_fpr"]
    grid.add_line(f"TPR at FPR {at['fpr']:g}", f"{at['tpr']:.4f}", f"{at['fpr']:.4f}")
    data = result["data"]
    lines: list[Any] = (
        [points_grid(result["operating_points"])] if result["operating_points"] else []
    )
    return [f"{data['rows']} rows, {data['positives']} positive, from {data['file']}", grid, *lines]
