"""What the user allows on a card: signs, directions, columns, costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._columns._kinds import CATEGORY
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._search import CardLimits


@dataclass(frozen=True)
class Restrictions:
    """The parameters of a card that restrict it, by index of the column.

    Parameters
    ----------
    max_items, max_points, max_per_column : int
    sign, monotone : ndarray of int
        1, -1 or 0 for every column.
    included, excluded : frozenset of int
    cost : ndarray of float
    max_cost : float
    """

    max_items: int
    max_points: int
    max_per_column: int
    sign: IntArray
    monotone: IntArray
    included: frozenset[int]
    excluded: frozenset[int]
    cost: FloatArray
    max_cost: float

    @classmethod
    def from_params(
        cls, params: Mapping[str, Any], names: list[str], kinds: Sequence[str] = ()
    ) -> Restrictions:
        """Check the parameters of an estimator for these columns, by default of numbers."""
        for place, kind in enumerate(kinds):
            _require_order(params["monotone"], place, names, kind)
        max_items = int(check_positive_number(params["max_items"], "max_items", integer=True))
        per_column = params["max_per_column"]
        if per_column is not None:
            per_column = int(check_positive_number(per_column, "max_per_column", integer=True))
        max_cost = params["max_cost"]
        checked = cls(
            max_items=max_items,
            max_points=int(check_positive_number(params["max_points"], "max_points", integer=True)),
            max_per_column=per_column or max_items,
            sign=_directions(params["sign"], "sign", names),
            monotone=_directions(params["monotone"], "monotone", names),
            included=_places(params["include"], "include", names),
            excluded=_places(params["exclude"], "exclude", names),
            cost=_costs(params["column_cost"], names),
            max_cost=np.inf if max_cost is None else check_positive_number(max_cost, "max_cost"),
        )
        checked._require_possible(names)
        return checked

    def _require_possible(self, names: list[str]) -> None:
        both = sorted(self.included & self.excluded)
        if both:
            raise ValueError(f"The column {names[both[0]]!r} is in include and in exclude.")
        if len(self.included) > self.max_items:
            raise ValueError(
                f"include has {len(self.included)} columns and a card at most {self.max_items} items; "
                "raise max_items."
            )
        left = [place for place in range(len(names)) if place not in self.excluded]
        if not left:
            raise ValueError("exclude names all columns; leave one for the card.")
        if self.cost[left].min() > self.max_cost:
            raise ValueError(
                f"Every column costs more than max_cost={self.max_cost:g}; the cheapest costs "
                f"{self.cost[left].min():g}."
            )
        needed = float(self.cost[list(self.included)].sum())
        if needed > self.max_cost:
            raise ValueError(
                f"The columns of include cost {needed:g}, more than max_cost={self.max_cost:g}."
            )

    def both_sides(self, place: int) -> bool:
        """Tell whether a column needs conditions for either side of its cuts."""
        return bool(self.sign[place])

    def limits(self, conditions: list[Condition]) -> CardLimits:
        """Return the range of points of every condition."""
        lowest = np.full(len(conditions), -self.max_points)
        highest = np.full(len(conditions), self.max_points)
        for k, one in enumerate(conditions):
            for direction in (self.sign[one.place], self.monotone[one.place] * one.grows):
                if direction > 0:
                    lowest[k] = max(lowest[k], 1)
                elif direction < 0:
                    highest[k] = min(highest[k], -1)
        return CardLimits(
            *(self.max_items, lowest, highest, self.max_per_column, self.included),
            *(self.cost, self.max_cost),
        )


def _directions(given: Any, name: str, columns: list[str]) -> IntArray:
    """Read 1, -1 or a dict of them by column."""
    found = np.zeros(len(columns), dtype=np.int64)
    if given is None:
        return found
    if isinstance(given, Mapping):
        for key, value in given.items():
            found[_place(key, name, columns)] = _one_direction(value, name)
    else:
        found[:] = _one_direction(given, name)
    return found


def _one_direction(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value not in (-1, 0, 1):
        raise ValueError(f"{name} must be 1, -1 or 0 for a column, got {value!r}.")
    return int(value)


def _require_order(monotone: Any, place: int, names: list[str], kind: str) -> None:
    """Refuse a direction for a column of categories, which have no order."""
    named = monotone if isinstance(monotone, Mapping) else {}
    if kind == CATEGORY and (named.get(place) or named.get(names[place])):
        raise ValueError(
            f"monotone names the column {names[place]!r}, whose categories have no order; give it a "
            "sign, or turn its categories into numbers."
        )


def _places(given: Any, name: str, columns: list[str]) -> frozenset[int]:
    if isinstance(given, str | Integral) or not isinstance(given, Iterable):
        raise ValueError(f"{name} must be a list of columns, got {given!r}.")
    return frozenset(_place(one, name, columns) for one in given)


def _place(key: Any, name: str, columns: list[str]) -> int:
    """Find a column by its name or its index."""
    if isinstance(key, str) and key in columns:
        return columns.index(key)
    if isinstance(key, Integral) and not isinstance(key, bool) and int(key) in range(len(columns)):
        return int(key)
    shown = ", ".join(map(repr, columns[:5])) + (", ..." if len(columns) > 5 else "")
    raise ValueError(f"{name} names the column {key!r}; the columns are {shown}.")


def _costs(given: Any, columns: list[str]) -> FloatArray:
    """Read the costs of columns, 0 where none is given."""
    cost = np.zeros(len(columns))
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"column_cost must be a dict of costs by column, got {given!r}.")
    for key, value in (given or {}).items():
        number = float(value) if isinstance(value, Real) else np.nan
        if not 0.0 <= number < np.inf:
            raise ValueError(f"column_cost must be numbers from 0 on, got {value!r} for {key!r}.")
        cost[_place(key, "column_cost", columns)] = number
    return cost
