"""Labelled rows from a data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._typing import IntArray
from aucuba._rows._sample import Sample
from aucuba.cli._errors import Problems
from aucuba.cli._labels import Labels
from aucuba.cli._pieces import (
    fingerprint,
    labelled_pieces,
    rows_of_pieces,
    summary_of_rows,
    warn_if_trained_on,
)
from aucuba.cli._record import FitRecord
from aucuba.cli._role_columns import (
    check_rows,
    joined_rows,
    read_queries,
    read_target,
    read_weights,
)
from aucuba.cli._roles import DEFAULT_TARGET, Roles, split_names
from aucuba.cli._schema import Schema
from aucuba.cli._tables import Kept, TableFile
from aucuba.persistence import SavedModel


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
        return fingerprint(self.X, self.rows.n_rows)

    def summary(self) -> dict[str, Any]:
        """Count rows, classes and queries, for messages and metadata."""
        return summary_of_rows(self.rows, self.file, self.schema, self.fingerprint())


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
        labels = Labels.from_column(read_target(table, roles), pos_label)
    for read in (read_weights, read_queries):
        with problems.collected():
            read(table, roles)
    problems.raise_any()
    positive = labels.is_positive(read_target(table, roles))
    columns = read_weights(table, roles), read_queries(table, roles)
    rows = joined_rows([positive], [columns[0]], [columns[1]])
    check_rows(rows, labels, roles)
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
    named = {"target": target, "sample_weight": sample_weight, "qid": qid}
    pieces = list(labelled_pieces(saved, record, file, **named, unknown=unknown))
    rows, roles = rows_of_pieces(pieces, record), pieces[0].roles
    X = pieces[0].X if len(pieces) == 1 else pd.concat([one.X for one in pieces], ignore_index=True)
    labelled = LabelledTable(rows, X, file, record.labels, roles, record.schema)
    warn_if_trained_on(labelled.fingerprint(), file, record)
    return labelled
