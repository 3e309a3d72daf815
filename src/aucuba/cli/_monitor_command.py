"""``aucuba monitor``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._files import check_place, written_atomically
from aucuba._base._typing import AnyArray
from aucuba.cli._console import Grid, emit
from aucuba.cli._fit_record import load_fitted
from aucuba.cli._formats import Kept
from aucuba.cli._options import MonitorOptions, spelled_as_option
from aucuba.cli._roles import as_texts, label_text, split_names
from aucuba.threshold import RateMonitor

_SETTINGS = ("limit", "rate", "confidence", "average_run_length")


def run(options: MonitorOptions) -> None:
    """Check a promised rate on the batches of a file."""
    watched, state = _monitor(options), options.state
    if state is not None:
        check_place(state, options.data)
    file, columns = options.file(), (options.target, options.flag, options.batch, options.groups)
    table = file.read(Kept(verbatim=tuple(name for name in columns if name is not None)))

    read = {"--flag": options.flag}
    if watched.rate != "alerts":
        read["--target"] = options.target
    texts = {option: as_texts(table.column(name, option)) for option, name in read.items()}
    labels = watched.labels or ("0", "1")
    seen = {text for column in texts.values() for text in column.unique()} | _flat(labels)
    values = {option: _typed(column, seen) for option, column in texts.items()}
    flagged, positive = values["--flag"], values.get("--target")
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
    asked["labels"] = _labels(options)
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


def _labels(options: MonitorOptions) -> Any:
    """Return the pair of labels of the options, typed as in the columns; None if none is named."""
    if options.labels is None and options.model is None:
        return None
    if options.labels is not None and options.model is not None:
        raise ValueError("--labels and --model both name the labels; leave one of the two out.")
    if options.model is not None:
        known = load_fitted(options.model)[1].labels
        # The predictions of a model of one class against the others say "other".
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
    """Return numbers and booleans if every text seen is one of the two, and text otherwise."""
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
