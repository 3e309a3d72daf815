"""The independent units behind a promise or a selection: rows, weighted rows, or groups of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import (
    check_choice,
    check_positive_number,
    identifiers,
    query_index,
)
from aucuba._rows._sample import RankingSample, Sample
from aucuba.threshold._promise import PRECISION, Promise


@dataclass(frozen=True)
class Units:
    """The rows that a promise counts, as parts of independent units.

    Parameters
    ----------
    rows : RankingSample
        Scores grow with the loss. ``group`` is the number of a row's unit; None if every row is one
        unit. The loss of a unit is the sum of ``weight`` over its rows that count against the
        promise.
    largest : float
        An upper limit on the sum of a unit's weights, in the population and not only in these rows.
    noun : str
        The units in words.
    rows_are_groups : bool
        Whether every row stands for a whole group, in which one row is enough to count.
    """

    rows: RankingSample
    largest: float
    noun: str
    rows_are_groups: bool = False

    @property
    def n_units(self) -> int:
        group = self.rows.group
        return self.rows.n_rows if group is None else int(group.max(initial=-1)) + 1

    @property
    def is_exact(self) -> bool:
        """Whether every unit is one row of weight 1, so that order statistics apply."""
        return self.rows.group is None and self.rows.weight is None

    def totals(self, per_row: AnyArray) -> FloatArray:
        """Sum the rows' weights times the given numbers over every unit."""
        values = np.asarray(self.rows.weights * per_row, dtype=np.float64)
        if self.rows.group is None:
            return values
        return np.bincount(self.rows.group, values).astype(np.float64, copy=False)

    def take(self, chosen: BoolArray) -> Units:
        """Select the rows of the chosen units."""
        group = self.rows.group
        return replace(self, rows=self.rows.take(chosen if group is None else chosen[group]))


@dataclass(frozen=True)
class Population:
    """Definition of one draw from the population, and of how its rows count."""

    group_rate: str = "mean"
    max_group_size: int | None = None
    weighted: bool = False
    max_weight: float | None = None

    def check(self, rows: Sample) -> None:
        """Raise an error if the parameters do not fit the columns of the rows."""
        has_groups = rows.group is not None
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
        if rows.weight is None:
            raise ValueError("weighted_promise=True needs sample_weight in fit.")
        if has_groups and self.group_rate != "row":
            raise ValueError(
                f"weighted_promise=True with groups needs group_rate='row', got "
                f"{self.group_rate!r}: the other rates count every group once."
            )

    def units_of(self, rows: RankingSample, promise: Promise) -> Units:
        """Return the units of the rows that the promise counts, with scores that grow with its loss."""
        everything = np.ones(rows.n_rows, dtype=bool)
        counted = rows.take(promise.counts(rows.positive, everything))
        weight = counted.weight if self.weighted else None
        score = counted.score if promise.flags_less else -counted.score
        counted = replace(counted, weight=weight, score=score)
        noun = "rows" if promise.name == PRECISION.name else promise.counted_rows
        if counted.group is not None:
            return self._group_units(counted, counted.group, f"groups with {noun}")
        if weight is None or (weight.size and np.ptp(weight) == 0):
            return Units(replace(counted, weight=None), 1.0, noun)
        return Units(counted, self._largest_weight(weight), f"weighted {noun}")

    def _group_units(self, counted: RankingSample, group: IntArray, noun: str) -> Units:
        sizes = np.bincount(group)
        if self.group_rate == "any":
            # One flagged row counts, so a group acts like its row of the largest score.
            kind = np.result_type(counted.score, np.float32)
            highest: AnyArray = np.full(sizes.size, -np.inf, dtype=kind)
            np.maximum.at(highest, group, counted.score)
            positive = np.zeros(sizes.size, dtype=bool)
            kept = RankingSample(positive, label=counted.label, score=highest)
            return Units(kept, 1.0, noun, rows_are_groups=True)
        if self.group_rate == "mean":
            return Units(replace(counted, weight=1.0 / sizes[group]), 1.0, noun)
        assert self.max_group_size is not None
        if sizes.max(initial=0) > self.max_group_size:
            raise ValueError(
                f"A group has {sizes.max()} rows that count, more than "
                f"max_group_size={self.max_group_size}; raise the limit to one that holds for "
                "the population."
            )
        largest = 1.0 if counted.weight is None else self._largest_weight(counted.weight)
        return Units(counted, self.max_group_size * largest, noun)

    def _largest_weight(self, weight: FloatArray) -> float:
        if self.max_weight is None:
            raise ValueError(
                "weighted_promise=True needs max_weight, an upper limit on sample_weight that holds "
                "for the population and not only for these rows (the largest weight seen is not one). "
                "Rates of one class need no limit if weights are constant within each class."
            )
        limit = check_positive_number(self.max_weight, "max_weight")
        if weight.max(initial=0.0) > limit:
            raise ValueError(
                f"sample_weight reaches {weight.max():g}, above max_weight={limit:g}; raise the limit "
                "to one that holds for the population."
            )
        return limit


def negative_units(rows: RankingSample) -> RankingSample:
    """Return the negative rows, or the groups without a positive row by their highest score."""
    if rows.group is None:
        return rows.take(~rows.positive)
    has_positive = np.zeros(int(rows.group.max(initial=-1)) + 1, dtype=bool)
    has_positive[rows.group[rows.positive]] = True
    return highest_of_groups(rows.take(~has_positive[rows.group]))


def highest_of_groups(rows: RankingSample) -> RankingSample:
    """Return the row of the highest score of every group; return rows without groups unchanged."""
    if rows.group is None:
        return rows
    if rows.stratum is not None:
        first = np.unique(rows.group, return_index=True)[1]
        if (rows.stratum[first][rows.group] != rows.stratum).any():
            raise ValueError("A group lies in several strata; its rows must have one stratum.")
    # The last row of each group in order of score.
    order = np.lexsort((rows.score, rows.group))
    last = np.append(np.flatnonzero(np.diff(rows.group[order])), order.size - 1)
    return replace(rows, group=None).take(order[last] if order.size else order)


def new_groups(groups: Any, n_rows: int, held_out: AnyArray) -> IntArray | None:
    """Number the groups of a batch; refuse groups that were held out, or missing ones."""
    if (groups is None) == bool(held_out.size):
        missing = (
            "needs groups, as fit had them" if groups is None else "has groups and fit had none"
        )
        raise ValueError(f"select {missing}: the unit of the promise must be the same.")
    if groups is None:
        return None
    seen = np.intersect1d(identifiers(groups, "groups", n_rows), held_out)
    if seen.size:
        raise ValueError(
            f"groups has {seen.size} that were held out to calibrate, such as {seen[:3].tolist()}; "
            "their scores have been used. Select among new groups."
        )
    return query_index(groups, n_rows, "groups")
