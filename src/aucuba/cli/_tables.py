"""Data files to tables: CSV, TSV, Parquet, svmlight and npz, whole or in chunks.

Every reader answers a file that it cannot read with one `TableError` that names the file and the
remedy.
"""

from __future__ import annotations

import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from aucuba._core._files import is_stream
from aucuba._core._typing import AnyArray

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
_DELIMITER_WORDS = {"\\t": "\t", "tab": "\t"}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
# What pandas takes for a missing value; columns that are kept as written have only the empty cell.
_MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)


class TableError(ValueError):
    """A data file that cannot be used, in one sentence."""


@dataclass(frozen=True)
class Table:
    """Columns by name, or a sparse matrix with its labels and queries.

    ``frame`` holds all columns of a file with named columns. For svmlight ``matrix`` holds the
    features, of which the first has the index ``first_index`` in the file, and ``frame`` the columns
    ``label`` and, where the file has queries, ``qid``. ``share`` is how much of the file has been
    read by the end of this piece.
    """

    frame: pd.DataFrame
    matrix: Any = None
    first_index: int | None = None
    share: float = 1.0

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
    >>> from aucuba.cli._tables import TableFile
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
        if path.is_dir():
            raise TableError(f"{path} is a folder; name a data file.")
        if str(path) == "-" or is_stream(path):
            raise TableError(
                f"{path} is not a file on disk, and data are read more than once; save them first."
            )
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
        if delimiter is not None:
            delimiter = _DELIMITER_WORDS.get(delimiter, delimiter)
            if len(delimiter) != 1:
                raise TableError(f"--delimiter must be one character or tab, got {delimiter!r}.")
        return cls(path, format, delimiter)

    def read(self, verbatim: Sequence[str] = ()) -> Table:
        """The whole file; the text of ``verbatim`` columns is kept as it stands (see `chunks`)."""
        with _one_sentence(self):
            if self.format in _DELIMITERS:
                table = Table(pd.read_csv(self.path, **_typed_options(self, (), verbatim)))
            else:
                table = _READERS[self.format](self)
        if table.n_rows == 0:
            raise TableError(f"{self.path} has no rows.")
        return table

    def chunks(
        self,
        text_columns: Sequence[str] = (),
        verbatim: Sequence[str] = (),
        first_index: int | None = None,
    ) -> Iterator[Table]:
        """The file in pieces of at most `CHUNK_ROWS` rows; csv, tsv and Parquet are never read whole.

        Parameters
        ----------
        text_columns : sequence of str
            Columns of categories: text, except for the usual words for missing values.
        verbatim : sequence of str
            Columns of labels or names: text as it stands in csv and tsv, missing only where the cell
            is empty, so that NA and 01 are what they say.
        first_index : int, optional
            Index of the first feature of a svmlight file, 0 or 1. None looks for an index 0.

        Yields
        ------
        Table
        """
        n_rows = 0
        with _one_sentence(self):
            if self.format in _DELIMITERS:
                pieces = _csv_pieces(self, text_columns, verbatim)
            elif self.format == "parquet":
                pieces = _parquet_pieces(self)
            elif self.format == "svmlight":
                pieces = iter([_read_svmlight(self, first_index)])
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


def _typed_options(
    file: TableFile, text_columns: Sequence[str], verbatim: Sequence[str]
) -> dict[str, Any]:
    """Options of `pandas.read_csv` that keep the text of some columns."""
    names = _header(file)
    options = _csv_options(file)
    options["dtype"] = dict.fromkeys([*text_columns, *verbatim], str)
    if verbatim:
        options["keep_default_na"] = False
        options["na_values"] = {
            name: [""] if name in verbatim else list(_MISSING_WORDS) for name in names
        }
    return options


def _header(file: TableFile) -> list[str]:
    """The names, each once; a single name that holds another delimiter is a wrong delimiter."""
    options = _csv_options(file)
    row = pd.read_csv(
        file.path, **options, header=None, nrows=1, dtype=str, keep_default_na=False
    ).iloc[0]
    names = [str(name) for name in row]
    _refuse_repeated([name for name in names if name], file.path)
    if len(names) == 1:
        for other in (";", "\t", "|", ","):
            if other in names[0]:
                raise TableError(
                    f"{file.path} has one column {names[0][:60]!r} when split at "
                    f"{options['sep']!r}; try --delimiter {other!r}."
                )
    return names


def _refuse_repeated(names: Sequence[str], path: Path) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise TableError(f"{path} has the column {name!r} more than once; rename one.")


def _csv_pieces(
    file: TableFile, text_columns: Sequence[str], verbatim: Sequence[str]
) -> Iterator[Table]:
    options = _typed_options(file, text_columns, verbatim)
    compression = _COMPRESSIONS.get(file.path.suffix.lower())
    size = file.path.stat().st_size
    # The position in the file as stored tells the progress, compressed or not.
    with file.path.open("rb") as stored:
        reader = pd.read_csv(stored, **options, compression=compression, chunksize=CHUNK_ROWS)
        for frame in reader:
            yield Table(frame, share=stored.tell() / size)


def _parquet_pieces(file: TableFile) -> Iterator[Table]:
    from pyarrow import parquet

    stored = parquet.ParquetFile(file.path)
    _refuse_repeated(stored.schema_arrow.names, file.path)
    n_read = 0
    for batch in stored.iter_batches(CHUNK_ROWS):
        n_read += batch.num_rows
        yield Table(batch.to_pandas(), share=n_read / stored.metadata.num_rows)


def _read_parquet(file: TableFile) -> Table:
    from pyarrow import parquet

    _refuse_repeated(parquet.read_schema(file.path).names, file.path)
    frame = pd.read_parquet(file.path, engine="pyarrow")
    return Table(frame.reset_index(drop=True))


def _read_svmlight(file: TableFile, first_index: int | None = None) -> Table:
    """Indices count from ``first_index``; where it is None, from 1 unless the file has an index 0."""
    from sklearn.datasets import load_svmlight_file

    has_query = _first_line_has_query(file.path)
    loaded = load_svmlight_file(str(file.path), zero_based=True, query_id=has_query)
    columns = {"label": loaded[1]}
    if has_query:
        columns["qid"] = loaded[2]
    stored = sparse.csr_matrix(loaded[0])
    lowest = int(stored.indices.min(initial=1))
    first = lowest if first_index is None else first_index
    if lowest < first:
        raise TableError(
            f"{file.path} has a feature of index 0, but the model was trained on features that count "
            "from 1; number them as in training."
        )
    shape = (stored.shape[0], max(stored.shape[1] - first, 0))
    matrix = sparse.csr_matrix((stored.data, stored.indices - first, stored.indptr), shape=shape)
    return Table(pd.DataFrame(columns), matrix, first)


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
    _refuse_repeated([*names, *arrays], file.path)
    for name, array in {"X": X, **arrays}.items():
        if np.iscomplexobj(array):
            raise TableError(f"The array {name!r} in {file.path} is complex; numbers must be real.")
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
