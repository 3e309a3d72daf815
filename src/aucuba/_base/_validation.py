"""Checks of parameters, and of columns with one entry per row.

Every estimator, metric and detector checks its labels, weights, queries, groups and times here, so
that one mistake has one message. A function returns the cleaned value or raises a ``ValueError``
that names what was seen and what to do. Nothing is clipped or repaired silently.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Sized
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d

from aucuba._base._dates import as_times
from aucuba._base._typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray

# Entries of a block that stays in the cache: half a megabyte.
_ENTRIES_AT_ONCE = 65_536
# Every integer up to this one is a double.
_LARGEST_EXACT = 2**53
_OF_PROBABILITIES = " For probabilities, give the column of the positive class."
# Texts that can only mean the positive class.
UNMISTAKABLE = ("1", "true", "yes", "positive", "fraud")


def check_fraction(
    value: Any, name: str, *, low_open: bool = False, high_open: bool = False
) -> float:
    """Return a real number in [0, 1], with either end excluded if asked."""
    interval = f"{'(' if low_open else '['}0, 1{')' if high_open else ']'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number in {interval}, got {value!r}.")
    number = float(value)
    too_low = number <= 0 if low_open else number < 0
    too_high = number >= 1 if high_open else number > 1
    if too_low or too_high or np.isnan(number):
        raise ValueError(
            f"{name} must lie in {interval}, got {value!r}. Rates are fractions: write 0.05 for 5 %."
        )
    return number


def check_fpr_range(fpr_range: Any, name: str = "fpr_range") -> tuple[float, float]:
    """Return a range of false positive rates as two fractions alpha < beta."""
    try:
        low, high = fpr_range
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a pair (alpha, beta) of false positive rates, got {fpr_range!r}."
        ) from None
    alpha, beta = check_fraction(low, f"{name}[0]"), check_fraction(high, f"{name}[1]")
    if alpha >= beta:
        raise ValueError(
            f"{name} must have its lower limit below its upper limit, got ({alpha}, {beta})."
        )
    return alpha, beta


def check_positive_number(value: Any, name: str, *, integer: bool = False) -> float:
    """Return a finite number above 0; with ``integer``, a whole one."""
    kind = "whole number" if integer else "number"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    number = float(value) if is_number else np.nan
    if not 0 < number < np.inf or (integer and not number.is_integer()):
        raise ValueError(f"{name} must be a {kind} above 0, got {value!r}.")
    return number


def check_k(k: Any) -> int:
    """Return k, a number of top rows, as an int."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
    return int(k)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return a value that must be one of a few names."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(map(repr, choices))
        raise ValueError(
            f"{name} must be one of {options}, got {value!r}.{did_you_mean(value, choices)}"
        )
    return value


def did_you_mean(value: Any, choices: Collection[str], cutoff: float = 0.6) -> str:
    """Return a question that suggests similar choices, with a leading space; else empty text."""
    name = str(value)
    near = [name] if name in choices else get_close_matches(name, choices, cutoff=cutoff)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def binary_target(
    y_true: ArrayLike, pos_label: Any = None, n_rows: int | None = None, name: str = "y_true"
) -> BoolArray:
    """Return a mask of the positive rows: those of ``pos_label``, against all other classes.

    Without ``pos_label`` there must be two labels that are not text; the larger one is positive: 1 of
    {0, 1} or {-1, 1}, and True.
    """
    y = identifiers(y_true, name, n_rows)
    if y.size == 0:
        raise ValueError(f"{name} is empty: at least one row of each class is needed.")
    labels = np.unique(y)
    if pos_label is None:
        if labels.size > 2:
            raise ValueError(
                f"Only binary classification is supported without pos_label. {name} has "
                f"{labels.size} labels: {_shorten(labels)}. Compare one label with the rest, for "
                f"example pos_label={_plain(labels[0])!r} or y == {_plain(labels[0])!r}."
            )
        if labels.size == 2:
            check_not_text(labels, f"{name} has")
        pos_label = labels[-1]
    elif pos_label not in labels:
        raise ValueError(
            f"pos_label={pos_label!r} is not in {name}, whose labels are {_shorten(labels)}."
        )
    positive: BoolArray = np.asarray(y == pos_label, dtype=bool)
    if positive.all():
        raise ValueError(
            f"{name} has only one class ({labels[0]!r}); a ROC curve needs at least one positive and "
            "one negative row."
        )
    return positive


def check_not_text(labels: AnyArray, subject: str) -> None:
    """Refuse text labels without a named positive class, since their order means nothing."""
    if any(isinstance(_plain(one), str | bytes) for one in labels):
        raise ValueError(
            f"{subject} the text labels {_shorten(labels)}, of which neither is positive by "
            f"convention; name the positive class, for example pos_label={_plain(labels[0])!r}."
        )


