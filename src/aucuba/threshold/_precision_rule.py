"""Thresholds with a promised precision, by exact tests in a fixed order.

Thresholds are tested from the strictest downwards, each for the hypothesis that its precision is
below the limit. A hypothesis is tested only while all earlier ones were rejected, so only the first
true one can cause an error, and no correction for their number is needed. The error is divided among
several starts: a failure at a strict threshold, which flags few rows, ends only that start, and a
start passes on the error that it has not spent (the fallback procedure).

References
----------
Angelopoulos, Bates, Candès, Jordan and Lei (2025), Learn then test: calibrating predictive
algorithms to achieve risk control, Annals of Applied Statistics 19(2).
Wiens (2003), A fixed sequence Bonferroni procedure for testing multiple endpoints, Pharmaceutical
Statistics 2(3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtr, betainccinv, betaincinv

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba._roc._prevalence import fpr_per_tpr, prevalence_text
from aucuba._rows._sample import RankingSample
from aucuba.threshold._betting import bets_against, log_wealth
from aucuba.threshold._order_statistic import raised_by_rounding
from aucuba.threshold._rows_needed import (
    N_STARTS,
    PART_OF_FPR,
    PLACING,
    negatives_at_prevalence,
    units_to_promise,
)
from aucuba.threshold._rules import Cut, RateRule
from aucuba.threshold._units import Units

# Smallest number of units that place thresholds, but at most a quarter of all units.
_FEWEST_PLACING = 20
# Evidence at the N_STARTS starts if no flagged row were negative, in multiples of log(1 / error): the
# first very likely flags enough rows, the second leaves room for negatives among them. Of one to four
# starts between 1.5 and 30 these certified the most on 36 simulated populations.
_MARGINS = (2.0, 6.0)
# With a target prevalence, tests start where the number of negatives that may be flagged is this
# multiple of the smallest number with which a test can pass, or half-way from there to the largest
# number. Of one or two starts at 1.1 to 3, one start at 1.8 certified the most.
_MARGIN_OF_FPR = 1.8
# Finer steps change little, and each is a chance to fail.
_MOST_THRESHOLDS = 400


@dataclass(frozen=True)
class PrecisionRule(RateRule):
    """Rule for precision, which is not monotone in the threshold: it tests thresholds in turn.

    A random part of the held-out units places the thresholds, by their scores alone; the labels of
    the other units test them, from the strictest downwards. The rule takes the lowest certified
    threshold that is not below ``stop``. All certified thresholds hold together, so ``stop`` may depend
    on the same rows.

    The precision of cleared rows (``promise.sought`` is "negative") is that of flagged rows after
    exchanging the classes and the sign of the scores, including that of ``stop``.
    """

    random_state: np.random.RandomState | None = None
    target: tuple[float, float] | None = None
    stop: float = -math.inf

    @property
    def words(self) -> str:
        return super().words + at_prevalence(self.target)

    def shortfalls(self, rows: RankingSample, error: float) -> list[str]:
        units = self.population.units_of(self._towards_sought(rows), self.promise)
        if self.target is not None and not units.is_exact:
            raise ValueError(
                "target_prevalence promises the precision of single rows of equal weight; leave groups "
                "and weighted_promise out."
            )
        n_testing = units.n_units - _n_placing(units.n_units)
        if self.target is not None:
            # The classes of each part are not known yet.
            n_testing = int(np.sum(~units.rows.positive))
        return [
            self._problem(units, rate, error)
            for rate in self.rates
            if n_testing < self._needed(units, rate, error)
        ]

    def cut(self, rows: RankingSample, error: float) -> Cut:
        assert self.random_state is not None
        units = self.population.units_of(self._towards_sought(rows), self.promise)
        finite_scores(units.rows.score, "The base score")
        if self.target is not None:
            return self._cut_at_prevalence(units, error)
        order = self.random_state.permutation(units.n_units)
        is_placing = np.isin(np.arange(units.n_units), order[: _n_placing(units.n_units)])
        placing, testing = units.take(is_placing), units.take(~is_placing)
        levels = np.array([self._lowest(placing, testing, rate, error) for rate in self.rates])
        return self._found(levels, units, testing, error)

    def _cut_at_prevalence(self, units: Units, error: float) -> Cut:
        assert self.random_state is not None
        positives = self.random_state.permutation(np.flatnonzero(units.rows.positive))
        is_placing = np.zeros(units.n_units, dtype=bool)
        is_placing[positives[: _n_placing(positives.size)]] = True
        placing, testing = units.take(is_placing), units.take(~is_placing)
        single, levels = self.error_of_one(error), np.full(len(self.rates), np.nan)
        if placing.n_units:
            odds = [fpr_per_tpr(rate, self._lowest_prevalence) for rate in self.rates]
            levels = np.array(
                [lowest_at_prevalence(placing, testing, one, single, self.stop) for one in odds]
            )
        return self._found(levels, units, testing, error)

    def _found(self, levels: FloatArray, units: Units, testing: Units, error: float) -> Cut:
        problems = [
            self._problem(units, rate, error)
            for rate, level in zip(self.rates, levels, strict=True)
            if np.isnan(level)
        ]
        if self.promise.sought == "negative":
            levels = np.nextafter(-levels, -np.inf)
        return Cut(levels, testing, error, problems)

    @property
    def _lowest_prevalence(self) -> float:
        """The hardest prevalence of the sought class: precision rises with it."""
        assert self.target is not None
        return self.target[0] if self.promise.sought == "positive" else 1.0 - self.target[1]

    def _towards_sought(self, rows: RankingSample) -> RankingSample:
        if self.promise.sought == "positive":
            return rows
        return replace(rows, positive=~rows.positive, score=-rows.score)

    def _lowest(self, placing: Units, testing: Units, rate: float, error: float) -> float:
        levels = _strictest_first(placing)
        if testing.n_units == 0 or levels.size == 0:
            return np.nan
        single = self.error_of_one(error)
        starts = _starts(placing, testing, levels, rate, single)
        tests = binomial_tests if testing.is_exact else betting_tests
        n_tests = int(np.sum(levels >= self.stop))
        last = last_rejected(n_tests, starts, single, tests(testing, levels, rate, single))
        return np.nan if last is None else float(levels[last])

    def _needed(self, units: Units, rate: float, error: float) -> int:
        if self.target is not None:
            single = self.error_of_one(error)
            return negatives_at_prevalence(rate, self._lowest_prevalence, single)
        single = self.error_of_one(error) / N_STARTS
        return units_to_promise(rate, single, is_exact=units.is_exact)

    def _problem(self, units: Units, rate: float, error: float) -> str:
        if self.target is not None:
            n_others = int(np.sum(~units.rows.positive))
            others = "negative" if self.promise.sought == "positive" else "positive"
            return (
                f"No threshold has a {self.words} with confidence={1 - error:g} on these "
                f"{units.n_units} held-out rows, of which {n_others} are {others}"
                f"{units.rows.named}. It takes at least {self._needed(units, rate, error)} {others}s "
                f"of which none is {self.promise.verb}, and more where some are, or where few "
                f"{self.promise.sought}s are. Hold out more {others}s, promise less, or use a better "
                "base."
            )
        return (
            f"No threshold has a {self.promise.words} of at least {self.promise.parameter}="
            f"{1 - rate:g} with confidence={1 - error:g} on these {units.n_units} held-out "
            f"{units.noun}, of which {int(units.rows.positive.sum())} rows are {self.promise.sought}"
            f"{units.rows.named}. It takes at least {self._needed(units, rate, error)} "
            f"{self.promise.verb} {units.noun} that are all "
            f"{self.promise.sought} among those that test, and more where some are not. "
            "Hold out more rows, promise less, or use a better base."
        )


def at_prevalence(target: tuple[float, float] | None) -> str:
    """Name the prevalence at which a promise holds, if it is not that of the held-out rows."""
    if target is None:
        return ""
    return f" at a prevalence of {prevalence_text(target)}"


def last_rejected(
    n_tests: int, starts: Sequence[int], error: float, p_value: Callable[[int], float]
) -> int | None:
    """Return the last rejected hypothesis; any true one is rejected with probability ``error`` at most.

    Parameters
    ----------
    n_tests : int
        Number of hypotheses, in their fixed order.
    starts : sequence of int
        Where each part of the error, ``error / len(starts)``, becomes available.
    error : float
        The level of all tests together.
    p_value : callable
        The p-value of hypothesis i; called only while there is error left to spend.

    Returns
    -------
    int or None
        None if nothing was rejected.
    """
    level, last = 0.0, None
    part = error / len(starts)
    for test in range(n_tests):
        level += part * starts.count(test)
        if level == 0.0:
            continue
        if p_value(test) <= level:
            last = test
        else:
            level = 0.0
    return last


def binomial_p_value(n_against: int, n_flagged: int, allowed: float) -> float:
    """Compute P(Binomial(n_flagged, allowed) <= n_against), to refute a rate above ``allowed``."""
    return float(bdtr(n_against, n_flagged, allowed)) if n_flagged else 1.0


def binomial_tests(
    units: Units, levels: FloatArray, rate: float, error: float
) -> Callable[[int], float]:
    """Return exact p-values of rows: the negatives among the flagged rows are binomial."""
    n_flagged = _n_above(units.rows.score, levels)
    n_negatives = _n_above(units.rows.score[~units.rows.positive], levels)
    return lambda test: binomial_p_value(int(n_negatives[test]), int(n_flagged[test]), rate)


def lowest_at_prevalence(
    placing: Units, testing: Units, odds: float, error: float, stop: float = -math.inf
) -> float:
    """Return the lowest threshold whose precision is certified at another prevalence, or nan.

    Scores within each class are as in the held-out rows (label shift), so the precision is kept if
    FPR <= ``odds`` TPR. Exact limits of the two rates prove it, from the strictest threshold downwards
    in a fixed sequence with one start. Only positives place the thresholds, so all negatives test.
    """
    levels = _strictest_first(placing)
    negatives, positives = (
        testing.rows.score[testing.rows.positive == one] for one in (False, True)
    )
    fpr_error, tpr_error = PART_OF_FPR * error, (1.0 - PART_OF_FPR) * error
    k, n = _n_above(negatives, levels), negatives.size
    fpr = np.where(k < n, betainccinv(k + 1, np.maximum(n - k, 1), fpr_error), 1.0)
    k, m = _n_above(positives, levels), positives.size
    tpr = np.where(k > 0, betaincinv(np.maximum(k, 1), m - k + 1, tpr_error), 0.0)
    # If none of n negatives is flagged, the limit of FPR is about log(1 / error) / n.
    expected = odds * n * _n_above(placing.rows.score, levels) / placing.n_units
    fewest = math.log(1.0 / fpr_error)
    start = int(np.searchsorted(expected, min(_MARGIN_OF_FPR * fewest, (fewest + odds * n) / 2)))
    passed = ((fpr <= odds * tpr) & (levels >= stop))[start:]
    n_passed = int(np.argmin(np.append(passed, False)))
    return float(levels[start + n_passed - 1]) if n_passed else np.nan


def betting_tests(
    units: Units, levels: FloatArray, rate: float, error: float
) -> Callable[[int], float]:
    """Return p-values of groups or weighted rows, as one over the wealth."""
    fractions = bets_against(units, rate, error)
    excess_of_rows = 1.0 - rate - units.rows.positive

    def p_value(test: int) -> float:
        excess = units.totals((units.rows.score > levels[test]) * excess_of_rows)
        return float(np.exp(-max(log_wealth(excess, fractions), 0.0)))

    return p_value


def _n_placing(n_units: int) -> int:
    return math.ceil(max(PLACING * n_units, min(_FEWEST_PLACING, n_units / 4)))


def _strictest_first(placing: Units) -> FloatArray:
    """Return thresholds at the placing scores, raised so that rows that tie with them do not pass."""
    levels = np.unique(placing.rows.score.astype(np.float64))[::-1]
    if levels.size > _MOST_THRESHOLDS:
        # Half of them lie among the highest scores, where a step changes the precision most.
        spread = np.geomspace(1, levels.size, _MOST_THRESHOLDS // 2)
        even = np.linspace(1, levels.size, _MOST_THRESHOLDS // 2)
        levels = levels[np.unique(np.concatenate([spread, even]).round().astype(np.intp)) - 1]
    return raised_by_rounding(levels, placing.rows.score)


def _starts(
    placing: Units, testing: Units, levels: FloatArray, rate: float, error: float
) -> list[int]:
    """Return the indices of the thresholds at which tests start, judged by the placing scores."""
    ratio = testing.n_units / placing.n_units
    if placing.is_exact:
        evidence = -ratio * math.log1p(-rate) * _n_above(placing.rows.score, levels)
    else:
        evidence = ratio * np.array([_best_case(placing, level, rate) for level in levels])
    places: IntArray = np.searchsorted(evidence, math.log(1.0 / error) * np.array(_MARGINS))
    return [min(int(place), levels.size - 1) for place in places]


def _best_case(units: Units, level: float, rate: float) -> float:
    """Compute the logarithm of the wealth of the boldest bet if every flagged row is positive."""
    flagged = units.totals(units.rows.score > level) / units.largest
    return float(np.log1p(rate / (1.0 - rate) * flagged).sum())


def _n_above(scores: AnyArray, levels: FloatArray) -> IntArray:
    return scores.size - np.searchsorted(np.sort(scores), levels, side="right")
