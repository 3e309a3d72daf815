"""Tests in a fixed order: who is rejected, and how often a true hypothesis is."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.threshold._precision_rule import binomial_p_value, last_rejected


def by_hand(p_values, starts, error):
    """All rejections, by definition: a start brings its part of the level, a failure loses it."""
    rejected, level = [], 0.0
    for i, p in enumerate(p_values):
        level += sum(error / len(starts) for start in starts if start == i)
        if level and p <= level:
            rejected.append(i)
        else:
            level = 0.0
    return rejected


@given(
    st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.03, 0.05, 0.4]), min_size=1, max_size=12),
    st.lists(st.integers(0, 11), min_size=1, max_size=3),
)
def test_against_the_definition(p_values, starts):
    starts = sorted(min(start, len(p_values) - 1) for start in starts)
    rejected = by_hand(p_values, starts, 0.05)
    last = last_rejected(len(p_values), starts, 0.05, p_values.__getitem__)
    assert last == (rejected[-1] if rejected else None)


def test_one_start_stops_at_the_first_failure():
    p_values = [0.01, 0.05, 0.06, 0.0]
    assert last_rejected(4, [0], 0.05, p_values.__getitem__) == 1
    assert last_rejected(4, [0, 0, 3], 0.05, p_values.__getitem__) == 3


@pytest.mark.parametrize("true_from", [0, 1, 4, 7])
def test_true_hypotheses_are_rarely_rejected(true_from):
    # The worst case: everything before is rejected for sure, the rest is true and independent.
    rng = np.random.default_rng(true_from)
    n_sets, errors = 20_000, 0
    for p in rng.uniform(size=(n_sets, 9)):
        p[:true_from] = 0.0
        last = last_rejected(9, [0, 2, 5], 0.1, p.__getitem__)
        errors += last is not None and last >= true_from
    assert errors / n_sets <= 0.1 + 4 * np.sqrt(0.09 / n_sets)


@pytest.mark.parametrize("n", [1, 5, 20])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_binomial_p_value_is_the_lower_tail(n, rate):
    a = Fraction(str(rate))
    for k in range(n + 1):
        exact = sum(comb(n, j) * a**j * (1 - a) ** (n - j) for j in range(k + 1))
        assert binomial_p_value(k, n, rate) == pytest.approx(float(exact))
    assert binomial_p_value(0, 0, rate) == 1.0
