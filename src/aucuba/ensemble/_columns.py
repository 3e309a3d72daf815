"""What a table's columns are, and how each kind of model wants them prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    StandardScaler,
)

from aucuba.ensemble._plain_columns import PlainColumns, as_numbers, is_categorical, table_columns
from aucuba.ensemble._splines import PortableSplines

# A column with fewer distinct values is a step function already; splines would add empty columns.
_DISTINCT_FOR_SPLINES = 8
_RARE_CATEGORY = 10


@dataclass(frozen=True)
class Columns:
    """Places of the categorical columns, of the numbers, and of the numbers that can take splines."""

    categorical: list[int]
    numeric: list[int]
    smooth: list[int]

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Look at the types of a table's columns."""
        columns = table_columns(X)
        categorical = [k for k, column in enumerate(columns) if is_categorical(column, k)]
        numeric = [k for k in range(len(columns)) if k not in set(categorical)]
        smooth = [k for k in numeric if _n_distinct(columns[k]) >= _DISTINCT_FOR_SPLINES]
        return cls(categorical, numeric, smooth)

    def for_trees(self, model: Any) -> Pipeline:
        """Categories as codes, missing values left missing."""
        return Pipeline([("plain", PlainColumns(self.categorical)), ("model", model)])

    def for_linear(self, model: Any) -> Pipeline:
        """Indicators for categories and for missing values, numbers to mean 0 and variance 1."""
        parts = [
            ("numbers", _numbers(), self.numeric),
            ("categories", _indicators(), self.categorical),
        ]
        return self._pipeline(parts, model)

    def for_splines(self, model: Any) -> Pipeline:
        """As `for_linear`, with cubic splines on the numbers that have many values."""
        splines = make_pipeline(
            SimpleImputer(strategy="median", add_indicator=False),
            PortableSplines(n_knots=6, knots="quantile", extrapolation="linear"),
            StandardScaler(),
        )
        parts = [
            ("numbers", _numbers(), self.numeric),
            ("splines", splines, self.smooth),
            ("categories", _indicators(), self.categorical),
        ]
        return self._pipeline(parts, model)

    def _pipeline(self, parts: list[tuple[str, Any, list[int]]], model: Any) -> Pipeline:
        kept = [part for part in parts if part[2]]
        encode = ColumnTransformer(kept, sparse_threshold=0.0)
        plain = PlainColumns(self.categorical)
        return Pipeline([("plain", plain), ("columns", encode), ("model", model)])


def _numbers() -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())


def _indicators() -> OneHotEncoder:
    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=_RARE_CATEGORY, sparse_output=False
    )


def _n_distinct(column: Any) -> int:
    values = as_numbers(column)
    return int(np.unique(values[~np.isnan(values)]).size)
