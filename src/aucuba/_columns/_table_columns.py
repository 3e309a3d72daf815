"""Kinds of columns in a table, and how each kind of model needs them prepared.

`RegionStack` and the command line prepare their columns here, so that both train the same models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucuba._base._dates import CALENDAR, as_days, calendar_part
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import as_table
from aucuba._columns._kinds import (
    CATEGORY,
    DATE,
    as_numbers,
    column_kind,
    column_names,
    column_times,
    table_columns,
)
from aucuba._columns._plain_columns import MISSING, RARE, PlainColumns
from aucuba._columns._splines import PortableSplines

# A column with fewer distinct values is a step function already; splines would add empty columns.
_DISTINCT_FOR_SPLINES = 8
RARE_CATEGORY = 10
# A matrix with fewer entries than this fraction is kept sparse, where that is allowed.
SPARSE_BELOW = 0.3


@dataclass(frozen=True)
class Columns:
    """Kinds of the columns of a table.

    Parameters
    ----------
    categorical : list of int
        Indices of the categorical columns.
    dates : list of (int, list of str)
        Indices of the date columns, each with the year where it varies, and the month, the weekday
        and the hour where the rows cover a full cycle.
    numeric : list of int
        Indices of all others, and of the parts of dates, which follow after all columns.
    smooth : list of int
        The members of ``numeric`` with enough distinct values for splines.
    """

    categorical: list[int]
    dates: list[tuple[int, list[str]]]
    numeric: list[int]
    smooth: list[int]

    @classmethod
    def from_table(cls, X: Any) -> Columns:
        """Find the kinds from the types and values of a table's columns."""
        columns, names = table_columns(X), column_names(X)
        if not columns:
            raise ValueError(
                f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        kinds = [column_kind(*pair) for pair in zip(columns, names, strict=True)]
        categorical = [place for place, kind in enumerate(kinds) if kind == CATEGORY]
        numeric = [place for place, kind in enumerate(kinds) if kind != CATEGORY]
        dates, numbers = [], {}
        for place in numeric:
            if kinds[place] == DATE:
                times = column_times(columns[place], names[place])
                numbers[place] = as_days(times)
                parts = [
                    part
                    for part, enough in CALENDAR.items()
                    if _n_distinct(calendar_part(times, part)) >= enough
                ]
                dates.append((place, parts))
            else:
                numbers[place] = as_numbers(columns[place])
        smooth = [p for p in numeric if _n_distinct(numbers[p]) >= _DISTINCT_FOR_SPLINES]
        # Parts of dates repeat; splines on them would only follow the elapsed time.
        n_parts = sum(len(parts) for _, parts in dates)
        numeric += range(len(columns), len(columns) + n_parts)
        return cls(categorical, dates, numeric, smooth)

    def for_trees(self, model: Any) -> Pipeline:
        """Prepend categories as codes, with missing values left missing."""
        return Pipeline([("plain", PlainColumns(self.categorical, self.dates)), ("model", model)])

    def for_linear(self, model: Any, *, sparse: bool = False) -> Pipeline:
        """Prepend indicators for categories and missing values, and numbers of variance 1."""
        prepared = LinearColumns(self.categorical, self.dates, sparse=sparse)
        return Pipeline([("columns", prepared), ("model", model)])

    def for_splines(self, model: Any) -> Pipeline:
        """Prepend the same, with cubic splines of the numbers that have many values."""
        prepared = LinearColumns(self.categorical, self.dates, self.smooth)
        return Pipeline([("columns", prepared), ("model", model)])


class LinearColumns(TransformerMixin, BaseEstimator):
    """Indicators for categories and for missing values; numbers of mean 0 and variance 1.

    Missing numbers become the median. Categories of fewer than ten rows share one column.

    Parameters
    ----------
    categorical, dates
        As in `PlainColumns`.
    smooth : sequence of int
        Indices of the numeric columns that also get cubic splines.
    sparse : bool, default=False
        Whether the result may be a sparse matrix if most entries are zero.
    """

    def __init__(
        self,
        categorical: Sequence[int] = (),
        dates: Sequence[tuple[int, Sequence[str]]] = (),
        smooth: Sequence[int] = (),
        sparse: bool = False,
    ) -> None:
        self.categorical = categorical
        self.dates = dates
        self.smooth = smooth
        self.sparse = sparse

    def fit(self, X: Any, y: Any = None) -> LinearColumns:
        """Learn categories, medians, scales and knots."""
        self._fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and prepare the same rows."""
        return self._fit_transform(X)

    def transform(self, X: Any) -> Any:
        """Prepare the columns of a table."""
        return self.encode_.transform(self.plain_.transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of the result: ``age``, ``missingindicator_age``, ``city_Rome``."""
        plain, listed = self.plain_.get_feature_names_out(), []
        for name, part, places in self.encode_.transformers_:
            if name == "categories":
                listed += [name for names in self._names_of_indicators(part) for name in names]
            else:
                listed += list(part.get_feature_names_out(plain[list(places)]))
        return np.array(listed, dtype=object)

    def source_columns(self) -> IntArray:
        """Return the column of the table that each column of the result is made of."""
        dates = [place for place, parts in self.dates for _ in parts]
        plain, listed = np.array([*range(self.n_features_in_), *dates]), []
        for name, part, places in self.encode_.transformers_:
            own = plain[list(places)]
            if name == "numbers":
                listed += [own, own[part[0].indicator_.features_]]
            elif name == "splines":
                listed.append(np.repeat(own, part[-1].n_features_in_ // own.size))
            else:
                listed.append(np.repeat(own, [*map(len, self._names_of_indicators(part))]))
        return np.concatenate(listed)

    def fit_plain(self, plain: PlainColumns, table: FloatArray) -> LinearColumns:
        """Learn the encoding from rows of plain columns, as fitted `PlainColumns` give them."""
        self._encode(plain, table)
        return self

    def _fit_transform(self, X: Any) -> Any:
        plain = PlainColumns(self.categorical, self.dates)
        return self._encode(plain, plain.fit_transform(X))

    def _encode(self, plain: PlainColumns, table: FloatArray) -> Any:
        self.plain_ = plain
        self.n_features_in_ = plain.n_features_in_
        categorical = list(self.categorical)
        numeric = [place for place in range(table.shape[1]) if place not in set(categorical)]
        parts = [
            ("numbers", _numbers(), numeric),
            ("splines", _splines(), list(self.smooth)),
            ("categories", _indicators(self.sparse), categorical),
        ]
        self.encode_ = ColumnTransformer(
            [part for part in parts if part[2]],
            sparse_threshold=SPARSE_BELOW if self.sparse else 0.0,
        )
        return self.encode_.fit_transform(table)

    def _names_of_indicators(self, encoder: OneHotEncoder) -> list[list[str]]:
        """Name the indicators of every categorical column."""
        names, rare = self.plain_.category_names(), encoder.infrequent_categories_
        listed = []
        for k, codes in enumerate(encoder.categories_):
            column = self.plain_.names_[self.categorical[k]]
            hidden = () if rare[k] is None else rare[k]
            own = []
            for code in codes:
                if not np.isin(code, hidden) and not (np.isnan(code) and np.isnan(hidden).any()):
                    name = MISSING if np.isnan(code) else names[k][int(code)]
                    own.append(f"{column}_{name}")
            listed.append([*own, f"{column}_{RARE}"] if len(hidden) else own)
        return listed


class NamedColumns(TransformerMixin, BaseEstimator):
    """Selection of the named columns of a frame, in the order of training.

    Parameters
    ----------
    names : sequence of str
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = names

    def fit(self, X: Any, y: Any = None) -> NamedColumns:
        """Check that the columns are there."""
        self.transform(X)
        self.n_features_in_ = len(self.names)
        return self

    def transform(self, X: Any) -> Any:
        """Select the columns."""
        names, X = list(self.names), as_table(X)
        if not hasattr(X, "columns"):
            raise ValueError(
                f"The model needs a table with the named columns {_listed(names)}, got "
                f"{type(X).__name__}. Pass a DataFrame."
            )
        known = list(getattr(X, "column_names", X.columns))
        absent = [name for name in names if name not in known]
        if absent:
            raise ValueError(f"The model needs the columns {_listed(absent)}, which X lacks.")
        return X.select(names) if hasattr(X, "itercolumns") else X[names]

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names."""
        return np.array(list(self.names), dtype=object)


def _numbers() -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())


def _splines() -> Pipeline:
    return make_pipeline(
        SimpleImputer(strategy="median", add_indicator=False),
        PortableSplines(n_knots=6, knots="quantile", extrapolation="linear"),
        StandardScaler(),
    )


def _indicators(sparse: bool) -> OneHotEncoder:
    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=RARE_CATEGORY, sparse_output=sparse
    )


def _n_distinct(values: FloatArray) -> int:
    return int(np.unique(values[~np.isnan(values)]).size)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
