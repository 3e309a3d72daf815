"""The labels of a table as text: one positive, all others negative."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._core._typing import IntArray
from aucuba.cli._tables import TableError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# What makes labels equal, in an order: numbers first, by value.
_Key = tuple[bool, float, str]


@dataclass(frozen=True)
class Labels:
    """The labels seen in training.

    Numbers are equal by value (1, 1.0 and 01), true and false in any case, and text as it stands.
    """

    positive: str
    others: tuple[str, ...]

    @classmethod
    def of(cls, column: pd.Series, positive: str | None) -> Labels:
        """From a column of text: the positive label as named, else the larger of two."""
        texts: dict[_Key, str] = {}
        for text in column.unique():
            texts.setdefault(_key(text), text)
        present = sorted(texts)
        shown = _listed([texts[key] for key in present])
        if positive is not None and _key(positive) not in texts:
            raise TableError(
                f"--positive {positive} is not among the labels of {column.name!r}: {shown}."
            )
        if len(present) < 2:
            raise TableError(
                f"The target {column.name!r} has only one class ({shown}); two are needed."
            )
        if positive is None and len(present) > 2:
            raise TableError(
                f"The target {column.name!r} has {len(present)} labels ({shown}); name the positive "
                "one with --positive."
            )
        chosen = present[1] if positive is None else _key(positive)
        return cls(texts[chosen], tuple(texts[key] for key in present if key != chosen))

    @property
    def negative(self) -> str:
        """The other label of two, or what all others are called."""
        return self.others[0] if len(self.others) == 1 else "other"

    @property
    def key(self) -> str:
        """The positive label so that equal labels are equal texts."""
        is_text, number, text = _key(self.positive)
        return text if is_text else f"{number:g}"

    def binary(self, column: pd.Series) -> IntArray:
        """1 for the positive label and 0 for the others; a label not seen in training is an error."""
        keys = {text: _key(text) for text in column.unique()}
        known = {_key(label) for label in (self.positive, *self.others)}
        unseen = [text for text, key in keys.items() if key not in known]
        if unseen:
            row = int(np.argmax(column.isin(unseen).to_numpy())) + 1
            raise TableError(
                f"The target {column.name!r} has labels that the model was not trained with: "
                f"{_listed(unseen)} (first in row {row}). It knows "
                f"{_listed([self.positive, *self.others])}; correct them or leave these rows out."
            )
        positive = [text for text, key in keys.items() if key == _key(self.positive)]
        binary: IntArray = column.isin(positive).to_numpy(dtype=np.intp)
        return binary


def label_text(label: Any) -> str:
    """Labels as a person writes them: 1, not 1.0."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label).strip()


def _key(text: str) -> _Key:
    if _NUMBER.fullmatch(text):
        return False, float(text), ""
    return True, 0.0, text.lower() if text.lower() in ("true", "false") else text


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
