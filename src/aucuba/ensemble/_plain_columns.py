"""Columns of any table as plain numbers: what scikit-learn's models and encoders all take."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OrdinalEncoder

from aucuba._core._typing import AnyArray, BoolArray, FloatArray

# Histogram boosting has 255 bins for categories; rarer categories share the last.
_MAX_CATEGORIES = 200
_NUMBER_KINDS, _TIME_KINDS = "biuf", "mM"
_DAY = np.timedelta64(1, "D")


class PlainColumns(TransformerMixin, BaseEstimator):
    """Numbers as float64, times in days, categories as codes; nan where a value is missing.

    Takes arrays, pandas and polars frames, with pandas' nullable types, None and NA. Categories that
    training has not seen are missing values; columns without any value in training are zero, since
    histogram boosting cannot bin them.

    Parameters
    ----------
    categorical : sequence of int
        Places of the columns whose values are names.
    """

    def __init__(self, categorical: Sequence[int] = ()) -> None:
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> PlainColumns:
        """Learn the categories, and which columns are empty."""
        columns = table_columns(X)
        if len(self.categorical):
            self.encoder_ = OrdinalEncoder(
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
                max_categories=_MAX_CATEGORIES,
            ).fit(self._names(columns))
        self.empty_ = np.isnan(self._coded(X, columns)).all(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The table of numbers."""
        table = self._coded(X, table_columns(X))
        table[:, self.empty_] = 0.0
        return table

    def _names(self, columns: Sequence[Any]) -> AnyArray:
        return np.column_stack([as_names(columns[place]) for place in self.categorical])

    def _coded(self, X: Any, columns: Sequence[Any]) -> FloatArray:
        if isinstance(X, np.ndarray) and X.dtype.kind in _NUMBER_KINDS:
            return X.astype(np.float64)
        table = np.empty((len(columns[0]), len(columns)))
        if len(self.categorical):
            table[:, list(self.categorical)] = self.encoder_.transform(self._names(columns))
        for place in set(range(len(columns))) - set(self.categorical):
            table[:, place] = as_numbers(columns[place])
        return table


def table_columns(X: Any) -> list[Any]:
    """The columns of a table, as pandas series or as arrays."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, place] for place in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [column.to_numpy() for column in X.get_columns()]
    return list(np.asarray(X).T)


def is_categorical(column: Any, place: int) -> bool:
    """Whether a column holds names: text, or pandas' categories."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in _NUMBER_KINDS + _TIME_KINDS:
        return False
    if hasattr(column.dtype, "categories"):
        return True
    values = np.asarray(column, dtype=object)
    known = values[~_missing(values)]
    for value in known:
        if not isinstance(value, str | Number | np.generic):
            raise TypeError(
                f"Column {place} holds a {type(value).__name__}: argument must be a string or a "
                "number. Turn the column into one of them, or leave it out."
            )
    return not all(isinstance(value, Number | np.number | np.bool_) for value in known)


def as_numbers(column: Any) -> FloatArray:
    """A column as float64; times as days."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in _TIME_KINDS:
        # The time zone is dropped, the moment kept.
        times = np.asarray(column, dtype="datetime64[ns]" if kind == "M" else "timedelta64[ns]")
        since = times - np.datetime64(0, "ns") if kind == "M" else times
        days = since / _DAY
        return np.asarray(np.where(np.isnat(times), np.nan, days))
    if kind in _NUMBER_KINDS and isinstance(column.dtype, np.dtype):
        return np.asarray(column, dtype=np.float64)
    values = np.array(column, dtype=object)
    values[_missing(values)] = np.nan
    return values.astype(np.float64)


def as_names(column: Any) -> AnyArray:
    """A column as text, nan where a value is missing; 2 and 2.0 have one name."""
    values = np.array(column, dtype=object)
    missing = _missing(values)
    names = np.array([_name(value) for value in values], dtype=object)
    names[missing] = np.nan
    return names


def _name(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _missing(values: AnyArray) -> BoolArray:
    """None, nan, and pandas' NA and NaT, which compare with nothing."""
    return np.array(
        [
            value is None
            or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
            for value in values
        ],
        dtype=bool,
    )
