"""Rates of flagged rows: counted piece by piece, with intervals and a verdict on a limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from aucuba._roc._flagged import FlaggedRate, FlaggedRows, StatedLimit
from aucuba.metrics import rates_at_threshold, score_interval

RATES = ("tpr", "fpr", "precision", "npv", "alert_rate")


def drawn(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < 0.4
    positive[:2] = True, False
    return positive, rng.normal(size=n_rows) + positive, rng.integers(1, 5, n_rows).astype(float)


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_pieces_agree_with_the_metrics_of_all_rows(rate, weighted):
    positive, score, weight = drawn(0)
    weight = weight if weighted else None
    rows = FlaggedRows()
    for part in np.array_split(np.arange(60), 7):
        given = None if weight is None else weight[part]
        rows.update(positive[part], score[part] > 0.5, given)
    got = rows.rate(rate)
    params = {"threshold": np.nextafter(0.5, 1), "sample_weight": weight}
    assert got.value == pytest.approx(getattr(rates_at_threshold(positive, score, **params), rate))
    method = "wilson" if weighted else "exact"
    want = score_interval("rate_at_threshold", positive, score, rate=rate, method=method, **params)
    assert (got.low, got.high) == pytest.approx((want.low, want.high))
    flagged = np.ones(60) if weight is None else weight
    assert rows.n_flagged == flagged[score > 0.5].sum()


def test_a_rate_without_rows():
    rows = FlaggedRows()
    rows.update(np.array([True, False]), np.array([False, False]))
    precision = rows.rate("precision")
    assert np.isnan(precision.value)
    assert (precision.low, precision.high) == (0.0, 1.0)
    assert precision.verdict(0.5, at_most=False) == "not decided by these rows"


@given(low=st.floats(0, 1), width=st.floats(0, 1), limit=st.floats(0, 1))
def test_the_verdict_follows_the_whole_interval(low, width, limit):
    high = min(low + width, 1.0)
    rate = FlaggedRate((low + high) / 2, low, high)
    for at_most in (True, False):
        verdict = rate.verdict(limit, at_most=at_most)
        kept = [(one <= limit) if at_most else (one >= limit) for one in (low, high)]
        assert (verdict == "within") == all(kept)
        assert (verdict == "violated") == (not any(kept))


def test_rates_at_another_prevalence_join_exact_limits_of_both_classes():
    rows = FlaggedRows()
    # 30 of 40 positives and 10 of 200 negatives are flagged.
    positive = np.repeat([True, False], [40, 200])
    flagged = np.r_[np.arange(40) < 30, np.arange(200) < 10]
    rows.update(positive, flagged)
    limits = {
        name: [beta.ppf(q, hits + (q > 0.5), n - hits + (q < 0.5)) for q in (0.0125, 0.9875)]
        for name, hits, n in (("tpr", 30, 40), ("fpr", 10, 200))
    }
    (t0, t1), (f0, f1) = limits["tpr"], limits["fpr"]

    def precision(p, t, f):
        return p * t / (p * t + (1 - p) * f)

    def npv(p, t, f):
        return (1 - p) * (1 - f) / ((1 - p) * (1 - f) + p * (1 - t))

    # Of an interval the lower end counts for the precision, the upper for the others.
    found = rows.rate("precision", (0.01, 0.3))
    want = precision(0.01, 0.75, 0.05), precision(0.01, t0, f1), precision(0.01, t1, f0)
    assert (found.value, found.low, found.high) == pytest.approx(want)
    found = rows.rate("npv", (0.01, 0.3))
    want = npv(0.3, 0.75, 0.05), npv(0.3, t0, f1), npv(0.3, t1, f0)
    assert (found.value, found.low, found.high) == pytest.approx(want)
    found = rows.rate("alert_rate", (0.01, 0.3))
    want = 0.3 * 0.75 + 0.7 * 0.05, 0.3 * t0 + 0.7 * f0, 0.3 * t1 + 0.7 * f1
    assert (found.value, found.low, found.high) == pytest.approx(want)
    assert rows.rate("tpr", (0.01, 0.3)) == rows.rate("tpr")
    at_own = rows.rate("precision", (1 / 6, 1 / 6))
    assert at_own.value == pytest.approx(rows.rate("precision").value)


def test_rates_of_nothing_flagged_at_a_prevalence():
    rows = FlaggedRows()
    rows.update(np.array([True, False]), np.array([False, False]))
    found = rows.rate("precision", (0.1, 0.1))
    assert np.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_limit_is_judged_at_the_prevalence_that_it_is_for():
    rows = FlaggedRows()
    rows.update(np.repeat([True, False], [40, 200]), np.r_[np.arange(40) < 30, np.arange(200) < 10])
    here = StatedLimit("precision", 0.5, False, True)
    rare = StatedLimit("precision", 0.5, False, True, (0.001, 0.001))
    assert [one.verdict(rows) for one in (here, rare)] == ["within", "violated"]
    assert str(rare) == "at least 0.5, promised at prevalence 0.001"
    assert str(here) == "at least 0.5, promised"
