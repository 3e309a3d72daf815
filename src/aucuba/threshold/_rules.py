"""Rules that turn held-out scores into thresholds with a promise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaincinv

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.threshold._betting import bets, log_wealth
from aucuba.threshold._joint_ranks import joint_ranks, joint_violation
from aucuba.threshold._order_statistic import raised_by_rounding, tie_safe_threshold
from aucuba.threshold._promise import FPR, TPR, Promise
from aucuba.threshold._rows_needed import shortfall, units_to_promise
from aucuba.threshold._units import HeldOutRows, Population, Units


@dataclass(frozen=True)
class Cut:
    """Thresholds of one stratum, one per rate; nan where the rows cannot carry the promise."""

    thresholds: FloatArray
    n_units: int
    noun: str
    violation: float
    problems: list[str] = field(default_factory=list)
    ranks: IntArray | None = None
    highest: float | None = None
    """The upper end where every threshold of an interval keeps the promise."""


class Rule(ABC):
    """A way to thresholds whose promises are broken with probability of at most ``error``."""

    trivial: float
    """The threshold that keeps the promise without data; nan if there is none."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is promised, as in "false positive rate at most 0.05"."""

    @abstractmethod
    def shortfalls(self, rows: HeldOutRows, error: float) -> list[str]:
        """Why the number of rows cannot carry the promise, before their scores are known."""

    @abstractmethod
    def cut(self, rows: HeldOutRows, error: float) -> Cut:
        """The thresholds."""


@dataclass(frozen=True)
class MonotoneRule(Rule):
    """Rates that fall as the threshold moves to the safe side: FPR, alert rate, misses.

    Where every unit is one row the thresholds are order statistics, exact without ties. Otherwise
    the threshold is the least safe one whose betting bound certifies the rate; since rates are
    monotone in the threshold, no correction for the number of thresholds is needed.
    """

    promise: Promise
    rates: Sequence[float]
    population: Population
    joint: bool = True

    @property
    def trivial(self) -> float:  # type: ignore[override]
        return self.promise.trivial

    @property
    def words(self) -> str:
        return self.promise.in_words(self.rates)

    def shortfalls(self, rows: HeldOutRows, error: float) -> list[str]:
        units = self.population.units_of(rows, self.promise)
        return [
            shortfall(self.promise, units, rate, needed, error)
            for rate, needed in zip(self.rates, self._needed(units, error), strict=True)
            if units.n_units < needed
        ]

    def cut(self, rows: HeldOutRows, error: float) -> Cut:
        units = self.population.units_of(rows, self.promise)
        finite_scores(units.score, "The base score")
        possible = units.n_units >= np.array(self._needed(units, error))
        rates = [rate for rate, enough in zip(self.rates, possible, strict=True) if enough]
        levels = np.full(len(self.rates), np.nan)
        if not rates:
            return Cut(levels, units.n_units, units.noun, 0.0)
        if units.is_exact:
            return self._order_statistics(units, rates, possible, error)
        single = self._single(error)
        levels[possible] = [least_safe_threshold(units, rate, single) for rate in rates]
        problems = [
            shortfall(self.promise, units, rate, None, error)
            for rate, level in zip(self.rates, levels, strict=True)
            if np.isnan(level) and rate in rates
        ]
        return Cut(self._turned(levels), units.n_units, units.noun, error, problems)

    def _order_statistics(
        self, units: Units, rates: list[float], possible: np.ndarray, error: float
    ) -> Cut:
        n, levels = units.n_units, np.full(possible.size, np.nan)
        ranks = np.full(possible.size, n + 1, dtype=np.intp)
        if self.joint:
            ranks[possible] = joint_ranks(n, rates, error)
            violation = joint_violation(ranks[possible].tolist(), n, rates)
        else:
            ranks[possible] = [joint_ranks(n, [rate], error)[0] for rate in rates]
            each = zip(ranks[possible].tolist(), rates, strict=True)
            violation = max(joint_violation([rank], n, [rate]) for rank, rate in each)
        levels[possible] = [tie_safe_threshold(units.score, int(rank)) for rank in ranks[possible]]
        return Cut(self._turned(levels), n, units.noun, violation, ranks=ranks)

    def _turned(self, levels: FloatArray) -> FloatArray:
        """Thresholds that scores must exceed: for misses, rows at the level are flagged."""
        return levels if self.promise.flags_less else np.nextafter(-levels, -np.inf)

    def _single(self, error: float) -> float:
        return error / len(self.rates) if self.joint else error

    def _needed(self, units: Units, error: float) -> list[int]:
        return [units_to_promise(units, rate, self._single(error)) for rate in self.rates]


