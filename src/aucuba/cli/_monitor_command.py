"""The command ``aucuba monitor``."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._dates import as_times
from aucuba._base._files import check_place, only_writer, written_atomically
from aucuba._base._typing import AnyArray
from aucuba._base._validation import check_choice
from aucuba._roc._flagged import stated_limits
from aucuba.cli._command_options import MonitorOptions
from aucuba.cli._console import Grid, emit
from aucuba.cli._fit_record import load_fitted
from aucuba.cli._formats import Kept, Table
from aucuba.cli._options import spelled_as_option
from aucuba.cli._roles import as_texts, label_text, split_names
from aucuba.threshold import RateMonitor

_SETTINGS = (
    *("limit", "rate", "confidence", "average_run_length", "label_horizon", "unlabelled"),
    "ok_window",
)
_LATE = ("label_time", "as_of", "late_labels")
# Labels, flags and groups, as `RateMonitor` takes them.
_Rows = tuple[Any, ...]


def run(options: MonitorOptions) -> None:
    """Check a promised rate on the batches of a file."""
    if options.model is not None:
        options = _with_model(options, options.model)
    # Report an unsuitable state before the file is read.
    watched, state = _monitor(options), options.state
    if state is not None:
        check_place(state, options.data)
    table = _read(options)
    with only_writer(state) if state is not None else contextlib.nullcontext():
        # Another process may have counted rows since.
        watched = _monitor(options)
        shown = _updated(watched, options, table)
        if state is not None:
            with written_atomically(state) as draft:
                draft.write_text(watched.to_json() + "\n", encoding="utf-8")
    said = {"status": watched.status, "reason": watched.reason, "changed": watched.changed}
    grid = _grid(shown, waits=watched.label_horizon is not None)
    emit({**said, "batches": shown}, grid, repr(watched), as_json=options.json)


def _with_model(options: MonitorOptions, path: Path) -> MonitorOptions:
    """Take from a model what the options leave out: its target, and for a new state its promise."""
    saved, record = load_fitted(path)
    promised = [one for one in stated_limits(saved.model[-1]) if one.promised and not one.target]
    is_new = options.state is None or not options.state.exists()
    if is_new and options.limit is None and len(promised) == 1:
        rate = {"alert_rate": "alerts"}.get(promised[0].rate, promised[0].rate)
        if options.rate in (None, rate):
            options = replace(options, limit=promised[0].limit, rate=rate)
    if "target" not in options.given:
        options = replace(options, target=record.target)
    return options


def _read(options: MonitorOptions) -> Table:
    named = (options.target, options.flag, options.batch, options.groups)
    columns = (*named, options.time, options.label_time)
    kept = Kept(verbatim=tuple(name for name in columns if name is not None))
    # Even on a day without rows, cohorts may mature or a change may be acknowledged.
    is_a_day = options.as_of is not None or options.acknowledge
    return options.file().read(kept, may_be_empty=is_a_day)


def _updated(watched: RateMonitor, options: MonitorOptions, table: Table) -> list[dict[str, Any]]:
    """Count the rows; return the monitor's summary after every batch."""
    if options.acknowledge:
        watched.acknowledge(options.as_of)
    group = None
    if options.groups is not None:
        group = as_texts(table.column(options.groups, "--groups")).to_numpy(dtype=str)
    rows = *_label_columns(table, options, watched), group
    if watched.label_horizon is not None:
        _update_cohorts(watched, options, table, rows)
        return [{"batch": options.file().path.name, **watched.summary()}]
    options.refuse("is for --label-horizon", *_LATE)
    return _update_batches(watched, options, table, rows)


def _label_columns(
    table: Table, options: MonitorOptions, watched: RateMonitor
) -> tuple[AnyArray | None, AnyArray]:
    """Read labels and flags; with a horizon, labels may be missing."""
    texts = {"--flag": as_texts(table.column(options.flag, "--flag"))}
    given = np.ones(table.n_rows, dtype=bool)
    if watched.rate != "alerts":
        target = table.column(options.target, "--target")
        if watched.label_horizon is not None:
            given = target.notna().to_numpy()
        texts["--target"] = as_texts(target[given])
    labels = watched.labels or ("0", "1")
    seen = {text for column in texts.values() for text in column.unique()} | _flat(labels)
    values = {option: _typed(column, seen) for option, column in texts.items()}
    positive = values.get("--target")
    if positive is not None and not given.all():
        found = np.full(table.n_rows, None, dtype=object)
        found[given] = positive
        positive = found
    return positive, values["--flag"]


def _update_batches(
    watched: RateMonitor, options: MonitorOptions, table: Table, rows: _Rows
) -> list[dict[str, Any]]:
    batch = _batches(options, table)
    shown = []
    for name in dict.fromkeys(batch if options.time is None else np.sort(batch)):
        own: Any = (None if one is None else one[batch == name] for one in rows)
        watched.update(*own)
        shown.append({"batch": name, **watched.summary()})
    return shown


