"""Readable conditions on columns of any kind: thresholds of numbers, groups of categories, missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._dates import as_days
from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._columns._kinds import (
    CATEGORY,
    DATE,
    NUMBER,
    as_names,
    as_numbers,
    column_kind,
    column_names,
    column_times,
    is_missing,
    table_columns,
)
from aucuba._rows._sample import Sample

# Fractions of the rows, and of the positives, at which numbers are cut: the ends are finer, since a
# narrow region is made of rare rows.
_OF_ROWS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_OF_POSITIVES = (0.1, 0.25, 0.5, 0.75, 0.9)
# Cuts of least entropy beside the quantiles: halvings of halvings.
_DEPTH = 3
# A number with no more values than this is cut between all of them.
_FEW_VALUES = 12
# Conditions that fewer rows meet, or fail to meet, by weight, are noise.
_FEWEST_ROWS = 5.0
# Longest group of categories that a person reads at a glance.
_LONGEST_GROUP = 5
# From this fraction of missing values on, both sides of a cut are conditions of their own.
_OFTEN_MISSING = 0.01
_DIGITS = range(-12, 17)
# Microseconds of a day.
_DAY = 86_400_000_000


@dataclass(frozen=True)
class Condition:
    """One test of one column, which a missing value only passes if the test asks for it.

    Parameters
    ----------
    place : int
        Index of the column.
    column : str
        Its name.
    test : {">", "<=", "=", "!=", "in", "not in", "missing", "present"}
    value : float, tuple of str or None
        The threshold, in days since 1970 for a date; the number; the categories.
    is_date : bool, default=False
    or_missing : bool, default=False
        Whether a missing value passes any other test than "present", too.
    """

    place: int
    column: str
    test: str
    value: Any = None
    is_date: bool = False
    or_missing: bool = False

    @property
    def text(self) -> str:
        """The condition in words, such as ``age > 60``."""
        if self.test == "missing":
            return f"{self.column} is missing"
        if self.test == "present":
            return f"{self.column} is not missing"
        if self.test in ("in", "not in"):
            verb = "is" if self.test == "in" else "is not"
            also = ", or is missing" if self.or_missing else ""
            return f"{self.column} {verb} {_alternatives(self.value)}{also}"
        also = " or is missing" if self.or_missing else ""
        return f"{self.column} {self.test} {self.shown_value}{also}"

    @property
    def shown_value(self) -> str:
        """The threshold or number as people write it; of a date, the day and any time."""
        if self.is_date:
            return self.moment.removesuffix(":00").removesuffix(" 00:00")
        return _number(self.value)

    @property
    def moment(self) -> str:
        """The threshold of a date, to the microsecond if it needs it: ``2024-05-01 14:30:00``."""
        exact = np.datetime64(round(self.value * _DAY), "us")
        return str(exact).replace("T", " ").removesuffix(".000000")

    @property
    def grows(self) -> int:
        """1 if larger numbers meet the condition, -1 if smaller ones do, 0 if neither.

        A column of 0 and 1 has the tests "= 1" and "!= 1".
        """
        return {">": 1, "=": 1, "<=": -1, "!=": -1}.get(self.test, 0)

    @property
    def is_cut(self) -> bool:
        """Whether the test is a threshold."""
        return self.test in (">", "<=")

    def opposite(self) -> Condition:
        """Return the test that the other rows with a value meet."""
        pairs = (">", "<="), ("=", "!="), ("in", "not in"), ("missing", "present")
        turned = dict(pairs) | {b: a for a, b in pairs}
        return replace(self, test=turned[self.test])

    def complement(self) -> Condition:
        """Return the test that all other rows meet, those without a value included."""
        other = self.opposite()
        if self.test in ("missing", "present"):
            return other
        return replace(other, or_missing=not self.or_missing)

    def met(self, values: AnyArray) -> BoolArray:
        """Tell which values of the column, as `column_values` returns them, meet the condition."""
        missing = is_missing(values) if values.dtype == object else np.isnan(values)
        if self.test in ("missing", "present"):
            return np.asarray(missing == (self.test == "missing"))
        if values.dtype == object:
            found = np.isin(np.where(missing, "", values).astype(str), list(self.value))
        elif self.test in (">", "<="):
            found = values > self.value
        else:
            found = values == self.value
        found = found != (self.test in ("<=", "!=", "not in"))
        return np.asarray(found | missing if self.or_missing else found & ~missing)


def column_values(column: Any, name: str, kind: str) -> AnyArray:
    """Return the values of a column: float64, for dates in days, or names of categories."""
    if kind == CATEGORY:
        return as_names(column)
    if kind == DATE:
        return as_days(column_times(column, name))
    try:
        numbers = as_numbers(column)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The column {name!r} held numbers in training: {error}.") from None
    if np.isinf(numbers).any():
        raise ValueError(
            f"The column {name!r} holds infinity; put a number or a missing value in its place."
        )
    return numbers


def columns_of(X: Any, used: set[int] | None = None) -> Iterator[Any]:
    """Yield the columns of a table, or of a sparse matrix, of which only those used are unpacked."""
    if sparse.issparse(X):
        by_column = X.tocsc()
        for place in range(X.shape[1]):
            needed = used is None or place in used
            yield by_column[:, [place]].toarray().ravel() if needed else None
    else:
        yield from table_columns(X)


def kinds_of(X: Any, names: Sequence[str]) -> list[str]:
    """List the kind of every column."""
    if sparse.issparse(X):
        return [NUMBER] * X.shape[1]
    return [column_kind(*pair) for pair in zip(table_columns(X), names, strict=True)]


def names_of(X: Any) -> list[str]:
    """List the names of the columns."""
    return [f"x{k}" for k in range(X.shape[1])] if sparse.issparse(X) else column_names(X)


def column_conditions(
    values: AnyArray, sample: Sample, base: Condition, *, both_sides: bool
) -> list[tuple[Condition, BoolArray]]:
    """List the conditions on one column with the rows that meet each, distinct and not too rare.

    Parameters
    ----------
    values : ndarray
        As `column_values` returns them.
    sample : Sample
    base : Condition
        Place and name of the column.
    both_sides : bool
        Whether the opposite of a condition is listed too; one is enough where points have either sign
        and no value is missing.
    """
    weight = sample.weights
    if values.dtype == object:
        missing, listed = is_missing(values), _groups(values, sample, base)
    else:
        missing, listed = np.isnan(values), _cuts(values, sample, base)
    if missing.any():
        listed.append(replace(base, test="missing"))
    both_sides = both_sides or weight[missing].sum() >= _OFTEN_MISSING * weight.sum()
    if both_sides:
        listed += [one.opposite() for one in listed]
    found, seen = [], set()
    for one in listed:
        rows = one.met(values)
        n_met = float(weight[rows].sum())
        mark = np.packbits(rows).tobytes()
        if mark not in seen and min(n_met, weight.sum() - n_met) >= _FEWEST_ROWS:
            seen.add(mark)
            found.append((one, rows))
            if not both_sides:
                # Points of the other sign say the same of the other rows.
                seen.add(np.packbits(~rows).tobytes())
    return found


def _cuts(values: FloatArray, sample: Sample, base: Condition) -> list[Condition]:
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    if distinct.size == 2 and np.all(np.isin(distinct, (0.0, 1.0))) and not base.is_date:
        return [replace(base, test="=", value=1.0)]
    if distinct.size < 2:
        return []
    weight = sample.weights[known]
    positives, everyone = _counts(place, weight, sample.positive[known])
    after: set[int] = set(range(distinct.size - 1))
    if distinct.size > _FEW_VALUES:
        after = set(_purest(positives, everyone, 0, distinct.size, _DEPTH))
        for counts, fractions in ((everyone, _OF_ROWS), (positives, _OF_POSITIVES)):
            share = np.cumsum(counts) / max(float(counts.sum()), 1e-300)
            # Rounding must not move a quantile that falls on the last row of a value.
            after |= set(np.searchsorted(share, np.array(fractions) - 1e-12).tolist())
    cuts = sorted(k for k in after if k < distinct.size - 1)
    between = roundest_moment if base.is_date else shortest_between
    return [replace(base, test=">", value=between(distinct[k], distinct[k + 1])) for k in cuts]


def _counts(
    place: IntArray, weight: FloatArray, positive: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Count the positives and all rows of every value, by weight."""
    everyone = np.bincount(place, weight).astype(np.float64)
    return np.bincount(place, weight * positive).astype(np.float64), everyone


