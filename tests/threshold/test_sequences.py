"""Evidence that may be looked at as often as one likes: exact martingales, and simulated streams."""

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, binom

from aucuba.threshold._sequences import (
    CHANGES,
    advance_detector,
    advance_detector_by_counts,
    detector_bets,
    log_evidence_above,
    log_evidence_below,
    lower_limit,
    upper_limit,
)


def above(n, s, limit):
    return np.exp(log_evidence_above(np.array([n * 1.0]), np.array([s * 1.0]), limit)[0])


def below(n, s, limit):
    return np.exp(log_evidence_below(np.array([n * 1.0]), np.array([s * 1.0]), limit)[0])


@pytest.mark.parametrize("limit", [0.02, 0.3, 0.8])
@pytest.mark.parametrize(("n", "s"), [(0, 0), (7, 0), (12, 5), (20, 20), (9, 2.5)])
def test_mixtures_are_the_integrals(n, s, limit):
    def ratio(q):
        return (q / limit) ** s * ((1 - q) / (1 - limit)) ** (n - s)

    def average(prior, low, high):
        mass = prior.cdf(high) - prior.cdf(low)
        return quad(lambda q: ratio(q) * prior.pdf(q), low, high, limit=200)[0] / mass

    spread = beta(0.5, 0.5)
    expected = (average(beta(1, 1 / limit), limit, 1) + average(spread, limit, 1)) / 2
    assert above(n, s, limit) == pytest.approx(expected, rel=1e-6)
    assert below(n, s, limit) == pytest.approx(average(spread, 0, limit), rel=1e-6)


@pytest.mark.parametrize("limit", [0.05, 0.4])
@pytest.mark.parametrize("evidence", [above, below])
def test_one_more_row_is_a_fair_game_at_the_limit(evidence, limit):
    for n in range(8):
        for s in range(n + 1):
            now = evidence(n, s, limit)
            then = limit * evidence(n + 1, s + 1, limit) + (1 - limit) * evidence(n + 1, s, limit)
            assert then == pytest.approx(now, rel=1e-9)


def test_a_rate_within_the_limit_only_loses():
    limit = 0.3
    for rate in (0.0, 0.1, 0.29):
        for n, s in ((0, 0), (5, 1), (9, 6)):
            then = rate * above(n + 1, s + 1, limit) + (1 - rate) * above(n + 1, s, limit)
            assert then < above(n, s, limit)
            # A loss of 1/2 with probability 2 * rate has the same mean and wins no more.
            halves = 2 * rate * above(n + 1, s + 0.5, limit)
            assert halves + (1 - 2 * rate) * above(n + 1, s, limit) < above(n, s, limit)


@pytest.mark.parametrize("kind", ["at the limit", "drifting below it"])
def test_false_alarms_over_all_looks(kind):
    limit, n_rows, n_streams = 0.1, 2000, 400
    rng = np.random.default_rng(0)
    rate = np.full(n_rows, limit)
    if kind != "at the limit":
        rate = limit * (0.75 + 0.25 * np.sin(np.arange(n_rows) / 150))
    n = np.arange(1.0, n_rows + 1)
    alarms = 0
    for _ in range(n_streams):
        bad = rng.uniform(size=n_rows) < rate
        # A row that does not count against the limit only lowers the evidence.
        s = np.cumsum(bad).astype(float)[bad]
        alarms += log_evidence_above(n[bad], s, limit).max() >= log(20)
    assert alarms <= binom.ppf(0.9999, n_streams, 0.05)
    if kind == "at the limit":
        assert alarms > 3


@given(st.integers(1, 5000), st.floats(0, 1), st.sampled_from([0.05, 0.2]))
def test_limits_are_where_the_evidence_reaches_its_level(n, fraction, error):
    s = round(fraction * n)
    low, high = lower_limit(n, s, error), upper_limit(n, s, error)
    assert 0 <= low <= s / n <= high <= 1
    if low > 0:
        assert above(n, s, low) == pytest.approx(1 / error, rel=1e-5)
    if high < 1:
        assert below(n, s, high) == pytest.approx(1 / error, rel=1e-5)


