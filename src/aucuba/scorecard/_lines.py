"""The lines of a printed card, of which the bands of one column do not overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray
from aucuba.scorecard._conditions import Condition

Item = tuple[Condition, int]


@dataclass(frozen=True)
class CardLine:
    """A condition, or a band of a column that is cut more than once, and its points.

    Parameters
    ----------
    text : str
    points : int
    place : int
        Index of the column.
    met : callable
        Tells which values of the column, as `column_values` returns them, the line is for.
    """

    text: str
    points: int
    place: int
    met: Callable[[AnyArray], BoolArray]


def by_column(items: Sequence[Item]) -> list[list[Item]]:
    """Group the items of a card."""
    columns: dict[int, list[Item]] = {}
    for item in items:
        columns.setdefault(item[0].place, []).append(item)
    return list(columns.values())


def card_lines(items: Sequence[Item]) -> list[CardLine]:
    """Write a card as lines; those that a row meets add up to its total, as the items do.

    A column that is cut twice reads "40 < age <= 60: +2, age > 60: +5" rather than "age > 40: +2,
    age > 60: +3".
    """
    found = []
    for of_column in by_column(items):
        if sum(one.is_cut for one, _ in of_column) > 1:
            found += _bands(of_column)
        else:
            found += [CardLine(one.text, points, one.place, one.met) for one, points in of_column]
    return found


def _bands(items: list[Item]) -> list[CardLine]:
    """Write the items of one column of numbers or dates as bands that do not overlap."""
    cuts = sorted({one.value: one for one, _ in items if one.is_cut}.items())
    shown = [one.shown_value for _, one in cuts]
    first = items[0][0]
    column = first.column
    texts = [
        f"{column} <= {shown[0]}",
        *(f"{low} < {column} <= {high}" for low, high in pairwise(shown)),
        f"{column} > {shown[-1]}",
        f"{column} is missing",
    ]
    ends = [-np.inf, *(value for value, _ in cuts), np.inf]
    tests: list[Callable[[AnyArray], BoolArray]] = [
        *(partial(_within, low=low, high=high) for low, high in pairwise(ends)),
        replace(first, test="missing", or_missing=False).met,
    ]
    # A value of every band, its upper end.
    values = np.array([*ends[1:], np.nan])
    total = np.sum([points * one.met(values) for one, points in items], axis=0)
    return [
        CardLine(text, int(points), first.place, test)
        for text, points, test in zip(texts, total, tests, strict=True)
        if points
    ]


def _within(values: FloatArray, low: float, high: float) -> BoolArray:
    return np.asarray((low < values) & (values <= high))
