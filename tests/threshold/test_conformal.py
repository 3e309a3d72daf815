"""Conformal p-values against counting one by one, and their laws by enumeration and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from aucuba.threshold._conformal import (
    NegativeScores,
    conditional_steps,
    p_values,
    selected,
    smallest_p_value,
)
from aucuba.threshold._order_statistic import joint_violation

grid = st.integers(-3, 3).map(float)
key = st.integers(0, 1000).map(lambda k: k / 1001)


def sorted_negatives(score, key):
    if key is None:
        return NegativeScores(np.sort(score), None)
    order = np.lexsort((key, score))
    return NegativeScores(score[order], key[order])


@given(st.lists(st.tuples(grid, key), max_size=12), st.lists(st.tuples(grid, key), max_size=6))
def test_counts_as_one_by_one(negatives, rows):
    score, keys = (np.array([one[k] for one in negatives]) for k in (0, 1))
    new, new_keys = (np.array([one[k] for one in rows]) for k in (0, 1))
    found = sorted_negatives(score, keys).count_above(new, new_keys)
    assert found.tolist() == [sum(one >= row for one in negatives) for row in rows]
    against = sorted_negatives(score, None).count_above(new, None)
    assert against.tolist() == [int(np.sum(score >= s)) for s in new]


def test_rounding_does_not_lift_ties_over_the_negatives():
    score = np.array([0.1 + 0.2] * 30 + [0.0] * 70)
    new = np.array([0.3, 0.1 + 0.2, np.nextafter(0.1 + 0.2, 1)])
    found = sorted_negatives(score, None).count_above(new, None)
    assert found.tolist() == [30, 30, 30]


@pytest.mark.parametrize("levels", [[0, 1, 2, 3, 4], [0, 0, 1, 1, 1], [2, 2, 2, 2, 2]])
def test_a_negative_has_a_uniform_p_value(levels):
    """Over all orders of exchangeable rows and of their keys, each p-value is as frequent."""
    keys = np.linspace(0.1, 0.9, 5)
    counts = np.zeros(5, dtype=int)
    for order in itertools.permutations(range(5)):
        score = np.array(levels, dtype=float)[list(order)]
        for place in itertools.permutations(range(5)):
            drawn = keys[list(place)]
            above = sorted_negatives(score[1:], drawn[1:]).count_above(score[:1], drawn[:1])
            counts[round(5 * p_values(above, 4, 0.1, None)[0]) - 1] += 1
    assert (counts == counts[0]).all()


@given(
    st.lists(st.integers(1, 40).map(lambda k: k / 40), max_size=30),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_selects_as_scipy(p, max_fdr):
    p = np.array(p)
    expected = false_discovery_control(p) <= max_fdr + 1e-12 if p.size else np.zeros(0, bool)
    assert selected(p, max_fdr).tolist() == expected.tolist()


@pytest.mark.parametrize("n", [40, 300, 5_000])
def test_conditional_rates_hold_together(n):
    rates, most_above = conditional_steps(n, 0.2, 0.1)
    assert (np.diff(rates) > 0).all()
    assert (np.diff(most_above) >= 0).all()
    assert joint_violation(n - most_above, n, rates.tolist()) <= 0.1 + 1e-9
    # The rates are not needlessly safe: the first is little above its limit alone, and the others lie
    # within few standard errors of their ranks.
    assert n * rates[0] < -1.45 * np.log(0.1)
    ranks = most_above + 1
    assert (n * rates < ranks + 3.5 * np.sqrt(ranks) + 4).all()


def test_conditional_p_values_bound_the_rate_of_most_calibrations():
    """Uniform scores, so that the rate of a threshold is known."""
    rng = np.random.default_rng(0)
    n, error, wrong = 200, 0.1, 0
    rates, most_above = conditional_steps(n, 0.2, error)
    for _ in range(2_000):
        ranked = np.sort(rng.random(n))[::-1]
        true = 1 - ranked[most_above]
        wrong += (true > rates).any()
    assert 0.05 * 2_000 < wrong <= (error + 3 * np.sqrt(error / 2_000)) * 2_000


def test_smallest_p_value():
    assert smallest_p_value(99, 0.1, None) == pytest.approx(0.01)
    assert smallest_p_value(99, 0.1, 0.05) > 0.01
    # Too few rows for any rate below max_fdr: nothing can be selected.
    assert smallest_p_value(5, 0.1, 0.05) == 1.0
    assert smallest_p_value(0, 0.1, None) == 1.0
