"""The calibrations of a ledger over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._tables import html_table
from aucuba.report._page import Section, figures, paragraph
from aucuba.report._svg import Axes, padded, ticks
from aucuba.threshold import PromiseLedger

_CAPTION = (
    "Solid: the rows that set a threshold. Dashed: the days that its monitor watched. Dot: the first "
    "alarm."
)


def ledger_section(ledger: PromiseLedger) -> Section:
    """Draw the timeline of a ledger, and list its calibrations with what their monitors said."""
    title, key = "Calibrations over time", "ledger"
    said = paragraph(ledger.summary().partition("\n")[0])
    if not ledger.entries:
        return Section(key, title, said)
    rows, parts = [], []
    for k, (entry, monitor) in enumerate(zip(ledger.entries, ledger.monitors, strict=True), 1):
        days = [row["as_of"] for row in monitor.history]
        alarm = _first_alarm(monitor.history)
        rows.append(
            [
                str(k),
                f"{entry['first']} to {entry['last']}",
                f"{entry['n_rows']:,}",
                f"{float(entry['threshold']):.6g}",
                f"{entry['error']:.3g}",
                "yes" if entry["is_guaranteed"] else "no: reuses counted rows",
                f"{monitor.status}{', changed' if monitor.changed else ''}",
                "" if alarm is None else f"{alarm[1]}, {alarm[0]}",
            ]
        )
        parts.append((entry["first"], entry["last"], days, None if alarm is None else alarm[1]))
    header = ["calibration", "rows of", "rows", "threshold", "error", "guaranteed", "monitor"]
    body = figures((_timeline(parts), _CAPTION)) + html_table([*header, "first alarm"], rows)
    return Section(key, title, said + body)


def _first_alarm(history: list[dict[str, Any]]) -> tuple[str, Any] | None:
    """Return the first signal of a monitor and its day."""
    for row in history:
        if row["status"] == "broken" or row["changed"]:
            return ("broken" if row["status"] == "broken" else "changed"), row["as_of"]
    return None


def _timeline(parts: list[tuple[Any, Any, list[Any], Any]]) -> str:
    """Draw one line per calibration, the first on top; a day may be a date or a number."""
    dated = isinstance(parts[0][0], str)
    everything = [_number(day) for first, last, days, _ in parts for day in (first, last, *days)]
    axes = Axes(padded(everything), (-len(parts) - 0.5, -0.5), height=60.0 + 30.0 * len(parts))
    inside = ""
    for k, (first, last, days, alarm) in enumerate(parts, 1):
        inside += axes.path([_number(first), _number(last)], [-k, -k], "curve model")
        if days:
            watched = [_number(days[0]), _number(days[-1])]
            inside += axes.path(watched, [-k, -k], "curve baseline")
        if alarm is not None:
            inside += axes.dots(_number(alarm), -k, "dot", 4.5)
    marks, numbers = ticks(*axes.x, 3), range(1, len(parts) + 1)
    return axes.picture(
        "date" if dated else "day",
        "calibration",
        inside,
        "Timeline of the calibrations and their monitors",
        x_ticks=marks,
        x_text=[str(np.datetime64(int(one), "D")) for one in marks] if dated else None,
        y_ticks=[-k for k in numbers],
        y_text=[str(k) for k in numbers],
    )


def _number(day: Any) -> float:
    return float(np.datetime64(day, "D").astype(np.int64)) if isinstance(day, str) else float(day)
