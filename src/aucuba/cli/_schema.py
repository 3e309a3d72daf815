"""The default preprocessing: what each column is, and the pipeline that turns it into numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from aucuba.cli._tables import Table, TableError, as_text

_MISSING = "(missing)"
# Categories rarer than this share one column: their own coefficient would be noise.
_MIN_FREQUENCY = 5
_MAX_CATEGORIES = 100
# Squares of larger numbers, summed for a variance, overflow.
_LARGEST = 1e100
# Text of which this share are numbers is rather a numeric column with words in it.
_MOSTLY = 0.5
_ENOUGH = 20
_UNNAMED = re.compile(r"Unnamed: \d+")
_NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
_TEXTS = ("string", "categorical")
_OTHERS = {
    "mixed": "lists or mixed values",
    **dict.fromkeys(("date", "datetime", "datetime64", "period"), "dates"),
    **dict.fromkeys(("timedelta", "timedelta64"), "durations"),
    "time": "times of day",
    "bytes": "bytes",
    "complex": "complex numbers",
}


@dataclass(frozen=True)
class Schema:
    """Names of the numeric and the categorical columns, or width and first index of a sparse matrix."""

    numeric: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    n_features: int | None = None
    first_index: int | None = None

    @classmethod
    def of(cls, table: Table, excluded: Iterable[str], categories: Iterable[str] = ()) -> Schema:
        """Every column that is not excluded: numbers and booleans are numeric, text is a category."""
        if table.matrix is not None:
            if table.matrix.shape[1] == 0:
                raise TableError("No row has a feature to learn from.")
            return cls(n_features=table.matrix.shape[1], first_index=table.first_index)
        numeric: list[str] = []
        category: list[str] = list(categories)
        for name in table.frame.columns.drop([*excluded, *category]):
            column = table.frame[name]
            if column.isna().all():
                raise TableError(
                    f"The column {name!r} has no values at all; leave it out with --drop {name}."
                )
            if _UNNAMED.fullmatch(name):
                raise TableError(
                    f"The column {name!r} has no name in the file, as when pandas writes its index; "
                    f"name it, or leave it out with --drop {name!r}."
                )
            (numeric if _is_numeric(column) else category).append(name)
        if not numeric and not category:
            raise TableError("No column is left to learn from besides the target.")
        return cls(tuple(numeric), tuple(category))

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Schema:
        sizes = saved["n_features"], saved["first_index"]
        if not all(size is None or isinstance(size, int) for size in sizes):
            raise TypeError("The width of a matrix must be a number.")
        return cls(tuple(saved["numeric"]), tuple(saved["category"]), *sizes)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def width(self) -> int:
        return self.n_features or len(self.numeric) + len(self.category)

    def described(self) -> str:
        """The number of columns of each kind."""
        if self.n_features is not None:
            return f"{self.n_features} features, counted from {self.first_index}"
        return f"{len(self.numeric)} numeric and {len(self.category)} categorical columns"

    def features(self, table: Table, first_row: int = 0) -> Any:
        """The table's features as floats and text; ``first_row`` numbers rows in messages."""
        if self.n_features is not None:
            return self._matrix(table)
        if table.matrix is not None:
            raise TableError(
                "The model was trained on named columns; this file has numbered ones. Give it a csv, "
                "tsv, Parquet or npz file."
            )
        missing = [n for n in (*self.numeric, *self.category) if n not in table.frame.columns]
        if missing:
            raise TableError(
                f"The model needs the column{'s' if len(missing) > 1 else ''} "
                f"{', '.join(map(repr, missing[:5]))}, absent from this file."
            )
        columns: dict[str, Any] = {n: _numbers(table.frame[n], first_row) for n in self.numeric}
        columns |= {n: as_text(table.frame[n]) for n in self.category}
        return pd.DataFrame(columns, index=table.frame.index)

    def preprocessing(self) -> Any:
        """Median and indicator for missing numbers, then unit variance; one-hot categories."""
        if self.n_features is not None:
            return MaxAbsScaler()
        numbers = make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
        )
        categories = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=_MISSING, missing_values=None),
            OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=_MIN_FREQUENCY,
                max_categories=_MAX_CATEGORIES,
            ),
        )
        parts = [("numbers", numbers, list(self.numeric))] if self.numeric else []
        if self.category:
            parts.append(("categories", categories, list(self.category)))
        return ColumnTransformer(parts, verbose_feature_names_out=False)

    def refuse_unknown(self, model: Pipeline, X: Any) -> None:
        """One error for the first category that the model has not seen in training."""
        if not self.category:
            return
        encoder = model[0].named_transformers_["categories"][-1]
        for name, known in zip(self.category, encoder.categories_, strict=True):
            seen = X[name].dropna()
            unknown = seen[~seen.isin(set(known))]
            if len(unknown):
                raise TableError(
                    f"The column {name!r} has {unknown.nunique()} categories that the model has not "
                    f"seen, such as {unknown.iloc[0]!r}; give --unknown ignore to score such rows "
                    "without it."
                )

    def _matrix(self, table: Table) -> Any:
        if table.matrix is None:
            raise TableError("The model was trained on a svmlight file; give it a svmlight file.")
        assert self.n_features is not None
        assert self.first_index is not None
        n_rows, width = table.matrix.shape
        if width > self.n_features:
            last = self.first_index - 1
            raise TableError(
                f"The file has features up to index {last + width}, the model knows those up to "
                f"{last + self.n_features}; leave the others out, and count from {self.first_index} as "
                "in training."
            )
        parts = (table.matrix.data, table.matrix.indices, table.matrix.indptr)
        matrix = sparse.csr_matrix(parts, shape=(n_rows, self.n_features))
        bad = ~(np.abs(matrix.data) <= _LARGEST)
        if bad.any():
            entry = int(np.argmax(bad))
            row = int(np.searchsorted(matrix.indptr, entry, side="right"))
            raise TableError(
                f"The feature {matrix.indices[entry] + self.first_index} in row {row} is "
                f"{matrix.data[entry]}; values "
                f"must be numbers of size at most {_LARGEST:g}."
            )
        return matrix


