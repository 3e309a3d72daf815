"""Signals and their labels in long tables, and the changepoint models that are trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._callbacks import HAS_CALLBACKS
from aucuba.changepoint import LABEL_KINDS, SupervisedChangepointDetector
from aucuba.cli._console import FitProgress, progress_bar
from aucuba.cli._errors import TableError
from aucuba.cli._table import finite_numbers
from aucuba.cli._tables import Kept, TableFile

SIGNAL_WRITER = "aucuba fit --model changepoint"
_COUNTS = ("sequences", "samples", "labels")
_NAMES = Kept(verbatim=("sequence", "kind"))


@dataclass(frozen=True)
class SignalTable:
    """Signals in one table: a row per sample, with the columns sequence and value.

    Parameters
    ----------
    file : TableFile
    frame : DataFrame
        Names of sequences as text, values, and ``unit`` where there is one.
    unit : {"position", "time"} or None
        The column of coordinates; None where samples are numbered from 0.
    """

    file: TableFile
    frame: pd.DataFrame
    unit: str | None

    @classmethod
    def read(cls, file: TableFile) -> SignalTable:
        """Read and check a table; of position and time the first is taken."""
        rows = file.read(_NAMES)
        value = finite_numbers(rows.column("value", "the samples").to_frame(), file.path)["value"]
        columns = {"sequence": _sequences(rows.column("sequence", "the signals"), file.path)}
        unit = next((name for name in ("position", "time") if name in rows.frame), None)
        if unit is not None:
            place = rows.frame[unit]
            if unit == "time" and not pd.api.types.is_numeric_dtype(place):
                place = _times(place, file.path)
            else:
                finite_numbers(place.to_frame(), file.path)
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
        read_as = self.file
        file = TableFile.from_options(
            path, None, read_as.delimiter, read_as.decimal, read_as.encoding
        )
        table = file.read(_NAMES)
        kinds = table.column("kind", "the labels")
        sequences = _sequences(table.column("sequence", "the labels"), path)
        _check_kinds(kinds, sequences, path)
        dated = self.unit is not None and self.frame[self.unit].dtype.kind == "M"
        ends = {}
        for name in ("start", "end"):
            column = table.column(name, "the labels")
            ends[name] = _times(column, path) if dated else _bounds(column, path)
        frame = pd.DataFrame({"sequence": sequences, **ends, "kind": kinds})
        if "weight" in table.frame:
            frame["weight"] = finite_numbers(table.frame[["weight"]], path)["weight"]
        return frame


def train_detector(
    detector: SupervisedChangepointDetector, signals: SignalTable, labels: pd.DataFrame
) -> dict[str, Any]:
    """Fit the detector; return what to keep beside the model."""
    with progress_bar("Training on signals") as bar:
        if HAS_CALLBACKS:
            detector.set_callbacks(FitProgress(bar))
        try:
            detector.fit(signals.frame, labels)
        finally:
            if HAS_CALLBACKS:
                detector.set_callbacks()
    return {
        "writer": SIGNAL_WRITER,
        "unit": signals.unit,
        "training": {
            "file": signals.file.path.name,
            "sequences": len(signals.names),
            "samples": len(signals.frame),
            "labels": len(labels),
        },
    }


def table_of_changes(detector: SupervisedChangepointDetector, signals: SignalTable) -> pd.DataFrame:
    """List the first samples of new segments, a row per change, in the unit of the signals."""
    found = detector.predict(signals.frame)
    return pd.DataFrame(
        {
            "sequence": np.repeat(np.array(signals.names, dtype=object), [len(x) for x in found]),
            signals.unit or "index": np.concatenate(found),
        }
    )


def described_training(metadata: dict[str, Any]) -> str:
    """Say what a detector was trained on."""
    training = metadata.get("training", {})
    counts = [f"{training.get(name)} {name}" for name in _COUNTS]
    return ", ".join([str(training.get("file")), *counts])


def _sequences(column: pd.Series, path: Path) -> pd.Series:
    """Names as text, so that those of two files agree whatever their formats."""
    if column.isna().any():
        row = int(np.argmax(column.isna())) + 1
        raise TableError(f"{path}: row {row} names no sequence; fill the column 'sequence'.")
    return column.astype(str).astype(object)


def _check_kinds(kinds: pd.Series, sequences: pd.Series, path: Path) -> None:
    unknown = ~kinds.isin(list(LABEL_KINDS)).to_numpy()
    if unknown.any():
        row = int(np.argmax(unknown))
        raise TableError(
            f"{path}: row {row + 1}, of the sequence {sequences.iloc[row]!r}, has the kind "
            f"{kinds.iloc[row]!r}; a label is one of {', '.join(LABEL_KINDS)}."
        )


def _bounds(column: pd.Series, path: Path) -> pd.Series:
    """Ends of regions as numbers; an infinite one leaves the region open."""
    if not pd.api.types.is_numeric_dtype(column):
        raise TableError(f"{path}: the column {column.name!r} holds text where numbers are needed.")
    if column.isna().any():
        raise TableError(f"{path}: the column {column.name!r} has missing values.")
    return column.astype(np.float64)


def _times(column: pd.Series, path: Path) -> pd.Series:
    """Dates and times without an offset from UTC, which would not compare with those of labels."""
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
        raise TableError(f"{path}: the column {column.name!r} has missing values.")
    return times
