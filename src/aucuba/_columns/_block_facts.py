"""Learn the preparation of columns from blocks of rows that are never brought together.

Each pass computes a few numbers per block, which are merged: kinds of columns; ranges, categories and
calendar parts; counts, means and sums of squares; medians of the columns with missing values.
scikit-learn's encoders are then fitted to a table of a few rows with the same categories, medians and
missing values, so `LinearColumns` is the same as after a fit to all rows, up to the rounding of means
and standard deviations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._dates import CALENDAR, as_days, calendar_part
from aucuba._base._typing import AnyArray, FloatArray, IntArray
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
from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._table_columns import RARE_CATEGORY, SPARSE_BELOW, LinearColumns

# Runs a task on every block and returns the results in their order.
Run = Callable[..., list[Any]]
# Columns whose values are gathered together, at 8 bytes per value.
_MEDIANS_AT_ONCE = 8


def linear_columns_of_blocks(run: Run) -> LinearColumns:
    """Fit the preparation for a linear model to the blocks of a table."""
    names, kinds = _merged_kinds(run(_kinds))
    plain = _plain_columns(names, kinds, run(_values_seen, kinds))
    moments = _merged_moments(run(_moments, plain))
    medians = _medians(run, plain, moments)
    return _encoded(plain, moments, medians)


def _kinds(block: Any) -> tuple[list[str], list[str | None]]:
    """Return names and kinds of the columns of a block; the kind is None if it has no value."""
    columns, names, kinds = table_columns(block), column_names(block), list[str | None]()
    for column, name in zip(columns, names, strict=True):
        kind: str | None = column_kind(column, name)
        by_type = getattr(column.dtype, "kind", "O") != "O" or hasattr(column.dtype, "categories")
        if not by_type and is_missing(np.asarray(column, dtype=object)).all():
            kind = None
        kinds.append(kind)
    return names, kinds


def _merged_kinds(found: Sequence[tuple[list[str], list[str | None]]]) -> tuple[Any, list[str]]:
    """Merge the kinds: text if the blocks of a column differ, a number if it has no value at all."""
    merged = []
    for kinds in zip(*(kinds for _, kinds in found), strict=True):
        known = {kind for kind in kinds if kind is not None}
        merged.append(known.pop() if len(known) == 1 else CATEGORY if known else NUMBER)
    return found[0][0], merged


def _values_seen(block: Any, kinds: Sequence[str]) -> list[Any]:
    """Return, by column: counts of categories, or the range and the values of calendar parts."""
    seen: list[Any] = []
    for column, name, kind in zip(table_columns(block), column_names(block), kinds, strict=True):
        if kind == CATEGORY:
            values = as_names(column)
            known = values[~is_missing(values)]
            seen.append(Counter(known.tolist()) + Counter({None: len(values) - len(known)}))
            continue
        parts: dict[str, set[float]] = {}
        if kind == NUMBER:
            values = as_numbers(column)
        else:
            times = column_times(column, name)
            values = as_days(times)
            for part in CALENDAR:
                found = calendar_part(times, part)
                parts[part] = set(np.unique(found[~np.isnan(found)]).tolist())
        known = values[~np.isnan(values)]
        ends = (float(known.min()), float(known.max())) if known.size else (np.inf, -np.inf)
        seen.append((ends, parts))
    return seen


def _plain_columns(
    names: list[str], kinds: Sequence[str], found: Sequence[Sequence[Any]]
) -> PlainColumns:
    """Merge the values seen in the blocks into fitted `PlainColumns`."""
    categorical = [place for place, kind in enumerate(kinds) if kind == CATEGORY]
    dates: list[tuple[int, list[str]]] = []
    counts: list[Counter[Any]] = []
    ranges: list[tuple[float, float]] = []
    of_parts: list[tuple[float, float]] = []
    for place, kind in enumerate(kinds):
        blocks = [seen[place] for seen in found]
        if kind == CATEGORY:
            counts.append(sum(blocks, Counter()))
            ranges.append((0.0, 0.0))
            continue
        low, high = min(ends[0] for ends, _ in blocks), max(ends[1] for ends, _ in blocks)
        ranges.append((low, high) if low <= high else (np.nan, np.nan))
        if kind == DATE:
            parts = {part: set().union(*(own[part] for _, own in blocks)) for part in CALENDAR}
            used = [part for part, enough in CALENDAR.items() if len(parts[part]) >= enough]
            dates.append((place, used))
            of_parts += [(min(parts[part]), max(parts[part])) for part in used]
    return PlainColumns(categorical, dates).fit_seen(names, counts, [*ranges, *of_parts])


@dataclass(frozen=True)
class _Moments:
    """Rows, values, means and sums of squared deviations of plain columns; counts of codes."""

    n_rows: int
    n_values: FloatArray
    mean: FloatArray
    squares: FloatArray
    codes: list[Counter[float | None]]

    def plus(self, other: _Moments) -> _Moments:
        """Merge two parts (Chan, Golub and LeVeque, 1983)."""
        n_values = self.n_values + other.n_values
        share = other.n_values / np.maximum(n_values, 1)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * self.n_values * share
        codes = [a + b for a, b in zip(self.codes, other.codes or self.codes, strict=True)]
        n_rows = self.n_rows + other.n_rows
        return _Moments(n_rows, n_values, self.mean + apart * share, squares, codes)


def _moments(block: Any, plain: PlainColumns) -> _Moments:
    table = plain.transform(block)
    known = ~np.isnan(table)
    n_values = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, table, 0.0).sum(axis=0) / np.maximum(n_values, 1.0)
    squares = (np.where(known, table - mean, 0.0) ** 2).sum(axis=0)
    codes = []
    for place in plain.categorical:
        # A missing value is None: nan is not equal to itself.
        code = table[:, place][known[:, place]]
        found, counts = np.unique(code, return_counts=True)
        listed: Counter[float | None] = Counter({None: len(table) - len(code)})
        listed.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        codes.append(+listed)
    return _Moments(len(table), n_values, mean, squares, codes)


def _merged_moments(found: Sequence[_Moments]) -> _Moments:
    total = found[0]
    for one in found[1:]:
        total = total.plus(one)
    return total


def _medians(run: Run, plain: PlainColumns, moments: _Moments) -> FloatArray:
    """Compute the medians of all columns but categories, since later rows may have missing values."""
    medians = np.zeros(moments.mean.size)
    numbers = np.setdiff1d(np.arange(medians.size), plain.categorical)
    for start in range(0, numbers.size, _MEDIANS_AT_ONCE):
        places = numbers[start : start + _MEDIANS_AT_ONCE]
        medians[places] = np.nanmedian(np.concatenate(run(_taken, plain, places)), axis=0)
    return medians


def _taken(block: Any, plain: PlainColumns, places: IntArray) -> FloatArray:
    return plain.transform(block)[:, places]


def _encoded(plain: PlainColumns, moments: _Moments, medians: FloatArray) -> LinearColumns:
    """Fit the encoders to a few rows, and the scales to the moments of all."""
    columns = [np.array([median]) for median in medians]
    gaps = np.setdiff1d(np.flatnonzero(moments.n_values < moments.n_rows), plain.categorical)
    for place in gaps:
        columns[place] = np.array([medians[place], np.nan])
    for place, codes in zip(plain.categorical, moments.codes, strict=True):
        listed = [(np.nan if code is None else code, n) for code, n in codes.most_common()]
        columns[place] = np.repeat(
            [code for code, _ in listed], [min(n, RARE_CATEGORY) for _, n in listed]
        )
    # The first entry, repeated, is a median, or the most frequent category.
    longest = max(map(len, columns))
    table = np.column_stack([_padded(column, longest) for column in columns])
    made = LinearColumns(plain.categorical, plain.dates, sparse=True).fit_plain(plain, table)
    numbers = made.encode_.named_transformers_.get("numbers")
    if numbers is not None:
        _set_scale(numbers[-1], moments, medians, gaps, plain.categorical)
    if plain.categorical:
        n_columns = len(made.get_feature_names_out())
        n_indicators = made.encode_.output_indices_["categories"]
        n_dense = n_columns - (n_indicators.stop - n_indicators.start)
        density = (n_dense + len(plain.categorical)) / n_columns
        made.encode_.sparse_output_ = bool(density < SPARSE_BELOW)
    return made


def _padded(column: AnyArray, length: int) -> AnyArray:
    return np.concatenate([np.repeat(column[:1], length - len(column)), column])


def _set_scale(
    scaler: Any,
    moments: _Moments,
    medians: FloatArray,
    gaps: IntArray,
    categorical: Sequence[int],
) -> None:
    """Set means and standard deviations of imputed numbers and of indicators of missing values."""
    n_rows, zeros = moments.n_rows, np.zeros(medians.size)
    imputed = moments.plus(_Moments(0, n_rows - moments.n_values, medians, zeros, []))
    missing = 1.0 - moments.n_values[gaps] / n_rows
    numbers = np.setdiff1d(np.arange(medians.size), categorical)
    mean = np.concatenate([imputed.mean[numbers], missing])
    variance = np.concatenate([imputed.squares[numbers] / n_rows, missing * (1.0 - missing)])
    # As in scikit-learn, a variance no larger than rounding error counts as zero.
    eps = np.finfo(np.float64).eps
    constant = variance <= n_rows * eps * variance + (n_rows * mean * eps) ** 2
    scaler.mean_, scaler.var_, scaler.n_samples_seen_ = mean, variance, n_rows
    scaler.scale_ = np.where(constant, 1.0, np.sqrt(variance))
