"""Data files to tables: CSV, TSV, Parquet, svmlight and npz, whole or in chunks.

Every reader answers a file that it cannot read with one `TableError` that names the file and the
remedy.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from aucuba._typing import AnyArray

# Large enough that parsing dominates the work for a chunk, small enough for a laptop's memory.
CHUNK_ROWS = 50_000

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
FORMATS = ("csv", "tsv", "parquet", "svmlight", "npz")
_DELIMITERS = {"csv": ",", "tsv": "\t"}


class TableError(ValueError):
    """A data file that cannot be used, in one sentence."""


@dataclass(frozen=True)
class Table:
    """Columns by name, or a sparse matrix with its labels and queries.

    ``frame`` holds all columns of a file with named columns. For svmlight ``matrix`` holds the
    features, and ``frame`` the columns ``label`` and, where the file has queries, ``qid``.
    """

    frame: pd.DataFrame
    matrix: Any = None

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def column(self, name: str, role: str) -> pd.Series:
        """One column by name; ``role`` is the option that asked for it."""
        if name not in self.frame.columns:
            shown = ", ".join(map(str, self.frame.columns[:8]))
            more = ", ..." if len(self.frame.columns) > 8 else ""
            raise TableError(
                f"There is no column {name!r} for {role}; the columns are {shown}{more}."
            )
        return self.frame[name]


@dataclass(frozen=True)
class TableFile:
    """A data file with its format.

    Parameters
    ----------
    path : Path
    format : str
        One of `FORMATS`.
    delimiter : str or None
        For csv and tsv; None is the format's own.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucuba.tables import TableFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.csv"
    ...     _ = path.write_text("a,y\\n1.5,0\\n2.5,1\\n")
    ...     table = TableFile.of(path).read()
    >>> list(table.frame.columns), table.n_rows
    (['a', 'y'], 2)
    """

    path: Path
    format: str
    delimiter: str | None = None

    @classmethod
    def of(
        cls, path: str | Path, format: str | None = None, delimiter: str | None = None
    ) -> TableFile:
        """Find the format from the name, ``data.csv.gz`` included, unless it is given."""
        path = Path(path)
        if not path.is_file():
            raise TableError(f"There is no file {path}.")
        if path.stat().st_size == 0:
            raise TableError(f"{path} is empty.")
        if format is None:
            suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
            format = _SUFFIXES.get(suffixes[-1] if suffixes else "")
        if format not in FORMATS:
            raise TableError(
                f"The format of {path.name} is not known from its name; give --format with one of "
                f"{', '.join(FORMATS)}."
            )
        return cls(path, format, delimiter)

    def read(self) -> Table:
        """The whole file."""
        with _one_sentence(self):
            table = _READERS[self.format](self)
        if table.n_rows == 0:
            raise TableError(f"{self.path} has no rows.")
        return table

    def chunks(
        self, text_columns: Sequence[str] = (), n_features: int | None = None
    ) -> Iterator[Table]:
        """The file in pieces of at most `CHUNK_ROWS` rows; csv, tsv and Parquet are never read whole.

        Parameters
        ----------
        text_columns : sequence of str
            Columns of categories, whose text is kept as it stands.
        n_features : int, optional
            Number of features of a svmlight file.

        Yields
        ------
        Table
        """
        n_rows = 0
        with _one_sentence(self):
            if self.format in _DELIMITERS:
                _check_header(self)
                reader = pd.read_csv(
                    self.path,
                    **_csv_options(self),
                    chunksize=CHUNK_ROWS,
                    dtype=dict.fromkeys(text_columns, str),
                )
                pieces: Iterator[Table] = (Table(frame) for frame in reader)
            elif self.format == "parquet":
                from pyarrow import parquet

                batches = parquet.ParquetFile(self.path).iter_batches(CHUNK_ROWS)
                pieces = (Table(batch.to_pandas()) for batch in batches)
            elif self.format == "svmlight":
                pieces = iter([_read_svmlight(self, n_features)])
            else:
                pieces = iter([self.read()])
            for piece in pieces:
                n_rows += piece.n_rows
                yield piece
        if n_rows == 0:
            raise TableError(f"{self.path} has no rows.")


def text_of(file: TableFile, names: Sequence[str], frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the named columns as text, read again from csv so that nothing is reformatted."""
    if not names:
        return frame
    if file.format in _DELIMITERS:
        options = _csv_options(file)
        text = pd.read_csv(file.path, **options, usecols=list(names), dtype=str)
        return frame.assign(**{name: text[name] for name in names})
    return frame.assign(**{name: as_text(frame[name]) for name in names})


def as_text(column: pd.Series) -> pd.Series:
    """Values as strings, missing ones kept missing."""
    missing = column.isna()
    return column.astype(object).where(missing, column.astype(str)).where(~missing, None)


