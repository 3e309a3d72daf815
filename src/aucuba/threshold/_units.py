"""The independent units behind a promise: rows, weighted rows, or groups of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_choice, check_positive_number
from aucuba.threshold._promise import Promise


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that set a threshold; scores grow towards the positive class."""

    score: AnyArray
    positive: BoolArray
    weight: FloatArray | None = None
    group: AnyArray | None = None

    def take(self, rows: AnyArray) -> HeldOutRows:
        weight = None if self.weight is None else self.weight[rows]
        group = None if self.group is None else self.group[rows]
        return HeldOutRows(self.score[rows], self.positive[rows], weight, group)


@dataclass(frozen=True)
class Units:
    """The counted rows as parts of independent units.

    The loss of a unit is the sum of ``value`` over its rows that count against the promise;
    ``largest`` bounds the sum of all its values, in the population and not only here. ``is_exact``
    says that every unit is one row of value 1, so that order statistics apply.
    """

    score: AnyArray
    positive: BoolArray
    unit: IntArray
    value: FloatArray
    n_units: int
    largest: float
    noun: str
    is_exact: bool = False

    def totals(self, per_row: AnyArray) -> FloatArray:
        """Sums over the units of the rows' values times the given numbers."""
        sums = np.bincount(self.unit, self.value * per_row, minlength=self.n_units)
        return sums.astype(np.float64, copy=False)

    def take(self, chosen: BoolArray) -> Units:
        """The rows of the chosen units."""
        rows = chosen[self.unit]
        return Units(
            self.score[rows],
            self.positive[rows],
            (np.cumsum(chosen) - 1)[self.unit[rows]],
            self.value[rows],
            int(chosen.sum()),
            self.largest,
            self.noun,
            self.is_exact,
        )


@dataclass(frozen=True)
class Population:
    """What one draw from the population is, and how its rows count."""

    group_rate: str = "mean"
    max_group_size: int | None = None
    weighted: bool = False
    max_weight: float | None = None

    def check(self, has_groups: bool, has_weight: bool) -> None:
        """Stop where parameters and data do not fit together."""
        check_choice(self.group_rate, "group_rate", ("mean", "any", "row"))
        if has_groups and self.group_rate == "row":
            if self.max_group_size is None:
                raise ValueError(
                    "group_rate='row' needs max_group_size, the most rows that any group of "
                    "the population can have; without such a limit one huge group could break "
                    "every promise. group_rate='mean' needs none."
                )
            check_positive_number(self.max_group_size, "max_group_size", integer=True)
        if not self.weighted:
            return
        if not has_weight:
            raise ValueError("weighted_promise=True needs sample_weight in fit.")
        if has_groups and self.group_rate != "row":
            raise ValueError(
                f"weighted_promise=True with groups needs group_rate='row', got "
                f"{self.group_rate!r}: the other rates count every group once."
            )

    def units_of(self, rows: HeldOutRows, promise: Promise) -> Units:
        """The units of the rows that the promise counts, with scores that grow with its loss."""
        everything = np.ones(rows.positive.shape, dtype=bool)
        counted = rows.take(promise.counts(rows.positive, everything))
        score = counted.score if promise.flags_less else -counted.score
        noun = promise.counted_rows if promise.name != "precision" else "rows"
        if rows.group is None:
            return self._row_units(score, counted, noun)
        assert counted.group is not None
        unit = np.unique(counted.group, return_inverse=True)[1].astype(np.intp)
        sizes = np.bincount(unit)
        noun = f"groups with {noun}"
        if self.group_rate == "any":
            highest = np.full(sizes.size, -np.inf, dtype=np.result_type(score, np.float32))
            np.maximum.at(highest, unit, score)
            return _one_row_each(highest, np.zeros(sizes.size, dtype=bool), noun)
        if self.group_rate == "mean":
            value, largest = 1.0 / sizes[unit], 1.0
        else:
            value, largest = self._row_values(counted, sizes)
        return Units(score, counted.positive, unit, value, sizes.size, largest, noun)

    def _row_units(self, score: AnyArray, counted: HeldOutRows, noun: str) -> Units:
        weight = counted.weight
        if not self.weighted or weight is None or (weight.size and np.ptp(weight) == 0):
            return _one_row_each(score, counted.positive, noun)
        largest = self._largest_weight(weight)
        unit = np.arange(score.size)
        return Units(score, counted.positive, unit, weight, score.size, largest, f"weighted {noun}")

    def _row_values(self, counted: HeldOutRows, sizes: IntArray) -> tuple[FloatArray, float]:
        assert self.max_group_size is not None
        if sizes.max(initial=0) > self.max_group_size:
            raise ValueError(
                f"A group has {sizes.max()} rows that count, more than "
                f"max_group_size={self.max_group_size}; raise the limit to one that holds for "
                "the population."
            )
        if not self.weighted or counted.weight is None:
            return np.ones(counted.positive.size), float(self.max_group_size)
        largest = self._largest_weight(counted.weight)
        return counted.weight, float(self.max_group_size * largest)

    def _largest_weight(self, weight: FloatArray) -> float:
        if self.max_weight is None:
            raise ValueError(
                "weighted_promise=True needs max_weight, an upper limit of sample_weight that holds "
                "for the population and not only for these rows (the largest weight seen is no such "
                "limit). Weights that are constant within each class need none for rates of one class."
            )
        limit = check_positive_number(self.max_weight, "max_weight")
        if weight.max(initial=0.0) > limit:
            raise ValueError(
                f"sample_weight reaches {weight.max():g}, above max_weight={limit:g}; raise the limit "
                "to one that holds for the population."
            )
        return limit


def _one_row_each(score: AnyArray, positive: BoolArray, noun: str) -> Units:
    n = score.size
    return Units(score, positive, np.arange(n), np.ones(n), n, 1.0, noun, is_exact=True)
