"""Monitors of streams of which a part is labelled, with known probabilities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from aucuba.threshold import RateMonitor
from aucuba.threshold._sequences import advance_detector, log_evidence_above, log_evidence_below


@pytest.mark.parametrize("rates", [np.full(5, 0.2), np.array([0.0, 0.5, 0.1, 0.3, 0.1])])
def test_the_mean_wealth_over_all_draws_is_at_most_one(rates):
    """Every draw of labels and losses is enumerated; the mean rate is the limit."""
    chance, limit = np.array([0.1, 1.0, 0.3, 0.6, 0.1]), 0.2
    share, above, below, grown = 0.1 / chance, 0.0, 0.0, 0.0
    for states in itertools.product((None, 0, 1), repeat=5):
        known = np.array([one is not None for one in states])
        loss = np.array([one or 0 for one in states], dtype=float)
        law = np.where(known, chance * np.where(loss == 1, rates, 1 - rates), 1 - chance)
        n, s = share[known].sum(), (share * loss)[known].sum()
        above += law.prod() * np.exp(log_evidence_above(n, s, limit))
        below += law.prod() * np.exp(log_evidence_below(n, s, limit))
        if known.any() and (rates == limit).all():
            nothing = np.full(6, -np.inf)
            state = advance_detector(nothing, loss[known], limit, share[known])[0]
            grown += law.prod() * (np.exp(state).mean() - known.sum())
    assert above <= 1 + 1e-9
    assert below <= 1 + 1e-9
    assert grown <= 1e-9


def test_equal_probabilities_give_the_monitor_of_the_labelled_rows():
    rng = np.random.default_rng(0)
    flags = rng.random(700) < np.r_[np.full(400, 0.02), np.full(300, 0.2)]
    plain, part = RateMonitor(0.05), RateMonitor(0.05, min_inclusion_probability=0.25)
    for rows in np.array_split(np.arange(700), 6):
        plain.update(np.zeros(rows.size), flags[rows])
        part.update(np.zeros(rows.size), flags[rows], inclusion_probability=[0.25] * rows.size)
        assert (part.status, part.changed) == (plain.status, plain.changed)
        assert part.interval == pytest.approx(plain.interval)
        assert part.log_detector == pytest.approx(plain.log_detector)
    assert part.status == "broken"


def test_unequal_probabilities_do_not_move_the_rate():
    """Rows that are often against the limit are labelled often; the plain rate would be far off."""
    rng = np.random.default_rng(0)
    against = np.repeat([0.02, 0.2], [36_000, 4_000])
    chance = np.where(against > 0.1, 0.5, 0.05)
    order = rng.permutation(against.size)
    statuses = {}
    for limit in (0.08, 0.025):
        monitor = RateMonitor(limit, min_inclusion_probability=0.05)
        for rows in np.array_split(order, 20):
            rows = rows[rng.random(rows.size) < chance[rows]]
            flags = rng.random(rows.size) < against[rows]
            monitor.update(np.zeros(rows.size), flags, inclusion_probability=chance[rows])
        statuses[limit] = monitor.status
    assert statuses == {0.08: "ok", 0.025: "broken"}
    assert monitor.observed == pytest.approx(against.mean(), abs=0.008)
    assert monitor.interval[0] < against.mean() < monitor.interval[1]
    again = RateMonitor.from_json(monitor.to_json())
    assert again.min_inclusion_probability == 0.05
    assert again.summary() == monitor.summary()


def test_bad_probabilities_have_one_clear_error():
    monitor = RateMonitor(0.05, min_inclusion_probability=0.1)
    for given, message in [
        (None, "needs inclusion_probability"),
        ([0.5, 0.05], r"\[0.1, 1\], got values from 0.05"),
        ([0.5, 1.5], "to 1.5"),
        ([0.5], "inclusion_probability has 1 entries for 2 rows"),
        ([0.5, np.nan], "inclusion_probability"),
    ]:
        with pytest.raises(ValueError, match=message):
            monitor.update([0, 0], [0, 1], inclusion_probability=given)
    assert monitor.n_counted == 0
    with pytest.raises(ValueError, match="leave groups out"):
        monitor.update([0, 0], [0, 1], [1, 2], inclusion_probability=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"needs RateMonitor\(min_inclusion_probability"):
        RateMonitor(0.05).update([0], [0], inclusion_probability=[0.5])
    for arguments, message in [
        ({"min_inclusion_probability": 0.0}, "min_inclusion_probability must lie in"),
        ({"min_inclusion_probability": 0.5, "rate": "alerts"}, "does not go with rate='alerts'"),
        ({"min_inclusion_probability": 0.5, "label_horizon": 3}, "not go with label_horizon"),
    ]:
        with pytest.raises(ValueError, match=message):
            RateMonitor(0.05, **arguments)