def feature_names(model: Pipeline) -> list[str]:
    """Names of the columns that the classifier sees."""
    return [str(name) for name in model[:-1].get_feature_names_out()]


def _is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers, or else categories; what looks like both is an error."""
    kind = _kind(column)
    if kind in _OTHERS:
        raise TableError(
            f"The column {column.name!r} holds {_OTHERS[kind]}; turn it into numbers or text, or leave "
            f"it out with --drop {column.name}."
        )
    if kind != "string":
        return kind in _NUMBERS
    is_number = pd.to_numeric(column, errors="coerce").notna().to_numpy()
    is_word = column.notna().to_numpy() & ~is_number
    if is_number.sum() < _MOSTLY * (is_number.sum() + is_word.sum()):
        _note_if_all_differ(column)
        return False
    what, remedy = "all its values are numbers", "Store it as numbers"
    if is_word.any():
        row = int(np.argmax(is_word))
        what = (
            f"{is_number.sum()} of its {is_number.sum() + is_word.sum()} values are numbers; row "
            f"{row + 1} has {str(column.iloc[row])[:40]!r}"
        )
        remedy = "Correct such cells (an empty one is a missing value)"
    raise TableError(
        f"The column {column.name!r} is text, but {what}. {remedy}, or give --category {column.name} "
        f"or --drop {column.name}."
    )


def _note_if_all_differ(column: pd.Series) -> None:
    """Categories that never repeat teach nothing: names of rows, or numbers in other notations."""
    n_values = int(column.notna().sum())
    if n_values >= _ENOUGH and column.nunique() > _MOSTLY * n_values:
        warnings.warn(
            f"The column {column.name!r} has {column.nunique()} different texts in {n_values} rows, "
            f"such as {str(column.dropna().iloc[0])[:40]!r}; as categories most count for nothing. "
            f"Write numbers like 1234.5, or leave the column out with --drop {column.name}.",
            UserWarning,
            stacklevel=2,
        )


def _kind(column: pd.Series) -> str:
    """The name that pandas has for the values of a column, one of those above or an empty one."""
    kind = str(pd.api.types.infer_dtype(column, skipna=True))
    return kind if kind in (*_NUMBERS, *_TEXTS, *_OTHERS, "empty") else "mixed"


def _numbers(column: pd.Series, first_row: int) -> Sequence[float]:
    kind = _kind(column)
    if kind in _OTHERS:
        raise TableError(f"The column {column.name!r} must be numeric, but holds {_OTHERS[kind]}.")
    numbers = pd.to_numeric(column, errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.isnan(values) & column.notna().to_numpy()
    infinite = np.isinf(values)
    large = np.abs(values) > _LARGEST
    for rows, what in ((bad, "not a number"), (infinite, "infinite"), (large, "too large")):
        if rows.any():
            row = int(np.argmax(rows))
            raise TableError(
                f"The column {column.name!r} must be numeric, of size at most {_LARGEST:g}, but row "
                f"{first_row + row + 1} has {str(column.iloc[row])[:40]!r} ({what}); {rows.sum()} such "
                "rows."
            )
    return values