def test_limits_hold_for_all_sample_sizes_at_once():
    rng = np.random.default_rng(1)
    rate, missed = 0.2, {"low": 0, "high": 0}
    looks = np.unique(np.geomspace(1, 2000, 15).astype(int))
    for _ in range(150):
        s = np.cumsum(rng.uniform(size=2000) < rate)[looks - 1]
        pairs = list(zip(looks.tolist(), s.tolist(), strict=True))
        missed["low"] += any(lower_limit(n, k, 0.1) > rate for n, k in pairs)
        missed["high"] += any(upper_limit(n, k, 0.1) < rate for n, k in pairs)
    assert max(missed.values()) <= binom.ppf(0.9999, 150, 0.1)


def test_before_any_row():
    assert (lower_limit(0, 0, 0.05), upper_limit(0, 0, 0.05)) == (0.0, 1.0)
    assert above(0, 0, 0.1) == pytest.approx(1)


class TestDetector:
    def test_is_the_recursion(self):
        rng = np.random.default_rng(0)
        losses, limit = rng.uniform(size=50), 0.3
        bets = detector_bets(limit)
        state, expected = np.zeros(len(CHANGES)), []
        for loss in losses:
            state = (1 + bets * (loss - limit)) * (state + 1)
            expected.append(state)
        start = np.full(len(CHANGES), -np.inf)
        found, averages = advance_detector(start, losses, limit)
        np.testing.assert_allclose(np.exp(found), expected[-1])
        np.testing.assert_allclose(np.exp(averages), np.mean(expected, axis=1))
        first, _ = advance_detector(start, losses[:20], limit)
        np.testing.assert_allclose(advance_detector(first, losses[20:], limit)[0], found)

    @pytest.mark.parametrize("limit", [1e-4, 0.05, 0.9, 0.999])
    @pytest.mark.parametrize("kind", ["none", "all", "some"])
    def test_blocks_of_rows_neither_overflow_nor_vanish(self, limit, kind):
        losses = {"none": np.zeros(3000), "all": np.ones(3000)}.get(kind)
        if losses is None:
            losses = (np.random.default_rng(0).uniform(size=3000) < limit).astype(float)
        growth = np.log1p(np.outer(losses - limit, detector_bets(limit)))
        state = np.full(len(CHANGES), -np.inf)
        averages = []
        for row in growth:
            state = row + np.logaddexp(state, 0.0)
            averages.append(np.logaddexp.reduce(state) - log(len(CHANGES)))
        found, found_averages = advance_detector(np.full(len(CHANGES), -np.inf), losses, limit)
        np.testing.assert_allclose(found, state, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found_averages, averages, rtol=1e-9, atol=1e-9)

    def test_bets_never_lose_everything(self):
        for limit in (1e-4, 0.05, 0.5, 0.99):
            bets = detector_bets(limit)
            assert np.all(bets > 0)
            assert np.all(1 - bets * limit > 0)

    @pytest.mark.parametrize("by_counts", [False, True])
    def test_state_grows_by_one_per_row_on_average(self, by_counts):
        # Exactly, by enumeration of the outcomes of four rows at the limit.
        limit, n, start = 0.2, 4, np.full(len(CHANGES), log(3.0))
        total = np.zeros(len(CHANGES))
        for s in range(n + 1):
            chance = comb(n, s) * limit**s * (1 - limit) ** (n - s)
            if by_counts:
                total += chance * np.exp(advance_detector_by_counts(start, n, s, limit))
            else:
                orders = [o for o in np.ndindex(*(2,) * n) if sum(o) == s]
                each = chance / len(orders)
                for order in orders:
                    losses = np.array(order, dtype=float)
                    total += each * np.exp(advance_detector(start, losses, limit)[0])
        np.testing.assert_allclose(total, 3.0 + n)
