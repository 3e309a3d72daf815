"""Data files: their format, and reading them whole or in chunks.

A file that cannot be read raises one `TableError`, which names the file and the remedy.
"""

from __future__ import annotations

import codecs
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from aucuba._base._files import is_stream
from aucuba.cli._console import TableError
from aucuba.cli._formats import DELIMITERS, FORMATS, Kept, Table

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
_DELIMITER_WORDS = {"\\t": "\t", "tab": "\t"}
_GUESSED = Kept()


@dataclass(frozen=True)
class TableFile:
    """A data file with its format.

    Parameters
    ----------
    path : Path
    format : str
        One of `FORMATS`.
    delimiter : str or None
        Separator of csv and tsv; None is the format's own.
    decimal : str
        Decimal point of csv and tsv.
    encoding : str or None
        Encoding of csv and tsv; None is UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucuba.cli._table_file import TableFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.csv"
    ...     _ = path.write_text("a,y\\n1.5,0\\n2.5,1\\n")
    ...     table = TableFile.from_options(path).read()
    >>> list(table.frame.columns), table.n_rows
    (['a', 'y'], 2)
    """

    path: Path
    format: str
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None

    @classmethod
    def from_options(
        cls,
        path: Path,
        format: str | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> TableFile:
        """Find the format from a name such as ``data.csv.gz``, unless it is given."""
        _check_path(path)
        if format is None:
            suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
            format = _SUFFIXES.get(suffixes[-1] if suffixes else "")
        if format not in FORMATS:
            raise TableError(
                f"The format of {path.name} is not known from its name; give --format with one of "
                f"{', '.join(FORMATS)}."
            )
        if delimiter is not None:
            delimiter = _DELIMITER_WORDS.get(delimiter, delimiter)
            if len(delimiter) != 1:
                raise TableError(f"--delimiter must be one character or tab, got {delimiter!r}.")
        if decimal is not None:
            separator = delimiter or DELIMITERS.get(format)
            if len(decimal) != 1 or decimal == separator:
                raise TableError(
                    f"--decimal must be one character other than the separator {separator!r}, got "
                    f"{decimal!r}; perhaps --delimiter ';' is missing."
                )
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise TableError(
                    f"--encoding {encoding} is not known; common ones are utf-8, latin-1 and cp1252."
                ) from None
        return cls(path, format, delimiter, decimal or ".", encoding)

    def names(self) -> list[str]:
        """List the columns, from the first piece of the file."""
        return next(iter(self.chunks())).names

    def read(self, kept: Kept = _GUESSED, *, may_be_empty: bool = False) -> Table:
        """Read the whole file."""
        (table,) = self._tables(kept, whole=True, may_be_empty=may_be_empty)
        return table

    def chunks(self, kept: Kept = _GUESSED) -> Iterator[Table]:
        """Read the file in pieces; csv, tsv and Parquet are never held in memory whole."""
        return self._tables(kept, whole=False)

    def _tables(self, kept: Kept, whole: bool, may_be_empty: bool = False) -> Iterator[Table]:
        n_rows = 0
        with _errors_as_one_sentence(self):
            for piece in FORMATS[self.format].tables(self, kept, whole):
                piece.frame.index = pd.RangeIndex(n_rows, n_rows + piece.n_rows)
                n_rows += piece.n_rows
                yield piece
        if n_rows == 0 and not may_be_empty:
            raise TableError(f"{self.path} has no rows.")


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a data file.")
    if str(path) == "-" or is_stream(path):
        raise TableError(
            f"{path} is not a file on disk, but data may be read more than once; save them to a file."
        )
    if not path.is_file():
        raise TableError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty.")


@contextmanager
def _errors_as_one_sentence(file: TableFile) -> Iterator[None]:
    """Turn whatever a parser raises into a `TableError`."""
    known: Any = (
        *(ValueError, OSError, EOFError, KeyError, OverflowError),
        *(zipfile.BadZipFile, Warning),
    )
    try:
        with warnings.catch_warnings():
            # pandas only warns about rows longer than the header, and cuts them.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except TableError:
        raise
    except UnicodeError:
        raise TableError(
            f"{file.path} is not {(file.encoding or 'UTF-8')} text; name its encoding with "
            "--encoding, such as latin-1."
        ) from None
    except known as error:
        reason = " ".join(str(error).split())[:160].rstrip(".")
        remedy = FORMATS[file.format].remedy
        raise TableError(
            f"{file.path} cannot be read as {file.format} ({reason}); {remedy}."
        ) from error
