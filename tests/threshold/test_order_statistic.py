"""The binomial rule against sums over all outcomes."""

import re
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.threshold import negatives_needed, threshold_rank, violation_probability
from aucuba.threshold._order_statistic import tie_safe_threshold

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


@pytest.mark.parametrize(("max_fpr", "confidence"), [(0.05, 0.95), (0.2, 0.6), (0.5, 0.5)])
@pytest.mark.parametrize("n", [1, 4, 13, 59, 60, 93, 150])
def test_rank_is_the_smallest_that_keeps_the_promise(n, max_fpr, confidence):
    allowed = 1 - Fraction(str(confidence))
    tails = binomial_tails(n, max_fpr)
    safe = [rank for rank, tail in enumerate(tails, start=1) if tail <= allowed]
    if safe:
        assert threshold_rank(n, max_fpr, confidence) == safe[0]
    else:
        with pytest.raises(ValueError, match="held-out negatives"):
            threshold_rank(n, max_fpr, confidence)


@pytest.mark.parametrize(
    ("max_fpr", "confidence", "needed"),
    [(0.05, 0.95, 59), (0.01, 0.99, 459), (0.1, 0.95, 29), (0.5, 0.5, 1), (0.1, 0.05, 1)],
)
def test_negatives_needed(max_fpr, confidence, needed):
    assert negatives_needed(max_fpr, confidence) == needed


@given(rates, rates)
def test_needed_is_where_the_largest_score_becomes_safe(max_fpr, confidence):
    n = negatives_needed(max_fpr, confidence)
    allowed = 1 - confidence
    assert (1 - max_fpr) ** n <= allowed * (1 + 1e-9)
    assert n == 1 or (1 - max_fpr) ** (n - 1) > allowed * (1 - 1e-9)
    assert 1 <= threshold_rank(n, max_fpr, confidence) <= n


def test_a_promise_kept_with_equality_needs_no_more():
    # 0.9 ** 3 = 0.729 = 1 - 0.271, which floating point misses by one rounding.
    assert 0.9**3 > 1 - 0.271
    assert negatives_needed(0.1, 0.271) == 3
    assert threshold_rank(3, 0.1, 0.271) == 3


@given(st.integers(60, 3000), st.floats(0.05, 0.5), st.floats(0.5, 0.95))
def test_rank_is_monotone_in_both_promises(n, max_fpr, confidence):
    rank = threshold_rank(n, max_fpr, confidence)
    assert threshold_rank(n, max_fpr + 0.05, confidence) <= rank
    assert threshold_rank(n, max_fpr, confidence - 0.05) <= rank
    assert threshold_rank(n + 1, max_fpr, confidence) in (rank, rank + 1)


def test_rank_of_many_negatives_is_fast_and_near_the_quantile():
    rank = threshold_rank(10_000_000, 0.05, 0.95)
    assert 0.95 < rank / 10_000_000 < 0.9502


@given(st.integers(1, 58))
def test_advice_for_too_few_negatives_works_when_followed(n):
    with pytest.raises(ValueError, match=f"at least 59 held-out negatives, got {n}\\.") as caught:
        threshold_rank(n, 0.05, 0.95)
    text = str(caught.value).split("promise less:")[1]
    rate = float(re.search(r"max_fpr=([\d.]+)", text)[1])
    sureness = float(re.search(r"confidence=([\d.]+)", text)[1])
    assert threshold_rank(n, rate, 0.95) == n
    assert threshold_rank(n, 0.05, sureness) == n


def test_no_negatives():
    with pytest.raises(ValueError, match="at least 59 held-out negatives, got 0"):
        threshold_rank(0, 0.05, 0.95)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, 5, "0.05", None, float("nan"), True])
def test_promises_lie_strictly_between_zero_and_one(bad):
    with pytest.raises(ValueError, match=r"max_fpr must .*\(0, 1\)"):
        negatives_needed(bad, 0.95)
    with pytest.raises(ValueError, match=r"confidence must .*\(0, 1\)"):
        threshold_rank(100, 0.05, bad)


def test_rank_beyond_n():
    with pytest.raises(ValueError, match="rank must be at most n_negatives=5, got 6"):
        violation_probability(6, 5, 0.1)
    with pytest.raises(ValueError, match="rank must be a whole number above 0"):
        violation_probability(0, 5, 0.1)


@pytest.mark.parametrize("bad", [1000.0, "a", True, None])
def test_number_of_negatives_is_a_whole_number(bad):
    with pytest.raises(ValueError, match="n_negatives must be a whole number, got"):
        threshold_rank(bad, 0.05, 0.95)


@pytest.mark.parametrize("n_far", [1, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scores_far_from_the_others_do_not_move_the_threshold(n_far, kind):
    scores = np.random.default_rng(0).normal(size=200).astype(kind)
    scores[:n_far] = -1e6
    threshold = tie_safe_threshold(scores, 190)
    room = threshold - np.sort(scores)[189].astype(float)
    assert 0 < room < 1e3 * np.finfo(kind).eps


def test_ties_by_rounding_stay_below_the_threshold():
    # A threshold that is zero but for rounding, of scores that are not small.
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(-50.0, 1.0, size=150), np.full(50, 1e-15)])
    assert tie_safe_threshold(scores, 190) > 2e-14
