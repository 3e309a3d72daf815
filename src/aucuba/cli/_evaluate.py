"""``aucuba evaluate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aucuba.cli._console import Grid, emit, progress_bar, signed_with_interval, with_interval
from aucuba.cli._operating_points import Point, measure_points, parse_points, points_grid
from aucuba.cli._options import (
    AsJson,
    At,
    Capacity,
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
    RegionOnly,
    SampleWeight,
    Target,
    Unknown,
    chance_level,
    chosen_range,
    lowest_tpr,
    refuse_given,
)

if TYPE_CHECKING:
    from aucuba.cli._scored_rows import ScoredFile


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
    region_only: RegionOnly = False,
    capacity: Capacity = None,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a model on labelled rows, against logistic regression on the same columns.

    The file is read in chunks, and of every row only two scores are kept; with --region-only, only the
    rows at the top.
    """
    from aucuba.cli._record import load_fitted
    from aucuba.cli._scored_rows import ScoredFile
    from aucuba.cli._tables import TableFile

    points = parse_points(at or [])
    if region_only:
        refuse_given("needs all scores, which --region-only does not keep", at=at or None)
    else:
        refuse_given("is for --region-only", capacity=capacity)
    saved, record = load_fitted(model)
    limits = chosen_range(fpr_range, max_fpr, record.fpr_range)
    lowest = lowest_tpr(min_tpr, record.min_tpr)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    roles: dict[str, Any] = {"target": target, "sample_weight": sample_weight, "qid": qid}
    with progress_bar(f"Evaluating {model.name}") as bar:
        bar.total(1.0)
        scored = ScoredFile(saved, record, file, bar.reach, **roles, unknown=unknown)
        if region_only:
            measured = _measure_region(scored, limits, lowest, capacity)
        else:
            measured = _measure_all(scored, limits, lowest, points, random_state)
    result = {"model": str(model), "fpr_range": list(limits), "min_tpr": lowest, **measured}
    shown = _shown_region(result) if region_only else _shown(result)
    emit(result, *shown, as_json=as_json)


def _measure_all(
    scored: ScoredFile,
    fpr_range: tuple[float, float],
    min_tpr: float,
    points: list[Point],
    random_state: int,
) -> dict[str, Any]:
    """Measure the range and the whole curve on all rows, in pairs with logistic regression."""
    from aucuba.cli._scored_rows import ScoredRows
    from aucuba.metrics import compare_scores, score_interval, tpr_at_fpr_score

    table = ScoredRows.from_file(scored)
    regions = {}
    measured = {"partial_auc": (fpr_range, min_tpr), "auc": ((0.0, 1.0), 0.0)}
    for name, region in measured.items():
        options: dict[str, Any] = {"fpr_range": region[0], "min_tpr": region[1]}
        options |= {"random_state": random_state, **table.weight_and_query}
        interval = score_interval("partial_auc", table.y, table.score, **options)
        comparison = compare_scores("partial_auc", table.y, table.score, table.base, **options)
        other = {"against_logistic": asdict(comparison.pair), "chance": chance_level(*region)}
        regions[name] = asdict(interval) | other
    tpr = tpr_at_fpr_score(table.y, table.score, fpr=fpr_range[1], **table.weight_and_query)
    return {
        "data": table.summary,
        **regions,
        "tpr_at_fpr": {"fpr": fpr_range[1], "tpr": tpr},
        "operating_points": measure_points(
            points, table.y, table.score, table.rows.weight, random_state
        ),
    }


def _measure_region(
    scored: ScoredFile, fpr_range: tuple[float, float], min_tpr: float, capacity: int | None
) -> dict[str, Any]:
    """Measure the range alone, on sketches of the scores."""
    from aucuba.cli._scored_rows import SketchedRows

    table = SketchedRows.from_file(scored, fpr_range, capacity)
    score, base = table.score, table.base
    return {
        "data": table.summary,
        "partial_auc": asdict(score.interval(min_tpr=min_tpr))
        | {"chance": chance_level(fpr_range, min_tpr)},
        "logistic": asdict(base.interval(min_tpr=min_tpr)),
        "tpr_at_fpr": {
            "fpr": fpr_range[1],
            "tpr": score.tpr_at_fpr(),
            "threshold": score.threshold(),
        },
        "covered_fpr": score.covered_fpr,
    }


def _shown_region(result: dict[str, Any]) -> list[Any]:
    low, high = result["fpr_range"]
    grid = Grid("", "value [95 %]", "chance", "logistic regression [95 %]")
    grid.add_line(
        f"pAUC[{low:g}, {high:g}]",
        with_interval(result["partial_auc"]),
        f"{result['partial_auc']['chance']:.4f}",
        with_interval(result["logistic"]),
    )
    at = result["tpr_at_fpr"]
    grid.add_line(f"TPR at FPR {at['fpr']:g}", f"{at['tpr']:.4f}", f"{at['fpr']:.4f}")
    kept = f"Known up to FPR {result['covered_fpr']:.4g}; score from {at['threshold']:.6g}"
    return [_counts(result["data"]), grid, kept]


def _counts(data: dict[str, Any]) -> str:
    return f"{data['rows']} rows, {data['positives']} positive, from {data['file']}"


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
    lines: list[Any] = (
        [points_grid(result["operating_points"])] if result["operating_points"] else []
    )
    return [_counts(result["data"]), grid, *lines]
