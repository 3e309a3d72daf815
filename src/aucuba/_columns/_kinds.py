"""Kinds of columns (numbers, categories, dates) and their values, in arrays and frames of any kind."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from aucuba._base._dates import as_times, is_date
from aucuba._base._typing import AnyArray, BoolArray, FloatArray

NUMBER, CATEGORY, DATE = "number", "category", "date"
# NumPy's kinds of numeric types.
NUMBER_DTYPES = "biuf"


def table_columns(X: Any) -> list[Any]:
    """List the columns of a table, as pandas series or as arrays."""
    if hasattr(X, "iloc"):
        # A third of the time of `iloc`, which counts for a single row.
        return [column for _, column in X.items()]
    if hasattr(X, "get_columns"):
        return [column.to_numpy() for column in X.get_columns()]
    if hasattr(X, "itercolumns"):
        return [column.to_numpy() for column in X.itercolumns()]
    return list(np.asarray(X).T)


def column_names(X: Any) -> list[str]:
    """List the names of the columns; x0, x1, ... for an array."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None:
        return [str(name) for name in names]
    return [f"x{place}" for place in range(np.asarray(X).shape[1])]


def column_kind(column: Any, name: str) -> str:
    """Return whether a column holds numbers (durations included), categories or dates.

    Text is a category, unless every value is an ISO 8601 date.
    """
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M":
        return DATE
    if kind in NUMBER_DTYPES + "m":
        return NUMBER
    if hasattr(column.dtype, "categories"):
        return CATEGORY
    values = np.asarray(column, dtype=object)
    known = values[~is_missing(values)]
    if all(isinstance(value, Number | np.number | np.bool_) for value in known):
        return NUMBER
    if all(is_date(value) for value in known):
        return DATE
    for value in known:
        if not isinstance(value, str | Number | np.generic):
            raise TypeError(
                f"The column {name!r} holds a {type(value).__name__}: argument must be a string, a "
                "number or a date. Turn the column into one of them, or leave it out."
            )
    return CATEGORY


def as_numbers(column: Any) -> FloatArray:
    """Convert a column to float64; durations to days."""
    kind = getattr(column.dtype, "kind", "O")
    if kind == "m":
        spans = np.asarray(column)
        if spans.dtype.kind != "m":
            spans = spans.astype("timedelta64[us]")
        return np.asarray(np.where(np.isnat(spans), np.nan, spans / np.timedelta64(1, "D")))
    if kind in NUMBER_DTYPES and isinstance(column.dtype, np.dtype):
        return np.asarray(column, dtype=np.float64)
    values = np.array(column, dtype=object)
    values[is_missing(values)] = np.nan
    return values.astype(np.float64)


def as_names(column: Any) -> AnyArray:
    """Convert a column to text, nan where a value is missing; 2 and 2.0 become the same text."""
    values = np.array(column, dtype=object)
    missing = is_missing(values)
    names = np.array([_name(value) for value in values], dtype=object)
    names[missing] = np.nan
    return names


def column_times(column: Any, name: str) -> AnyArray:
    """Convert a column of dates to moments; an error names the column."""
    known_type = getattr(column.dtype, "kind", "O") == "M"
    missing = np.zeros(len(column), bool) if known_type else is_missing(np.asarray(column, object))
    try:
        return as_times(column, missing)
    except ValueError as error:
        raise ValueError(f"The column {name!r} held dates in training, and {error}") from None


def is_missing(values: AnyArray) -> BoolArray:
    """Return a mask of None, nan, and pandas' NA and NaT."""
    return np.array(
        [
            value is None
            or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
            for value in values
        ],
        dtype=bool,
    )


def _name(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
