"""The highest negatives and the positives among them, with counts of all other rows.

What is kept depends on the rows alone, whatever the order in which they arrived.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucuba._base._typing import AnyArray, BoolArray, FloatArray
from aucuba._rows._sample import RankingSample

CLASSES = ("negative", "positive")
# Rows are buffered up to this number, so that short updates cost little.
_MOST_WAITING = 1_000_000
_MOST_FEW = 4096
_TINY = 1e-300
# Stored as eight bytes, little-endian.
_DTYPES = {"score": "<f8", "count": "<i8", "weight": "<f8", "square": "<f8"}


@dataclass(frozen=True)
class Totals:
    """Number of rows, sum of their weights and sum of the squared weights."""

    count: int = 0
    weight: float = 0.0
    square: float = 0.0

    @property
    def n_effective(self) -> float:
        """Number of rows of equal weight that are equally informative."""
        return round(self.weight**2 / self.square, 9)

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
        if not all(0 <= one < np.inf for one in vars(read).values()) or read.count >= 2**63:
            raise ValueError("sums that are not numbers")
        # Of positive weights w: sum(w^2) <= (sum w)^2 <= n sum(w^2), up to rounding and underflow.
        most = read.count * read.square * (1 + 1e-9) + _TINY
        squared = read.weight * read.weight
        if (
            (read.count == 0) != (read.weight == 0)
            or squared > most
            or read.square > 2 * squared + _TINY
        ):
            raise ValueError("sums that no weights have")
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


class TopRows:
    """Rows that can be added and merged in any order: what is kept depends on the rows alone.

    Negatives are kept from the top until they hold ``capacity`` rows, equal scores together. While
    they hold fewer, every positive is kept, since a lower negative may come; then those at or above
    the lowest kept negative. A row that is dropped could never come back: more rows only raise the
    lowest one.

    Parameters
    ----------
    capacity : int
        Number of negatives to keep.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        # All pairs are in the order of `CLASSES`.
        self._totals = (Totals(), Totals())
        self._levels = (NO_LEVELS, NO_LEVELS)
        self._waiting: list[tuple[Levels, Levels]] = []
        self._few: list[tuple[bool, float]] = []

    @property
    def totals(self) -> tuple[Totals, Totals]:
        """Sums over the negatives and over the positives seen."""
        self._count_few()
        return self._totals

    @property
    def n_rows(self) -> int:
        return self.totals[0].count + self.totals[1].count

    @property
    def mean_weight(self) -> float:
        return (self.totals[0].weight + self.totals[1].weight) / self.n_rows

    @property
    def kept(self) -> tuple[Levels, Levels]:
        """The kept negatives and positives."""
        self._count_few()
        if self._waiting:
            parts, self._waiting = [self._levels, *self._waiting], []
            negatives = Levels.from_parts([part[0] for part in parts])
            positives = Levels.from_parts([part[1] for part in parts])
            negatives = negatives.highest(negatives.n_holding(self.capacity))
            lowest = self._lowest(negatives)
            self._levels = negatives, positives.highest(positives.n_at_or_above(lowest))
        return self._levels

    def add_few(self, rows: list[tuple[bool, float]]) -> None:
        """Add class and score of a few rows, to be counted together with others."""
        self._few += rows
        if len(self._few) > _MOST_FEW:
            self._count_few()

    def _count_few(self) -> None:
        if self._few:
            rows, self._few = self._few, []
            positive, score = zip(*rows, strict=True)
            self.add(np.array(positive, dtype=bool), np.array(score, dtype=np.float64), None)

    def add(self, positive: BoolArray, score: FloatArray, weight: FloatArray | None) -> None:
        """Add rows; those of zero weight do not count."""
        if weight is not None and not weight.all():
            counted = weight > 0
            positive, score, weight = positive[counted], score[counted], weight[counted]
        high = score >= self._lowest(self._levels[0])
        totals, waiting = [], []
        for rows in (~positive, positive):
            totals.append(Totals.from_rows(rows, weight))
            rows = rows & high
            of_rows = None if weight is None else weight[rows]
            waiting.append(Levels.from_rows(score[rows], of_rows))
        self._append((totals[0], totals[1]), (waiting[0], waiting[1]))
        if sum(one.score.size for pair in self._waiting for one in pair) > _MOST_WAITING:
            _ = self.kept

    def add_rows_of(self, other: TopRows) -> None:
        """Add the rows that another has seen."""
        self._append(other.totals, other.kept)

    def sample(self) -> tuple[RankingSample, FloatArray]:
        """Return one row per class and kept score, then one per class, lowest, for all others.

        Returns
        -------
        sample : RankingSample
            Weights are those of the joined rows.
        square : ndarray
            Sums of their squared weights.
        """
        score, weight, square, positive = [], [], [], []
        for is_positive, kept, seen in zip((False, True), self.kept, self.totals, strict=True):
            others = seen - kept.totals
            n_others = int(others.count > 0)
            score += [kept.score, np.full(n_others, -np.inf)]
            weight += [kept.weights, np.full(n_others, others.weight)]
            square += [kept.squares, np.full(n_others, others.square)]
            positive.append(np.full(kept.score.size + n_others, is_positive))
        rows = np.concatenate(positive), np.concatenate(weight)
        return RankingSample(*rows, score=np.concatenate(score)), np.concatenate(square)

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON types."""
        classes = zip(CLASSES, self.kept, self.totals, strict=True)
        return {name: {**vars(seen), "kept": kept.to_json()} for name, kept, seen in classes}

    @classmethod
    def from_json(cls, capacity: int, saved: dict[str, Any]) -> TopRows:
        """Read and check rows written by `to_json`."""
        kept = [Levels.from_json(saved[name]["kept"]) for name in CLASSES]
        seen = [Totals.from_json(saved[name]) for name in CLASSES]
        for one, most in zip(kept, seen, strict=True):
            if one.totals.count > most.count or one.totals.weight > most.weight * (1 + 1e-9):
                raise ValueError("more rows kept than seen")
        rows = cls(capacity)
        rows._append((seen[0], seen[1]), (kept[0], kept[1]))
        return rows

    def _append(self, totals: tuple[Totals, Totals], levels: tuple[Levels, Levels]) -> None:
        self._totals = (self._totals[0] + totals[0], self._totals[1] + totals[1])
        self._waiting.append(levels)

    def _lowest(self, negatives: Levels) -> float:
        """Return the score below which rows are only counted."""
        is_full = negatives.score.size > 0 and int(negatives.count.sum()) >= self.capacity
        return float(negatives.score[-1]) if is_full else -np.inf
