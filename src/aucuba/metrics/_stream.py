"""Labels of a stream, of which one batch may hold a single class, and batches of a few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray

# Batches up to this size are read one by one, which costs less than arrays.
_FEW = 16
_PLAIN = (float, int, bool)
# Integers up to here are doubles; larger numbers take the long way.
_LARGEST = 2.0**53


def check_label(label: Any) -> Any:
    """Return a label that JSON can hold."""
    label = label.item() if isinstance(label, np.generic) else label
    if label is not None and not isinstance(label, str | int | float | bool):
        raise ValueError(f"pos_label must be text, a number or a boolean, got {label!r}.")
    return label


def is_positive(y: AnyArray, pos_label: Any) -> BoolArray:
    """Tell which rows are positive; without a label only 1 of {0, 1} and {-1, 1}, and True, is."""
    if pos_label is not None:
        return np.asarray(y == pos_label, dtype=bool)
    if y.dtype.kind not in "biuf" or not np.isin(y, (-1, 0, 1)).all():
        raise ValueError(
            f"y_true has labels such as {y[0].item()!r}; name the positive one as pos_label, or "
            "give 0 and 1."
        )
    return np.asarray(y == 1, dtype=bool)


def few_rows_of(y_true: Any, y_score: Any, pos_label: Any) -> list[tuple[bool, float]] | None:
    """Read a few rows of plain numbers without arrays; None if they need the checks of columns."""
    labels, scores = (
        one.tolist() if isinstance(one, np.ndarray) and one.ndim == 1 and one.size <= _FEW else one
        for one in (y_true, y_score)
    )
    if type(labels) is not list or type(scores) is not list or len(labels) != len(scores):
        return None
    if not 0 < len(scores) <= _FEW:
        return None
    rows = []
    for label, score in zip(labels, scores, strict=True):
        if type(score) not in _PLAIN or not -_LARGEST <= score <= _LARGEST:
            return None
        if pos_label is None:
            if type(label) not in _PLAIN or label not in (0, 1, -1):
                return None
            rows.append((label == 1, float(score)))
        elif type(label) is type(pos_label) and label == label:
            rows.append((label == pos_label, float(score)))
        else:
            return None
    return rows