@dataclass(frozen=True)
class TwoRatesRule(Rule):
    """A false and a true positive rate at once, each class with half of the confidence."""

    max_fpr: float
    max_miss_rate: float
    population: Population
    trivial: float = np.nan

    @property
    def words(self) -> str:
        return " and ".join(rule.words for rule in self._rules)

    def shortfalls(self, rows: HeldOutRows, error: float) -> list[str]:
        each = _one_of_two(error)
        return [problem for rule in self._rules for problem in rule.shortfalls(rows, each)]

    def cut(self, rows: HeldOutRows, error: float) -> Cut:
        each = _one_of_two(error)
        lowest, highest = (rule.cut(rows, each) for rule in self._rules)
        low, high = float(lowest.thresholds[0]), float(highest.thresholds[0])
        problems = [*lowest.problems, *highest.problems]
        if not problems and low > high:
            problems = [self._best_pair(rows, low, high, each)]
        violation = 1.0 - (1.0 - lowest.violation) * (1.0 - highest.violation)
        level = np.array([np.nan if problems else low])
        return Cut(level, lowest.n_units, lowest.noun, violation, problems, lowest.ranks, high)

    @property
    def _rules(self) -> list[MonotoneRule]:
        promised = ((FPR, self.max_fpr), (TPR, self.max_miss_rate))
        return [MonotoneRule(promise, [rate], self.population) for promise, rate in promised]

    def _best_pair(self, rows: HeldOutRows, low: float, high: float, error: float) -> str:
        positives, negatives = (self.population.units_of(rows, promise) for promise in (TPR, FPR))
        sensitivity = 1.0 - certified_rate(positives, -low, error)
        false_alarms = certified_rate(negatives, high, error)
        return (
            f"No threshold keeps max_fpr={self.max_fpr:g} and min_tpr={1 - self.max_miss_rate:g} "
            f"together: with max_fpr={self.max_fpr:g} these rows carry min_tpr={sensitivity:.4f}, and "
            f"with min_tpr={1 - self.max_miss_rate:g} they carry max_fpr={false_alarms:.4f}. Promise "
            "less, hold out more rows, or use a better base. (A pair chosen from these numbers is not "
            "promised by the same rows.)"
        )


def least_safe_threshold(units: Units, rate: float, error: float) -> float:
    """The lowest score above which the betting bound certifies the rate; nan if there is none."""
    levels = np.unique(units.score).astype(np.float64)
    index = _first(levels, lambda level: certifies(units, level, rate, error))
    if index == levels.size:
        return np.nan
    return float(raised_by_rounding(levels[index : index + 1], units.score)[0])


def certifies(units: Units, level: float, rate: float, error: float) -> bool:
    """Whether the betting bound puts the rate of scores above ``level`` at or below ``rate``."""
    highest, lowest = units.largest * (1.0 - rate), units.largest * rate
    excess = units.totals((units.score > level) - rate)
    fractions = bets(units.n_units, lowest, highest, error)
    return log_wealth(excess, fractions) >= -np.log(error)


def certified_rate(units: Units, level: float, error: float) -> float:
    """The lowest rate of scores above a fixed ``level`` that can be promised; 1 if none can."""
    if units.is_exact:
        n_above = int(np.sum(units.score > level))
        if n_above == units.n_units:
            return 1.0
        return float(1.0 - betaincinv(units.n_units - n_above, n_above + 1, error))
    grid = np.linspace(0.0, 1.0, 1001)[1:-1]
    index = _first(grid, lambda rate: certifies(units, level, rate, error))
    return 1.0 if index == grid.size else float(grid[index])


def _first(values: FloatArray, holds: Callable[[float], bool]) -> int:
    """The place of the first value from which on a condition holds."""
    return bisect_left(range(values.size), True, key=lambda i: holds(float(values[i])))


def _one_of_two(error: float) -> float:
    return float(1.0 - np.sqrt(1.0 - error))
