"""Distinct scores of one class with their counts, whatever the order in which rows arrived."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucuba._base._typing import AnyArray, BoolArray, FloatArray

# Stored as eight bytes, little-endian.
_DTYPES = {"score": "<f8", "count": "<i8", "weight": "<f8", "square": "<f8"}


@dataclass(frozen=True)
class Totals:
    """Number of rows, sum of their weights and sum of the squared weights."""

    count: int = 0
    weight: float = 0.0
    square: float = 0.0

    @classmethod
    def from_rows(cls, rows: BoolArray, weight: FloatArray | None) -> Totals:
        """Sum over the marked rows; without weights each counts once."""
        if weight is None:
            count = int(rows.sum())
            return cls(count, float(count), float(count))
        counted = weight[rows]
        return cls(counted.size, float(counted.sum()), float(np.sum(counted**2)))

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Totals:
        """Read and check sums that were written as JSON."""
        read = cls(int(saved["count"]), float(saved["weight"]), float(saved["square"]))
        if not all(0 <= one < np.inf for one in vars(read).values()):
            raise ValueError("sums that are not numbers")
        return read

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.count + other.count, self.weight + other.weight, self.square + other.square
        )

    def __sub__(self, other: Totals) -> Totals:
        return Totals(
            self.count - other.count, self.weight - other.weight, self.square - other.square
        )


@dataclass(frozen=True)
class Levels:
    """Distinct scores in decreasing order with the rows at each.

    Parameters
    ----------
    score : ndarray of float
        Strictly decreasing.
    count : ndarray of int
        Number of rows.
    weight, square : ndarray of float or None
        Sums of the weights and of the squared weights; None where every row counts once.
    """

    score: FloatArray
    count: NDArray[np.int64]
    weight: FloatArray | None = None
    square: FloatArray | None = None

    @classmethod
    def from_rows(cls, score: FloatArray, weight: FloatArray | None) -> Levels:
        """Sort rows and join equal scores."""
        square = None if weight is None else weight**2
        return _joined(score, np.ones(score.size, dtype=np.int64), weight, square)

    @classmethod
    def from_parts(cls, parts: list[Levels]) -> Levels:
        """Join the rows of several tables."""
        score = np.concatenate([part.score for part in parts])
        count = np.concatenate([part.count for part in parts])
        if all(part.weight is None for part in parts):
            return _joined(score, count, None, None)
        weight = np.concatenate([part.weights for part in parts])
        square = np.concatenate([part.squares for part in parts])
        return _joined(score, count, weight, square)

    @property
    def weights(self) -> FloatArray:
        """Sum of the weights at every score."""
        return self.count.astype(np.float64) if self.weight is None else self.weight

    @property
    def squares(self) -> FloatArray:
        """Sum of the squared weights at every score."""
        return self.count.astype(np.float64) if self.square is None else self.square

    @property
    def totals(self) -> Totals:
        """Sums over all rows."""
        count = int(self.count.sum())
        if self.weight is None or self.square is None:
            return Totals(count, float(count), float(count))
        return Totals(count, float(self.weight.sum()), float(self.square.sum()))

    @property
    def arrays(self) -> dict[str, AnyArray]:
        """The stored arrays by name."""
        known: dict[str, Any] = {
            "score": self.score,
            "count": self.count,
            "weight": self.weight,
            "square": self.square,
        }
        return {name: array for name, array in known.items() if array is not None}

    def to_json(self) -> dict[str, str]:
        """Write the arrays in base64."""
        return {
            name: base64.b64encode(array.astype(_DTYPES[name]).tobytes()).decode("ascii")
            for name, array in self.arrays.items()
        }

    @classmethod
    def from_json(cls, saved: dict[str, str]) -> Levels:
        """Read and check arrays written by `to_json`."""
        if set(saved) not in ({"score", "count"}, set(_DTYPES)):
            raise ValueError("unknown arrays")
        arrays: dict[str, Any] = {}
        for name, text in saved.items():
            stored = np.frombuffer(base64.b64decode(text, validate=True), _DTYPES[name])
            arrays[name] = stored.astype(_DTYPES[name][1:])
        kept = cls(**arrays)
        if any(array.shape != kept.score.shape for array in arrays.values()):
            raise ValueError("arrays of different lengths")
        if not np.isfinite(kept.score).all() or np.any(np.diff(kept.score) >= 0):
            raise ValueError("scores out of order")
        if not all(np.all(array > 0) for name, array in arrays.items() if name != "score"):
            raise ValueError("scores without rows")
        return kept

    def highest(self, n_levels: int) -> Self:
        """Keep the highest scores."""
        kept = {name: array[:n_levels].copy() for name, array in self.arrays.items()}
        return type(self)(**_plain(kept))

    def n_at_or_above(self, score: float) -> int:
        """Count the distinct scores at or above a score."""
        return int(np.searchsorted(-self.score, -score, side="right"))

    def n_holding(self, n_rows: int) -> int:
        """Count the highest distinct scores that hold at least ``n_rows`` rows, or all of them."""
        return min(int(np.searchsorted(np.cumsum(self.count), n_rows)) + 1, self.score.size)


NO_LEVELS = Levels(np.empty(0), np.empty(0, dtype=np.int64))


def _joined(
    score: FloatArray,
    count: NDArray[np.int64],
    weight: FloatArray | None,
    square: FloatArray | None,
) -> Levels:
    """Sort by decreasing score and add up what lies at equal scores."""
    if score.size == 0:
        return NO_LEVELS
    # The stable sort merges tables that are sorted already in linear time.
    order = np.argsort(-score, kind="stable")
    # Adding zero turns -0.0 into 0.0, which equals it but has other bits.
    ranked = score[order] + 0.0
    is_first: BoolArray = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    first = np.flatnonzero(is_first)
    columns: dict[str, AnyArray] = {"count": count}
    if weight is not None and square is not None:
        columns |= {"weight": weight, "square": square}
    sums = {name: np.add.reduceat(column[order], first) for name, column in columns.items()}
    return Levels(**_plain({"score": ranked[first], **sums}))


def _plain(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Drop weights if every row counts once, so that equal rows have one representation."""
    if "weight" not in arrays:
        return arrays
    count = arrays["count"]
    if np.array_equal(arrays["weight"], count) and np.array_equal(arrays["square"], count):
        return {"score": arrays["score"], "count": count}
    return arrays
