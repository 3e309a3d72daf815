"""Signals in the forms that users have: arrays, pandas Series or one long table."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, ArrayLike, FloatArray, IntArray


@dataclass(frozen=True)
class Signal:
    """A validated signal.

    ``positions`` are the coordinates of its labels; ``index`` holds the user's names of the samples,
    None for plain arrays.
    """

    name: Any
    values: FloatArray
    positions: FloatArray
    index: AnyArray | None = None

    @property
    def title(self) -> str:
        """Name of the signal in error messages."""
        return f"Sequence {self.name!r}"

    def samples(self, first: IntArray) -> AnyArray:
        """Return the user's names of the samples with these numbers."""
        return first if self.index is None else self.index[first]


def named_signals(signals: Any) -> list[Signal]:
    """Validate signals: a list, a mapping from names, or a table.

    A table (pandas DataFrame) has the columns ``sequence`` and ``value``, one row per sample in order,
    and optionally ``position`` or ``time``. A numeric or time index of a Series gives the positions.
    """
    found = [_signal(name, y, index) for name, y, index in _parts(signals)]
    if not found:
        raise ValueError("signals is empty: at least one signal is needed.")
    return found


def _parts(signals: Any) -> Iterator[tuple[Any, Any, AnyArray | None]]:
    """Yield the name, the values and, if there is one, the index of every signal."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(signals, pandas.DataFrame):
        yield from _parts_of_table(signals)
        return
    for name, y in signals.items() if isinstance(signals, Mapping) else enumerate(signals):
        if np.ndim(y) == 0:
            raise ValueError("signals must be a list of signals; put a single signal in a list.")
        is_series = pandas is not None and isinstance(y, pandas.Series)
        yield name, y, y.index.to_numpy() if is_series else None


def _parts_of_table(table: Any) -> Iterator[tuple[Any, Any, AnyArray | None]]:
    for column in ("sequence", "value"):
        if column not in table.columns:
            raise ValueError(f"A table of signals needs the column {column!r}.")
    if table["sequence"].isna().any():
        raise ValueError("The column 'sequence' has missing values; every sample needs a sequence.")
    where = next((name for name in ("position", "time") if name in table.columns), None)
    for name, part in table.groupby("sequence", sort=False):
        yield name, part["value"].to_numpy(), None if where is None else part[where].to_numpy()


def _signal(name: Any, y: Any, index: AnyArray | None) -> Signal:
    title = f"Sequence {name!r}"
    values = check_signal(y, title)
    positions = None
    if index is not None and index.dtype.kind in "fiuMm":
        positions = coordinates(index)
    try:
        return Signal(name, values, sample_positions(positions, values.size), index)
    except ValueError as problem:
        raise ValueError(f"{title}: {problem}") from None


def coordinates(values: Any) -> FloatArray:
    """Return numbers unchanged, and dates and times in nanoseconds."""
    listed = np.asarray(values)
    if listed.dtype.kind == "O" and any(isinstance(one, datetime.datetime) for one in listed):
        listed = np.array([np.datetime64(one) for one in listed], dtype="datetime64[ns]")
    if listed.dtype.kind in "Mm":
        unit = "datetime64[ns]" if listed.dtype.kind == "M" else "timedelta64[ns]"
        listed = listed.astype(unit).astype(np.int64)
    return listed.astype(np.float64)


def check_signal(signal: ArrayLike, name: str = "signal", *, columns: bool = False) -> FloatArray:
    """Check that a signal is a non-empty vector of finite numbers; errors name the sequence.

    One column counts as a vector; several columns need ``columns=True`` and stay a matrix.
    """
    y = np.asarray(signal)
    if y.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be numeric, got dtype {y.dtype}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 and not (columns and y.ndim == 2):
        raise ValueError(
            f"{name} must have one column, got shape {y.shape}."
            if y.ndim == 2
            else f"{name} must have one row per sample, got shape {y.shape}."
        )
    if y.size == 0:
        raise ValueError(f"{name} is empty: at least one sample is needed.")
    y = y.astype(np.float64, copy=False)
    bad = ~np.isfinite(y)
    if bad.any():
        raise ValueError(
            f"{name} contains {bad.sum()} NaN or infinite values, the first at sample "
            f"{int(np.argmax(bad.reshape(len(y), -1).any(axis=1)))}. Drop or fill them."
        )
    return y


def sample_positions(positions: ArrayLike | None, n_samples: int | None) -> FloatArray:
    """Check the increasing coordinates of the samples; 0, 1, ... by default."""
    if positions is None:
        assert n_samples is not None
        return np.arange(int(n_samples), dtype=np.float64)
    where = np.asarray(positions, dtype=np.float64)
    if where.ndim != 1 or (n_samples is not None and where.size != n_samples):
        raise ValueError(f"positions must have one entry per sample, got shape {where.shape}.")
    if where.size == 0 or not np.all(np.isfinite(where)) or np.any(np.diff(where) <= 0):
        raise ValueError("positions must be finite and strictly increasing; sort the signal first.")
    return where


def check_weights(weights: ArrayLike | None, n_samples: int) -> FloatArray:
    """Check that there is one positive weight per sample; ones by default."""
    if weights is None:
        return np.ones(n_samples)
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"weights has shape {weight.shape} for {n_samples} samples.")
    bad = ~((weight > 0) & np.isfinite(weight))
    if bad.any():
        raise ValueError(
            f"weights must be positive and finite, got {weight[bad][0]} at sample "
            f"{int(np.argmax(bad))}; drop samples of weight 0."
        )
    return weight
