"""Names and kinds of the feature columns of a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline

from aucuba._base._dates import as_times, is_date
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._base._warnings import warn_user
from aucuba._columns._kinds import (
    CATEGORY,
    DATE,
    NUMBER,
    as_names,
    as_numbers,
    column_kind,
    is_missing,
)
from aucuba._columns._table_columns import LinearColumns
from aucuba.cli._console import Problems, TableError, pasted
from aucuba.cli._formats import Table, first_cell, row_number

# Sums of squares of larger numbers, as in a variance, overflow.
_LARGEST = 1e100
# A text column with at least this fraction of numbers is probably numeric.
_MOSTLY = 0.5
_ENOUGH = 20
# Columns that a note names.
_MOST_NAMED = 3
_UNNAMED = re.compile(r"Unnamed: \d+")
_DECIMAL_COMMA = r"\s*[+-]?[\d.]*\d,\d+\s*"
# Dates whose day and month no rule can tell apart.
_OTHER_DATE = r"\s*\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})(\s.*)?"
# Values that no model takes, by the name that pandas gives to their kind.
_UNUSABLE = {"period": "periods", "time": "times of day", "bytes": "bytes"}


@dataclass(frozen=True)
class Schema:
    """Kinds of the named columns, or width and first index of a sparse matrix.

    Parameters
    ----------
    kinds : dict of str
        ``number``, ``category`` or ``date`` for every column, in the order of the file.
    n_features, first_index : int or None
        Of a svmlight file.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    n_features: int | None = None
    first_index: int | None = None

    @classmethod
    def from_table(
        cls, table: Table, excluded: Iterable[str], categories: Iterable[str] = ()
    ) -> Schema:
        """Find the kind of every column that is not excluded; report all problems in one error."""
        if table.matrix is not None:
            if table.matrix.shape[1] == 0:
                raise TableError("No row has a feature to learn from.")
            return cls(n_features=table.matrix.shape[1], first_index=table.first_index)
        kinds: dict[str, str] = {}
        named, problems = set(categories), Problems()
        for name in table.frame.columns.drop(list(excluded)):
            with problems.collected():
                kinds[name] = CATEGORY if name in named else _file_column_kind(table.frame[name])
                if kinds[name] == NUMBER:
                    _numbers(table.frame[name])
        problems.raise_any()
        if not kinds:
            raise TableError("No column is left to learn from besides the target.")
        return cls(kinds)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Schema:
        """Read the output of `to_json`."""
        sizes = saved["n_features"], saved["first_index"]
        if not all(size is None or isinstance(size, int) for size in sizes):
            raise TypeError("The width of a matrix must be a number.")
        kinds = {str(name): kind for name, kind in saved["columns"]}
        if not set(kinds.values()) <= {NUMBER, CATEGORY, DATE}:
            raise ValueError("A column is a number, a category or a date.")
        return cls(kinds, *sizes)

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON's types, keeping the order of the columns."""
        columns = [[name, kind] for name, kind in self.kinds.items()]
        sizes = {"n_features": self.n_features, "first_index": self.first_index}
        return {"columns": columns, **sizes}

    @property
    def width(self) -> int:
        return self.n_features or len(self.kinds)

    @property
    def text(self) -> tuple[str, ...]:
        """Columns that are read as text."""
        return tuple(name for name, kind in self.kinds.items() if kind != NUMBER)

    def of_kind(self, kind: str) -> list[str]:
        """List the columns of a kind."""
        return [name for name, one in self.kinds.items() if one == kind]

    def described(self) -> str:
        """Count the columns of each kind."""
        if self.n_features is not None:
            return f"{self.n_features} features, counted from {self.first_index}"
        n_dates = len(self.of_kind(DATE))
        dates = f" columns and {n_dates} of dates" if n_dates else " columns"
        numbers, categories = len(self.of_kind(NUMBER)), len(self.of_kind(CATEGORY))
        return f"{numbers} numeric and {categories} categorical{dates}"

    def features(self, table: Table) -> Any:
        """Select the columns as numbers, text and dates."""
        if self.n_features is not None:
            return self._matrix(table)
        if table.matrix is not None:
            raise TableError(
                "The model was trained on named columns; this file has numbered ones. Give it a csv, "
                "tsv, Parquet or npz file."
            )
        missing = [name for name in self.kinds if name not in table.frame.columns]
        if missing:
            raise TableError(
                f"The model needs the column{'s' if len(missing) > 1 else ''} "
                f"{', '.join(map(repr, missing[:5]))}, which this file lacks."
            )
        columns, problems = {}, Problems()
        for name, kind in self.kinds.items():
            with problems.collected():
                columns[name] = _CONVERTERS[kind](table.frame[name])
        problems.raise_any()
        return pd.DataFrame(columns, index=table.frame.index)

    def refuse_unknown(self, baseline: Pipeline, X: Any) -> None:
        """Raise an error if X has categories that training has not seen."""
        if not self.of_kind(CATEGORY):
            return
        problems = []
        for name, known in baseline["columns"].plain_.known_categories().items():
            seen = X[name].dropna()
            unknown = seen[~seen.isin(known)]
            if len(unknown):
                problems.append(
                    f"The column {name!r} has {unknown.nunique()} categories that the model has not "
                    f"seen, such as {unknown.iloc[0]!r}; give --unknown ignore to score such rows "
                    "without it."
                )
        if problems:
            raise TableError(*problems)

    def _matrix(self, table: Table) -> Any:
        if table.matrix is None:
            raise TableError("The model was trained on a svmlight file; give it a svmlight file.")
        assert self.n_features is not None
        assert self.first_index is not None
        n_rows, width = table.matrix.shape
        if width > self.n_features:
            last = self.first_index - 1
            raise TableError(
                f"The file has features up to index {last + width}, but the model knows only those up "
                f"to {last + self.n_features}; leave the others out, and count from {self.first_index} "
                "as in training."
            )
        parts = (table.matrix.data, table.matrix.indices, table.matrix.indptr)
        matrix = sparse.csr_matrix(parts, shape=(n_rows, self.n_features))
        bad = ~(np.abs(matrix.data) <= _LARGEST)
        if bad.any():
            entry = int(np.argmax(bad))
            row = int(np.searchsorted(matrix.indptr, entry, side="right"))
            raise TableError(
                f"The feature {matrix.indices[entry] + self.first_index} in row {row} is "
                f"{matrix.data[entry]}; values must be numbers of size at most {_LARGEST:g}."
            )
        return matrix