def _batches(options: MonitorOptions, table: Table) -> AnyArray:
    """Return the batch of every row: its value in a column, the day or week of its time, or one."""
    if options.time is not None:
        options.refuse("does not go with --time, which makes the batches", "batch")
        every = check_choice(options.every or "day", "--every", ("day", "week"))
        texts = as_texts(table.column(options.time, "--time")).to_numpy(dtype=str)
        try:
            day = as_times(texts, np.zeros(texts.size, dtype=bool)).astype("datetime64[D]")
        except ValueError as error:
            raise ValueError(f"The column {options.time!r} for --time: {error}") from None
        if every == "day":
            return np.asarray(day.astype(str), dtype=object)
        iso = pd.DatetimeIndex(day).isocalendar()
        return np.array(
            [f"{year:04d}-W{week:02d}" for year, week in iso[["year", "week"]].to_numpy()]
        )
    if options.every is not None:
        raise ValueError("--every needs --time COLUMN, the times of the rows.")
    if options.batch is not None:
        return np.asarray(as_texts(table.column(options.batch, "--batch")), dtype=object)
    return np.full(table.n_rows, options.file().path.name, dtype=object)


def _update_cohorts(
    watched: RateMonitor, options: MonitorOptions, table: Table, rows: _Rows
) -> None:
    options.refuse("does not go with --label-horizon, which counts by --every", "batch")
    if options.time is None or options.as_of is None:
        raise ValueError("--label-horizon needs --time COLUMN and --as-of DATE.")
    event = as_texts(table.column(options.time, "--time")).to_numpy(dtype=str)
    made = None
    if options.label_time is not None:
        column = table.column(options.label_time, "--label-time")
        # Rows without a label have no label time either.
        made = column.where(column.notna(), pd.Series(event)).astype(str).to_numpy(dtype=str)
    times = {"event_time": event, "as_of": options.as_of}
    if not options.late_labels:
        watched.update(*rows, label_time=made, **times)
        return
    if made is None:
        raise ValueError("--late-labels needs --label-time COLUMN.")
    watched.update_labels(*rows, label_time=made, **times)


def _monitor(options: MonitorOptions) -> RateMonitor:
    """Restore the monitor of the state file, or make one of the options."""
    asked = {name: getattr(options, name) for name in _SETTINGS}
    asked |= {"labels": _labels(options)}
    with contextlib.suppress(TypeError, ValueError):
        asked["average_run_length"] = float(asked["average_run_length"])
    given = {name: value for name, value in asked.items() if value is not None}
    state = options.state
    if state is None or not state.exists():
        if "limit" not in given:
            raise ValueError(
                "--limit is needed: the rate that was promised, such as 0.05, or the --model that "
                "promised it."
            )
        if "label_horizon" in given and options.every is not None:
            given["cohort"] = options.every
        return RateMonitor(**given)
    restored = RateMonitor.from_json(state.read_text(encoding="utf-8"))
    if restored.label_horizon is not None and options.every is not None:
        given["cohort"] = options.every
    for name, value in given.items():
        before, option = getattr(restored, name), "every" if name == "cohort" else name
        if before != value:
            raise ValueError(
                f"{spelled_as_option(option)} {value} differs from {before} in {state}; leave it out, "
                "or start a new state file."
            )
    return restored


def _labels(options: MonitorOptions) -> Any:
    """Return the labels that the options name, with the type of the columns; None if they name none."""
    if options.labels is None and options.model is None:
        return None
    if options.labels is not None and options.model is not None:
        raise ValueError("--labels and --model both name the labels; leave one of them out.")
    if options.model is not None:
        known = load_fitted(options.model)[1].labels
        # A model of one class against the others predicts "other".
        negative, positive = list(dict.fromkeys([*known.others, known.negative])), known.positive
    else:
        assert options.labels is not None
        negative, positive = split_names(options.labels[:1], []), options.labels[1]
    seen = {*negative, positive}
    typed = [_typed(pd.Series([one]), seen).tolist()[0] for one in (*negative, positive)]
    return (typed[0] if len(typed) == 2 else typed[:-1]), typed[-1]


def _flat(labels: tuple[Any, Any]) -> set[str]:
    """Return the labels of a pair as text."""
    listed = labels[0] if isinstance(labels[0], list) else [labels[0]]
    return {label_text(one) for one in (*listed, labels[1]) if one is not None}


def _typed(texts: pd.Series, seen: set[str]) -> AnyArray:
    """Convert texts to numbers and booleans if every text seen is one, else return text."""
    value = {text: _value(text) for text in seen}
    if any(isinstance(one, str) for one in value.values()):
        return np.asarray(texts, dtype=str)
    return np.array(texts.map(value).tolist())


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


def _grid(shown: list[dict[str, Any]], waits: bool) -> Grid:
    late = ("waiting", "late") if waits else ()
    grid = Grid("batch", "counted", *late, "observed", "interval", "status", "changed")
    for row in shown:
        observed = "" if row["observed"] is None else f"{row['observed']:.4f}"
        interval = f"[{row['lower']:.4f}, {row['upper']:.4f}]"
        changed = "yes" if row["changed"] else "no"
        counts = [row[f"n_{name}"] for name in ("counted", *late)]
        grid.add_line(row["batch"], *counts, observed, interval, row["status"], changed)
    return grid
