"""The columns of a file that are not features: labels, weights and queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._rows._sample import Sample
from aucuba.cli._errors import TableError
from aucuba.cli._labels import Labels, label_text
from aucuba.cli._roles import Roles
from aucuba.cli._table import Table


def read_target(table: Table, roles: Roles, first_row: int = 0) -> pd.Series:
    """Read the labels as text; ``first_row`` numbers rows in messages."""
    column = table.column(roles.target, "--target")
    missing = int(column.isna().sum())
    if missing:
        raise TableError(
            f"The target {roles.target!r} is missing in {missing} rows, the first of them row "
            f"{first_row + int(np.argmax(column.isna().to_numpy())) + 1}; leave these rows out."
        )
    return column.astype(object).map(label_text)


def read_weights(table: Table, roles: Roles, first_row: int = 0) -> FloatArray | None:
    """Read the weights, numbers of at least 0."""
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
            f"{first_row + row + 1} has {str(column.iloc[row])[:40]!r}; {bad.sum()} such rows."
        )
    return weights


def read_queries(table: Table, roles: Roles, first_row: int = 0) -> pd.Series | None:
    """Read the queries as they stand."""
    if roles.qid is None:
        return None
    column = table.column(roles.qid, "--qid")
    if column.isna().any():
        raise TableError(
            f"The column {roles.qid!r} for --qid has missing values, the first in row "
            f"{first_row + int(np.argmax(column.isna().to_numpy())) + 1}; give every row a query."
        )
    return column


def joined_rows(
    positive: Sequence[BoolArray],
    weight: Sequence[FloatArray | None],
    query: Sequence[pd.Series | None],
) -> Sample:
    """Join the class, weight and query of the pieces of a file."""
    weights = [one for one in weight if one is not None]
    queries = [one for one in query if one is not None]
    return Sample(
        np.concatenate(positive),
        np.concatenate(weights) if weights else None,
        _numbered(pd.concat(queries, ignore_index=True)) if queries else None,
    )


def _numbered(column: pd.Series) -> IntArray:
    # As text, so that a column of numbers and words has an order.
    named = column if column.dtype.kind in "iuf" else column.astype(object).map(label_text)
    query: IntArray = np.unique(named.to_numpy(), return_inverse=True)[1].astype(np.intp)
    return query


def check_rows(rows: Sample, labels: Labels, roles: Roles) -> None:
    """Some weight and both classes must be there, among the rows that count and within one query."""
    if rows.weight is not None and not rows.weight.any():
        raise TableError(
            f"The column {roles.sample_weight!r} for --sample-weight is zero in every row."
        )
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
