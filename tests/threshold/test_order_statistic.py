"""The binomial rule against sums over all outcomes."""

import re
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.threshold import FixedFPRClassifier
from aucuba.threshold._order_statistic import (
    raised_by_rounding,
    rows_for_a_rank,
    threshold_rank,
    violation_probability,
)
from tests.threshold.bases import prefit

rates = st.floats(0.001, 0.999)


def binomial_tails(n, max_fpr):
    """P(Binomial(n, 1 - max_fpr) >= k) for k = 1, ..., n, in exact arithmetic."""
    a = Fraction(str(max_fpr))
    terms = [comb(n, j) * (1 - a) ** j * a ** (n - j) for j in range(1, n + 1)]
    return list(accumulate(reversed(terms)))[::-1]


@pytest.mark.parametrize("max_fpr", [0.01, 0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 30])
def test_violation_probability_is_the_binomial_tail(n, max_fpr):
    for rank, exact in enumerate(binomial_tails(n, max_fpr), start=1):
        assert violation_probability(rank, n, max_fpr) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(("rate", "error"), [(0.05, 0.05), (0.2, 0.4), (0.5, 0.5)])
@pytest.mark.parametrize("n", [1, 4, 13, 59, 60, 93, 150])
def test_rank_is_the_smallest_that_keeps_the_promise(n, rate, error):
    tails = binomial_tails(n, rate)
    safe = [rank for rank, tail in enumerate(tails, start=1) if tail <= Fraction(str(error))]
    assert bool(safe) == (n >= rows_for_a_rank(rate, error))
    if safe:
        assert threshold_rank(n, rate, error) == safe[0]


@pytest.mark.parametrize(
    ("rate", "error", "needed"),
    [(0.05, 0.05, 59), (0.01, 0.01, 459), (0.1, 0.05, 29), (0.5, 0.5, 1), (0.1, 0.95, 1)],
)
def test_rows_needed(rate, error, needed):
    assert rows_for_a_rank(rate, error) == needed


@given(rates, rates)
def test_needed_is_where_the_largest_score_becomes_safe(rate, error):
    n = rows_for_a_rank(rate, error)
    assert (1 - rate) ** n <= error * (1 + 1e-9)
    assert n == 1 or (1 - rate) ** (n - 1) > error * (1 - 1e-9)
    assert 1 <= threshold_rank(n, rate, error) <= n


def test_a_promise_kept_with_equality_needs_no_more():
    # 0.9 ** 3 = 0.729 = 1 - 0.271, which floating point misses by one rounding.
    assert 0.9**3 > 1 - 0.271
    assert rows_for_a_rank(0.1, 1 - 0.271) == 3
    assert threshold_rank(3, 0.1, 1 - 0.271) == 3


@given(st.integers(60, 3000), st.floats(0.05, 0.5), st.floats(0.05, 0.5))
def test_rank_is_monotone_in_both_promises(n, rate, error):
    rank = threshold_rank(n, rate, error)
    assert threshold_rank(n, rate + 0.05, error) <= rank
    assert threshold_rank(n, rate, error + 0.05) <= rank
    assert threshold_rank(n + 1, rate, error) in (rank, rank + 1)


@pytest.mark.parametrize(("n", "above"), [(59, 0), (1_000, 38), (100_000, 4_886)])
def test_more_rows_bring_the_threshold_closer_to_the_quantile(n, above):
    assert n - threshold_rank(n, 0.05, 0.05) == above


def test_rank_of_many_rows_is_fast_and_near_the_quantile():
    rank = threshold_rank(10_000_000, 0.05, 0.05)
    assert 0.95 < rank / 10_000_000 < 0.9502


@given(st.integers(1, 58))
def test_advice_for_too_few_negatives_works_when_followed(n):
    X, y = np.arange(float(n))[:, None], np.zeros(n)
    model = FixedFPRClassifier(prefit(), 0.05, 0.95, cv="prefit")
    with pytest.raises(ValueError, match=f"at least 59 held-out negatives, got {n}\\.") as caught:
        model.fit(X, y)
    text = str(caught.value).split("promise less:")[1]
    rate = float(re.search(r"max_fpr=([\d.]+)", text)[1])
    sureness = float(re.search(r"confidence=([\d.]+)", text)[1])
    assert model.set_params(max_fpr=rate).fit(X, y).rank_ == n
    assert model.set_params(max_fpr=0.05, confidence=sureness).fit(X, y).rank_ == n


def test_no_negatives():
    model = FixedFPRClassifier(prefit(), 0.05, 0.95, cv="prefit")
    with pytest.raises(ValueError, match="at least 59 held-out negatives, got 0"):
        model.fit(np.zeros((80, 1)), np.ones(80))


@pytest.mark.parametrize("n_far", [1, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scores_far_from_the_others_do_not_move_the_threshold(n_far, kind):
    scores = np.random.default_rng(0).normal(size=200).astype(kind)
    scores[:n_far] = -1e6
    level = np.sort(scores)[189:190].astype(float)
    room = raised_by_rounding(level, scores)[0] - level[0]
    assert 0 < room < 1e3 * np.finfo(kind).eps


def test_ties_by_rounding_stay_below_the_threshold():
    # A threshold that is zero but for rounding, of scores that are not small.
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(-50.0, 1.0, size=150), np.full(50, 1e-15)])
    assert raised_by_rounding(np.sort(scores)[189:190], scores)[0] > 2e-14
