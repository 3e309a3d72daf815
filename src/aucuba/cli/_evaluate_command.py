"""The command ``aucuba evaluate``."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from aucuba._base._tables import p_text
from aucuba.cli._command_options import EvaluateOptions
from aucuba.cli._console import Grid, emit, progress_bar, signed_with_interval, with_interval
from aucuba.cli._fit_record import chance_level, load_fitted
from aucuba.cli._labelled_rows import ScoredFile, ScoredRows, SketchedRows
from aucuba.cli._operating_points import (
    measure_points,
    own_threshold,
    parse_points,
    points_grid,
    threshold_grid,
)
from aucuba.cli._options import Range
from aucuba.metrics import compare_scores, largest_gap, score_interval, tpr_at_fpr_score


def run(options: EvaluateOptions) -> None:
    """Measure a model on labelled rows."""
    points, target = parse_points(options.at or []), options.prevalence
    if options.region_only:
        options.refuse("needs all scores, which --region-only does not keep", "at", "by")
    else:
        options.refuse("is for --region-only", "capacity")
    saved, record = load_fitted(options.model)
    fpr_range = options.chosen_range(record.fpr_range)
    min_tpr = options.lowest_tpr(record.min_tpr)
    with progress_bar(f"Evaluating {options.model.name}", 1.0) as bar:
        scored = ScoredFile(saved, record, options, bar.reach)
        if options.region_only:
            sketched = SketchedRows.from_file(scored, fpr_range, options.capacity)
            measured = _measured_region(sketched, fpr_range, min_tpr)
        else:
            table, seed = ScoredRows.from_file(scored), options.random_state
            measured = _measured_all(table, fpr_range, min_tpr, seed)
            measured["operating_points"] = measure_points(points, table, seed, target)
            if table.by is not None:
                params = {"fpr_range": fpr_range, "min_tpr": min_tpr, "random_state": seed}
                measured["segments"] = _by_segment(table, params)
    own = {"own_threshold": own_threshold(scored, target)}
    region = {"fpr_range": list(fpr_range), "min_tpr": min_tpr}
    result = {"model": str(options.model), **own, **region, **measured}
    emit(result, *_shown(result, record.labels.positive), as_json=options.json)


def _measured_all(
    table: ScoredRows, fpr_range: Range, min_tpr: float, random_state: int
) -> dict[str, Any]:
    """Measure the range and the whole curve on all rows, in pairs with logistic regression."""
    measured: dict[str, Any] = {"data": table.summary}
    for name, region in (("partial_auc", (fpr_range, min_tpr)), ("auc", ((0.0, 1.0), 0.0))):
        params: dict[str, Any] = {"fpr_range": region[0], "min_tpr": region[1]}
        params |= {"random_state": random_state, **table.weight_and_query}
        comparison = compare_scores("partial_auc", table.y, table.score, table.base, **params)
        measured[name] = {
            **asdict(score_interval("partial_auc", table.y, table.score, **params)),
            "against_logistic": asdict(comparison.pair),
            "chance": chance_level(*region),
        }
    tpr = tpr_at_fpr_score(table.y, table.score, fpr=fpr_range[1], **table.weight_and_query)
    return {**measured, "tpr_at_fpr": {"fpr": fpr_range[1], "tpr": tpr}}


def _by_segment(table: ScoredRows, params: dict[str, Any]) -> dict[str, Any]:
    """Measure the range in every segment, and test whether segments differ."""
    options = {**params, **table.weight_and_query, "by": table.by}
    found = score_interval("partial_auc", table.y, table.score, **options)
    result: dict[str, Any] = {"rows": [asdict(one) for one in found]}
    measurable = sum(one.method != "none" for one in found)
    if measurable > 1:
        options.pop("qid")
        result["largest_gap"] = asdict(largest_gap("partial_auc", table.y, table.score, **options))
    return result


def _segments_shown(result: dict[str, Any]) -> list[Any]:
    grid = Grid("segment", "rows", "positives", "range [95 % jointly]")
    for one in result["rows"]:
        shown = "no value" if math.isnan(one["value"]) else with_interval(one)
        grid.add_line(str(one["name"]), f"{one['n_rows']}", f"{one['n_positives']}", shown)
    lines = ["", grid]
    if "largest_gap" in result:
        gap = result["largest_gap"]
        first, second = gap["segments"]
        lines.append(
            f"Largest gap: {first} - {second}, {gap['difference']:+.4f}; p-value of no gap "
            f"{p_text(gap['p_value'])}"
        )
    return lines


def _measured_region(table: SketchedRows, fpr_range: Range, min_tpr: float) -> dict[str, Any]:
    """Measure the range alone, on sketches of the scores."""
    score, chance = table.score, chance_level(fpr_range, min_tpr)
    # The interval comes first: it needs the most rows, and the sketch's error says how many.
    interval = asdict(score.interval(min_tpr=min_tpr))
    at = {"fpr": fpr_range[1], "tpr": score.tpr_at_fpr(), "threshold": score.threshold()}
    return {
        "data": table.summary,
        "partial_auc": {**interval, "chance": chance},
        "logistic": asdict(table.base.interval(min_tpr=min_tpr)),
        "tpr_at_fpr": at,
        "covered_fpr": score.covered_fpr,
    }


def _shown(result: dict[str, Any], positive: Any) -> list[Any]:
    """Show the counts, the model's own threshold, the measures and then the operating points."""
    low, high = result["fpr_range"]
    data, at = result["data"], result["tpr_at_fpr"]
    is_sketch = "logistic" in result
    pair = ["logistic regression", "difference [95 %]", "p-value"]
    grid = Grid(
        *("", "value [95 %]", "chance"), *(["logistic regression [95 %]"] if is_sketch else pair)
    )
    for key, name in {"partial_auc": f"pAUC[{low:g}, {high:g}]", "auc": "AUC"}.items():
        if key in result:
            own = result[key]
            rival = [with_interval(result["logistic"])] if is_sketch else _compared(own)
            grid.add_line(name, with_interval(own), f"{own['chance']:.4f}", *rival)
    grid.add_line(f"TPR at FPR {at['fpr']:g}", f"{at['tpr']:.4f}", f"{at['fpr']:.4f}")
    counts = f"{data['rows']} rows, {data['positives']} positive ({positive}), from {data['file']}"
    lines = [counts, threshold_grid(result["own_threshold"]), "", grid]
    if is_sketch:
        lines.append(
            f"Known up to FPR {result['covered_fpr']:.4g}; score from {at['threshold']:.6g}"
        )
    elif result["operating_points"]:
        lines += ["", points_grid(result["operating_points"])]
    if "segments" in result:
        lines += _segments_shown(result["segments"])
    return lines


def _compared(measured: dict[str, Any]) -> list[str]:
    other = measured["against_logistic"]
    return [f"{other['values'][1]:.4f}", signed_with_interval(other), p_text(other["p_value"])]
