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
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)

# A column with fewer distinct values is a step function already; splines would add empty columns.
_DISTINCT_FOR_SPLINES = 8
# Histogram boosting has 255 bins for categories; rarer categories share the last.
_MAX_CATEGORIES = 200
_RARE_CATEGORY = 10


@dataclass(frozen=True)
class Columns:
    """Places of the categorical columns, of the numbers, and of the numbers that can take splines."""

    categorical: list[int]
    numeric: list[int]
    smooth: list[int]

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Look at a DataFrame's types; a plain array is all numbers."""
        if hasattr(X, "dtypes") and hasattr(X, "columns"):
            series = [X.iloc[:, place] for place in range(X.shape[1])]
            categorical = [k for k, column in enumerate(series) if not _is_numeric(column.dtype)]
            distinct = [column.nunique() for column in series]
        else:
            X = np.asarray(X)
            categorical = []
            distinct = [np.unique(X[:, place]).size for place in range(X.shape[1])]
        numeric = [k for k in range(X.shape[1]) if k not in set(categorical)]
        smooth = [k for k in numeric if distinct[k] >= _DISTINCT_FOR_SPLINES]
        return cls(categorical, numeric, smooth)

    @property
    def encoded_categories(self) -> list[int] | None:
        """Places of the categories after `for_trees`."""
        return list(range(len(self.categorical))) or None

    def for_trees(self, model: Any) -> Any:
        """Categories as numbers, missing values left missing."""
        if not self.categorical:
            return model
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            max_categories=_MAX_CATEGORIES,
        )
        encode = ColumnTransformer(
            [("categories", codes, self.categorical)], remainder="passthrough"
        )
        return Pipeline([("columns", encode), ("model", model)])

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
            SplineTransformer(n_knots=6, knots="quantile", extrapolation="linear"),
            StandardScaler(),
        )
        parts = [
            ("numbers", _numbers(), self.numeric),
            ("splines", splines, self.smooth),
            ("categories", _indicators(), self.categorical),
        ]
        return self._pipeline(parts, model)

    @staticmethod
    def _pipeline(parts: list[tuple[str, Any, list[int]]], model: Any) -> Pipeline:
        kept = [part for part in parts if part[2]]
        encode = ColumnTransformer(kept, sparse_threshold=0.0)
        return Pipeline([("columns", encode), ("model", model)])


def _numbers() -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())


def _indicators() -> OneHotEncoder:
    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=_RARE_CATEGORY, sparse_output=False
    )


def _is_numeric(dtype: Any) -> bool:
    """Numbers and booleans, in NumPy's types and in pandas' own."""
    return getattr(dtype, "kind", "O") in "biuf"
