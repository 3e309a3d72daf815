"""Search for integer cards: a beam by log-loss, then descents towards the region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._rows._sample import Sample

# A card: (condition, points) per item, conditions in increasing order.
Card = tuple[tuple[int, int], ...]

_BEAM = 4
# Cards from which a descent towards the region starts, and cards that are kept.
_STARTS = 3
_CYCLES = 20
# Caution on the way from least log-loss to the region: descents in two steps end at better cards.
_HALF_WAY = 0.5
# Largest points from which descents start.
_SCALES = 5
# Smaller gains are rounding errors, after which a descent could go round in circles.
_LEAST_GAIN = 1e-10


def lowest_terms(card: Card) -> Card:
    """Divide the points by their common divisor: +4 and -2 rank rows as +2 and -1 do."""
    divisor = gcd(*(points for _, points in card))
    return tuple((condition, points // divisor) for condition, points in card)


@dataclass(frozen=True)
class ConditionTable:
    """Which rows meet which conditions.

    Parameters
    ----------
    met : ndarray of bool, shape (n_conditions, n_rows)
    column : ndarray of int
        Index of the column of every condition.
    """

    met: BoolArray
    column: IntArray

    @cached_property
    def lists(self) -> tuple[IntArray, BoolArray, IntArray, BoolArray]:
        """Rows that meet each condition, or those that tell it from the condition before.

        The cuts of a column are nested, so that most differ from the one before in few rows. Returns
        the rows, whether each meets the condition, where the list of each condition begins, and
        whether it starts from the condition before.
        """
        changed = self.met.copy()
        changed[1:] ^= self.met[:-1]
        nested = changed.sum(axis=1) < self.met.sum(axis=1)
        nested[:1] = False
        condition, rows = np.nonzero(np.where(nested[:, np.newaxis], changed, self.met))
        start = np.searchsorted(condition, np.arange(len(self.met) + 1))
        return rows.astype(np.int32), self.met[condition, rows], start.astype(np.int64), nested

    def take(self, rows: IntArray) -> ConditionTable:
        """Select rows."""
        return ConditionTable(self.met[:, rows], self.column)

    def totals(self, card: Card) -> IntArray:
        """Total points of every row."""
        total = np.zeros(self.met.shape[1], dtype=np.int64)
        for condition, points in card:
            total[self.met[condition]] += points
        return total


@dataclass(frozen=True)
class CardLimits:
    """What a card may hold.

    Parameters
    ----------
    max_items : int
    lowest, highest : ndarray of int
        Range of points of every condition; empty where it may not be on a card.
    max_per_column : int
    included : frozenset of int
        Columns that must be on a card.
    cost : ndarray of float
        Cost of every column, paid once.
    max_cost : float
    """

    max_items: int
    lowest: IntArray
    highest: IntArray
    max_per_column: int
    included: frozenset[int]
    cost: FloatArray
    max_cost: float

    def ranges(self, card: Card, column: IntArray) -> tuple[IntArray, IntArray]:
        """Range of points of every condition that may be added to a card with room for it."""
        used = column[[condition for condition, _ in card]] if card else np.empty(0, np.intp)
        counts = np.bincount(used, minlength=self.cost.size)
        owed = self.included - set(used.tolist())
        paid = float(self.cost[np.unique(used)].sum())
        reserved = sum(float(self.cost[one]) for one in owed)
        extra = np.where(counts > 0, 0.0, self.cost)
        outside = [k for k in range(self.cost.size) if k not in owed]
        extra[outside] += reserved
        for one in owed:
            extra[one] = reserved
        free = (counts < self.max_per_column) & (paid + extra <= self.max_cost * (1 + 1e-12))
        if self.max_items - len(card) <= len(owed):
            free &= np.isin(np.arange(self.cost.size), list(owed))
        may = free[column]
        may[[condition for condition, _ in card]] = False
        return np.where(may, self.lowest, 1), np.where(may, self.highest, 0)

    def complete(self, card: Card, column: IntArray) -> bool:
        """Tell whether the card has all columns that must be on it."""
        return self.included <= {int(column[condition]) for condition, _ in card}


@dataclass(frozen=True)
class Search:
    """A search for cards on rows whose conditions are known.

    Parameters
    ----------
    table : ConditionTable
    sample : Sample
    limits : CardLimits
    fpr_range : (float, float)
    share : ndarray of float, default=None
        Part of every row's weight that counts as positive; None for its class.
    """

    table: ConditionTable
    sample: Sample
    limits: CardLimits
    fpr_range: tuple[float, float]
    share: FloatArray | None = None
    # Descents from different cards meet.
    _known: dict[tuple[Card, float], Card] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def _weights(self) -> tuple[FloatArray, FloatArray]:
        """What every row counts among the positives and among the negatives."""
        share = self.sample.positive.astype(np.float64) if self.share is None else self.share
        return share * self.sample.weights, (1.0 - share) * self.sample.weights

    def _region(self, caution: float) -> FloatArray:
        return np.array([*self.fpr_range, caution])

    def value(self, card: Card, caution: float) -> float:
        """Value of a card on these rows: (1 - caution) pAUC + caution R^2."""
        from aucuba.scorecard._loops import card_value

        total = self.table.totals(card)
        total -= total.min()
        counts = [np.bincount(total, rows, total.max() + 1) for rows in self._weights]
        return float(card_value(*counts, self._region(caution)))

    def additions(self, card: Card, caution: float, keep: int = 0) -> tuple[FloatArray, IntArray]:
        """For every condition the best value of the card with it, and the points for that.

        These are nan and 0 where a condition may not be added, or is not among the best ``keep``, of
        which 0 is all.
        """
        from aucuba.scorecard._loops import scan

        total = self.table.totals(card)
        total -= total.min()
        lowest, highest = self.limits.ranges(card, self.table.column)
        n = lowest.size
        values, points = np.empty(n), np.empty(n, dtype=np.int64)
        scan(
            *(total, *self._weights, *self.table.lists),
            *(lowest, highest, self._region(caution), keep, values, points),
        )
        return values, points

    def pool(self, beam: int = _BEAM) -> list[Card]:
        """Search for cards of least log-loss: beams from several first items, then descents."""
        highest = int(np.max(np.maximum(self.limits.highest, -self.limits.lowest), initial=1))
        found: list[Card] = []
        for scale in sorted({highest, max(highest // 2, 1), 1}, reverse=True):
            found += self._beam(scale, beam)
        found.sort(key=lambda card: (-self.value(card, 1.0), card))
        return self._rescaled(self.descended(found[: 2 * beam] or [()], 1.0), 1.0)

    def cards(self, cautions: Iterable[float]) -> dict[float, list[Card]]:
        """Search by log-loss, then from the best few for the region; the best first, by caution."""
        pool = self.pool()
        found = {1.0: pool[: 2 * _STARTS]}
        starts, steps = pool[:_STARTS], set(cautions)
        if min(steps, default=1.0) < _HALF_WAY:
            steps.add(_HALF_WAY)
        for caution in sorted(steps - {1.0}, reverse=True):
            starts = self.descended([*starts, *pool[:_STARTS]], caution)[:_STARTS]
            found[caution] = starts
        return found

    def descended(self, cards: Iterable[Card], caution: float) -> list[Card]:
        """Descend from every card; return the distinct results, the best first."""
        ends = {self._descent(card, caution) for card in dict.fromkeys(cards)}
        return sorted(ends, key=lambda card: (-self.value(card, caution), card))

    def _rescaled(self, cards: list[Card], caution: float) -> list[Card]:
        """Descend from the best few cards with their points on other scales.

        An exchange of one item keeps the scale of the others, and so stays where it is coarse.
        """
        scaled = list(cards)
        for card in cards[:_STARTS]:
            highest = max((abs(points) for _, points in card), default=1)
            for factor in (0.5, 2.0, *(most / highest for most in range(1, _SCALES + 1))):
                scaled.append(tuple(self._scaled_items(card, factor)))
        return self.descended(scaled, caution)

    def _scaled_items(self, card: Card, factor: float) -> Iterator[tuple[int, int]]:
        for condition, points in card:
            low, high = int(self.limits.lowest[condition]), int(self.limits.highest[condition])
            scaled = min(max(round(points * factor), low), high)
            if scaled:
                yield condition, scaled

    def _beam(self, scale: int, beam: int) -> list[Card]:
        """Add items one by one to the best few cards, whose first items have points of a scale."""
        values, points = self.additions((), 1.0, 20 * beam)
        first = np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")
        lowest, highest = self.limits.lowest, self.limits.highest
        clipped = np.clip(np.sign(points) * scale, lowest, highest)
        # Candidates are (value, card, condition, points).
        cards = self._distinct((values[j], (), int(j), int(clipped[j])) for j in first[: 20 * beam])
        cards = cards[:beam]
        for _ in range(1, self.limits.max_items):
            grown = []
            for card in cards:
                values, points = self.additions(card, 1.0, 5 * beam)
                order = np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")[: 5 * beam]
                grown += [(values[j], card, int(j), int(points[j])) for j in order]
            further = self._distinct(iter(sorted(grown, key=lambda one: -np.nan_to_num(one[0]))))
            if not further:
                break
            cards = further[:beam]
        return cards

    def _distinct(self, candidates: Iterable[tuple[float, Card, int, int]]) -> list[Card]:
        """Grow cards and keep the first with each set of columns: neighbouring cuts are alike."""
        seen: dict[tuple[int, ...], Card] = {}
        for value, card, condition, points in candidates:
            if np.isnan(value) or points == 0:
                continue
            grown = tuple(sorted((*card, (condition, points))))
            mark = tuple(sorted(int(self.table.column[k]) for k, _ in grown))
            seen.setdefault(mark, grown)
        return list(seen.values())

    def _with_best(self, card: Card, caution: float) -> Card:
        """Add the best item; return the card itself if none may be added."""
        if (card, caution) not in self._known:
            values, points = self.additions(card, caution, 1)
            grown = card
            if not np.isnan(values).all():
                best = int(np.nanargmax(values))
                grown = tuple(sorted((*card, (best, int(points[best])))))
            self._known[card, caution] = grown
        return self._known[card, caution]

    def _descent(self, card: Card, caution: float) -> Card:
        """Replace one item at a time by the best one, until no replacement gains."""
        value = self.value(card, caution)
        for _ in range(_CYCLES):
            before = card
            for item in (*card, None) if len(card) < self.limits.max_items else card:
                # Items that an earlier replacement has removed are passed over.
                if item is not None and item not in card:
                    continue
                grown = self._with_best(tuple(one for one in card if one != item), caution)
                if grown == card:
                    continue
                new = self.value(grown, caution)
                if new > value + _LEAST_GAIN:
                    card, value = grown, new
            if card == before:
                break
        return card