def _plain(label: Any) -> Any:
    """Convert a NumPy scalar to the Python value that prints as a user would type it."""
    return label.item() if hasattr(label, "item") else label


def labels_of_rows(y: Any, n_rows: int, estimator_name: str) -> AnyArray:
    """Check the labels that a classifier is fitted to."""
    if y is None:
        raise ValueError(f"{estimator_name} requires y to be passed, but the target y is None.")
    labels = one_per_row(y, n_rows, "y", warn=True)
    if labels.dtype.kind == "f":
        # scikit-learn's estimator checks demand its own error.
        assert_all_finite(labels, input_name="y")
    elif labels.dtype.kind == "O":
        # The labels keep their dtype, which becomes that of ``classes_``.
        identifiers(labels, "y")
    return labels


def one_per_row(
    values: ArrayLike, n_rows: int, name: str, *, unit: str = "rows", warn: bool = False
) -> AnyArray:
    """Return a column of one dimension with one entry per row."""
    column = _one_dimensional(values, name, warn=warn)
    check_length(column, n_rows, name, unit)
    return column


def check_length(values: Sized, n_units: int, name: str, unit: str) -> None:
    """Raise an error unless there is one value per unit, which is named in the plural."""
    if len(values) != n_units:
        raise ValueError(
            f"{name} has {len(values)} entries for {n_units} {unit}; give one per {unit[:-1]}."
        )


def _one_dimensional(values: ArrayLike, name: str, *, warn: bool = False) -> AnyArray:
    if type(values) is np.ndarray and values.ndim == 1:
        # scikit-learn's check would return it too, but first look up its array library.
        return values
    values = as_known(values)
    try:
        column: AnyArray = column_or_1d(unmasked(values, name), warn=warn)
    except ValueError as error:
        shape = np.shape(values)
        if len(shape) == 1:
            raise
        raise ValueError(
            f"{name} must have one entry per row, got an array of shape {shape}."
            f"{_OF_PROBABILITIES if 'score' in name and shape[1:] == (2,) else ''}"
        ) from error
    return column


def identifiers(
    values: ArrayLike, name: str, n_rows: int | None = None, *, unit: str = "rows"
) -> AnyArray:
    """Check labels, queries or groups: one dimension, nothing missing, one kind of value."""
    if n_rows is None:
        column = _one_dimensional(values, name)
    else:
        column = one_per_row(values, n_rows, name, unit=unit)
    if column.dtype.kind in "US" and isinstance(values, list | tuple):
        # NumPy would write numbers and missing entries of a list as text.
        column = np.array(values, dtype=object)
    if column.dtype.kind == "c":
        raise ValueError(f"{name} must not be complex, got dtype {column.dtype}.")
    if column.dtype.kind not in "fmMO":
        return column
    if column.dtype.kind == "O" and {*map(type, column.tolist())} == {str}:
        # NumPy's text drops trailing NUL characters, which would merge two names.
        kept = any(one.endswith("\x00") for one in column.tolist())
        return column if kept else column.astype(str)
    missing = missing_entries(column)
    _refuse_missing(missing, name)
    if column.dtype.kind == "O":
        kinds = sorted({type(one).__name__ for one in column})
        try:
            np.unique(column)
        except TypeError:
            raise ValueError(
                f"{name} mixes {' and '.join(kinds)}, which have no common order; use one kind."
            ) from None
    return column


