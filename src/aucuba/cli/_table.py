"""A table in memory."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aucuba.cli._errors import TableError

# Large enough that parsing dominates the work on a chunk, small enough for a laptop's memory.
CHUNK_ROWS = 50_000


@dataclass(frozen=True)
class Table:
    """Columns by name, or a sparse matrix with its labels and queries.

    Parameters
    ----------
    frame : DataFrame
        All columns of a file with named columns. For svmlight the columns ``label`` and, if the file
        has queries, ``qid``.
    matrix : csr_matrix or None
        The features of a svmlight file.
    first_index : int or None
        Index in the file of the first feature of ``matrix``.
    progress : float
        The fraction of the file that has been read by the end of this piece.
    """

    frame: pd.DataFrame
    matrix: Any = None
    first_index: int | None = None
    progress: float = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def column(self, name: str, role: str) -> pd.Series:
        """Find a column by name; ``role`` is the option that asks for it."""
        if name not in self.frame.columns:
            names = [str(one) for one in self.frame.columns]
            raise TableError(f"There is no column {name!r} for {role}; {suggestion(name, names)}")
        return self.frame[name]


def suggestion(name: str, names: Sequence[str]) -> str:
    """Name the column that was probably meant, or else the columns that there are."""
    folded = {one.casefold(): one for one in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f"the columns are {', '.join(names[:8])}{more or '.'}"


def finite_numbers(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Convert the columns to numbers; text and missing values are an error that names the column."""
    for name, column in frame.items():
        if not pd.api.types.is_numeric_dtype(column):
            raise TableError(f"{path}: the column {name!r} holds text where numbers are needed.")
        if not np.isfinite(column.to_numpy(dtype=np.float64, na_value=np.nan)).all():
            raise TableError(f"{path}: the column {name!r} has missing or infinite values.")
    return frame.astype(np.float64)
