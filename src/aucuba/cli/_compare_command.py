"""The command ``aucuba compare``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aucuba._base._tables import p_text
from aucuba._base._typing import FloatArray
from aucuba.cli._command_options import CompareOptions
from aucuba.cli._console import Grid, emit, progress_bar, signed_with_interval, with_interval
from aucuba.cli._fit_record import FitRecord, chance_level, load_fitted
from aucuba.cli._labelled_rows import ScoredFile, ScoredRows
from aucuba.cli._operating_points import (
    measure_points,
    own_threshold,
    parse_points,
    points_grid,
)
from aucuba.metrics import compare_scores, partial_auc_score, score_interval


def run(options: CompareOptions) -> None:
    """Compare models on the same labelled rows."""
    points, target = parse_points(options.at or []), options.prevalence
    if len(options.models) < 2:
        raise ValueError("compare needs at least two model files, then DATA.")
    fitted = {path: load_fitted(path) for path in options.models}
    _refuse_different_samples({path: record for path, (_, record) in fitted.items()}, options)
    trained = fitted[options.models[0]][1]
    region: dict[str, Any] = {
        "fpr_range": options.chosen_range(trained.fpr_range),
        "min_tpr": options.lowest_tpr(trained.min_tpr),
    }
    rows: list[dict[str, Any]] = []
    first: FloatArray | None = None
    with progress_bar("Comparing", len(options.models)) as bar:
        for path in options.models:
            scored = ScoredFile(*fitted[path], options)
            table = ScoredRows.from_file(scored)
            first = table.score if first is None else first
            params = {**region, "random_state": options.random_state, **table.weight_and_query}
            interval = score_interval("partial_auc", table.y, table.score, **params)
            comparison = compare_scores("partial_auc", table.y, table.score, first, **params)
            row = {
                "model": str(path),
                "partial_auc": asdict(interval),
                "auc": partial_auc_score(table.y, table.score, **table.weight_and_query),
                "against_first": asdict(comparison.pair),
                "own_threshold": own_threshold(scored, target),
                "operating_points": measure_points(points, table, options.random_state, target),
            }
            if table.by is not None:
                found = compare_scores(
                    "partial_auc", table.y, table.score, first, by=table.by, **params
                )
                row["by_segment"] = [asdict(one) for one in found]
            rows.append(row)
            bar.advance()
    chance = chance_level(**region)
    result = {"data": str(options.data), **region, "chance": chance, "models": rows}
    low, high = region["fpr_range"]
    title = f"pAUC[{low:g}, {high:g}], chance {chance:.4f}"
    at = [
        {"model": Path(row["model"]).name, **one} for row in rows for one in row["operating_points"]
    ]
    shown = [_thresholds(rows), "", _shown(rows, title), *(["", points_grid(at)] if at else [])]
    if options.by is not None:
        shown += ["", _segments_shown(rows)]
    emit(result, *shown, as_json=options.json)


def _refuse_different_samples(records: Mapping[Path, FitRecord], options: CompareOptions) -> None:
    """Refuse models whose columns would define different samples."""
    defining: list[tuple[str, str | None, Callable[[FitRecord], str | None], str]] = [
        ("positive label", None, lambda record: record.labels.key, ""),
        ("target", options.target, lambda record: record.target, " Give --target."),
        ("queries", options.qid, lambda record: record.qid, " Give --qid."),
    ]
    for name, given, value_of, remedy in defining:
        values = {path: value_of(record) for path, record in records.items()}
        if given is None and len(set(values.values())) > 1:
            shown = ", ".join(f"{path} has {value or 'none'}" for path, value in values.items())
            raise ValueError(f"The models differ in their {name}: {shown}.{remedy}")


def _thresholds(rows: list[dict[str, Any]]) -> Grid:
    """Show the rates of every model at its own threshold."""
    grid = Grid("at its threshold", "flagged", "FPR [95 %]", "TPR [95 %]", "limits")
    for row in rows:
        own = row["own_threshold"]
        verdicts = [f"{one['rate']} {one['verdict']}" for one in own["limits"]]
        rates = (with_interval(own[name]) for name in ("fpr", "tpr"))
        name, flagged = Path(row["model"]).name, f"{own['n_flagged']:g}"
        grid.add_line(name, flagged, *rates, ", ".join(verdicts))
    return grid


def _segments_shown(rows: list[dict[str, Any]]) -> Grid:
    """Show the lead of every model over the first, by segment."""
    grid = Grid("model", "segment", "rows", "positives", "difference [95 % jointly]", "p-value")
    for row in rows[1:]:
        for one in row["by_segment"]:
            grid.add_line(
                Path(row["model"]).name,
                *(str(one[key]) for key in ("segment", "n_rows", "n_positives")),
                "no value" if math.isnan(one["difference"]) else signed_with_interval(one),
                p_text(one["p_value"]),
            )
    return grid


def _shown(rows: list[dict[str, Any]], title: str) -> Grid:
    grid = Grid("model", title, "AUC", "difference", "p-value")
    for index, row in enumerate(rows):
        other = row["against_first"]
        grid.add_line(
            Path(row["model"]).name,
            with_interval(row["partial_auc"]),
            f"{row['auc']:.4f}",
            *([signed_with_interval(other), p_text(other["p_value"])] if index else ["", ""]),
        )
    return grid
