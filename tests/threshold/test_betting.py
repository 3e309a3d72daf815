"""The betting bound: a fair game at worst, and monotone."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.threshold._betting import bets, log_wealth, units_needed


def mean_wealth(values, probabilities, fractions, n):
    """E of the wealth, summed over all sequences of n units."""
    total = 0.0
    for places in product(range(len(values)), repeat=n):
        probability = math.prod(probabilities[place] for place in places)
        if probability:
            total += probability * math.exp(log_wealth(np.take(values, places), fractions))
    return total


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.7])
def test_wealth_is_fair_where_the_mean_is_the_limit(rate):
    n = 6
    fractions = bets(n, rate, 1 - rate, 0.05)
    # A loss of 0, 1/2 or 1, of mean `rate`, less the rate.
    half = 0.6 * min(rate, 1 - rate)
    probabilities = [1 - rate - half / 2, half, rate - half / 2]
    values = np.array([0.0, 0.5, 1.0]) - rate
    assert np.dot(values, probabilities) == pytest.approx(0, abs=1e-12)
    assert mean_wealth(values, probabilities, fractions, n) == pytest.approx(1.0)
    worse = [probabilities[0] - 0.02, probabilities[1], probabilities[2] + 0.02]
    assert mean_wealth(values, worse, fractions, n) < 1.0


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.integers(0, 29),
    st.floats(0.01, 0.5),
    st.randoms(),
)
def test_wealth_falls_with_every_loss_and_ignores_the_order(losses, place, rate, shuffler):
    fractions = bets(len(losses), rate, 1 - rate, 0.05)
    excess = np.array(losses) - rate
    wealth = log_wealth(excess, fractions)
    more = excess.copy()
    more[place % len(losses)] = 1 - rate
    assert log_wealth(more, fractions) <= wealth + 1e-9
    shuffler.shuffle(losses)
    shuffled = log_wealth(np.array(losses) - rate, fractions)
    assert shuffled == pytest.approx(wealth, abs=1e-9)


@pytest.mark.parametrize("rate", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("error", [0.2, 0.05, 1e-3])
def test_units_needed_is_where_a_flawless_sample_certifies(rate, error):
    def certified(n):
        return log_wealth(np.full(n, -rate), bets(n, rate, 1 - rate, error)) >= -math.log(error)

    needed = units_needed(rate, 1 - rate, error)
    assert certified(needed)
    assert needed == 1 or not certified(needed - 1)
    # The boldest of two bets is the exact rule with half of the error.
    assert needed <= math.ceil(math.log(error / 2) / math.log1p(-rate))


def test_bets_risk_no_more_than_everything():
    for n in (1, 50, 10_000, 10**7):
        fractions = bets(n, 0.02, 1.96, 0.05)
        assert fractions.max() == pytest.approx(1 / 1.96)
        assert np.all(np.diff(fractions) > 0)
    assert log_wealth(np.array([1.96]), np.array([1 / 1.96])) == -np.inf