def _purest(
    positives: FloatArray, everyone: FloatArray, first: int, end: int, depth: int
) -> list[int]:
    """List the last values before the cuts of a decision tree of least entropy."""
    if depth == 0 or end - first < 2:
        return []
    p, n = (np.cumsum(counts[first:end]) for counts in (positives, everyone))
    below = _entropy(p[:-1], n[:-1])
    above = _entropy(p[-1] - p[:-1], n[-1] - n[:-1])
    large = np.minimum(n[:-1], n[-1] - n[:-1]) >= _FEWEST_ROWS
    gain = np.where(large, _entropy(p[-1], n[-1]) - below - above, -np.inf)
    best = int(np.argmax(gain))
    if not gain[best] > 1e-9 * n[-1]:
        return []
    cut = first + best
    left = _purest(positives, everyone, first, cut + 1, depth - 1)
    return [*left, cut, *_purest(positives, everyone, cut + 1, end, depth - 1)]


def _entropy(positives: Any, everyone: Any) -> FloatArray:
    """Compute the log-loss of rows of two classes that all get the same probability."""
    total: FloatArray = np.zeros(np.shape(positives))
    for part in (positives, everyone - positives):
        share = np.clip(part / np.maximum(everyone, 1e-300), 1e-300, 1.0)
        total = total - part * np.log(share)
    return total


