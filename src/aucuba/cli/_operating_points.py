"""Operating points of ``aucuba evaluate``: ``--at fpr=0.001 --at k=100``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from aucuba.cli._console import Grid

_NAMES = {"fpr": "fpr", "tpr": "tpr", "recall": "tpr", "precision": "precision", "k": "k"}
# What is uncertain at a point with the given limit: the measure, and its parameter.
_MEASURES = {
    "fpr": ("tpr_at_fpr", "fpr", "TPR"),
    "tpr": ("fpr_at_tpr", "tpr", "FPR"),
    "precision": ("recall_at_precision", "precision", "recall"),
    "k": ("precision_at_k", "k", "precision"),
}


def parse_points(given: Sequence[str]) -> list[tuple[str, float]]:
    """Read ``NAME=VALUE`` pairs."""
    points = []
    for text in given:
        name, _, value = text.partition("=")
        known = _NAMES.get(name.strip())
        try:
            number = float(value)
        except ValueError:
            known = None
        if known is None:
            raise ValueError(
                f"--at takes fpr=, tpr= (or recall=), precision= or k= with a number, got {text!r}; "
                "for example --at fpr=0.01."
            )
        points.append((known, number))
    return points


def measure_points(
    points: Sequence[tuple[str, float]],
    y: Any,
    score: Any,
    sample_weight: Any,
    random_state: int,
) -> list[dict[str, Any]]:
    """Find the threshold of every point, what it does, and an interval of its rate."""
    from aucuba.metrics import operating_point, score_interval

    rows = []
    for name, limit in points:
        value: Any = int(limit) if name == "k" and limit.is_integer() else limit
        point = operating_point(y, score, sample_weight=sample_weight, **{name: value})
        metric, parameter, rate = _MEASURES[name]
        interval = score_interval(
            metric,
            y,
            score,
            sample_weight=sample_weight,
            random_state=random_state,
            **{parameter: value},
        )
        rows.append({"at": {name: value}, **asdict(point), "rate": rate, **_limits(interval)})
    return rows


def _limits(interval: Any) -> dict[str, Any]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def points_grid(rows: Sequence[dict[str, Any]]) -> Grid:
    """Show operating points as a table."""
    grid = Grid("at", "score from", "FPR", "TPR", "precision", "flagged", "95 % interval")
    for row in rows:
        ((name, limit),) = row["at"].items()
        grid.add_line(
            f"{name} = {limit:g}",
            f"{row['threshold']:.6g}",
            f"{row['fpr']:.4f}",
            f"{row['tpr']:.4f}",
            f"{row['precision']:.4f}",
            f"{row['n_flagged']:g}",
            f"{row['rate']} {row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]",
        )
    return grid