def missing_entries(column: AnyArray) -> BoolArray:
    """Return a mask of the missing or infinite entries of a column."""
    if column.dtype.kind == "f":
        return np.asarray(~np.isfinite(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    # pandas' NA is neither equal nor unequal to itself.
    missing = [one is None or type(one).__name__ == "NAType" or one != one for one in column]
    return np.array(missing, dtype=bool)


def _refuse_missing(missing: BoolArray, name: str) -> None:
    if missing.any():
        raise ValueError(
            f"{name} has {int(missing.sum())} missing or infinite entries, the first in row "
            f"{int(np.argmax(missing))}; drop these rows."
        )


def unmasked(values: ArrayLike, name: str) -> ArrayLike:
    """Refuse masked entries, which NumPy functions would read as data."""
    n_masked = int(np.sum(np.ma.getmaskarray(values))) if np.ma.isMaskedArray(values) else 0
    if n_masked:
        raise ValueError(f"{name} has {n_masked} masked entries; drop these rows.")
    return values


def finite_scores(y_score: ArrayLike, name: str = "y_score") -> FloatArray:
    """Return a finite 1-D float array."""
    given = _one_dimensional(y_score, name)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be numeric, got dtype {given.dtype}.")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and given.size:
        largest = max(int(given.max()), -int(given.min()))
        if largest > _LARGEST_EXACT:
            raise ValueError(
                f"{name} holds integers above 2**53 ({largest}), which double precision cannot tell "
                "apart; subtract their minimum, or rank them first."
            )
    score: FloatArray = given.astype(np.float64, copy=False)
    bad = ~np.isfinite(score)
    if bad.any():
        raise ValueError(
            f"{name} contains {bad.sum()} NaN or infinite values, the first in row "
            f"{int(np.argmax(bad))} ({score[bad][0]}). Scores must be finite."
        )
    return score


def row_weights(
    sample_weight: ArrayLike | None, n_rows: int, unit: str = "rows"
) -> FloatArray | None:
    """Return non-negative finite weights, not all zero; None if every row counts once."""
    if sample_weight is None:
        return None
    name = "sample_weight"
    column = one_per_row(sample_weight, n_rows, name, unit=unit)
    try:
        # NumPy would read dates as numbers of days, None as NaN, and drop imaginary parts.
        weight = None if column.dtype.kind in "mMc" else column.astype(np.float64)
    except (TypeError, ValueError):
        weight = None
    if weight is None:
        raise ValueError(f"{name} must be numeric, got dtype {column.dtype}.")
    _refuse_missing(~np.isfinite(weight), name)
    if weight.min(initial=0.0) < 0:
        raise ValueError(
            f"sample_weight must be non-negative, got {weight.min()} in row {int(weight.argmin())}."
        )
    if not weight.any():
        raise ValueError("All entries of sample_weight are zero: no row is left to count.")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight adds up to infinity (largest entry {weight.max():g}); divide it by a "
            "constant, since only their ratios matter."
        )
    return weight


def largest_entry(values: AnyArray) -> float:
    """Return the largest absolute entry of an array, nan if any entry is nan, in one pass."""
    width = values.shape[1] if values.ndim > 1 else 1
    size = max(_ENTRIES_AT_ONCE // max(width, 1), 1)
    largest = 0.0
    for start in range(0, values.shape[0], size):
        block = values[start : start + size]
        # np.maximum, unlike max, propagates nan.
        largest = np.maximum(largest, np.maximum(block.max(initial=0.0), -block.min(initial=0.0)))
    return float(largest)


def query_index(qid: ArrayLike | None, n_rows: int, name: str = "qid") -> IntArray | None:
    """Number queries (or groups) 0, 1, ... in sorted order of their identifiers."""
    if qid is None:
        return None
    named = identifiers(qid, name, n_rows)
    if named.dtype.kind in "iufb" and np.all(named[1:] >= named[:-1]):
        # Identifiers in increasing order need no sort.
        return np.cumsum(np.append(False, named[1:] != named[:-1]))
    query: IntArray = np.unique(named, return_inverse=True)[1].astype(np.intp)
    return query


def time_index(time: Any, n_rows: int, name: str = "time") -> IntArray | None:
    """Rank the times of rows 0, 1, ...: numbers, dates, or text that spells dates in ISO notation."""
    if time is None:
        return None
    values = identifiers(time, name, n_rows)
    if values.dtype.kind == "U":
        values = identifiers(as_times(values, np.zeros(n_rows, dtype=bool)), name)
    rank: IntArray = np.unique(values, return_inverse=True)[1].astype(np.intp)
    return rank


def _shorten(labels: Any) -> str:
    shown = ", ".join(repr(_plain(label)) for label in labels[:5])
    return f"[{shown}{', ...' if len(labels) > 5 else ''}]"


def is_of_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0] == "dask"


def as_table(X: Any) -> Any:
    """Return a NumPy, pandas, polars or pyarrow table; refuse masked, complex and empty ones."""
    X = as_known(X)
    shape: Any = getattr(X, "shape", ())
    if len(shape) != 2:
        return X
    if np.ma.isMaskedArray(X) and (n_masked := int(np.ma.getmaskarray(X).sum())):
        raise ValueError(
            f"X has {n_masked} masked entries; fill them with nan and impute these, or drop the rows."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: X has the dtype {X.dtype}. Give real and imaginary parts as "
            "columns."
        )
    if shape[1] == 0 and hasattr(X, "columns"):
        raise ValueError(
            f"X has 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required."
        )
    return X


def as_known(X: Any) -> Any:
    """Convert tables of libraries that stream Arrow columns to pyarrow; return others unchanged.

    scikit-learn handles pandas, polars and pyarrow, and copies their numbers into one array. A stream
    is read once, without copying its buffers. A lazy frame is collected.
    """
    if type(X).__module__.partition(".")[0] == "narwhals":
        X = X.to_native()
    if type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "collect"):
        X = X.collect()
    # A DuckDB relation has a shape and columns, but NumPy would index its rows.
    known = hasattr(X, "__array__") or isinstance(X, list | tuple)
    if known or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"A table of the type {type(X).__name__} streams Arrow columns, which needs pyarrow: pip "
            "install pyarrow."
        ) from error
    return pyarrow.table(X)
