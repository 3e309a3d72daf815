"""``aucuba monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aucuba.cli._console import Grid, emit
from aucuba.cli._options import AsJson, DataFile, Decimal, Delimiter, Encoding, Format

if TYPE_CHECKING:
    from aucuba.threshold import RateMonitor

_Limit = Annotated[
    float | None,
    typer.Option(help="The promised limit, such as 0.05.", show_default="that of --state"),
]
_Rate = Annotated[
    str | None,
    typer.Option(help="What was promised: fpr, tpr, precision or alerts.", show_default="fpr"),
]
_Target = Annotated[str, typer.Option(metavar="COLUMN", help="Column of true labels.")]
_Flag = Annotated[str, typer.Option(metavar="COLUMN", help="Column of predicted labels.")]
_PosLabel = Annotated[
    str, typer.Option("--pos-label", "--positive", metavar="LABEL", help="The positive label.")
]
_Batch = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Rows of one value are one batch, such as a day."),
]
_Groups = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Groups, such as patients: each counts once per batch."),
]
_State = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="Go on from this file if it exists, and write it."),
]
_Confidence = Annotated[
    float | None,
    typer.Option(help="One less the chance of a false alarm, ever.", show_default="0.95"),
]
_RunLength = Annotated[
    float | None,
    typer.Option(
        "--average-run-length",
        help="Counted rows between false signals of a change, at least, on average.",
        show_default="100000",
    ),
]


def monitor(
    data: DataFile,
    limit: _Limit = None,
    rate: _Rate = None,
    target: _Target = "y",
    flag: _Flag = "predicted",
    pos_label: _PosLabel = "1",
    batch: _Batch = None,
    groups: _Groups = None,
    state: _State = None,
    confidence: _Confidence = None,
    average_run_length: _RunLength = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Check a promised rate on labelled rows as they come, batch after batch.

    broken: the rate exceeded its limit (false in at most 5 % of all streams, over any number of looks).
    ok: a constant rate lies within it. changed: it has risen, after a good history.
    """
    from aucuba._base._files import check_place, written_atomically
    from aucuba.cli._tables import Kept, TableFile

    watched = _monitor(
        state,
        limit=limit,
        rate=rate,
        confidence=confidence,
        average_run_length=average_run_length,
    )
    if state is not None:
        check_place(state, data)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    verbatim = tuple(name for name in (target, flag, batch, groups) if name is not None)
    table = file.read(Kept(verbatim=verbatim))
    needs_labels = watched.rate != "alerts"
    flagged = _is_positive(table.column(flag, "--flag"), pos_label)
    positive = _is_positive(table.column(target, "--target"), pos_label) if needs_labels else None
    group = None if groups is None else _names(table.column(groups, "--groups"))
    names = [file.path.name] * table.n_rows
    if batch is not None:
        names = _names(table.column(batch, "--batch"))
    shown = _update(watched, names, positive, flagged, group)
    if state is not None:
        with written_atomically(state) as draft:
            draft.write_text(watched.to_json() + "\n", encoding="utf-8")
    result = {"status": watched.status, "changed": watched.changed, "batches": shown}
    emit(result, _grid(shown), repr(watched), as_json=as_json)


def _monitor(state: Path | None, **given: Any) -> RateMonitor:
    """Restore the monitor of the state file, or make one of the options."""
    from aucuba.threshold import RateMonitor

    given = {name: value for name, value in given.items() if value is not None}
    if state is None or not state.exists():
        if "limit" not in given:
            raise ValueError("--limit is needed: the rate that was promised, such as 0.05.")
        return RateMonitor(**given)
    restored = RateMonitor.from_json(state.read_text(encoding="utf-8"))
    for name, value in given.items():
        if getattr(restored, name) != value:
            raise ValueError(
                f"--{name.replace('_', '-')} {value} differs from {getattr(restored, name)} in "
                f"{state}; leave it out, or begin another state file."
            )
    return restored


def _update(
    watched: RateMonitor, names: list[str], positive: Any, flagged: Any, group: Any
) -> list[dict[str, Any]]:
    """Feed the batches in the order in which they first appear."""
    import numpy as np

    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows_of.setdefault(name, []).append(row)
    shown = []
    for name, rows in rows_of.items():
        part = np.array(rows)
        watched.update(
            None if positive is None else positive[part],
            flagged[part],
            groups=None if group is None else np.array(group)[part],
        )
        shown.append({"batch": name, **watched.history[-1]})
    return shown


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


def _is_positive(column: Any, pos_label: str) -> Any:
    """Mark the rows of a label, whatever its spelling (1 or 1.0); missing ones are an error."""
    import pandas as pd

    from aucuba.cli._labels import Labels

    texts = pd.Series(_names(column), name=column.name, dtype=object)
    return Labels(pos_label, tuple(texts.unique())).is_positive(texts)


def _names(column: Any) -> list[str]:
    from aucuba.cli._errors import TableError
    from aucuba.cli._labels import label_text

    missing = column.isna().to_numpy()
    if missing.any():
        raise TableError(
            f"The column {column.name!r} is missing in {missing.sum()} rows, the first of them row "
            f"{int(missing.argmax()) + 1}; leave these rows out."
        )
    return [label_text(value) for value in column.tolist()]
