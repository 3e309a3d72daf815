"""Thresholds with a promised precision, by exact tests in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.threshold._betting import bets, log_wealth
from aucuba.threshold._fixed_sequence import N_STARTS, binomial_p_value, last_rejected
from aucuba.threshold._order_statistic import raised_by_rounding
from aucuba.threshold._promise import PRECISION
from aucuba.threshold._rows_needed import FEWEST_PLACING, PLACING, units_to_promise
from aucuba.threshold._rules import Cut, Rule
from aucuba.threshold._units import HeldOutRows, Population, Units

# Evidence at the starts, if no flagged row were negative, in multiples of log(1 / error): the first
# very likely flags enough rows, the second leaves room for negatives among them. Of one to four
# starts between 1.5 and 30 these certified the most over 36 simulated populations.
_MARGINS = (2.0, 6.0)
# Finer steps change little, and each is a chance to fail.
_MOST_THRESHOLDS = 400


@dataclass(frozen=True)
class PrecisionRule(Rule):
    """Precision is not monotone in the threshold, so thresholds are tested one after the other.

    A random part of the held-out units places the thresholds, by their scores alone; the labels of
    the other units test them, from the strictest downwards. The lowest threshold certified is
    taken.
    """

    rates: Sequence[float]
    population: Population
    random_state: np.random.RandomState
    joint: bool = True
    trivial: float = PRECISION.trivial

    @property
    def words(self) -> str:
        return PRECISION.in_words(self.rates)

    def shortfalls(self, rows: HeldOutRows, error: float) -> list[str]:
        units = self.population.units_of(rows, PRECISION)
        n_testing = units.n_units - _n_placing(units.n_units)
        return [
            self._problem(units, rate, error)
            for rate in self.rates
            if n_testing < units_to_promise(units, rate, self._single(error) / N_STARTS)
        ]

    def cut(self, rows: HeldOutRows, error: float) -> Cut:
        units = self.population.units_of(rows, PRECISION)
        finite_scores(units.score, "The base score")
        placing = np.zeros(units.n_units, dtype=bool)
        chosen = self.random_state.permutation(units.n_units)[: _n_placing(units.n_units)]
        placing[chosen] = True
        parts = units.take(placing), units.take(~placing)
        levels = np.array([self._lowest(*parts, rate, error) for rate in self.rates])
        problems = [
            self._problem(units, rate, error)
            for rate, level in zip(self.rates, levels, strict=True)
            if np.isnan(level)
        ]
        return Cut(levels, int((~placing).sum()), units.noun, error, problems)

    def _lowest(self, placing: Units, testing: Units, rate: float, error: float) -> float:
        levels = _strictest_first(placing)
        if testing.n_units == 0 or levels.size == 0:
            return np.nan
        starts = _starts(placing, testing, levels, rate, self._single(error))
        tests = BinomialTests if testing.is_exact else BettingTests
        p_values = tests(testing, levels, rate, self._single(error))
        last = last_rejected(levels.size, starts, self._single(error), p_values)
        return np.nan if last is None else float(levels[last])

    def _single(self, error: float) -> float:
        return error / len(self.rates) if self.joint else error

    def _problem(self, units: Units, rate: float, error: float) -> str:
        needed = units_to_promise(units, rate, self._single(error) / N_STARTS)
        return (
            f"No threshold has a precision of at least min_precision={1 - rate:g} with "
            f"confidence={1 - error:g} on these {units.n_units} held-out {units.noun}, of which "
            f"{int(units.positive.sum())} rows are positive. It takes at least {needed} flagged "
            f"{units.noun} without a negative among those that test, and more where there are "
            "negatives. Hold out more rows, promise less, or use a better base."
        )


def _n_placing(n_units: int) -> int:
    return math.ceil(max(PLACING * n_units, min(FEWEST_PLACING, n_units / 4)))


def _strictest_first(placing: Units) -> FloatArray:
    """Thresholds at the placing scores, raised so that rows that tie with them stay below."""
    levels = np.unique(placing.score.astype(np.float64))[::-1]
    if levels.size > _MOST_THRESHOLDS:
        # Half of them among the highest scores, where a step changes the precision most.
        spread = np.geomspace(1, levels.size, _MOST_THRESHOLDS // 2)
        even = np.linspace(1, levels.size, _MOST_THRESHOLDS // 2)
        levels = levels[np.unique(np.concatenate([spread, even]).round().astype(np.intp)) - 1]
    return raised_by_rounding(levels, placing.score)


def _starts(
    placing: Units, testing: Units, levels: FloatArray, rate: float, error: float
) -> list[int]:
    """Where the testing units will flag enough, judged by the scores of the placing units."""
    ratio = testing.n_units / placing.n_units
    if placing.is_exact:
        evidence = -ratio * math.log1p(-rate) * _n_above(placing.score, levels)
    else:
        evidence = ratio * np.array([_best_case(placing, level, rate) for level in levels])
    needed = math.log(1.0 / error)
    places: IntArray = np.searchsorted(evidence, needed * np.array(_MARGINS))
    return np.minimum(places, levels.size - 1).tolist()


def _best_case(units: Units, level: float, rate: float) -> float:
    """Logarithm of the wealth of the boldest bet if every flagged row is positive."""
    flagged = units.totals(units.score > level) / units.largest
    return float(np.log1p(rate / (1.0 - rate) * flagged).sum())


class BinomialTests:
    """Exact p-values of one row per unit: the negatives among the flagged rows are binomial."""

    def __init__(self, units: Units, levels: FloatArray, rate: float, error: float) -> None:
        self.rate = rate
        self.n_flagged = _n_above(units.score, levels)
        self.n_negatives = _n_above(units.score[~units.positive], levels)

    def __call__(self, test: int) -> float:
        return binomial_p_value(int(self.n_negatives[test]), int(self.n_flagged[test]), self.rate)


class BettingTests:
    """P-values of groups or weighted rows, as one over the wealth."""

    def __init__(self, units: Units, levels: FloatArray, rate: float, error: float) -> None:
        highest, lowest = units.largest * (1.0 - rate), units.largest * rate
        self.fractions = bets(units.n_units, lowest, highest, error)
        self.units, self.levels = units, levels
        self.excess_of_rows = 1.0 - rate - units.positive

    def __call__(self, test: int) -> float:
        flagged = self.units.score > self.levels[test]
        excess = self.units.totals(flagged * self.excess_of_rows)
        return float(np.exp(-max(log_wealth(excess, self.fractions), 0.0)))


def _n_above(scores: AnyArray, levels: FloatArray) -> IntArray:
    return scores.size - np.searchsorted(np.sort(scores), levels, side="right")
