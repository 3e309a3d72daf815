"""Labelled rows from a data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aucuba._typing import FloatArray, IntArray
from aucuba._validation import check_choice, group_index, row_weights
from aucuba.cli.schema import Schema
from aucuba.persistence import SavedModel
from aucuba.tables import Table, TableError, TableFile, text_of

_SVMLIGHT_TARGET = "label"
_SVMLIGHT_GROUP = "qid"


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features."""

    target: str
    weight: str | None = None
    group: str | None = None
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        target: str | None,
        weight: str | None,
        group: str | None,
        dropped: Sequence[str] = (),
    ) -> Roles:
        """With the names that a svmlight file has by itself filled in."""
        if table.matrix is not None:
            has_query = _SVMLIGHT_GROUP in table.frame.columns
            return cls(_SVMLIGHT_TARGET, weight, _SVMLIGHT_GROUP if has_query else None)
        for name in dropped:
            table.column(name, "--drop")
        return cls("y" if target is None else target, weight, group, tuple(dropped))

    @property
    def names(self) -> set[str]:
        named = {self.target, self.weight, self.group, *self.dropped}
        return {name for name in named if name is not None}


@dataclass(frozen=True)
class Labels:
    """Texts of the two classes."""

    negative: str
    positive: str

    @classmethod
    def of(cls, column: pd.Series, positive: str | None) -> Labels:
        """The positive label as named, else the larger of two."""
        present = [label_text(label) for label in np.unique(column.to_numpy())]
        if positive is not None and positive not in present:
            raise TableError(
                f"--positive {positive} is not among the labels of {column.name!r}: "
                f"{', '.join(present[:6])}{', ...' if len(present) > 6 else ''}."
            )
        if len(present) < 2:
            raise TableError(
                f"The target {column.name!r} has only one class ({present[0]}); two are needed."
            )
        if positive is None and len(present) > 2:
            raise TableError(
                f"The target {column.name!r} has {len(present)} labels ({', '.join(present[:6])}"
                f"{', ...' if len(present) > 6 else ''}); name the positive one with --positive."
            )
        chosen = present[1] if positive is None else positive
        others = [label for label in present if label != chosen]
        return cls(others[0] if len(others) == 1 else "other", chosen)


@dataclass(frozen=True)
class Sample:
    """Features with labels in {0, 1}, weights and queries, and where they come from."""

    file: TableFile
    X: Any
    y: IntArray
    weight: FloatArray | None
    group: IntArray | None
    labels: Labels
    roles: Roles
    schema: Schema

    @property
    def n_positive(self) -> int:
        return int(self.y.sum())

    def summary(self) -> dict[str, Any]:
        """Counts for messages and metadata."""
        return {
            "file": self.file.path.name,
            "rows": int(self.y.size),
            "positives": self.n_positive,
            "features": self.schema.width,
            "queries": None if self.group is None else int(self.group.max()) + 1,
        }


def training_sample(
    file: TableFile,
    target: str | None,
    positive: str | None,
    weight: str | None,
    group: str | None,
    dropped: Sequence[str],
) -> Sample:
    """Rows to learn from, with a schema found from them."""
    table = file.read()
    roles = Roles.of(table, target, weight, group, dropped)
    column = _target(table, roles)
    labels = Labels.of(column, positive)
    weights, groups = _weights_and_groups(table, roles)
    schema = Schema.of(table, roles.names)
    table = Table(text_of(file, schema.category, table.frame), table.matrix)
    X = schema.features(table)
    return Sample(file, X, _binary(column, labels), weights, groups, labels, roles, schema)


def evaluation_sample(
    saved: SavedModel,
    data: Path,
    *,
    target: str | None,
    weight: str | None,
    group: str | None,
    format: str | None,
    delimiter: str | None,
    unknown: str,
) -> Sample:
    """Rows to measure a saved model on, with the model's own columns and labels."""
    check_choice(unknown, "--unknown", ("error", "ignore"))
    known = command_line_metadata(saved)
    schema = Schema.from_json(known["schema"])
    file = TableFile.of(data, format, delimiter)
    parts = list(file.chunks(schema.category, schema.n_features))
    matrix = parts[0].matrix
    table = Table(pd.concat([part.frame for part in parts], ignore_index=True), matrix)
    target = known["target"] if target is None else target
    group = known["group"] if group is None else group
    roles = Roles.of(table, target, weight, group)
    column = _target(table, roles)
    labels = Labels(known["negative"], known["positive"])
    y = _binary(column, labels)
    if y.min() == y.max():
        raise TableError(
            f"The target {roles.target!r} has only one class here; its positive label is "
            f"{labels.positive} and the labels found are "
            f"{', '.join(sorted({label_text(label) for label in column})[:6])}."
        )
    X = schema.features(table)
    if unknown == "error":
        schema.refuse_unknown(saved.model, X)
    weights, groups = _weights_and_groups(table, roles)
    return Sample(file, X, y, weights, groups, labels, roles, schema)


def command_line_metadata(saved: SavedModel) -> dict[str, Any]:
    """What `aucuba fit` keeps beside a model; a model saved from Python may lack it."""
    if saved.metadata.get("writer") != "aucuba fit":
        raise TableError(
            "This model was saved from Python without the names of its columns; use it from Python, or "
            "write it with `aucuba fit`."
        )
    return saved.metadata


def label_text(label: Any) -> str:
    """Labels as a person writes them: 1, not 1.0."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _target(table: Table, roles: Roles) -> pd.Series:
    column = table.column(roles.target, "--target")
    missing = int(column.isna().sum())
    if missing:
        raise TableError(
            f"The target {roles.target!r} is missing in {missing} rows, the first of them row "
            f"{int(np.argmax(column.isna().to_numpy())) + 1}; leave these rows out."
        )
    return column


def _binary(column: pd.Series, labels: Labels) -> IntArray:
    texts = column.map(label_text)
    binary: IntArray = (texts == labels.positive).to_numpy(dtype=np.intp)
    return binary


def _weights_and_groups(table: Table, roles: Roles) -> tuple[FloatArray | None, IntArray | None]:
    weights, groups = None, None
    if roles.weight is not None:
        column = pd.to_numeric(table.column(roles.weight, "--weight"), errors="coerce")
        weights = row_weights(column.to_numpy(dtype=np.float64), table.n_rows)
    if roles.group is not None:
        column = table.column(roles.group, "--group")
        if column.isna().any():
            raise TableError(f"The column {roles.group!r} for --group has missing values.")
        groups = group_index(column.to_numpy(), table.n_rows)
    return weights, groups
