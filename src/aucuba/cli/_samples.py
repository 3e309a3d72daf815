"""Labelled rows from a data file."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._core._typing import FloatArray, IntArray
from aucuba._core._validation import check_choice
from aucuba._roc._sample import Sample
from aucuba.cli._errors import Problems, TableError
from aucuba.cli._labels import Labels, label_text
from aucuba.cli._record import FitRecord
from aucuba.cli._roles import DEFAULT_TARGET, Roles, split_names
from aucuba.cli._schema import Schema
from aucuba.cli._table import Table
from aucuba.cli._tables import Kept, TableFile
from aucuba.persistence import SavedModel

# Rows by which a table is recognised.
_DIGESTED = 1000


@dataclass(frozen=True)
class LabelledTable:
    """The rows of a file with their features, and what the columns mean."""

    rows: Sample
    X: Any
    file: TableFile
    labels: Labels
    roles: Roles
    schema: Schema

    @property
    def y(self) -> IntArray:
        return self.rows.positive.astype(np.intp)

    @property
    def weight_and_query(self) -> dict[str, Any]:
        """Keywords of metrics and fits."""
        return {"sample_weight": self.rows.weight, "qid": self.rows.query}

    def fingerprint(self) -> str:
        """Digest the first rows, so that training data are recognised in any file."""
        if self.schema.n_features is not None:
            part = self.X[:_DIGESTED]
            content = part.indices.tobytes() + part.data.tobytes()
        else:
            # Readers of csv may round the last digit.
            head = self.X.iloc[:_DIGESTED].to_csv(index=False, float_format="%.9g")
            content = head.encode()
        return hashlib.sha256(f"{self.rows.n_rows} rows ".encode() + content).hexdigest()[:32]

    def summary(self) -> dict[str, Any]:
        """Count rows, classes and queries, for messages and metadata."""
        query = self.rows.query
        return {
            "file": self.file.path.name,
            "fingerprint": self.fingerprint(),
            "rows": self.rows.n_rows,
            "positives": int(self.rows.positive.sum()),
            "features": self.schema.width,
            "queries": None if query is None else int(query.max()) + 1,
        }


def training_table(
    file: TableFile,
    *,
    target: str | None,
    pos_label: str | None,
    sample_weight: str | None,
    qid: str | None,
    dropped: Sequence[str],
    categories: Sequence[str],
) -> LabelledTable:
    """Read rows to learn from, and find the schema; all problems of the file are one error."""
    label = DEFAULT_TARGET if target is None else target
    text = tuple(split_names(categories, categories)) + tuple(split_names(categories, ()))
    table = file.read(Kept(text, verbatim=(label,)))
    roles = Roles.from_options(table, target, sample_weight, qid, dropped, categories)
    problems = Problems()
    with problems.collected():
        schema = Schema.from_table(table, roles.names, roles.categories)
    with problems.collected():
        labels = Labels.from_column(_target(table, roles), pos_label)
    for check in (_weights, _queries):
        with problems.collected():
            check(table, roles)
    problems.raise_any()
    rows = _rows(table, labels, roles)
    return LabelledTable(rows, schema.features(table), file, labels, roles, schema)


def evaluation_table(
    saved: SavedModel,
    record: FitRecord,
    file: TableFile,
    *,
    target: str | None,
    sample_weight: str | None,
    qid: str | None,
    unknown: str,
) -> LabelledTable:
    """Read rows to measure a saved model on, with the model's own columns and labels."""
    check_choice(unknown, "--unknown", ("error", "ignore"))
    schema = record.schema
    target = record.target if target is None else target
    parts = list(file.chunks(Kept(schema.text, (target,), schema.first_index)))
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    table = Table(frame, parts[0].matrix)
    X = schema.features(table)
    if unknown == "error":
        schema.refuse_unknown(saved.baseline, X)
    roles = Roles.from_options(table, target, sample_weight, record.qid if qid is None else qid)
    rows = _rows(table, record.labels, roles)
    labelled = LabelledTable(rows, X, file, record.labels, roles, schema)
    if labelled.fingerprint() == record.training["fingerprint"]:
        warnings.warn(
            f"{file.path.name} has the rows that the model was trained on, so its values flatter. "
            "Measure it on other rows.",
            UserWarning,
            stacklevel=2,
        )
    return labelled


def _rows(table: Table, labels: Labels, roles: Roles) -> Sample:
    positive = labels.is_positive(_target(table, roles))
    rows = Sample(positive, _weights(table, roles), _queries(table, roles))
    _check_classes(rows, labels, roles)
    return rows


def _target(table: Table, roles: Roles) -> pd.Series:
    """Read the labels as text."""
    column = table.column(roles.target, "--target")
    missing = int(column.isna().sum())
    if missing:
        raise TableError(
            f"The target {roles.target!r} is missing in {missing} rows, the first of them row "
            f"{int(np.argmax(column.isna().to_numpy())) + 1}; leave these rows out."
        )
    return column.astype(object).map(label_text)


def _weights(table: Table, roles: Roles) -> FloatArray | None:
    name = roles.sample_weight
    if name is None:
        return None
    column = table.column(name, "--sample-weight")
    weights: FloatArray = pd.to_numeric(column, errors="coerce").to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(
            f"The column {name!r} for --sample-weight must hold numbers of at least 0, but row "
            f"{row + 1} has {str(column.iloc[row])[:40]!r}; {bad.sum()} such rows."
        )
    if not weights.any():
        raise TableError(f"The column {name!r} for --sample-weight is zero in every row.")
    return weights


def _queries(table: Table, roles: Roles) -> IntArray | None:
    if roles.qid is None:
        return None
    column = table.column(roles.qid, "--qid")
    if column.isna().any():
        raise TableError(
            f"The column {roles.qid!r} for --qid has missing values, the first in row "
            f"{int(np.argmax(column.isna().to_numpy())) + 1}; give every row a query."
        )
    # As text, so that a column of numbers and words has an order.
    named = column if column.dtype.kind in "iuf" else column.astype(object).map(label_text)
    query: IntArray = np.unique(named.to_numpy(), return_inverse=True)[1].astype(np.intp)
    return query


def _check_classes(rows: Sample, labels: Labels, roles: Roles) -> None:
    """Both classes must be there, among the rows that count and within one query."""
    counted = rows if rows.weight is None else rows.take(rows.weight > 0)
    positive = counted.positive
    if positive.all() or not positive.any():
        among = (
            ""
            if rows.weight is None
            else f" among the rows of positive --sample-weight {roles.sample_weight!r}"
        )
        raise TableError(
            f"The target {roles.target!r} has only one class{among}: "
            f"{labels.positive if positive.all() else labels.negative}. Two are needed."
        )
    if not counted.has_pairs:
        assert counted.query is not None
        raise TableError(
            f"None of the {int(counted.query.max()) + 1} queries in the column {roles.qid!r} for --qid "
            "has both a positive and a negative row."
        )