def roundest_moment(low: float, high: float) -> float:
    """Return the start of a year in ``[low, high)``, else of a month, a day, ..., of a second.

    All in days since 1970; of two, the one nearest to the middle.
    """
    middle = low + (high - low) / 2
    second = np.datetime64(int(np.floor(middle * 86_400)), "s")
    for unit in ("Y", "M", "D", "h", "m", "s"):
        start = second.astype(f"datetime64[{unit}]")
        close = as_days(np.array([start, start + 1]).astype("datetime64[s]"))
        close = close[(low <= close) & (close < high)]
        if close.size:
            return float(min(close, key=lambda day: abs(day - middle)))
    return float(low)


def shortest_between(low: float, high: float) -> float:
    """Return the number of fewest digits in ``[low, high)``, the one nearest to the middle.

    Where it can be, it also splits the two after they are rounded to single precision: 0.6 becomes
    larger than 0.6, so that it would not stay below a cut there.
    """
    with np.errstate(over="ignore"):
        first, last = np.array([low, high], dtype=np.float32).tolist()
    if max(low, first) < min(high, last):
        low, high = max(low, first), min(high, last)
    middle = low + (high - low) / 2
    for digits in _DIGITS:
        near = round(middle, digits)
        step = 10.0**-digits
        close = [
            c
            for c in (near, round(near - step, digits), round(near + step, digits))
            if low <= c < high
        ]
        if close:
            return float(min(close, key=lambda c: abs(c - middle)))
    return float(low)


def _groups(values: AnyArray, sample: Sample, base: Condition) -> list[Condition]:
    """List single categories, and groups of those with the highest and the lowest rates."""
    known = ~is_missing(values)
    names, place = np.unique(values[known].astype(str), return_inverse=True)
    weight = sample.weights[known]
    positives, everyone = _counts(place, weight, sample.positive[known])
    # Rates of rare categories are drawn to the rate of all, as by one row of it.
    overall = float(positives.sum() / max(float(everyone.sum()), 1e-300))
    rate = (positives + overall) / (everyone + 1.0)
    order = np.lexsort((np.arange(names.size), -rate))
    ordered = [str(names[k]) for k in order if everyone[k] >= _FEWEST_ROWS]
    longest = min(_LONGEST_GROUP, len(ordered) - 1)
    groups: list[tuple[str, ...]] = [(name,) for name in ordered]
    groups += [tuple(ordered[:size]) for size in range(2, longest + 1)]
    groups += [tuple(ordered[-size:]) for size in range(2, longest + 1)]
    return [replace(base, test="in", value=tuple(sorted(group))) for group in groups]


def _alternatives(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _number(value: float) -> str:
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )
