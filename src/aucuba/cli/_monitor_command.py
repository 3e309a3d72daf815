"""``aucuba monitor``."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._files import check_place, written_atomically
from aucuba._base._typing import BoolArray
from aucuba.cli._console import Grid, emit
from aucuba.cli._formats import Kept
from aucuba.cli._options import MonitorOptions, spelled_as_option
from aucuba.cli._roles import Labels, as_texts
from aucuba.threshold import RateMonitor

_SETTINGS = ("limit", "rate", "confidence", "average_run_length")


def run(options: MonitorOptions) -> None:
    """Check a promised rate on the batches of a file."""
    watched, state = _monitor(options), options.state
    if state is not None:
        check_place(state, options.data)
    file, columns = options.file(), (options.target, options.flag, options.batch, options.groups)
    table = file.read(Kept(verbatim=tuple(name for name in columns if name is not None)))

    def is_positive(name: str, option: str) -> BoolArray:
        texts = as_texts(table.column(name, option))
        # Labels are equal by value: 1 and 1.0.
        return Labels(options.pos_label, tuple(texts.unique())).is_positive(texts)

    flagged = is_positive(options.flag, "--flag")
    positive = None if watched.rate == "alerts" else is_positive(options.target, "--target")
    group, batch = None, np.full(table.n_rows, file.path.name, dtype=object)
    if options.groups is not None:
        group = as_texts(table.column(options.groups, "--groups")).to_numpy()
    if options.batch is not None:
        batch = as_texts(table.column(options.batch, "--batch")).to_numpy()
    shown = []
    for name in dict.fromkeys(batch):
        rows = np.flatnonzero(batch == name)
        watched.update(
            None if positive is None else positive[rows],
            flagged[rows],
            groups=None if group is None else group[rows],
        )
        shown.append({"batch": name, **watched.history[-1]})
    if state is not None:
        with written_atomically(state) as draft:
            draft.write_text(watched.to_json() + "\n", encoding="utf-8")
    result = {"status": watched.status, "changed": watched.changed, "batches": shown}
    emit(result, _grid(shown), repr(watched), as_json=options.json)


def _monitor(options: MonitorOptions) -> RateMonitor:
    """Restore the monitor of the state file, or make one of the options."""
    asked = {name: getattr(options, name) for name in _SETTINGS}
    given = {name: value for name, value in asked.items() if value is not None}
    state = options.state
    if state is None or not state.exists():
        if "limit" not in given:
            raise ValueError("--limit is needed: the rate that was promised, such as 0.05.")
        return RateMonitor(**given)
    restored = RateMonitor.from_json(state.read_text(encoding="utf-8"))
    for name, value in given.items():
        if getattr(restored, name) != value:
            raise ValueError(
                f"{spelled_as_option(name)} {value} differs from {getattr(restored, name)} in {state}; "
                "leave it out, or begin another state file."
            )
    return restored


def _grid(shown: list[dict[str, Any]]) -> Grid:
    grid = Grid("batch", "counted", "observed", "interval", "status", "changed")
    for row in shown:
        observed = "" if row["observed"] is None else f"{row['observed']:.4f}"
        interval = f"[{row['lower']:.4f}, {row['upper']:.4f}]"
        changed = "yes" if row["changed"] else "no"
        grid.add_line(
            row["batch"], str(row["n_counted"]), observed, interval, row["status"], changed
        )
    return grid
