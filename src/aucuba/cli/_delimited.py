"""Reading of csv and tsv files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from aucuba.cli import _table
from aucuba.cli._errors import TableError
from aucuba.cli._table import Table

if TYPE_CHECKING:
    from aucuba.cli._tables import Kept, TableFile

DELIMITERS = {"csv": ",", "tsv": "\t"}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
# What pandas takes for a missing value; columns that are kept as written have only the empty cell.
_MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)


def read_delimited(file: TableFile, kept: Kept) -> Table:
    """Read a whole file, opening it once."""
    with file.path.open("rb") as stored:
        return Table(pd.read_csv(stored, **_options(file, stored, kept)))


def delimited_chunks(file: TableFile, kept: Kept) -> Iterator[Table]:
    """Read a file in pieces; the position in the file as stored tells the progress."""
    size = file.path.stat().st_size
    with file.path.open("rb") as stored:
        options = _options(file, stored, kept)
        with pd.read_csv(stored, **options, chunksize=_table.CHUNK_ROWS) as frames:
            for frame in frames:
                yield Table(frame, progress=stored.tell() / size)


def refuse_repeated(names: Sequence[str], path: Path) -> None:
    """Raise an error for the first name that stands for two columns."""
    for name, times in Counter(names).items():
        if times > 1:
            raise TableError(f"{path} has the column {name!r} more than once; rename one.")


def _options(file: TableFile, stored: IO[bytes], kept: Kept) -> dict[str, Any]:
    """Build the options of `pandas.read_csv`, with the text of some columns kept."""
    # Without index_col=False pandas takes surplus fields of every row for row names, silently.
    options: dict[str, Any] = {
        "sep": file.delimiter or DELIMITERS[file.format],
        "low_memory": False,
        "index_col": False,
        "skipinitialspace": True,
        "encoding": file.encoding or "utf-8-sig",
        "compression": _COMPRESSIONS.get(file.path.suffix.lower()),
    }
    names = _header(file, stored, options)
    options["decimal"] = file.decimal
    options["dtype"] = dict.fromkeys([*kept.text, *kept.verbatim], str)
    if kept.verbatim:
        options["keep_default_na"] = False
        options["na_values"] = {
            name: [""] if name in kept.verbatim else list(_MISSING_WORDS) for name in names
        }
    return options


def _header(file: TableFile, stored: IO[bytes], options: dict[str, Any]) -> list[str]:
    """Read the names; a single name that holds another delimiter means a wrong delimiter."""
    row = pd.read_csv(
        stored, **options, header=None, nrows=1, dtype=str, keep_default_na=False
    ).iloc[0]
    stored.seek(0)
    names = [str(name) for name in row]
    refuse_repeated([name for name in names if name], file.path)
    if len(names) == 1:
        for other in (";", "\t", "|", ","):
            if other in names[0]:
                raise TableError(
                    f"{file.path} has one column {names[0][:60]!r} when split at "
                    f"{options['sep']!r}; try --delimiter {other!r}."
                )
    return names
