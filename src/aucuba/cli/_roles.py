"""Columns that are not features: labels, weights and queries, as the options name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._rows._sample import Sample
from aucuba.cli._formats import Table
from aucuba.cli._table_errors import Problems, TableError
from aucuba.cli._target_labels import Labels, label_text

DEFAULT_TARGET = "y"
_SVMLIGHT_TARGET = "label"
_SVMLIGHT_QID = "qid"


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features, or not what they seem."""

    target: str
    sample_weight: str | None = None
    qid: str | None = None
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def from_options(
        cls,
        table: Table,
        target: str | None,
        sample_weight: str | None,
        qid: str | None,
        dropped: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Roles:
        """Give each column one role, with the names that a svmlight file has by itself filled in."""
        if target is None:
            target = DEFAULT_TARGET if table.matrix is None else _SVMLIGHT_TARGET
        if qid is None and table.matrix is not None and _SVMLIGHT_QID in table.frame.columns:
            qid = _SVMLIGHT_QID
        names = [str(name) for name in table.frame.columns]
        roles = cls(
            target,
            sample_weight,
            qid,
            tuple(split_names(dropped, names)),
            tuple(split_names(categories, names)),
        )
        roles._check(table)
        return roles

    @property
    def names(self) -> set[str]:
        """All columns that are not features."""
        named = {self.target, self.sample_weight, self.qid, *self.dropped}
        return {name for name in named if name is not None}

    def _check(self, table: Table) -> None:
        named = [
            ("--target", self.target),
            ("--sample-weight", self.sample_weight),
            ("--qid", self.qid),
        ]
        named += [("--drop", name) for name in self.dropped]
        named += [("--category", name) for name in self.categories]
        problems, taken = Problems(), dict[str, str]()
        for option, name in named:
            if name is not None:
                with problems.collected():
                    _check_column(table, option, name, taken)
        problems.raise_any()


def split_names(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Split ``a,b`` at its commas, unless a column has that very name; each name once.

    Examples
    --------
    >>> from aucuba.cli._roles import split_names
    >>> split_names(["a,b", "c,d", "a"], names=["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    parts: list[str] = []
    for text in given:
        parts += [text] if text in names else [part.strip() for part in text.split(",")]
    return list(dict.fromkeys(part for part in parts if part))


def _check_column(table: Table, option: str, name: str, taken: dict[str, str]) -> None:
    own = {"--target": _SVMLIGHT_TARGET, "--qid": _SVMLIGHT_QID}.get(option)
    if table.matrix is not None and name != own:
        raise TableError(
            f"{option} {name}: a svmlight file has labels, perhaps qid, and no other named columns; "
            f"leave {option} out."
        )
    table.column(name, option)
    if taken.setdefault(name, option) != option:
        raise TableError(
            f"The column {name!r} is given for both {taken[name]} and {option}; choose one."
        )


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