class FarRows:
    """Counts the rows that lie far outside the training ranges, as a file is read.

    A row lies far outside if one of its numbers or dates lies outside the training range of its
    column, widened by half its width on either side. Columns of svmlight files are not counted.
    """

    def __init__(self, baseline: Pipeline) -> None:
        columns = baseline["columns"]
        self._plain = columns.plain_ if isinstance(columns, LinearColumns) else None
        self._by_column: Counter[str] = Counter()
        self._n_read = self.n_rows = 0

    def update(self, X: Any) -> None:
        """Count the rows of a piece of the file."""
        self._n_read += X.shape[0]
        if self._plain is not None:
            far = self._plain.far_outside(X)
            self._by_column.update({name: int(rows.sum()) for name, rows in far.items()})
            self.n_rows += int(np.any(list(far.values()), axis=0).sum()) if far else 0

    def ranges(self) -> dict[str, str]:
        """Format the training ranges by column."""
        return {} if self._plain is None else self._plain.training_ranges()

    def note(self) -> str:
        """Return a sentence on how many rows lie outside, and in which columns; empty if none do."""
        if not self.n_rows:
            return ""
        ranges, most = self.ranges(), self._by_column.most_common(_MOST_NAMED)
        shown = [f"{name!r} {n} (trained on {ranges[name]})" for name, n in most if n]
        more = ", ..." if sum(n > 0 for n in self._by_column.values()) > len(shown) else ""
        lie = "lies" if self.n_rows == 1 else "lie"
        return (
            f"{self.n_rows} of {self._n_read} rows {lie} outside the training range, widened by half "
            f"its width on either side: {', '.join(shown)}{more}. The model has seen no such "
            "rows, and rates that were set or promised in training may not hold for them."
        )

    def warn(self) -> None:
        """Issue the note, if there is one."""
        if self.n_rows:
            warn_user(self.note())


