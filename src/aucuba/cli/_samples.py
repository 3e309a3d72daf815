"""Labelled rows from a data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._core._typing import FloatArray, IntArray
from aucuba._core._validation import check_choice, query_index
from aucuba.cli._labels import Labels, label_text
from aucuba.cli._record import FitRecord
from aucuba.cli._roles import DEFAULT_TARGET, Roles
from aucuba.cli._schema import Schema
from aucuba.cli._tables import Table, TableError, TableFile, text_of
from aucuba.persistence import SavedModel


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
    *,
    target: str | None,
    positive: str | None,
    weight: str | None,
    group: str | None,
    dropped: Sequence[str],
    categories: Sequence[str],
) -> Sample:
    """Rows to learn from, with a schema found from them."""
    table = file.read(verbatim=[DEFAULT_TARGET if target is None else target])
    roles = Roles.of(table, target, weight, group, dropped, categories)
    column = _target(table, roles)
    labels = Labels.of(column, positive)
    schema = Schema.of(table, roles.names, roles.categories)
    X = schema.features(Table(text_of(file, schema.category, table.frame), table.matrix))
    return _sample(file, table, X, column, labels, roles, schema)


def evaluation_sample(
    saved: SavedModel,
    record: FitRecord,
    file: TableFile,
    *,
    target: str | None,
    weight: str | None,
    group: str | None,
    unknown: str,
) -> Sample:
    """Rows to measure a saved model on, with the model's own columns and labels."""
    check_choice(unknown, "--unknown", ("error", "ignore"))
    schema = record.schema
    target = record.target if target is None else target
    parts = list(file.chunks(schema.category, [target], schema.first_index))
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    table = Table(frame, parts[0].matrix)
    X = schema.features(table)
    if unknown == "error":
        schema.refuse_unknown(saved.model, X)
    roles = Roles.of(table, target, weight, record.group if group is None else group)
    return _sample(file, table, X, _target(table, roles), record.labels, roles, schema)


def _sample(
    file: TableFile,
    table: Table,
    X: Any,
    column: pd.Series,
    labels: Labels,
    roles: Roles,
    schema: Schema,
) -> Sample:
    y = labels.binary(column)
    weights, groups = _weights(table, roles), _groups(table, roles)
    _check_classes(y, weights, groups, labels, roles)
    return Sample(file, X, y, weights, groups, labels, roles, schema)


def _target(table: Table, roles: Roles) -> pd.Series:
    """The labels as text."""
    column = table.column(roles.target, "--target")
    missing = int(column.isna().sum())
    if missing:
        raise TableError(
            f"The target {roles.target!r} is missing in {missing} rows, the first of them row "
            f"{int(np.argmax(column.isna().to_numpy())) + 1}; leave these rows out."
        )
    return column.astype(object).map(label_text)


def _weights(table: Table, roles: Roles) -> FloatArray | None:
    if roles.weight is None:
        return None
    column = table.column(roles.weight, "--weight")
    weights: FloatArray = pd.to_numeric(column, errors="coerce").to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(
            f"The column {roles.weight!r} for --weight must hold numbers of at least 0, but row "
            f"{row + 1} has {str(column.iloc[row])[:40]!r}; {bad.sum()} such rows."
        )
    if not weights.any():
        raise TableError(f"The column {roles.weight!r} for --weight is zero in every row.")
    return weights


def _groups(table: Table, roles: Roles) -> IntArray | None:
    if roles.group is None:
        return None
    column = table.column(roles.group, "--group")
    if column.isna().any():
        raise TableError(
            f"The column {roles.group!r} for --group has missing values, the first in row "
            f"{int(np.argmax(column.isna().to_numpy())) + 1}; give every row a query."
        )
    return query_index(column.to_numpy(), table.n_rows)


def _check_classes(
    y: IntArray,
    weights: FloatArray | None,
    groups: IntArray | None,
    labels: Labels,
    roles: Roles,
) -> None:
    """Both classes must be there, among the rows that count and within one query."""
    counted = np.ones(y.size, dtype=bool) if weights is None else weights > 0
    y = y[counted]
    if y.all() or not y.any():
        among = "" if weights is None else f" among the rows of positive --weight {roles.weight!r}"
        raise TableError(
            f"The target {roles.target!r} has only one class{among}: "
            f"{labels.positive if y.all() else labels.negative}. Two are needed."
        )
    if groups is not None:
        n_rows = np.bincount(groups[counted])
        n_positive = np.bincount(groups[counted], y)
        if not ((n_positive > 0) & (n_positive < n_rows)).any():
            raise TableError(
                f"None of the {n_rows.size} queries in the column {roles.group!r} for --group has both "
                "a positive and a negative row."
            )
