"""Rates at the model's own threshold, and at points such as ``--at fpr=0.001 --at auc_at_k:k=100``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from inspect import signature
from typing import Any

from aucuba import metrics
from aucuba._base._tables import count_text
from aucuba._roc._flagged import MIXED, RATE_NAMES, FlaggedRows, StatedLimit, stated_limits
from aucuba._roc._prevalence import prevalence_text
from aucuba.cli._console import Grid, print_note, with_interval
from aucuba.cli._labelled_rows import ScoredFile, ScoredRows
from aucuba.cli._options import Range
from aucuba.threshold import FalseDiscoverySelector

# A limit with its value, or a measure with its parameters.
Point = tuple[str, Any]
_NAMES = {"fpr": "fpr", "tpr": "tpr", "recall": "tpr", "precision": "precision", "k": "k"}
# By the limit of an operating point: the measure that gets an interval there, and its name.
_MEASURED_AT = {
    "fpr": ("tpr_at_fpr", "TPR"),
    "tpr": ("fpr_at_tpr", "FPR"),
    "precision": ("recall_at_precision", "recall"),
    "k": ("precision_at_k", "precision"),
}


def parse_points(given: Sequence[str]) -> list[Point]:
    """Read limits such as ``fpr=0.01`` and measures such as ``auc_at_k:k=100``."""
    return [_measure(text) or _limit(text) for text in given]


def _measure(text: str) -> Point | None:
    """Read ``MEASURE`` or ``MEASURE:NAME=VALUE,...``; None where no measure is named."""
    name, _, rest = (part.strip() for part in text.partition(":"))
    # Every measure except the rate at a fixed threshold is a function of this name.
    if name != "rate_at_threshold" and not hasattr(metrics, f"{name}_score"):
        return None
    pairs = [one.partition("=") for one in rest.split(",") if one.strip()]
    return name, {key.strip(): _value(value.strip()) for key, _, value in pairs}


def _limit(text: str) -> Point:
    """Read ``NAME=VALUE``."""
    name, _, value = text.partition("=")
    known = _NAMES.get(name.strip())
    try:
        number = float(value)
    except ValueError:
        known = None
    if known is None:
        raise ValueError(
            "--at takes fpr=, tpr= (or recall=), precision= or k= with a number, or a measure with its "
            f"parameters, got {text!r}; for example --at fpr=0.01 or --at auc_at_k:k=100."
        )
    return known, int(number) if known == "k" and number.is_integer() else number


def _value(text: str) -> Any:
    """Read a number, a range such as ``0-0.05``, true, false, or a word."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float, _range):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition("-")
    return float(low), float(high)


def measure_points(
    points: Sequence[Point], table: ScoredRows, random_state: int, target: Range | None
) -> list[dict[str, Any]]:
    """Compute every measure with an interval; for a limit also its threshold and rates.

    Those that depend on the prevalence are computed at the ``target``, if there is one.
    """
    rows: list[dict[str, Any]] = []
    weight: dict[str, Any] = {"sample_weight": table.rows.weight}
    for name, given in points:
        measure, params, row = name, given, {"at": {name: given}, "rate": name}
        if name in _MEASURED_AT:
            params = {name: given}
            measure, row["rate"] = _MEASURED_AT[name]
            row |= asdict(
                metrics.operating_point(
                    table.y, table.score, target_prevalence=target, **weight, **params
                )
            )
        options = {**weight, "random_state": random_state, **params}
        if target is not None and _depends_on_prevalence(measure):
            options.setdefault("target_prevalence", target)
        interval = metrics.score_interval(measure, table.y, table.score, **options)
        limits = {one: getattr(interval, one) for one in ("value", "low", "high")}
        rows.append({**row, **limits})
    return rows


def _depends_on_prevalence(measure: str) -> bool:
    return "target_prevalence" in signature(getattr(metrics, f"{measure}_score")).parameters


def own_threshold(scored: ScoredFile, target: Range | None) -> dict[str, Any]:
    """Compute the rates of a file that was read at the model's own threshold, the score 0.

    A selector has no threshold; its rates are those of the file as one batch. Every limit that the
    threshold was set for, or promises, gets a verdict at its own prevalence; a note names the limits
    that these rows violate. Rates are those at the ``target`` prevalence, or else at that of the limit.
    """
    rows, limits = scored.flagged, stated_limits(scored.saved.model[-1])
    selects = isinstance(scored.saved.model[-1], FalseDiscoverySelector)
    for one in limits:
        if one.verdict(rows) == "violated":
            print_note(_violation(one, rows, scored))
    own = {one.rate: one.target for one in limits}
    return {
        "threshold": None if selects else 0.0,
        "n_flagged": rows.n_flagged,
        "target_prevalence": target,
        **{name: asdict(rows.rate(name, target or own.get(name))) for name in RATE_NAMES},
        "limits": [{**asdict(one), "verdict": one.verdict(rows)} for one in limits],
    }


def _violation(limit: StatedLimit, rows: FlaggedRows, scored: ScoredFile) -> str:
    measured = with_interval(asdict(rows.rate(limit.rate, limit.target)))
    title, file = RATE_NAMES[limit.rate], scored.file.path.name
    return f"VIOLATED: {title} is {measured} on {file} ({limit})."


def threshold_grid(own: dict[str, Any]) -> Grid:
    """Show the rates at the model's own threshold, with the verdict on each limit."""
    where = "selected as one batch" if own["threshold"] is None else "at the model's threshold"
    grid = Grid(where, "on these rows [95 %]", "limit", "verdict")
    limits = {one["rate"]: one for one in own["limits"]}
    for name, title in RATE_NAMES.items():
        known, limit, verdict = own[name], "", ""
        if own["target_prevalence"] is not None and name in MIXED:
            title += f" at prevalence {prevalence_text(own['target_prevalence'])}"
        if name in limits:
            stated = {key: value for key, value in limits[name].items() if key != "verdict"}
            limit, verdict = str(StatedLimit(**stated)), limits[name]["verdict"]
        empty = math.isnan(known["value"])
        value = "no rows" if empty else with_interval(known)
        grid.add_line(title, value, limit, "VIOLATED" if verdict == "violated" else verdict)
    return grid


def points_grid(rows: Sequence[dict[str, Any]]) -> Grid:
    """Show operating points as a table, with the name of a model where rows have one."""
    names = ["model"] * any("model" in row for row in rows)
    grid = Grid(*names, "at", "score from", "FPR", "TPR", "precision", "flagged", "95 % interval")
    for row in rows:
        model = [row["model"] for _ in names]
        ((name, limit),) = row["at"].items()
        interval = f"{row['rate']} {with_interval(row)}"
        if "threshold" not in row:
            given = ", ".join(f"{key} = {value}" for key, value in limit.items())
            grid.add_line(*model, given, "", "", "", "", "", interval)
            continue
        rates = (f"{row[rate]:.4f}" for rate in ("fpr", "tpr", "precision"))
        threshold, flagged = f"{row['threshold']:.6g}", count_text(row["n_flagged"])
        grid.add_line(*model, f"{name} = {limit:g}", threshold, *rates, flagged, interval)
    return grid
