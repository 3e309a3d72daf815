"""Reading of csv, tsv, Parquet, svmlight and npz files into tables."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from aucuba._base._typing import ArrayLike
from aucuba.cli._console import TableError, suggestion

if TYPE_CHECKING:
    from aucuba.cli._table_file import TableFile

# Large enough that parsing dominates the work on a chunk, small enough for a laptop's memory.
CHUNK_ROWS = 50_000
DELIMITERS = {"csv": ",", "tsv": "\t"}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
# Text that pandas reads as missing; in columns kept verbatim only an empty cell is missing.
_MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
# A damaged index could ask for more memory than any machine has; hashed features have about 2**24.
_MOST_FEATURES = 50_000_000


@dataclass(frozen=True)
class Table:
    """Columns by name, or a sparse matrix with its labels and queries.

    Parameters
    ----------
    frame : DataFrame
        All columns of a file with named columns. For svmlight the columns ``label`` and, if the file
        has queries, ``qid``. The index numbers the rows of the file from 0.
    matrix : csr_matrix or None
        The features of a svmlight file.
    first_index : int or None
        Index in the file of the first feature of ``matrix``.
    progress : float
        The fraction of the file read by the end of this piece.
    """

    frame: pd.DataFrame
    matrix: Any = None
    first_index: int | None = None
    progress: float = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.frame.columns]

    def column(self, name: str, role: str) -> pd.Series:
        """Return a column by name; ``role`` is the option that asks for it."""
        if name not in self.frame.columns:
            raise TableError(
                f"There is no column {name!r} for {role}; {suggestion(name, self.names)}"
            )
        return self.frame[name]


def row_number(column: pd.Series, rows: ArrayLike) -> int:
    """Number the first marked row of a column, from 1 at the top of the file."""
    return int(column.index[int(np.argmax(np.asarray(rows)))]) + 1


def first_cell(column: pd.Series, rows: ArrayLike) -> str:
    """Quote the value in the first marked row of a column, cut to 40 characters."""
    return repr(str(column.iloc[int(np.argmax(np.asarray(rows)))])[:40])


@dataclass(frozen=True)
class Kept:
    """Columns and settings that must not be guessed when a file is read.

    Parameters
    ----------
    text : tuple of str
        Columns of categories or dates: text, except for the usual words for missing values.
    verbatim : tuple of str
        Columns of labels or names: text exactly as written in csv and tsv, missing only where the cell
        is empty, so that NA and 01 keep their spelling.
    first_index : int or None
        Index of the first feature of a svmlight file, 0 or 1; None means 0 if that index occurs.
    """

    text: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    first_index: int | None = None


@dataclass(frozen=True)
class Format:
    """How to read the files of one format.

    Parameters
    ----------
    tables : callable
        Takes the file, a `Kept` and whether to read it whole; yields one table, or several pieces.
    remedy : str
        Advice if reading fails.
    """

    tables: Callable[[TableFile, Kept, bool], Iterator[Table]]
    remedy: str


def _delimited(file: TableFile, kept: Kept, whole: bool) -> Iterator[Table]:
    """Read csv or tsv; the position in the (compressed) file gives the progress."""
    size = file.path.stat().st_size
    with file.path.open("rb") as stored:
        options = _csv_options(file, stored, kept)
        if whole:
            yield Table(pd.read_csv(stored, **options))
            return
        with pd.read_csv(stored, **options, chunksize=CHUNK_ROWS) as frames:
            for frame in frames:
                yield Table(frame, progress=stored.tell() / size)


def _csv_options(file: TableFile, stored: IO[bytes], kept: Kept) -> dict[str, Any]:
    """Build the options of `pandas.read_csv`, which keep some columns as text."""
    # Without index_col=False pandas silently reads surplus fields of every row as row names.
    options: dict[str, Any] = {
        "sep": file.delimiter or DELIMITERS[file.format],
        "low_memory": False,
        "index_col": False,
        "skipinitialspace": True,
        "encoding": file.encoding or "utf-8-sig",
        "compression": _COMPRESSIONS.get(file.path.suffix.lower()),
    }
    if int(pd.__version__.partition(".")[0]) < 3:
        # Later releases read every digit, and deprecate the option.
        options["float_precision"] = "round_trip"
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
    _refuse_repeated([name for name in names if name], file.path)
    for other in (";", "\t", "|", ","):
        if len(names) == 1 and other in names[0]:
            raise TableError(
                f"{file.path} has one column {names[0][:60]!r} when split at {options['sep']!r}; try "
                f"--delimiter {other!r}."
            )
    return names


def _parquet(file: TableFile, kept: Kept, whole: bool) -> Iterator[Table]:
    from pyarrow import parquet

    with parquet.ParquetFile(file.path) as stored:
        _refuse_repeated(stored.schema_arrow.names, file.path)
        if whole:
            yield Table(stored.read().to_pandas())
            return
        n_read = 0
        for batch in stored.iter_batches(CHUNK_ROWS):
            n_read += batch.num_rows
            yield Table(batch.to_pandas(), progress=n_read / stored.metadata.num_rows)


def _svmlight(file: TableFile, kept: Kept, whole: bool) -> Iterator[Table]:
    """Read a svmlight file, opening it once."""
    from sklearn.datasets import load_svmlight_file

    path = file.path
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rb") as stored:
        has_query = _has_query(stored, path)
        try:
            loaded = load_svmlight_file(stored, zero_based=True, query_id=has_query)
        except OverflowError:
            raise _too_wide(path) from None
    columns = {"label": loaded[1]}
    if has_query:
        columns["qid"] = loaded[2]
    matrix = sparse.csr_matrix(loaded[0])
    if matrix.shape[1] > _MOST_FEATURES:
        raise _too_wide(path)
    lowest = int(matrix.indices.min(initial=1))
    first = lowest if kept.first_index is None else kept.first_index
    if lowest < first:
        raise TableError(
            f"{path} has a feature of index 0, but the model was trained on features that count "
            "from 1; number them as in training."
        )
    shape = (matrix.shape[0], max(matrix.shape[1] - first, 0))
    shifted = sparse.csr_matrix((matrix.data, matrix.indices - first, matrix.indptr), shape=shape)
    yield Table(pd.DataFrame(columns), shifted, first)


def _has_query(stored: IO[bytes], path: Path) -> bool:
    """Look at the first row, then go back to the start."""
    for line in stored:
        row = line.partition(b"#")[0].split()
        if row:
            stored.seek(0)
            return len(row) > 1 and row[1].startswith(b"qid:")
    raise TableError(f"{path} has no rows.")


def _too_wide(path: Path) -> TableError:
    return TableError(
        f"{path} has a feature index above {_MOST_FEATURES:,}; number the features without gaps."
    )


def _npz(file: TableFile, kept: Kept, whole: bool) -> Iterator[Table]:
    """Read the array ``X``, with ``feature_names`` for its columns, and 1-D arrays as columns."""
    path = file.path
    # NumPy itself leaves a truncated file open.
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "X" not in arrays:
        raise TableError(
            f"{path} has no array 'X'; it has {', '.join(arrays) or 'none'}. Save it with "
            "np.savez(path, X=..., y=...)."
        )
    X = arrays.pop("X")
    if X.ndim != 2:
        raise TableError(f"X in {path} must have two dimensions, it has shape {X.shape}.")
    numbered = [f"x{column}" for column in range(X.shape[1])]
    names = [str(name) for name in arrays.pop("feature_names", numbered)]
    if len(names) != X.shape[1]:
        raise TableError(
            f"feature_names in {path} has {len(names)} entries for {X.shape[1]} columns."
        )
    _refuse_repeated([*names, *arrays], path)
    for name, array in {"X": X, **arrays}.items():
        if np.iscomplexobj(array):
            raise TableError(f"The array {name!r} in {path} is complex; numbers must be real.")
        if name != "X" and array.shape != (len(X),):
            raise TableError(
                f"The array {name!r} in {path} has shape {array.shape}; one value for each of the "
                f"{len(X)} rows of X is needed."
            )
    yield Table(pd.DataFrame(X, columns=names).assign(**arrays))


def _refuse_repeated(names: Sequence[str], path: Path) -> None:
    """Raise an error for the first name that stands for two columns."""
    for name, times in Counter(names).items():
        if times > 1:
            raise TableError(f"{path} has the column {name!r} more than once; rename one.")


_SEPARATED = Format(_delimited, "check the file, or name its separator with --delimiter")
FORMATS = {
    **dict.fromkeys(DELIMITERS, _SEPARATED),
    "parquet": Format(_parquet, "the file is damaged, cut short or not Parquet; write it again"),
    "svmlight": Format(_svmlight, "each row must read `label [qid:N] index:value ...`"),
    "npz": Format(
        _npz,
        "the file is damaged, holds Python objects or is not npz; write it again with np.savez",
    ),
}
