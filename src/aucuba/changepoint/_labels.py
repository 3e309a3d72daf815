"""Labelled regions of signals: how many changes an expert sees in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba.changepoint._signals import coordinates

LABEL_KINDS: dict[str, tuple[float, float]] = {
    "none": (0.0, 0.0),
    "one": (1.0, 1.0),
    "at_least_one": (1.0, np.inf),
}
"""Smallest and largest number of changes that each kind of label allows."""


@dataclass(frozen=True)
class Label:
    """An expert's statement about one region of a signal.

    Parameters
    ----------
    start, end : float
        The region ``(start, end]``, in the coordinates of the samples. A change lies midway between
        two samples.
    kind : {"none", "one", "at_least_one"}
        Number of changes in the region. More changes than allowed are a false positive, fewer a false
        negative; each label counts once, however many changes are missed.
    weight : float, default=1.0
        How often the label counts.

    Examples
    --------
    >>> from aucuba.changepoint import Label
    >>> Label(10, 40, "none")
    Label(start=10, end=40, kind='none', weight=1.0)
    """

    start: float
    end: float
    kind: str
    weight: float = 1.0


@dataclass(frozen=True)
class LabelTable:
    """Validated labels of one sequence as arrays, by increasing position."""

    start: FloatArray
    end: FloatArray
    min_changes: FloatArray
    max_changes: FloatArray
    weight: FloatArray

    @property
    def possible_fp(self) -> float:
        """Total weight of the labels that can be false positives."""
        return float(self.weight[np.isfinite(self.max_changes)].sum())

    @property
    def possible_fn(self) -> float:
        """Total weight of the labels that can be false negatives."""
        return float(self.weight[self.min_changes > 0].sum())

    def verdicts(self, changes: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Return masks of the labels with too many and with too few of the sorted change positions."""
        count = np.searchsorted(changes, self.end, side="right")
        count = count - np.searchsorted(changes, self.start, side="right")
        return count > self.max_changes, count < self.min_changes

    def errors(self, changes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the false positives and false negatives of sorted change positions, by label."""
        false_positive, false_negative = self.verdicts(changes)
        return false_positive * self.weight, false_negative * self.weight


def label_table(
    labels: Any, positions: FloatArray | None = None, *, name: str = "The sequence"
) -> LabelTable:
    """Check the labels of one sequence.

    Parameters
    ----------
    labels : list of Label, or DataFrame
        A DataFrame has columns ``start``, ``end``, ``kind`` and optionally ``weight``.
    positions : ndarray of shape (n_samples,), default=None
        Coordinates of the samples; labels must overlap their range.
    name : str
        Name of the sequence in error messages.
    """
    rows = _rows(labels, name)
    table = {
        field: coordinates([row[field] for row in rows]) for field in ("start", "end", "weight")
    }
    order = np.argsort(table["start"], kind="stable")
    start, end, weight = (table[field][order] for field in ("start", "end", "weight"))
    kinds = [rows[i]["kind"] for i in order]
    unknown = sorted({str(kind) for kind in kinds if kind not in LABEL_KINDS})
    if unknown:
        raise ValueError(
            f"{name}: label kind {unknown[0]!r} is not one of {', '.join(LABEL_KINDS)}."
        )
    allowed = np.array([LABEL_KINDS[kind] for kind in kinds], dtype=np.float64).reshape(-1, 2)
    _check_regions(start, end, weight, positions, name)
    return LabelTable(start, end, allowed[:, 0], allowed[:, 1], weight)


def _rows(labels: Any, name: str) -> list[dict[str, Any]]:
    if hasattr(labels, "to_dict"):
        missing = {"start", "end", "kind"} - set(labels.columns)
        if missing:
            raise ValueError(f"{name}: the label table lacks the column {sorted(missing)[0]!r}.")
        return [{"weight": 1.0, **row} for row in labels.to_dict("records")]
    if not isinstance(labels, Sequence) or not all(isinstance(row, Label) for row in labels):
        raise ValueError(
            f"{name}: labels must be a list of Label or a DataFrame with columns start, end, kind, "
            f"got {type(labels).__name__}."
        )
    return [dict(vars(row)) for row in labels]


def _check_regions(
    start: FloatArray,
    end: FloatArray,
    weight: FloatArray,
    positions: FloatArray | None,
    name: str,
) -> None:
    def region(i: int) -> str:
        return f"({start[i]:g}, {end[i]:g}]"

    # An unbounded label is allowed: "no change after 100".
    bad = ~(start < end)
    if bad.any():
        raise ValueError(f"{name}: label {region(int(np.argmax(bad)))} must start before it ends.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise ValueError(
            f"{name}: label weights must be finite and non-negative, got {weight[bad][0]}."
        )
    overlap = end[:-1] > start[1:]
    if overlap.any():
        i = int(np.argmax(overlap))
        raise ValueError(
            f"{name}: labels {region(i)} and {region(i + 1)} overlap; split or merge them so that "
            "each region has one answer."
        )
    if positions is None or not start.size:
        return
    first, last = positions[0], positions[-1]
    outside = (end <= first) | (start >= last)
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(
            f"{name}: label {region(i)} lies outside the signal, whose samples run from {first:g} to "
            f"{last:g}."
        )


def labels_by_sequence(labels: Any, names: Sequence[Any]) -> list[Any]:
    """Collect the labels of each sequence, in the order of ``names``.

    ``labels`` is a list in that order, a mapping from names, or one DataFrame with a column
    ``sequence``.
    """
    if hasattr(labels, "groupby"):
        if "sequence" not in labels.columns:
            raise ValueError("A label table of several signals needs a column 'sequence'.")
        nameless = labels["sequence"].isna().to_numpy()
        if nameless.any():
            raise ValueError(
                f"{nameless.sum()} of {len(labels)} labels have no sequence, the first in row "
                f"{int(np.argmax(nameless))}; fill the column 'sequence' or drop these rows."
            )
        labels = dict(list(labels.groupby("sequence", sort=False)))
        empty: Any = ()
        collected = [labels.get(name, empty) for name in names]
        unknown = [name for name in labels if name not in set(names)]
    elif isinstance(labels, Mapping):
        collected = [labels.get(name, ()) for name in names]
        unknown = [name for name in labels if name not in set(names)]
    else:
        if len(labels) != len(names):
            raise ValueError(f"There are {len(names)} signals but {len(labels)} label tables.")
        collected, unknown = list(labels), []
    if unknown:
        raise ValueError(
            f"Labels name the sequence {unknown[0]!r}, which is not among the signals."
        )
    return collected
