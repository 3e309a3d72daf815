"""Signals in a long table, with a row per sample, and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from aucuba.changepoint import LABEL_KINDS
from aucuba.cli._console import TableError
from aucuba.cli._formats import Kept, first_cell, row_number
from aucuba.cli._table_file import TableFile

_NAMES = Kept(verbatim=("sequence", "kind"))


@dataclass(frozen=True)
class SignalTable:
    """Signals in one table: a row per sample, with the columns sequence and value.

    Parameters
    ----------
    file : TableFile
    frame : DataFrame
        Names of sequences as text, values, and the column ``unit`` if there is one.
    unit : {"position", "time"} or None
        The column of coordinates; None where samples are numbered from 0.
    """

    file: TableFile
    frame: pd.DataFrame
    unit: str | None

    @classmethod
    def read(cls, file: TableFile) -> SignalTable:
        """Read and check a table; position is used if it has both position and time."""
        rows = file.read(_NAMES)
        value = as_floats(rows.column("value", "the samples"), file.path)
        columns = {"sequence": _sequences(rows.column("sequence", "the signals"), file.path)}
        unit = next((name for name in ("position", "time") if name in rows.frame), None)
        if unit is not None:
            place = rows.frame[unit]
            if unit == "time" and not pd.api.types.is_numeric_dtype(place):
                place = _times(place, file.path)
            else:
                as_floats(place, file.path)
            columns[unit] = place
        return cls(file, pd.DataFrame({**columns, "value": value}), unit)

    @property
    def names(self) -> list[str]:
        """Names of the sequences in the order of their first samples."""
        return list(self.frame["sequence"].unique())

    def labels(self, path: Path | None) -> pd.DataFrame:
        """Read the labels of these signals, in their unit."""
        if path is None:
            raise ValueError(
                "A changepoint model needs --labels, a table of sequence, start, end, kind."
            )
        own = self.file
        file = TableFile.from_options(path, None, own.delimiter, own.decimal, own.encoding)
        table = file.read(_NAMES)
        kinds = table.column("kind", "the labels")
        sequences = _sequences(table.column("sequence", "the labels"), path)
        _check_kinds(kinds, sequences, path)
        dated = self.unit is not None and self.frame[self.unit].dtype.kind == "M"
        ends = {}
        for name in ("start", "end"):
            column = table.column(name, "the labels")
            # An infinite end leaves the region open.
            ends[name] = _times(column, path) if dated else as_floats(column, path, finite=False)
        frame = pd.DataFrame({"sequence": sequences, **ends, "kind": kinds})
        if "weight" in table.frame:
            frame["weight"] = as_floats(table.frame["weight"], path)
        return frame


def as_floats(column: pd.Series, path: Path, *, finite: bool = True) -> pd.Series:
    """Convert a column to numbers; an error for text or missing values names the column."""
    if not pd.api.types.is_numeric_dtype(column):
        raise TableError(f"{path}: the column {column.name!r} holds text where numbers are needed.")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if (np.isnan(values) | (finite & np.isinf(values))).any():
        gaps = "missing or infinite" if finite else "missing"
        raise TableError(
            f"{path}: the column {column.name!r} has {gaps} values; fill them or leave these rows out."
        )
    return column.astype(np.float64)


def _sequences(column: pd.Series, path: Path) -> pd.Series:
    """Convert names to text, so that they agree between files of different formats."""
    if column.isna().any():
        row = row_number(column, column.isna())
        raise TableError(f"{path}: row {row} names no sequence; fill the column 'sequence'.")
    return column.astype(str).astype(object)


def _check_kinds(kinds: pd.Series, sequences: pd.Series, path: Path) -> None:
    unknown = ~kinds.isin(list(LABEL_KINDS))
    if unknown.any():
        raise TableError(
            f"{path}: row {row_number(kinds, unknown)}, of the sequence "
            f"{first_cell(sequences, unknown)}, has the kind {first_cell(kinds, unknown)}; a label is "
            f"one of {', '.join(LABEL_KINDS)}."
        )


def _times(column: pd.Series, path: Path) -> pd.Series:
    """Read dates and times; refuse offsets from UTC, which cannot be compared with the labels."""
    if pd.api.types.is_numeric_dtype(column):
        raise TableError(
            f"{path}: the column {column.name!r} holds numbers, but the time of the signals is dates."
        )
    try:
        times = pd.to_datetime(column, format="ISO8601")
    except ValueError:
        times = pd.Series(dtype=object)
    if times.dtype.kind != "M" or isinstance(times.dtype, pd.DatetimeTZDtype):
        raise TableError(
            f"{path}: the column {column.name!r} must hold numbers, or dates such as 2024-12-31 "
            "23:59:00 of one time zone, without an offset."
        )
    if times.isna().any():
        raise TableError(
            f"{path}: the column {column.name!r} has missing values; fill them or leave these rows out."
        )
    return times