def _csv_options(file: TableFile) -> dict[str, Any]:
    # Without index_col=False pandas takes surplus fields of every row for row names, silently.
    return {
        "sep": file.delimiter or _DELIMITERS[file.format],
        "low_memory": False,
        "index_col": False,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
    }


def _check_header(file: TableFile) -> None:
    """Names must be unique, and a single name that holds another delimiter is a wrong delimiter."""
    options = _csv_options(file)
    names = pd.read_csv(file.path, **options, header=None, nrows=1, dtype=str).iloc[0]
    repeated = names[names.duplicated()].tolist()
    if repeated:
        raise TableError(f"{file.path} has the column {repeated[0]!r} more than once; rename one.")
    if len(names) == 1:
        for other in (";", "\t", "|", ","):
            if other in str(names.iloc[0]):
                raise TableError(
                    f"{file.path} has one column {str(names.iloc[0])[:60]!r} when split at "
                    f"{options['sep']!r}; try --delimiter {other!r}."
                )


def _read_csv(file: TableFile) -> Table:
    _check_header(file)
    return Table(pd.read_csv(file.path, **_csv_options(file)))


def _read_parquet(file: TableFile) -> Table:
    frame = pd.read_parquet(file.path, engine="pyarrow")
    return Table(frame.reset_index(drop=True))


def _read_svmlight(file: TableFile, n_features: int | None = None) -> Table:
    from sklearn.datasets import load_svmlight_file

    has_query = _first_line_has_query(file.path)
    loaded = load_svmlight_file(str(file.path), n_features=n_features, query_id=has_query)
    columns = {"label": loaded[1]}
    if has_query:
        columns["qid"] = loaded[2]
    return Table(pd.DataFrame(columns), sparse.csr_matrix(loaded[0]))


def _first_line_has_query(path: Path) -> bool:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = line.partition("#")[0].split()
            if row:
                return len(row) > 1 and row[1].startswith("qid:")
    raise TableError(f"{path} has no rows.")


def _read_npz(file: TableFile) -> Table:
    """The array ``X``, with ``feature_names`` for its columns, and every 1-D array as a column."""
    with np.load(file.path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "X" not in arrays:
        raise TableError(
            f"{file.path} has no array 'X'; it has {', '.join(arrays) or 'none'}. Save it with "
            "np.savez(path, X=..., y=...)."
        )
    X = arrays.pop("X")
    if X.ndim != 2:
        raise TableError(f"X in {file.path} must have two dimensions, it has shape {X.shape}.")
    names = [str(name) for name in arrays.pop("feature_names", _numbered(X.shape[1]))]
    if len(names) != X.shape[1]:
        raise TableError(
            f"feature_names in {file.path} has {len(names)} entries for {X.shape[1]} columns."
        )
    frame = pd.DataFrame(X, columns=names)
    return Table(frame.assign(**_columns_of(arrays, X.shape[0], file.path)))


def _columns_of(arrays: Mapping[str, AnyArray], n_rows: int, path: Path) -> dict[str, AnyArray]:
    for name, array in arrays.items():
        if array.shape != (n_rows,):
            raise TableError(
                f"The array {name!r} in {path} has shape {array.shape}; one value for each of the "
                f"{n_rows} rows of X is needed."
            )
    return dict(arrays)


def _numbered(n_columns: int) -> list[str]:
    return [f"x{column}" for column in range(n_columns)]


_READERS: dict[str, Callable[[TableFile], Table]] = {
    "csv": _read_csv,
    "tsv": _read_csv,
    "parquet": _read_parquet,
    "svmlight": _read_svmlight,
    "npz": _read_npz,
}

_REMEDY = {
    "csv": "check the file, or name its separator with --delimiter",
    "tsv": "check the file, or name its separator with --delimiter",
    "parquet": "the file is damaged, cut short or not Parquet; write it again",
    "svmlight": "each row must read `label [qid:N] index:value ...`",
    "npz": "the file is damaged, holds Python objects or is not npz; write it again with np.savez",
}


@contextmanager
def _one_sentence(file: TableFile) -> Iterator[None]:
    """Turn whatever a parser raises into a `TableError`."""
    try:
        with warnings.catch_warnings():
            # Rows longer than the header: pandas warns and cuts them, we refuse.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except TableError:
        raise
    except UnicodeDecodeError:
        raise TableError(f"{file.path} is not UTF-8 text; convert it.") from None
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, Warning) as error:
        reason = " ".join(str(error).split())[:160].rstrip(".")
        raise TableError(
            f"{file.path} cannot be read as {file.format} ({reason}); {_REMEDY[file.format]}."
        ) from error
