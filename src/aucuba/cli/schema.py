"""The default preprocessing: what each column is, and the pipeline that turns it into numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from aucuba.tables import Table, TableError, as_text

_MISSING = "(missing)"
# Categories rarer than this share one column: their own coefficient would be noise.
_MIN_FREQUENCY = 5
_MAX_CATEGORIES = 100


@dataclass(frozen=True)
class Schema:
    """Names of the numeric and the categorical columns, or the width of a sparse matrix."""

    numeric: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    n_features: int | None = None

    @classmethod
    def of(cls, table: Table, excluded: Iterable[str]) -> Schema:
        """Every column that is not excluded: numbers and booleans are numeric, text is a category."""
        if table.matrix is not None:
            return cls(n_features=table.matrix.shape[1])
        numeric: list[str] = []
        category: list[str] = []
        for name in table.frame.columns.drop(list(excluded)):
            column = table.frame[name]
            if column.isna().all():
                raise TableError(
                    f"The column {name!r} has no values at all; leave it out with --drop {name}."
                )
            if pd.api.types.is_datetime64_any_dtype(column):
                raise TableError(
                    f"The column {name!r} holds dates; turn it into numbers, or use --drop {name}."
                )
            is_number = pd.api.types.is_numeric_dtype(column)
            (numeric if is_number else category).append(str(name))
        if not numeric and not category:
            raise TableError("No column is left to learn from besides the target.")
        return cls(tuple(numeric), tuple(category))

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Schema:
        return cls(tuple(saved["numeric"]), tuple(saved["category"]), saved["n_features"])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def width(self) -> int:
        return self.n_features or len(self.numeric) + len(self.category)

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
        if table.matrix.shape[1] != self.n_features:
            raise TableError(
                f"The file has features up to {table.matrix.shape[1]}, the model knows "
                f"{self.n_features}."
            )
        return table.matrix


def feature_names(model: Pipeline) -> list[str]:
    """Names of the columns that the classifier sees."""
    return [str(name) for name in model[:-1].get_feature_names_out()]


def _numbers(column: pd.Series, first_row: int) -> Sequence[float]:
    numbers = pd.to_numeric(column, errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.isnan(values) & column.notna().to_numpy()
    infinite = np.isinf(values)
    for rows, what in ((bad, "not a number"), (infinite, "infinite")):
        if rows.any():
            row = int(np.argmax(rows))
            raise TableError(
                f"The column {column.name!r} must be numeric, but row {first_row + row + 1} has "
                f"{str(column.iloc[row])[:40]!r} ({what}); {rows.sum()} such rows."
            )
    return values
