"""Labels of a sketch, and batches of a few rows, which are read without arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._stream_labels import StreamLabels

# Batches up to this size are read one by one, which costs less than arrays.
_FEW = 16
_PLAIN = (float, int, bool)
# Integers up to here are doubles; larger numbers take the long way.
_LARGEST = 2.0**53
# Numbers that name their class by convention.
_NUMBERS = StreamLabels((0, -1), 1)


def sketch_labels(labels: Any) -> StreamLabels:
    """Check both labels: sketches of different parts can only be merged if none learns its own."""
    if labels is None:
        return _NUMBERS
    found = StreamLabels.named(labels)
    if not found.negative or found.positive is None:
        raise ValueError(f"labels must name the negative and the positive label, got {labels!r}.")
    return found


def few_rows_of(y_true: Any, y_score: Any, labels: StreamLabels) -> list[tuple[bool, float]] | None:
    """Read a few rows of plain numbers without arrays; None if they need the checks of columns."""
    values, scores = (
        one.tolist() if isinstance(one, np.ndarray) and one.ndim == 1 and one.size <= _FEW else one
        for one in (y_true, y_score)
    )
    if type(values) is not list or type(scores) is not list or len(values) != len(scores):
        return None
    if not 0 < len(scores) <= _FEW:
        return None
    positive = labels.positive
    kinds = _PLAIN if labels is _NUMBERS else (type(positive),)
    rows = []
    for value, score in zip(values, scores, strict=True):
        if type(score) not in _PLAIN or not -_LARGEST <= score <= _LARGEST:
            return None
        # A value of another kind or unknown needs the error message of the long way.
        if type(value) not in kinds or not (value == positive or value in labels.negative):
            return None
        rows.append((value == positive, float(score)))
    return rows
