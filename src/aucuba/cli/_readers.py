"""Reading of Parquet, svmlight and npz files."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from scipy import sparse

from aucuba._base._typing import AnyArray
from aucuba.cli import _table
from aucuba.cli._delimited import refuse_repeated
from aucuba.cli._errors import TableError
from aucuba.cli._table import Table

# A forged index would ask for more memory than any machine has; hashed features have about 2**24.
_MOST_FEATURES = 50_000_000


def read_parquet(path: Path) -> Table:
    """Read a whole Parquet file."""
    pieces = list(parquet_chunks(path))
    if not pieces:
        raise TableError(f"{path} has no rows.")
    return Table(pd.concat([piece.frame for piece in pieces], ignore_index=True))


def parquet_chunks(path: Path) -> Iterator[Table]:
    """Read a Parquet file in pieces."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as stored:
        refuse_repeated(stored.schema_arrow.names, path)
        n_read = 0
        for batch in stored.iter_batches(_table.CHUNK_ROWS):
            n_read += batch.num_rows
            yield Table(batch.to_pandas(), progress=n_read / stored.metadata.num_rows)


def read_svmlight(path: Path, first_index: int | None = None) -> Table:
    """Read a svmlight file, opening it once.

    Parameters
    ----------
    path : Path
    first_index : int or None
        Index of the first feature; None takes 0 where the file has an index 0, else 1.
    """
    from sklearn.datasets import load_svmlight_file

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
    stored = sparse.csr_matrix(loaded[0])
    if stored.shape[1] > _MOST_FEATURES:
        raise _too_wide(path)
    lowest = int(stored.indices.min(initial=1))
    first = lowest if first_index is None else first_index
    if lowest < first:
        raise TableError(
            f"{path} has a feature of index 0, but the model was trained on features that count "
            "from 1; number them as in training."
        )
    shape = (stored.shape[0], max(stored.shape[1] - first, 0))
    matrix = sparse.csr_matrix((stored.data, stored.indices - first, stored.indptr), shape=shape)
    return Table(pd.DataFrame(columns), matrix, first)


def read_npz(path: Path) -> Table:
    """Read the array ``X``, with ``feature_names`` for its columns, and 1-D arrays as columns."""
    with np.load(path, allow_pickle=False) as archive:
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
    refuse_repeated([*names, *arrays], path)
    for name, array in {"X": X, **arrays}.items():
        if np.iscomplexobj(array):
            raise TableError(f"The array {name!r} in {path} is complex; numbers must be real.")
    _check_lengths(arrays, X.shape[0], path)
    return Table(pd.DataFrame(X, columns=names).assign(**arrays))


def _check_lengths(arrays: Mapping[str, AnyArray], n_rows: int, path: Path) -> None:
    for name, array in arrays.items():
        if array.shape != (n_rows,):
            raise TableError(
                f"The array {name!r} in {path} has shape {array.shape}; one value for each of the "
                f"{n_rows} rows of X is needed."
            )


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
