"""Labels of a stream of rows, which are fixed once and then refuse every other value.

Comparing a column with the positive label alone would count a misspelt label, or a column of another
kind, as negatives, and a monitor would then accept any false positive rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, ArrayLike, BoolArray
from aucuba._base._validation import UNMISTAKABLE, identifiers


@dataclass(frozen=True)
class StreamLabels:
    """The negative values and the positive one; empty and None until they are named or seen.

    Booleans stand for themselves, and the numbers 0 and 1 for them by convention. Text needs a name
    for its positive label, unless it is a word such as "fraud" or "yes".
    """

    negative: tuple[Any, ...] = ()
    positive: Any = None

    @classmethod
    def named(cls, labels: Any) -> StreamLabels:
        """Check a pair (negative, positive), whose first entry may be a list; None names nothing."""
        if labels is None:
            return cls()
        if isinstance(labels, str) or not hasattr(labels, "__len__") or len(labels) != 2:
            raise ValueError(f"labels must be a pair (negative, positive), got {labels!r}.")
        first, positive = labels
        listed = list(first) if isinstance(first, list | tuple | np.ndarray) else [first]
        # Labels from an array become plain values that JSON can hold.
        negative, positive = tuple(map(_plain, listed)), _plain(positive)
        every = (*negative, *(() if positive is None else (positive,)))
        if not every or any(not isinstance(one, str | int | float) or one != one for one in every):
            raise ValueError(f"labels must be text, numbers or booleans, got {labels!r}.")
        if any(positive == one for one in negative):
            raise ValueError(f"labels has {positive!r} as both negative and positive: {labels!r}.")
        return cls(negative, positive)

    @property
    def pair(self) -> tuple[Any, Any] | None:
        """Labels as `named` takes them: (negative, positive), the first a list if there are several."""
        if self == StreamLabels():
            return None
        return (self.negative[0] if len(self.negative) == 1 else list(self.negative)), self.positive

    @property
    def lack_a_positive(self) -> bool:
        """Whether some values are known, but none of them is positive."""
        return bool(self.negative) and self.positive is None

    def read(
        self, values: ArrayLike, name: str, n_rows: int | None = None
    ) -> tuple[BoolArray, StreamLabels]:
        """Return the labels, completed by the values of a column, and a mask of its positives."""
        column = values if _is_plain(values, n_rows) else identifiers(values, name, n_rows)
        assert isinstance(column, np.ndarray)
        if column.dtype.kind == "O":
            # Booleans and numbers of a frame.
            column = np.array(column.tolist())
        if column.dtype == bool:
            if not isinstance(self.positive, str) and self.positive == 0:
                raise ValueError(
                    f"{name} has booleans, and labels={self.pair!r} has 0 as the positive label: True "
                    "could mean either; give labels."
                )
            return column, self
        labels = self
        if labels == StreamLabels() and column.dtype.kind in "iuf" and column.size:
            labels = StreamLabels((0,), 1)
        positive, known = labels._compared(column)
        if not known.all():
            labels = labels._completed(np.unique(column[~known]).tolist(), name)
            positive, _ = labels._compared(column)
        return positive, labels

    def _compared(self, column: AnyArray) -> tuple[BoolArray, BoolArray]:
        """Return which entries are positive, and which have any known label."""
        positive = _equals(column, self.positive)
        known = positive
        for one in self.negative:
            known = known | _equals(column, one)
        return positive, known

    def _completed(self, values: list[Any], name: str) -> StreamLabels:
        """Assign new values to the labels that are still unknown, or raise."""
        labels = self
        likely = [one for one in values if isinstance(one, str) and one.lower() in UNMISTAKABLE]
        if labels.positive is None and len(likely) == 1:
            labels = replace(labels, positive=likely[0])
            values = [one for one in values if one != likely[0]]
        if not labels.negative and len(values) == 1 and isinstance(values[0], str):
            labels, values = replace(labels, negative=(values[0],)), []
        if values:
            known = "" if self.pair is None else f", which are not among labels={self.pair!r}"
            raise ValueError(
                f"{name} has the values {values[:5]}{known}; give booleans or 0 and 1, or name the "
                "labels as labels=(negative, positive), where negative may be a list."
            )
        return labels


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _is_plain(values: Any, n_rows: int | None) -> bool:
    """Return whether a column needs no checks, which take longer than counting a few rows."""
    return (
        type(values) is np.ndarray
        and values.ndim == 1
        and values.dtype.kind in "biu"
        and n_rows in (None, values.size)
    )


def _equals(column: AnyArray, label: Any) -> BoolArray:
    # NumPy does not compare numbers with text entry by entry.
    same_kind = column.dtype.kind == "O" or isinstance(label, str) == (column.dtype.kind == "U")
    if label is None or not same_kind:
        return np.zeros(column.shape, dtype=bool)
    return np.asarray(column == label, dtype=bool)
