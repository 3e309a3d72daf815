"""Columns of any table as plain numbers, which every model and encoder of scikit-learn accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OrdinalEncoder

from aucuba._base._dates import as_days, calendar_part
from aucuba._base._typing import AnyArray, BoolArray, FloatArray
from aucuba._columns._kinds import (
    NUMBER_DTYPES,
    as_names,
    as_numbers,
    column_names,
    column_times,
    is_missing,
    table_columns,
)

# Labels for missing and rare values in feature names.
MISSING, RARE = "(missing)", "(rare)"
# Histogram boosting has 255 bins for categories; the rarest categories share the last code.
_MAX_CATEGORIES = 200
# Evenly spaced rows that give the typical row, since medians of millions of rows take seconds.
_MOST_FOR_MEDIANS = 10_000
# Largest number of categories that a description lists.
_MOST_NAMED = 20
# Longer values are cut in messages.
_MOST_SHOWN = 60


class PlainColumns(TransformerMixin, BaseEstimator):
    """Numbers as float64, durations and dates in days, categories as codes; nan for missing values.

    Takes arrays, pandas and polars frames, with pandas' nullable types, None and NA. Categories that
    were not seen in training are missing values. Columns without any value in training are zero, since
    histogram boosting cannot bin them. Parts of dates follow after all columns of the table.

    Parameters
    ----------
    categorical : sequence of int
        Indices of the categorical columns.
    dates : sequence of (int, sequence of str)
        Indices of the date columns, each with the parts of ``CALENDAR`` that get a column.
    """

    def __init__(
        self, categorical: Sequence[int] = (), dates: Sequence[tuple[int, Sequence[str]]] = ()
    ) -> None:
        self.categorical = categorical
        self.dates = dates

    def fit(self, X: Any, y: Any = None) -> PlainColumns:
        """Learn the categories, and which columns are empty."""
        columns = table_columns(X)
        self.n_features_in_ = len(columns)
        self.names_ = column_names(X)
        if len(self.categorical):
            self.encoder_ = _encoder().fit(self._names(columns))
        table = self._coded(X, columns)
        self.empty_: BoolArray = np.asarray(np.isnan(table).all(axis=0))
        filled = np.where(self.empty_, 0.0, table)
        self.typical_ = self._middle(filled)
        self.range_ = np.array([np.nanmin(filled, axis=0), np.nanmax(filled, axis=0)])
        self.range_[:, self.empty_] = np.nan
        return self

    def fit_seen(
        self,
        names: Sequence[str],
        counts: Sequence[Mapping[Any, int]],
        ranges: Sequence[tuple[float, float]],
    ) -> PlainColumns:
        """Learn the same from counts of categories, None for missing ones, and ranges of columns.

        ``ranges`` has all columns and then the parts of dates; the ranges of categories are ignored.
        """
        self.n_features_in_, self.names_ = len(names), list(names)
        if counts:
            listed = [_few_rows(one) for one in counts]
            longest = max(map(len, listed))
            padded = [[one[0]] * (longest - len(one)) + one for one in listed]
            self.encoder_ = _encoder().fit(np.array(padded, dtype=object).T)
        self.range_ = np.array(ranges, dtype=np.float64).T
        coded = [any(name is not None for name in one) for one in counts]
        self.range_[:, list(self.categorical)] = np.where(coded, 0.0, np.nan)
        self.empty_ = np.isnan(self.range_[0])
        return self

    def transform(self, X: Any) -> FloatArray:
        """Convert the table to numbers; elapsed time and years are clipped to those of training."""
        table = self._coded(X, table_columns(X))
        if len(self.dates):
            lasting = self._lasting()
            table[:, lasting] = np.clip(table[:, lasting], *self.range_[:, lasting])
        table[:, self.empty_] = 0.0
        return table

    def _lasting(self) -> list[int]:
        """List the columns that only grow: the elapsed time and the year of every date."""
        parts = [part for _, parts in self.dates for part in parts]
        years = [self.n_features_in_ + k for k, part in enumerate(parts) if part == "year"]
        return [*(place for place, _ in self.dates), *years]

    def far_outside(self, X: Any) -> dict[str, BoolArray]:
        """Mark the rows beyond the range of training by more than half its width, by column.

        Only numbers and dates can be outside; missing values are not.
        """
        columns = table_columns(X)
        self._check(X, columns)
        far = {}
        for place in set(range(len(columns))) - set(self.categorical):
            low, high = self.range_[:, place]
            values, room = self._values(columns, place), (high - low) / 2
            far[self.names_[place]] = (values < low - room) | (values > high + room)
        return far

    def training_ranges(self) -> dict[str, str]:
        """Format the range of every column of numbers or dates, such as ``0.5 to 12``."""
        dates = {place for place, _ in self.dates}
        return {
            name: " to ".join(_end(end, place in dates) for end in self.range_[:, place])
            for place, name in enumerate(self.names_)
            if place not in set(self.categorical) and not self.empty_[place]
        }

    def typical_row(self) -> dict[str, Any]:
        """Return the median of numbers and dates, and the most frequent category, by column.

        The category is None if it is mostly missing or the rare categories together are most frequent.
        """
        row: dict[str, Any] = dict(zip(self.names_, self.typical_.tolist(), strict=False))
        for place, _ in self.dates:
            seconds = int(self.typical_[place] * 86_400)
            row[self.names_[place]] = np.datetime64(seconds, "s")
        listed = self.category_names() if len(self.categorical) else []
        for place, names in zip(self.categorical, listed, strict=True):
            code = self.typical_[place]
            known = not np.isnan(code) and names[int(code)] != RARE
            row[self.names_[place]] = names[int(code)] if known else None
        return row

    def _middle(self, table: FloatArray) -> FloatArray:
        """Return the median of every numeric column, and the most frequent code of the others."""
        table = table[:: -(-len(table) // _MOST_FOR_MEDIANS)]
        middle = np.nanmedian(table, axis=0)
        for place in self.categorical:
            codes, counts = np.unique(table[:, place], return_counts=True)
            middle[place] = codes[np.argmax(counts)]
        return middle

    def unknown_categories(self, X: Any) -> dict[str, BoolArray]:
        """Mark the rows with a category not seen in training, by column; missing values are known."""
        columns, known = table_columns(X), self.known_categories()
        self._check(X, columns)
        unknown = {}
        for place in self.categorical:
            values, name = as_names(columns[place]), self.names_[place]
            unknown[name] = ~is_missing(values) & ~np.isin(values.astype(str), list(known[name]))
        return unknown

    def described(self) -> dict[str, str]:
        """Describe every column by its kind and its range or first few categories."""
        ranges, known = self.training_ranges(), self.known_categories()
        dates = {self.names_[place] for place, _ in self.dates}
        text = {}
        for name in self.names_:
            if name in known:
                shown = ", ".join(map(repr, sorted(known[name])[:_MOST_NAMED]))
                text[name] = f"category: {shown}{', ...' * (len(known[name]) > _MOST_NAMED)}"
            else:
                kind = "date" if name in dates else "number"
                text[name] = f"{kind}, {ranges.get(name, 'no values')}"
        return text

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of the result."""
        parts = [f"{self.names_[place]}_{part}" for place, parts in self.dates for part in parts]
        return np.array([*self.names_, *parts], dtype=object)

    def category_names(self) -> list[list[str]]:
        """Name the codes 0, 1, ... of every categorical column."""
        listed = []
        rare = self.encoder_.infrequent_categories_
        for k, names in enumerate(self.encoder_.categories_):
            hidden = set() if rare[k] is None else set(rare[k])
            shown = [str(name) for name in names if isinstance(name, str) and name not in hidden]
            listed.append([*shown, RARE] if hidden else shown)
        return listed

    def known_categories(self) -> dict[str, set[str]]:
        """Return the categories seen in training, by column."""
        places = list(self.categorical)
        categories = self.encoder_.categories_ if places else []
        return {
            self.names_[place]: {name for name in names if isinstance(name, str)}
            for place, names in zip(places, categories, strict=True)
        }

    def _names(self, columns: Sequence[Any]) -> AnyArray:
        return np.column_stack([as_names(columns[place]) for place in self.categorical])

    def _coded(self, X: Any, columns: Sequence[Any]) -> FloatArray:
        self._check(X, columns)
        if isinstance(X, np.ndarray) and X.dtype.kind in NUMBER_DTYPES:
            return X.astype(np.float64)
        n_parts = sum(len(parts) for _, parts in self.dates)
        table = np.empty((len(columns[0]), len(columns) + n_parts))
        if len(self.categorical):
            table[:, list(self.categorical)] = self.encoder_.transform(self._names(columns))
        for place in set(range(len(columns))) - set(self.categorical):
            table[:, place] = self._values(columns, place)
        last = len(columns)
        for place, parts in self.dates:
            for part in parts:
                times = column_times(columns[place], self.names_[place])
                table[:, last] = calendar_part(times, part)
                last += 1
        return table

    def _values(self, columns: Sequence[Any], place: int) -> FloatArray:
        """Return a column of numbers, or of dates in days."""
        if any(place == date for date, _ in self.dates):
            return as_days(column_times(columns[place], self.names_[place]))
        try:
            return as_numbers(columns[place])
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"The column {self.names_[place]!r} must hold numbers, as in training, got "
                f"{_first_no_number(columns[place])}."
            ) from None

    def _check(self, X: Any, columns: Sequence[Any]) -> None:
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(columns)} columns; the model was trained on {self.n_features_in_}."
            )
        special = [*self.categorical, *(place for place, _ in self.dates)]
        if special and isinstance(X, np.ndarray) and X.dtype.kind in NUMBER_DTYPES:
            shown = ", ".join(repr(self.names_[place]) for place in special[:5])
            raise ValueError(
                f"The model was trained on categories or dates in the columns {shown}, and an array of "
                "numbers has none. Pass a table with the same kinds of columns as in training."
            )


def _encoder() -> OrdinalEncoder:
    return OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        max_categories=_MAX_CATEGORIES,
    )


def _few_rows(counts: Mapping[Any, int]) -> list[Any]:
    """List every category in a few rows from which the encoder groups the same rare ones.

    The encoder sorts them by name and keeps the most frequent, the later of equals; missing values are
    never rare.
    """
    names = sorted(name for name in counts if name is not None)
    order = np.argsort([counts[name] for name in names], kind="stable")[::-1]
    kept = [names[place] for place in order[: _MAX_CATEGORIES - 1]]
    return [*kept, *names, *([np.nan] if None in counts else [])]


def _first_no_number(column: Any) -> str:
    """Quote the first value that is not a number, shortened if it is long."""
    for value in column:
        try:
            as_numbers(np.array([value, None], dtype=object)[:1])
        except (TypeError, ValueError, OverflowError):
            shown = ascii(value) if not isinstance(value, int) else "a number of too many digits"
            return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    return f"values of type {getattr(column, 'dtype', type(column).__name__)}"


def _end(end: float, is_date: bool) -> str:
    """Format an end of a range; for a date, the day."""
    return str(np.datetime64(int(end // 1), "D")) if is_date else f"{end:.6g}"