def _file_column_kind(column: pd.Series) -> str:
    """Find the kind of a file's column; raise an error if it could be of two kinds."""
    name = str(column.name)
    dropped = pasted("--drop", name)
    if column.isna().all():
        raise TableError(f"The column {name!r} has no values at all; leave it out with {dropped}.")
    if _UNNAMED.fullmatch(name):
        raise TableError(
            f"The column {name!r} has no name in the file, as when pandas writes its index; name it, "
            f"or leave it out with {dropped}."
        )
    try:
        kind = column_kind(column, name)
    except TypeError:
        raise TableError(
            f"The column {name!r} holds {_unusable(column)}; turn it into numbers, dates or text, or "
            f"leave it out with {dropped}."
        ) from None
    if kind == CATEGORY and not isinstance(column.dtype, pd.CategoricalDtype):
        _check_text(column)
    return kind


def _check_text(column: pd.Series) -> None:
    """Refuse text that is mostly numbers; warn about unread numbers or dates, and rare texts."""
    known, name = column.dropna(), str(column.name)
    is_number = pd.to_numeric(known, errors="coerce").notna().to_numpy()
    if is_number.sum() >= _MOSTLY * len(known):
        what, remedy = "all its values are numbers", "Store it as numbers"
        if not is_number.all():
            what = (
                f"{is_number.sum()} of its {len(known)} values are numbers; row "
                f"{row_number(known, ~is_number)} has {first_cell(known, ~is_number)}"
            )
            remedy = "Correct such cells (an empty one is a missing value)"
        raise TableError(
            f"The column {column.name!r} is text, but {what}. {remedy}, or give "
            f"{pasted('--category', name)} or {pasted('--drop', name)}."
        )
    example, n_texts = str(known.iloc[0])[:40], known.nunique()
    if known.str.fullmatch(_DECIMAL_COMMA).mean() >= _MOSTLY:
        warn_user(
            f"The column {column.name!r} seems to hold numbers with decimal commas, such as "
            f"{example!r}; give --decimal , to read them as numbers, not as categories."
        )
    elif known.str.fullmatch(_OTHER_DATE).mean() >= _MOSTLY:
        warn_user(
            f"The column {column.name!r} seems to hold dates, such as {example!r}; write them as "
            "2024-12-31 to have them read as dates, not as categories."
        )
    elif len(known) >= _ENOUGH and n_texts > _MOSTLY * len(known):
        warn_user(
            f"The column {column.name!r} has {n_texts} different texts in {len(known)} rows, such as "
            f"{example!r}; most of these categories are too rare to be used. Write numbers like 1234.5 "
            f"and dates like 2024-12-31, or leave the column out with {pasted('--drop', name)}."
        )


def _unusable(column: pd.Series) -> str:
    return _UNUSABLE.get(pd.api.types.infer_dtype(column), "lists or mixed values")


def _numbers(column: pd.Series) -> FloatArray:
    try:
        kind = column_kind(column, str(column.name))
        what = "dates" if kind == DATE else None
    except TypeError:
        what = _unusable(column)
    if what is not None:
        raise TableError(f"The column {column.name!r} must be numeric, but holds {what}.")
    if kind == NUMBER:
        values = as_numbers(column)
    else:
        numbers = pd.to_numeric(column, errors="coerce")
        values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.isnan(values) & column.notna().to_numpy()
    infinite = np.isinf(values)
    large = np.abs(values) > _LARGEST
    for rows, what in ((bad, "not a number"), (infinite, "infinite"), (large, "too large")):
        if rows.any():
            raise TableError(
                f"The column {column.name!r} must be numeric, of size at most {_LARGEST:g}, but row "
                f"{row_number(column, rows)} has {first_cell(column, rows)} ({what}); {rows.sum()} "
                "such rows."
            )
    return values


def _times(column: pd.Series) -> AnyArray:
    missing = is_missing(np.asarray(column, dtype=object))
    try:
        return as_times(column, missing)
    except ValueError as error:
        bad = [not gap and not is_date(v) for v, gap in zip(column, missing, strict=True)]
        row = row_number(column, bad)
        raise TableError(
            f"The column {column.name!r} must hold dates, but in row {row} {error}"
        ) from None


_CONVERTERS = {NUMBER: _numbers, CATEGORY: as_names, DATE: _times}
