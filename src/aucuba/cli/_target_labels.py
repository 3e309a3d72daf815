"""Labels of a table as text: one is positive, all others are negative."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray
from aucuba.cli._table_errors import TableError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"0|-?[1-9]\d*")
# Texts that can mean nothing but the class to be found.
_UNMISTAKABLE = ("1", "true", "yes", "positive", "fraud")
# What makes labels equal, in an order: numbers first, by their exact value.
_Key = tuple[bool, Decimal, str]


@dataclass(frozen=True)
class Labels:
    """Labels seen in training.

    Numbers are equal by value (1, 1.0 and 01), true and false in any case, and text as it stands.
    """

    positive: str
    others: tuple[str, ...]

    @classmethod
    def from_column(cls, column: pd.Series, pos_label: str | None) -> Labels:
        """Find the labels in a column of text, and which is positive if none is named.

        Of two numbers it is the larger, of two texts the one that can mean nothing else.
        """
        texts: dict[_Key, str] = {}
        for text in column.unique():
            texts.setdefault(_key(text), text)
        present = sorted(texts)
        shown = _listed([texts[key] for key in present])
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

    @property
    def negative(self) -> str:
        """The other one of two labels, or the name for all others."""
        return self.others[0] if len(self.others) == 1 else "other"

    @property
    def classes(self) -> tuple[str, str] | tuple[int, int]:
        """The negative and the positive label, as whole numbers where both are."""
        both = self.negative, self.positive
        whole = all(_WHOLE.fullmatch(label) for label in both)
        return (int(both[0]), int(both[1])) if whole else both

    @property
    def key(self) -> str:
        """The positive label in a spelling that all equal labels have."""
        is_text, number, text = _key(self.positive)
        return text if is_text else f"{number.normalize():f}"

    def is_positive(self, column: pd.Series, first_row: int = 0) -> BoolArray:
        """Mark rows of the positive label; a label that training has not seen is an error.

        ``first_row`` numbers rows in the message.
        """
        keys = {text: _key(text) for text in column.unique()}
        known = {_key(label) for label in (self.positive, *self.others)}
        unseen = [text for text, key in keys.items() if key not in known]
        if unseen:
            row = first_row + int(np.argmax(column.isin(unseen).to_numpy())) + 1
            raise TableError(
                f"The target {column.name!r} has labels that the model was not trained with: "
                f"{_listed(unseen)} (first in row {row}). It knows "
                f"{_listed([self.positive, *self.others])}; correct them or leave these rows out."
            )
        positive = [text for text, key in keys.items() if key == _key(self.positive)]
        found: BoolArray = column.isin(positive).to_numpy(dtype=bool)
        return found


def label_text(label: Any) -> str:
    """Write a label as a person does: 1, not 1.0."""
    if isinstance(label, bytes):
        return label.decode(errors="replace").strip()
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label).strip()


def _likely_positive(keys: list[_Key], column: Any) -> _Key:
    """Choose one of two labels, sorted; texts that do not tell are an error."""
    if not any(is_text for is_text, _, _ in keys):
        return keys[1]
    plain = [key for key in keys if _plain(key) in _UNMISTAKABLE]
    if len(plain) == 1:
        return plain[0]
    shown = " or ".join(_plain(key) for key in keys)
    raise TableError(
        f"The target {column!r} does not tell which label is positive: give --pos-label {shown}, the "
        "one to be found."
    )


def _plain(key: _Key) -> str:
    is_text, number, text = key
    return text.lower() if is_text and text.lower() in _UNMISTAKABLE else text or f"{number:f}"


def _key(text: str) -> _Key:
    if _NUMBER.fullmatch(text):
        return False, Decimal(text), ""
    return True, Decimal(0), text.lower() if text.lower() in ("true", "false") else text


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
