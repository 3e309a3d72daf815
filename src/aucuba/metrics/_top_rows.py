"""The highest negatives and the positives among them, with counts of all other rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._rows._sample import RankingSample
from aucuba.metrics._levels import NO_LEVELS, Levels, Totals

CLASSES = ("negative", "positive")
# Rows are buffered up to this number, so that short updates cost little.
_MOST_WAITING = 1_000_000


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

    Attributes
    ----------
    totals : tuple of Totals
        Sums over the negatives and over the positives seen.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        # All pairs are in the order of `CLASSES`.
        self.totals = (Totals(), Totals())
        self._levels = (NO_LEVELS, NO_LEVELS)
        self._waiting: list[tuple[Levels, Levels]] = []

    @property
    def n_rows(self) -> int:
        return self.totals[0].count + self.totals[1].count

    @property
    def mean_weight(self) -> float:
        return (self.totals[0].weight + self.totals[1].weight) / self.n_rows

    @property
    def kept(self) -> tuple[Levels, Levels]:
        """The kept negatives and positives."""
        if self._waiting:
            parts, self._waiting = [self._levels, *self._waiting], []
            negatives = Levels.from_parts([part[0] for part in parts])
            positives = Levels.from_parts([part[1] for part in parts])
            negatives = negatives.highest(negatives.n_holding(self.capacity))
            lowest = self._lowest(negatives)
            self._levels = negatives, positives.highest(positives.n_at_or_above(lowest))
        return self._levels

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
        self.totals = (self.totals[0] + totals[0], self.totals[1] + totals[1])
        self._waiting.append(levels)

    def _lowest(self, negatives: Levels) -> float:
        """Return the score below which rows are only counted."""
        is_full = negatives.score.size > 0 and int(negatives.count.sum()) >= self.capacity
        return float(negatives.score[-1]) if is_full else -np.inf
