"""Rules that turn held-out scores into thresholds with a promise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba._rows._sample import RankingSample
from aucuba.threshold._betting import certified_rate, least_safe_threshold
from aucuba.threshold._order_statistic import (
    joint_ranks,
    joint_violation,
    raised_by_rounding,
    threshold_rank,
    violation_probability,
)
from aucuba.threshold._promise import Promise
from aucuba.threshold._rows_needed import shortfall, units_to_promise
from aucuba.threshold._units import Population, Units


@dataclass(frozen=True)
class Cut:
    """The thresholds of one stratum and the units that set them.

    Parameters
    ----------
    thresholds : ndarray of shape (n_rates,)
        nan if the rows cannot carry the promise.
    units : Units
        The held-out units that set, or tested, the thresholds.
    violation : float
        Bound on the probability that some rate exceeds its limit.
    problems : list of str
        Why thresholds are missing although there were enough rows.
    ranks : ndarray of int, default=None
        Ranks of the thresholds among the scores, if they are order statistics.
    highest : float, default=None
        The upper end if every threshold of an interval keeps the promise.
    """

    thresholds: FloatArray
    units: Units
    violation: float
    problems: list[str] = field(default_factory=list)
    ranks: IntArray | None = None
    highest: float | None = None


@dataclass(frozen=True)
class RateRule(ABC):
    """A rule that sets thresholds that keep limits of one rate with probability 1 - ``error``.

    The limits hold together or each on its own. ``trivial`` is the threshold that keeps them without
    data, nan if there is none, and ``trivially`` what it does; ``words`` names the promise, as in
    "false positive rate at most 0.05".
    """

    promise: Promise
    rates: Sequence[float]
    population: Population
    joint: bool = True

    @property
    def trivial(self) -> float:
        return self.promise.trivial

    @property
    def trivially(self) -> str:
        return f"flagging {self.promise.trivially}"

    @property
    def words(self) -> str:
        return self.promise.in_words(self.rates)

    @abstractmethod
    def shortfalls(self, rows: RankingSample, error: float) -> list[str]:
        """List why there are too few rows for the promise, before their scores are known."""

    @abstractmethod
    def cut(self, rows: RankingSample, error: float) -> Cut:
        """Set the thresholds."""

    def error_of_one(self, error: float) -> float:
        """Divide the error among the rates if they hold together (Bonferroni)."""
        return error / len(self.rates) if self.joint else error


@dataclass(frozen=True)
class MonotoneRule(RateRule):
    """Rule for rates that fall as the threshold moves to the safe side: FPR, alert rate, misses.

    If every unit is one row, the thresholds are order statistics, exact without ties. Otherwise the
    threshold is the least safe one whose betting bound certifies the rate; since rates are monotone in
    the threshold, no correction for the number of thresholds is needed.
    """

    def shortfalls(self, rows: RankingSample, error: float) -> list[str]:
        units = self.population.units_of(rows, self.promise)
        return [
            shortfall(self.promise, units, rate, needed, error)
            for rate, needed in zip(self.rates, self._needed(units, error), strict=True)
            if units.n_units < needed
        ]

    def cut(self, rows: RankingSample, error: float) -> Cut:
        units = self.population.units_of(rows, self.promise)
        scores = finite_scores(units.rows.score, "The base score")
        possible = units.n_units >= np.array(self._needed(units, error))
        levels = np.full(len(self.rates), np.nan)
        if not possible.any():
            return Cut(levels, units, 0.0)
        if units.is_exact:
            ranks, violation = self._ranks(units.n_units, possible, error)
            at = ranks[possible] - 1
            levels[possible] = raised_by_rounding(np.partition(scores, at)[at], units.rows.score)
            return Cut(self._turned(levels), units, violation, ranks=ranks)
        problems = []
        for place in np.flatnonzero(possible).tolist():
            rate = self.rates[place]
            levels[place] = least_safe_threshold(units, rate, self.error_of_one(error))
            if np.isnan(levels[place]):
                problems.append(shortfall(self.promise, units, rate, None, error))
        return Cut(self._turned(levels), units, error, problems)

    def _ranks(self, n: int, possible: BoolArray, error: float) -> tuple[IntArray, float]:
        """Return the ranks of the thresholds, n + 1 if there are too few rows, and the bound."""
        rates = np.array(self.rates)[possible].tolist()
        if self.joint:
            found = joint_ranks(n, rates, error).tolist()
            violation = joint_violation(found, n, rates)
        else:
            found = [threshold_rank(n, rate, error) for rate in rates]
            each = zip(found, rates, strict=True)
            violation = max(violation_probability(rank, n, rate) for rank, rate in each)
        ranks = np.full(possible.size, n + 1, dtype=np.intp)
        ranks[possible] = found
        return ranks, violation

    def _turned(self, levels: FloatArray) -> FloatArray:
        """Return the thresholds that scores must exceed; for misses, rows at the level are flagged."""
        return levels if self.promise.flags_less else np.nextafter(-levels, -np.inf)

    def _needed(self, units: Units, error: float) -> list[int]:
        single = self.error_of_one(error)
        return [units_to_promise(rate, single, is_exact=units.is_exact) for rate in self.rates]


@dataclass(frozen=True)
class TwoRules:
    """Rule for two promises that hold together: one limits what is flagged, the other what is not."""

    flagged: RateRule
    passed: RateRule

    def shortfalls(self, rows: RankingSample, error: float) -> list[str]:
        each = zip((self.flagged, self.passed), self.errors(rows, error), strict=True)
        return [problem for rule, one in each for problem in rule.shortfalls(rows, one)]

    def errors(self, rows: RankingSample, error: float) -> tuple[float, float]:
        """Divide the error between the two promises.

        If each is about one class, their held-out rows are independent and the confidences multiply,
        unless groups have rows of both classes: then the errors add up (Bonferroni), as they do for
        predictive values. The shares are equal if both promises have enough rows; otherwise the one
        that is short gets what it needs, if the other can spare it. The division depends only on the
        numbers of rows, never on scores.
        """
        add_up = self._add_up(rows)

        def rest(one: float) -> float:
            return error - one if add_up else 1.0 - (1.0 - error) / (1.0 - one)

        equal = error / 2 if add_up else float(1.0 - np.sqrt(1.0 - error))
        short = [bool(rule.shortfalls(rows, equal)) for rule in (self.flagged, self.passed)]
        if sum(short) != 1:
            return equal, equal
        poor, rich = (self.flagged, self.passed) if short[0] else (self.passed, self.flagged)
        low, high = equal, error * (1 - 1e-9)
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if poor.shortfalls(rows, middle) else (low, middle)
        if poor.shortfalls(rows, high) or rich.shortfalls(rows, rest(high)):
            return equal, equal
        return (high, rest(high)) if short[0] else (rest(high), high)

    def violation(self, rows: RankingSample, one: Cut, other: Cut) -> float:
        """Bound the probability that some promise is broken."""
        both = 0.0 if self._add_up(rows) else one.violation * other.violation
        return one.violation + other.violation - both

    def _add_up(self, rows: RankingSample) -> bool:
        if not self.flagged.promise.is_of_one_class or not self.passed.promise.is_of_one_class:
            return True
        if rows.group is None:
            return False
        return bool(np.isin(rows.group[rows.positive], rows.group[~rows.positive]).any())


@dataclass(frozen=True)
class TwoRatesRule(TwoRules):
    """Rule for a false and a true positive rate by one threshold."""

    trivial: ClassVar[float] = np.nan
    trivially: ClassVar[str] = ""

    @property
    def words(self) -> str:
        return f"{self.flagged.words} and {self.passed.words}"

    def cut(self, rows: RankingSample, error: float) -> Cut:
        errors = self.errors(rows, error)
        lowest, highest = self.flagged.cut(rows, errors[0]), self.passed.cut(rows, errors[1])
        low, high = float(lowest.thresholds[0]), float(highest.thresholds[0])
        problems = [*lowest.problems, *highest.problems]
        if not problems and low > high:
            problems = [self._best_pair(rows, low, high, errors)]
        level = np.array([np.nan if problems else low])
        violation = self.violation(rows, lowest, highest)
        return Cut(level, lowest.units, violation, problems, lowest.ranks, high)

    def _best_pair(
        self, rows: RankingSample, low: float, high: float, errors: tuple[float, float]
    ) -> str:
        max_fpr, min_tpr = self.flagged.rates[0], 1.0 - self.passed.rates[0]
        negatives, positives = (
            rule.population.units_of(rows, rule.promise) for rule in (self.flagged, self.passed)
        )
        sensitivity = 1.0 - certified_rate(positives, -low, errors[1])
        false_alarms = certified_rate(negatives, high, errors[0])
        return (
            f"No threshold keeps max_fpr={max_fpr:g} and min_tpr={min_tpr:g} together: with "
            f"max_fpr={max_fpr:g} these rows carry min_tpr={sensitivity:.4f}, and with "
            f"min_tpr={min_tpr:g} they carry max_fpr={false_alarms:.4f}. Promise less, hold out more "
            "rows, or use a better base. (A pair chosen from these numbers is not promised by the same "
            "rows.)"
        )


def flags_nothing(rows: RankingSample, cut: Cut) -> bool:
    """Return whether some threshold flags no row although positives were held out.

    If all rows count and the threshold is the highest score, this is how the rule works.
    """
    levels = cut.thresholds if cut.ranks is None else cut.thresholds[cut.ranks < rows.n_rows]
    return bool(rows.positive.any() and np.any(levels >= rows.score.max()))


class _TwoThresholds(Protocol):
    """A rule for two thresholds, such as that of a triage."""

    @property
    def trivial(self) -> FloatArray: ...
    @property
    def trivially(self) -> str: ...
    @property
    def words(self) -> str: ...
    def shortfalls(self, rows: RankingSample, error: float) -> list[str]: ...
    def cut(self, rows: RankingSample, error: float) -> Cut: ...


Rule = RateRule | TwoRatesRule | _TwoThresholds
