"""The columns of a table as arrays of numbers or names, from which conditions are made and tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from aucuba._base._typing import AnyArray, BoolArray, IntArray
from aucuba._columns._kinds import DATE, NUMBER_DTYPES
from aucuba._rows._sample import Sample
from aucuba.scorecard._conditions import (
    Condition,
    column_conditions,
    column_values,
    columns_of,
    kinds_of,
    names_of,
)
from aucuba.scorecard._limits import Restrictions
from aucuba.scorecard._search import ConditionTable


@dataclass(frozen=True)
class ScoredColumns:
    """Columns of a table: float64 with nan, or names of categories with nan.

    Parameters
    ----------
    names, kinds : list of str
    values : list of ndarray
    """

    names: list[str]
    kinds: list[str]
    values: list[AnyArray]

    @classmethod
    def from_table(
        cls, X: Any, kinds: list[str] | None = None, used: set[int] | None = None
    ) -> ScoredColumns:
        """Read a table of any kind.

        Parameters
        ----------
        X : table
        kinds : list of str, default=None
            The kinds of its columns in training.
        used : set of int, default=None
            Indices of the columns that are needed; others may hold anything.
        """
        names = names_of(X)
        kinds = kinds_of(X, names) if kinds is None else kinds
        needed = range(len(names)) if used is None else used
        listed = zip(columns_of(X, used), names, kinds, strict=True)
        values = [
            column_values(*one) if place in needed else np.empty(0)
            for place, one in enumerate(listed)
        ]
        return cls(names, kinds, values)

    def take(self, rows: IntArray) -> ScoredColumns:
        """Select rows."""
        return ScoredColumns(self.names, self.kinds, [one[rows] for one in self.values])

    def missing(self, place: int) -> BoolArray:
        """Tell which rows miss the value of a column."""
        return Condition(place, self.names[place], "missing").met(self.values[place])

    def met(self, condition: Condition, rows: IntArray) -> BoolArray:
        """Tell which of some rows meet a condition."""
        return condition.met(self.values[condition.place][rows])

    def conditions(
        self, sample: Sample, restrictions: Restrictions
    ) -> tuple[list[Condition], ConditionTable]:
        """List the conditions that a card may hold, with the rows that meet them."""
        found: list[tuple[Condition, BoolArray]] = []
        for place, (name, kind, values) in enumerate(
            zip(self.names, self.kinds, self.values, strict=True)
        ):
            if place in restrictions.excluded:
                continue
            base = Condition(place, name, "missing", is_date=kind == DATE)
            found += column_conditions(
                values, sample, base, both_sides=restrictions.both_sides(place)
            )
        column = np.array([one.place for one, _ in found], dtype=np.intp)
        met = np.array([rows for _, rows in found], dtype=bool)
        met = met.reshape(len(found), sample.n_rows)
        return [one for one, _ in found], ConditionTable(met, column)


def as_items(items: list[tuple[Condition, int]]) -> list[dict[str, Any]]:
    """Write a card as plain values, in the order of the columns."""
    return [{**vars(condition), "points": int(points)} for condition, points in items]


def described(items: list[tuple[Condition, int]], partial_auc: float, r2: float) -> dict[str, Any]:
    """Write a card with its texts and values."""
    texts = [f"{one.text}: {points:+d}" for one, points in items]
    return {"items": as_items(items), "texts": texts, "partial_auc": partial_auc, "r2": r2}


def of_items(items: list[dict[str, Any]]) -> list[tuple[Condition, int]]:
    """Return the conditions and points that `as_items` has written."""
    return [
        (Condition(**{name: one[name] for name in one if name != "points"}), int(one["points"]))
        for one in items
    ]


def checked_table(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Check the kind, number and names of the columns of an estimator's table."""
    kind = getattr(getattr(X, "dtype", None), "kind", "b")
    if not (hasattr(X, "iloc") or hasattr(X, "get_columns") or kind not in NUMBER_DTYPES):
        return validate_data(
            *(estimator, X),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got an array of shape {X.shape}. Reshape your data: "
            "X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if min(X.shape) == 0:
        noun = "sample" if X.shape[0] == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {noun}(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    return X
