"""Data files: their format, and reading them whole or in chunks.

Every file that cannot be read is answered by one `TableError` that names the file and the remedy.
"""

from __future__ import annotations

import codecs
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from aucuba._base._files import is_stream
from aucuba.cli._delimited import DELIMITERS, delimited_chunks, read_delimited
from aucuba.cli._errors import TableError
from aucuba.cli._readers import parquet_chunks, read_npz, read_parquet, read_svmlight
from aucuba.cli._table import Table

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


@dataclass(frozen=True)
class Kept:
    """What must not be guessed when a file is read.

    Parameters
    ----------
    text : tuple of str
        Columns of categories or dates: text, except for the usual words for missing values.
    verbatim : tuple of str
        Columns of labels or names: text as it stands in csv and tsv, missing only where the cell is
        empty, so that NA and 01 are what they say.
    first_index : int or None
        Index of the first feature of a svmlight file, 0 or 1. None looks for an index 0.
    """

    text: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    first_index: int | None = None


_GUESSED = Kept()


@dataclass(frozen=True)
class _Format:
    """How to read files of one format."""

    read: Callable[[TableFile, Kept], Table]
    remedy: str
    chunks: Callable[[TableFile, Kept], Iterator[Table]] | None = None


_SEPARATED = _Format(
    read_delimited, "check the file, or name its separator with --delimiter", delimited_chunks
)
FORMATS = {
    **dict.fromkeys(DELIMITERS, _SEPARATED),
    "parquet": _Format(
        lambda file, kept: read_parquet(file.path),
        "the file is damaged, cut short or not Parquet; write it again",
        lambda file, kept: parquet_chunks(file.path),
    ),
    "svmlight": _Format(
        lambda file, kept: read_svmlight(file.path, kept.first_index),
        "each row must read `label [qid:N] index:value ...`",
    ),
    "npz": _Format(
        lambda file, kept: read_npz(file.path),
        "the file is damaged, holds Python objects or is not npz; write it again with np.savez",
    ),
}


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
    >>> from aucuba.cli._tables import TableFile
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
        """Find the format from the name, ``data.csv.gz`` included, unless it is given."""
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
        return [str(name) for name in next(iter(self.chunks())).frame.columns]

    def read(self, kept: Kept = _GUESSED) -> Table:
        """Read the whole file."""
        with _errors_as_one_sentence(self):
            table = FORMATS[self.format].read(self, kept)
        if table.n_rows == 0:
            raise TableError(f"{self.path} has no rows.")
        return table

    def chunks(self, kept: Kept = _GUESSED) -> Iterator[Table]:
        """Read the file in pieces; csv, tsv and Parquet are never held in memory whole."""
        chunks = FORMATS[self.format].chunks
        n_rows = 0
        with _errors_as_one_sentence(self):
            pieces = iter([self.read(kept)]) if chunks is None else chunks(self, kept)
            for piece in pieces:
                n_rows += piece.n_rows
                yield piece
        if n_rows == 0:
            raise TableError(f"{self.path} has no rows.")


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a data file.")
    if str(path) == "-" or is_stream(path):
        raise TableError(
            f"{path} is not a file on disk, and data may be read more than once; save them first."
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
            # Rows longer than the header: pandas warns and cuts them, we refuse.
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
