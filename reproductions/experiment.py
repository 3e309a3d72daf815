"""One experiment: cells that are computed one by one, a table and a figure made from their rows."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproductions.tables import write_signed

Cell = tuple[Any, ...]
Row = dict[str, Any]

SIZES = ("full", "quick", "tiny")
RESULTS = Path(__file__).parent / "results"
# Finished cells of interrupted runs; never committed.
PROGRESS = Path(__file__).parent / ".progress"


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    reproduces : str
        Paper, section, table or figure.
    data, optional : tuple of str
        Folders of the data directory that it needs, and those that it reads where they are.
    settings : mapping
        One object with the sizes of the protocol per entry of `SIZES`: "full" is what is committed,
        "quick" takes less than two minutes, "tiny" a few seconds.
    cells : callable
        The keys of all cells for given settings. A cell is the unit that an interrupt cannot halve.
    compute : callable
        The rows of one cell, plain numbers and strings by column name. Rows must depend on the cell and
        the settings alone, so that an interrupted run continues with the same values.
    report : callable
        The text of the Markdown file from all rows, without its signature.
    tolerance : mapping
        How far a number of each column may be from the committed one when its cell is computed again:
        0 for counts and choices (the default), 1e-6 for what is deterministic, else the spread over
        paths of the solver. Times are not compared.
    draw : callable, optional
        A matplotlib figure from all rows.
    cheap : tuple, optional
        The cell that `check` computes again; the first by default.
    """

    reproduces: str
    settings: Mapping[str, Any]
    cells: Callable[[Any], Sequence[Cell]]
    compute: Callable[[Cell, Any], list[Row]]
    report: Callable[[list[Row], Any], str]
    tolerance: Mapping[str, float]
    draw: Callable[[list[Row]], Any] | None = None
    data: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    cheap: Cell | None = None


Listener = Callable[[int, int, str], None]


def run(
    name: str,
    experiment: Experiment,
    size: str,
    *,
    results: Path,
    progress: Path = PROGRESS,
    listen: Listener | None = None,
) -> Path:
    """Compute all cells, or those that an interrupted run has left, and write table and figure.

    Parameters
    ----------
    name : str
        Names the files: ``name.csv`` (all rows), ``name.md`` and, with a figure, ``name.png``.
    experiment : Experiment
    size : {"full", "quick", "tiny"}
    results, progress : Path
        Folders of the results and of the cells of interrupted runs.
    listen : callable, optional
        Called before each cell and after the last with the number done, the number of all and the cell.

    Returns
    -------
    Path
        The Markdown file.
    """
    settings = experiment.settings[size]
    cells = list(experiment.cells(settings))
    # Cells of other settings, such as those of an older version of the code, are never mixed in.
    mark = hashlib.sha256(repr((settings, cells)).encode()).hexdigest()[:12]
    kept = progress / f"{name}-{size}-{mark}.csv"
    rows = read_rows(kept) if kept.exists() else []
    done = {row["cell"] for row in rows}
    for number, cell in enumerate(cells):
        key = key_of(cell)
        if listen is not None:
            listen(number, len(cells), key)
        if key not in done:
            rows += [{"cell": key, **row} for row in experiment.compute(cell, settings)]
            _write(kept, rows)
    if listen is not None:
        listen(len(cells), len(cells), "")
    # Reports see what a file holds, so that a run in one piece and a resumed one cannot differ.
    table = results / f"{name}.csv"
    _write(table, rows)
    rows = read_rows(table)
    option = "" if size == "full" else f" --{size}"
    path = results / f"{name}.md"
    write_signed(path, experiment.report(rows, settings), f"reproductions {name}{option}")
    if experiment.draw is not None:
        experiment.draw(rows).savefig(path.with_suffix(".png"), dpi=110)
    kept.unlink(missing_ok=True)
    return path


def key_of(cell: Cell) -> str:
    """Name a cell in the files."""
    return " / ".join(map(str, cell))


def check(name: str, experiment: Experiment, *, results: Path = RESULTS) -> list[str]:
    """Compute the cheap cell of an experiment again; list what differs from the committed rows.

    Every number must be within the tolerance of its column, and every text the same.
    """
    settings = experiment.settings["full"]
    cell = experiment.cheap or experiment.cells(settings)[0]
    committed = [row for row in read_rows(results / f"{name}.csv") if row["cell"] == key_of(cell)]
    found = experiment.compute(cell, settings)
    if len(found) != len(committed):
        return [f"{key_of(cell)}: {len(found)} rows, committed are {len(committed)}"]
    differences = []
    for number, (new, old) in enumerate(zip(found, committed, strict=True)):
        for column in sorted({*new, *old} - {"cell"}):
            if not is_time(column) and not _agree(experiment, column, new, old):
                seen = f"{old.get(column)!r} committed, {new.get(column)!r} computed"
                differences.append(f"{key_of(cell)}, row {number}, {column}: {seen}")
    return differences


def is_time(column: str) -> bool:
    """Tell whether a column holds what is measured anew in every run."""
    return "seconds" in column or column.endswith("_ms")


def _agree(experiment: Experiment, column: str, new: Row, old: Row) -> bool:
    if column not in new or column not in old:
        return False
    one, other = new[column], old[column]
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return bool(abs(one - other) <= experiment.tolerance.get(column, 0))


def _write(path: Path, rows: list[Row]) -> None:
    """Replace a CSV file in one step: an interrupt leaves the old one or the new one."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text.getvalue(), encoding="utf-8")
    os.replace(new, path)


def read_rows(path: Path) -> list[Row]:
    """Read rows; text that is a number becomes one, an empty entry is left out."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {name: _value(text) for name, text in row.items() if text} | {"cell": row["cell"]}
            for row in csv.DictReader(file)
        ]


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
