"""Columns that are not features: labels, weights and queries, as the options name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._validation import UNMISTAKABLE, query_index, time_index
from aucuba._rows._sample import Sample
from aucuba.cli._console import Problems, TableError, pasted
from aucuba.cli._formats import Table, first_cell, row_number
from aucuba.cli._options import RowOptions, spelled_as_option

# Roles of a single column; the options that name them are spelled alike.
ROLES = ("target", "sample_weight", "qid", "groups", "time")
DEFAULT_TARGET = "y"
_SVMLIGHT_TARGET = "label"
_SVMLIGHT_QID = "qid"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"0|-?[1-9]\d*")
# Columns with one value per row, by option, and the name of such a value.
_UNITS = {"qid": "query", "groups": "group", "time": "time"}
# Name of the positive label if the only class is the normal one.
_NEGATIVES = {"0": "1", "false": "true"}
# Labels with equal keys are equal; keys sort numbers first, by their exact value.
_Key = tuple[bool, Decimal, str]


@dataclass(frozen=True)
class Labels:
    """Labels seen in training.

    Numbers are compared by value (1, 1.0 and 01), true and false in any case, other text exactly.
    """

    positive: str
    others: tuple[str, ...]

    @classmethod
    def from_column(
        cls, column: pd.Series, pos_label: str | None, may_lack_positives: bool = False
    ) -> Labels:
        """Find the labels in a column of text, and which is positive if none is named.

        Of two numbers the larger is positive, of two texts the unmistakable one, such as yes. With
        ``may_lack_positives`` a single label is the negative one.
        """
        texts: dict[_Key, str] = {}
        for text in column.unique():
            texts.setdefault(_key(text), text)
        present = sorted(texts)
        shown = _listed([texts[key] for key in present])
        if may_lack_positives and len(present) == 1:
            return cls._with_outlier_label(texts[present[0]], pos_label, column.name)
        if pos_label is not None and _key(pos_label) not in texts:
            raise TableError(
                f"--pos-label {pos_label} is not among the labels of {column.name!r}: {shown}."
            )
        if len(present) < 2:
            raise TableError(
                f"The target {column.name!r} has only one class ({shown}); two are needed."
            )
        if pos_label is None and len(present) > 2:
            raise TableError(
                f"The target {column.name!r} has {len(present)} labels ({shown}); name the positive "
                "one with --pos-label."
            )
        chosen = _likely_positive(present, column.name) if pos_label is None else _key(pos_label)
        return cls(texts[chosen], tuple(texts[key] for key in present if key != chosen))

    @classmethod
    def _with_outlier_label(cls, only: str, pos_label: str | None, column: Any) -> Labels:
        """Choose the label of outliers if all rows have the same label."""
        opposite = {_key(one): other for one, other in _NEGATIVES.items()}
        positive = opposite.get(_key(only)) if pos_label is None else pos_label
        if positive is None:
            raise TableError(
                f"The target {column!r} has only one class ({only}). If these rows are normal, name "
                "the label that outliers will have with --pos-label."
            )
        if _key(positive) == _key(only):
            raise TableError(
                f"The target {column!r} has only outliers ({only}); normal rows are needed."
            )
        return cls(positive, (only,))

    @property
    def negative(self) -> str:
        """The other of two labels, or a name for all others."""
        return self.others[0] if len(self.others) == 1 else "other"

    @property
    def classes(self) -> tuple[str, str] | tuple[int, int]:
        """The negative and the positive label, as whole numbers where both are."""
        both = self.negative, self.positive
        whole = all(_WHOLE.fullmatch(label) for label in both)
        return (int(both[0]), int(both[1])) if whole else both

    @property
    def key(self) -> str:
        """The positive label in the spelling shared by all equal labels."""
        is_text, number, text = _key(self.positive)
        return text if is_text else f"{number.normalize():f}"

    def is_positive(self, column: pd.Series) -> BoolArray:
        """Mark rows of the positive label; a label that training has not seen is an error."""
        keys = {text: _key(text) for text in column.unique()}
        known = {_key(label) for label in (self.positive, *self.others)}
        unseen = [text for text, key in keys.items() if key not in known]
        if unseen:
            row = row_number(column, column.isin(unseen))
            raise TableError(
                f"The target {column.name!r} has labels that the model was not trained with: "
                f"{_listed(unseen)} (first in row {row}). It knows "
                f"{_listed([self.positive, *self.others])}; correct the labels or leave these rows out."
            )
        positive = [text for text, key in keys.items() if key == _key(self.positive)]
        found: BoolArray = column.isin(positive).to_numpy(dtype=bool)
        return found


def label_text(label: Any) -> str:
    """Format a label as a person would: 1, not 1.0."""
    if isinstance(label, bytes):
        return label.decode(errors="replace").strip()
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label).strip()


def _likely_positive(keys: list[_Key], column: Any) -> _Key:
    """Choose the positive one of two sorted labels; ambiguous texts are an error."""
    if not any(is_text for is_text, _, _ in keys):
        return keys[1]
    plain = [key for key in keys if _plain(key) in UNMISTAKABLE]
    if len(plain) == 1:
        return plain[0]
    shown = " or ".join(pasted("--pos-label", _plain(key)) for key in keys)
    raise TableError(
        f"It is not clear which label of the target {column!r} is the positive one; give {shown}."
    )


def _plain(key: _Key) -> str:
    is_text, number, text = key
    return text.lower() if is_text and text.lower() in UNMISTAKABLE else text or f"{number:f}"


def _key(text: str) -> _Key:
    if _NUMBER.fullmatch(text):
        return False, Decimal(text), ""
    return True, Decimal(0), text.lower() if text.lower() in ("true", "false") else text


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")


@dataclass(frozen=True)
class Roles:
    """Names of the columns that options give a role."""

    target: str
    sample_weight: str | None = None
    qid: str | None = None
    groups: str | None = None
    time: str | None = None
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, table: Table, options: RowOptions, **trained: str | None) -> Roles:
        """Assign one role to each column that an option names or that a model was ``trained`` with.

        A svmlight file implies the names of its labels and queries.
        """
        implied: dict[str, str | None] = {"target": DEFAULT_TARGET}
        if table.matrix is not None:
            has_query = _SVMLIGHT_QID in table.frame.columns
            implied = {"target": _SVMLIGHT_TARGET, "qid": _SVMLIGHT_QID if has_query else None}
        named: dict[str, Any] = {}
        for role in ROLES:
            names = (vars(options).get(role), trained.get(role), implied.get(role))
            named[role] = next((name for name in names if name is not None), None)
        lists = (vars(options).get(option) or () for option in ("drop", "category"))
        dropped, categories = (tuple(split_names(given, table.names)) for given in lists)
        roles = cls(**named, dropped=dropped, categories=categories)
        problems, taken = Problems(), dict[str, str]()
        for option, name in roles._named():
            with problems.collected():
                _check_column(table, option, name, taken)
        problems.raise_any()
        return roles

    @property
    def names(self) -> set[str]:
        """All columns that are not features."""
        return {name for option, name in self._named() if option != "--category"}

    def _named(self) -> list[tuple[str, str]]:
        """List the options with the columns that they name."""
        named = [(spelled_as_option(role), getattr(self, role)) for role in ROLES]
        named += [("--drop", name) for name in self.dropped]
        named += [("--category", name) for name in self.categories]
        return [(option, name) for option, name in named if name is not None]

    def read_target(self, table: Table) -> pd.Series:
        """Read the labels as text."""
        return as_texts(table.column(self.target, "--target"), "target")

    def read_others(self, table: Table) -> pd.DataFrame:
        """Read the weights (numbers of at least 0), queries, groups and times that are named."""
        columns: dict[str, Any] = {}
        problems = Problems()
        if self.sample_weight is not None:
            with problems.collected():
                columns["weight"] = _weights(table.column(self.sample_weight, "--sample-weight"))
        for option, unit in _UNITS.items():
            name = getattr(self, option)
            if name is not None:
                with problems.collected():
                    column = table.column(name, f"--{option}")
                    columns[option] = _without_gaps(column, f"--{option}", unit)
        problems.raise_any()
        return pd.DataFrame(columns, index=table.frame.index)


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


def as_texts(column: pd.Series, what: str = "column") -> pd.Series:
    """Convert the values of a column to text; an error gives the row of a missing one."""
    missing = column.isna()
    if missing.any():
        raise TableError(
            f"The {what} {column.name!r} is missing in {missing.sum()} rows, the first of them row "
            f"{row_number(column, missing)}; leave these rows out."
        )
    return column.astype(object).map(label_text)


def _weights(column: pd.Series) -> FloatArray:
    numbers = pd.to_numeric(column, errors="coerce")
    weights: FloatArray = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        raise TableError(
            f"The column {column.name!r} for --sample-weight must hold numbers of at least 0, but row "
            f"{row_number(column, bad)} has {first_cell(column, bad)}; {bad.sum()} such rows."
        )
    return weights


def _without_gaps(column: pd.Series, option: str, unit: str) -> pd.Series:
    if column.isna().any():
        raise TableError(
            f"The column {column.name!r} for {option} has missing values, the first in row "
            f"{row_number(column, column.isna())}; give every row a {unit}."
        )
    return column


def as_sample(rows: pd.DataFrame) -> Sample:
    """Make a sample from the columns positive and, if present, weight, qid, groups and time."""
    weight = rows["weight"].to_numpy() if "weight" in rows else None
    query, group = (
        None if name not in rows else query_index(_in_order(rows[name]), len(rows))
        for name in ("qid", "groups")
    )
    time = time_index(rows.get("time"), len(rows), "The column for --time")
    return Sample(rows["positive"].to_numpy(), weight, query, group, time)


def _in_order(column: pd.Series) -> pd.Series:
    """Convert everything but numbers to text, so that mixed columns can be sorted."""
    return column if column.dtype.kind in "iuf" else column.astype(object).map(label_text)


def check_rows(rows: Sample, labels: Labels, roles: Roles) -> None:
    """Check that some weight is positive and that both classes occur, with queries within one query."""
    if rows.weight is not None and not rows.weight.any():
        raise TableError(
            f"The column {roles.sample_weight!r} for --sample-weight is zero in every row."
        )
    counted = rows if rows.weight is None else rows.take(rows.weight > 0)
    positive = counted.positive
    if positive.all() or not positive.any():
        weighted = f" among the rows of positive --sample-weight {roles.sample_weight!r}"
        raise TableError(
            f"The target {roles.target!r} has only one class{weighted * (rows.weight is not None)}: "
            f"{labels.positive if positive.all() else labels.negative}. Two are needed."
        )
    if not counted.has_pairs:
        assert counted.query is not None
        raise TableError(
            f"None of the {int(counted.query.max()) + 1} queries in the column {roles.qid!r} for --qid "
            "has both a positive and a negative row."
        )
