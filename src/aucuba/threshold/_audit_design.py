"""Rows that an audit labels: the inclusion probabilities with the narrowest expected interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba.threshold._audit_bets import CountedRows, Kinds, expected_limits

# Rows of similar probability share one inclusion probability while plans are compared.
_N_BINS = 40
# Candidate plans: the part of the budget for flagged rows, and the part of each budget that is spread
# evenly over the rows. The even part is a floor that limits the bets, because a single positive may
# hide where labels are rare.
_FLAGGED_PARTS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7)
_EVEN_PARTS = (0.3, 0.5, 0.7, 0.8, 0.9)
# Candidate parts of the error for the lower limit, which is the farther one if few positives are
# missed, since they may hide among many rows.
_LOW_PARTS = (0.5, 0.65, 0.8, 0.9, 0.35, 0.2)
_HALVINGS = 50


@dataclass(frozen=True)
class AuditDesign:
    """Inclusion probabilities, the expected half-width, and the rows expected among the labels.

    ``low_part`` is the lower limit's part of the error. ``expected`` has a row per bin of rows and the
    columns probability, hits and misses; None if nothing is known.
    """

    inclusion: FloatArray
    low_part: float
    half_width: float
    expected: FloatArray | None


@dataclass(frozen=True)
class AuditedTable:
    """The rows of a table with the probabilities that each counts and hits, or counts and misses.

    ``hit`` and ``miss`` are None if nothing is known about the labels.
    """

    flagged: BoolArray
    can_hit: BoolArray
    can_miss: BoolArray
    hit: FloatArray | None
    miss: FloatArray | None

    @classmethod
    def of(cls, flagged: BoolArray, rate: str, probability: FloatArray | None) -> AuditedTable:
        if rate == "precision":
            can_hit, can_miss = flagged, flagged
        else:
            can_hit, can_miss = flagged, ~flagged
        for can, kind in ((can_hit, "flagged"), (can_miss, "unflagged")):
            if not can.any():
                raise ValueError(
                    f"No row is {kind}, so the {rate} of these rows is known without labels."
                    if rate != "precision"
                    else "No row is flagged, so there is no precision to learn."
                )
        if probability is None:
            return cls(flagged, can_hit, can_miss, None, None)
        if rate == "precision":
            hit, miss = probability * flagged, (1.0 - probability) * flagged
        else:
            counts = probability if rate == "tpr" else 1.0 - probability
            hit, miss = counts * flagged, counts * ~flagged
        return cls(flagged, can_hit, can_miss, hit, miss)

    @property
    def relevant(self) -> BoolArray:
        return self.can_hit | self.can_miss

    def least(self, inclusion: FloatArray) -> tuple[float, float]:
        """Return the smallest probability below 1 of rows that may hit, and of rows that may miss."""
        uncertain = inclusion < 1
        hit, miss = self.can_hit & uncertain, self.can_miss & uncertain
        return (
            float(inclusion[hit].min(initial=np.inf)),
            float(inclusion[miss].min(initial=np.inf)),
        )

    def best_inclusion(self, budget: int, error: float) -> AuditDesign:
        """Return the design with the narrowest expected interval."""
        parts = [rows for rows in (self.flagged, self.relevant & ~self.flagged) if rows.any()]
        inclusion = np.zeros(self.flagged.size)
        if self.hit is None or self.miss is None:
            for rows, labels in zip(parts, _divided(budget, 0.5, parts), strict=True):
                inclusion[rows] = labels / rows.sum()
            return AuditDesign(inclusion, 0.5, math.nan, None)
        bins = self._bins(parts)
        best: tuple[float, FloatArray] = (math.inf, inclusion)
        for flagged_part in _FLAGGED_PARTS if len(parts) > 1 else (1.0,):
            divided = _divided(budget, flagged_part, parts)
            for even in _EVEN_PARTS:
                drawn = bins.inclusion(divided, even)
                width = bins.half_width(drawn, error)
                if width < best[0]:
                    best = width, drawn
        relevant = self.relevant
        inclusion[relevant] = best[1][bins.number[relevant]]
        expected = np.column_stack([best[1], bins.hit, bins.miss])
        widths = {part: bins.half_width(best[1], error, part) for part in _LOW_PARTS}
        low_part = min(widths, key=lambda part: widths[part])
        return AuditDesign(inclusion, low_part, widths[low_part], expected)

    def _bins(self, parts: list[BoolArray]) -> _Bins:
        assert self.hit is not None
        assert self.miss is not None
        # How informative a labelled row is: the standard deviation that it adds to the sum of m_i(r)
        # at the expected rate r.
        expected = self.hit.sum() / max(self.hit.sum() + self.miss.sum(), 1e-300)
        telling = np.sqrt(self.hit * (1.0 - expected) ** 2 + self.miss * expected**2)
        number = np.zeros(self.flagged.size, dtype=np.intp)
        part_of: list[int] = []
        for place, rows in enumerate(parts):
            order = np.flatnonzero(rows)
            order = order[np.argsort(telling[order], kind="stable")]
            # Bins of equal information, so that the few most informative rows have their own.
            summed = np.cumsum(telling[order] + 1e-12)
            cut = np.minimum((summed / summed[-1] * _N_BINS).astype(np.intp), _N_BINS - 1)
            cut = np.unique(cut, return_inverse=True)[1]
            number[order] = len(part_of) + cut
            part_of += [place] * (int(cut.max()) + 1)
        relevant = self.relevant
        size, told, hit, miss = (
            np.bincount(number[relevant], column[relevant], len(part_of)).astype(np.float64)
            for column in (np.ones(number.size), telling, self.hit, self.miss)
        )
        return _Bins(number, np.array(part_of), size, told / size, hit, miss)


@dataclass(frozen=True)
class _Bins:
    """Bins of similar rows: how many rows, how informative, and how many should hit or miss."""

    number: IntArray
    part: IntArray
    size: FloatArray
    telling: FloatArray
    hit: FloatArray
    miss: FloatArray

    def inclusion(self, labels: list[float], even: float) -> FloatArray:
        """Return the probability per bin: a part of the labels evenly, the rest by information."""
        inclusion = np.empty(self.size.size)
        for place, n in enumerate(labels):
            rows = self.part == place
            size = self.size[rows]
            inclusion[rows] = _raised(self.telling[rows], size, even * n / size.sum(), n)
        return inclusion

    def half_width(self, inclusion: FloatArray, error: float, low_part: float = 0.5) -> float:
        """Return half the width of the interval if rows hit and miss as expected."""
        expected = expected_rows(np.column_stack([inclusion, self.hit, self.miss]), 1.0)
        low, high = expected_limits(expected, error, low_part)
        return (high - low) / 2


def expected_rows(table: FloatArray, part: float) -> Kinds:
    """Return the rows that are expected among the labels, or among those of an early look.

    ``table`` has the columns probability, expected hits and expected misses of bins of rows.
    """
    chance = table[:, 0] * part
    uncertain = chance < 1
    kinds = [
        CountedRows(
            chance, mass * chance, float(chance[uncertain & (mass > 0)].min(initial=np.inf))
        )
        for mass in table.T[1:]
    ]
    return kinds[0], kinds[1]


def _raised(telling: FloatArray, size: FloatArray, floor: float, n: float) -> FloatArray:
    """Return probabilities between a floor and 1, proportional to ``telling``, that draw n rows."""
    low, high = 0.0, 1.0 / max(float(telling[telling > 0].min(initial=1.0)), 1e-300)
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high) if low > 0 else high * 1e-12
        drawn = float(np.sum(size * np.clip(middle * telling, floor, 1.0)))
        low, high = (middle, high) if drawn <= n else (low, middle)
    return np.clip(low * telling, floor, 1.0)


def _divided(budget: int, flagged_part: float, parts: list[BoolArray]) -> list[float]:
    """Divide the labels between flagged rows and the others; either gets what the other cannot use."""
    sizes = [int(rows.sum()) for rows in parts]
    if len(sizes) == 1:
        return [float(min(budget, sizes[0]))]
    flagged = min(max(flagged_part * budget, budget - sizes[1]), sizes[0])
    return [flagged, min(budget - flagged, sizes[1])]


def counted(rate: str, positive: BoolArray, flagged: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which rows the rate counts, and which of them hit."""
    if rate == "precision":
        return flagged, positive
    return (positive if rate == "tpr" else ~positive), flagged
