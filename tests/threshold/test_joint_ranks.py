"""Ranks that keep several rates at once, against sums over all outcomes."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from aucuba.threshold._order_statistic import (
    joint_ranks,
    joint_violation,
    rows_for_a_rank,
    threshold_rank,
    violation_probability,
)


def kept_by_enumeration(ranks, n, rates):
    """P(every rate is kept), summed over how many scores fall between the quantiles."""
    order = np.argsort(rates)[::-1]
    limits = [Fraction(str(rates[i])) for i in order]
    needed = [n + 1 - ranks[i] for i in order]
    cells = [1 - limits[0]] + [a - b for a, b in zip(limits, [*limits[1:], 0], strict=True)]
    total = Fraction(0)
    for counts in product(range(n + 1), repeat=len(cells) - 1):
        if sum(counts) > n:
            continue
        full = (*counts, n - sum(counts))
        above = [sum(full[i + 1 :]) for i in range(len(limits))]
        if all(a >= m for a, m in zip(above, needed, strict=True)):
            left, probability = n, Fraction(1)
            for count, cell in zip(full, cells, strict=True):
                probability *= comb(left, count) * cell**count
                left -= count
            total += probability
    return total


@pytest.mark.parametrize("rates", [[0.5, 0.2], [0.2, 0.5], [0.6, 0.3, 0.1]])
@pytest.mark.parametrize("n", [4, 9])
def test_joint_violation_is_the_sum_over_outcomes(n, rates):
    for shift in (0, 1, 2):
        ranks = [max(1, round(n * (1 - rate)) + shift) for rate in rates]
        ranks = [min(rank, n) for rank in ranks]
        exact = 1 - kept_by_enumeration(ranks, n, rates)
        assert joint_violation(ranks, n, rates) == pytest.approx(float(exact), abs=1e-11)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0.02, 0.05, 0.1, 0.2, 0.4]), min_size=2, max_size=5, unique=True),
    st.integers(250, 2000),
    st.sampled_from([0.05, 0.1, 0.3]),
)
def test_joint_ranks_keep_their_word_and_beat_bonferroni(rates, n, error):
    n = max(n, rows_for_a_rank(min(rates), error / len(rates)))
    ranks = joint_ranks(n, rates, error)
    assert joint_violation(ranks.tolist(), n, rates) <= error
    for rank, rate in zip(ranks, rates, strict=True):
        assert threshold_rank(n, rate, error) <= rank
        assert rank <= threshold_rank(n, rate, error / len(rates))
        assert violation_probability(int(rank), n, rate) <= error


def test_five_rates_in_simulation():
    rates, n, n_sets = np.array([0.01, 0.02, 0.05, 0.1, 0.2]), 2000, 4000
    scores = np.sort(np.random.default_rng(0).uniform(size=(n_sets, n)), axis=1)
    ranks = joint_ranks(n, rates.tolist(), 0.05)
    broken = ((1 - scores[:, ranks - 1]) > rates).any(axis=1).sum()
    expected = joint_violation(ranks.tolist(), n, rates.tolist())
    low, high = binom.ppf([1e-4, 1 - 1e-4], n_sets, expected)
    assert 0.04 < expected <= 0.05
    assert low <= broken <= high
    single = np.array([threshold_rank(n, rate, 0.05) for rate in rates])
    assert ((1 - scores[:, single - 1]) > rates).any(axis=1).mean() > 0.12


def test_very_many_rows_fall_back_to_bonferroni():
    rates = [0.01, 0.1, 0.4]
    expected = [threshold_rank(2_000_000, rate, 0.05 / 3) for rate in rates]
    assert joint_ranks(2_000_000, rates, 0.05).tolist() == expected
