"""The region's weights against a loop over replicated rows, and what never changes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble._reweighting import region_weights


def up_to(upper_limit, min_tpr=0.0):
    return Region.from_params((0.0, upper_limit), None, min_tpr)


def logistic(x):
    return 1 / (1 + math.exp(-min(max(x, -500), 500)))


def weights_by_loop(scores, positive, upper_limit, strength, min_tpr=0.0):
    """The docstring's formula, one row after another, for rows that count once."""

    def first_below(rows, rate):
        ranked = sorted(rows, reverse=True)
        return ranked[min(math.floor(rate * len(ranked) + 1e-9), len(ranked) - 1)]

    end = first_below(scores[~positive], upper_limit)
    twice = first_below(scores[~positive], 2 * upper_limit)
    highest = first_below(scores[positive], min_tpr) if min_tpr else math.inf
    sd = math.sqrt(sum((s - sum(scores) / len(scores)) ** 2 for s in scores) / len(scores))
    raw = []
    for s, is_positive in zip(scores, positive, strict=True):
        if is_positive:
            bump = math.exp(-(((s - min(end, highest)) / (0.5 * sd)) ** 2) / 2)
            bump *= 1.0 if highest == math.inf else logistic((highest - s) / (0.1 * sd))
        else:
            bump = logistic((s - twice) / (0.1 * sd))
        raw.append(1 + (strength - 1) * bump)
    raw = np.array(raw)
    return np.where(positive, raw / raw[positive].mean(), raw / raw[~positive].mean())


@st.composite
def samples(draw):
    n = draw(st.integers(4, 20))
    scores = np.array(draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n)), dtype=float)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = True, False
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    scores[0] += 0.5
    return scores, positive, weight


UPPER_LIMITS = st.sampled_from([0.05, 0.2, 0.5, 0.9])
LOWEST_TPRS = st.sampled_from([0.0, 0.25, 0.8])


@given(samples(), UPPER_LIMITS, LOWEST_TPRS, st.sampled_from([1.0, 3.0, 10.0]))
def test_equals_the_loop(sample, upper_limit, min_tpr, strength):
    scores, positive, _ = sample
    got = region_weights(scores, Sample(positive), up_to(upper_limit, min_tpr), strength)
    expected = weights_by_loop(scores, positive, upper_limit, strength, min_tpr)
    assert got == pytest.approx(expected, rel=1e-9)


@given(samples(), UPPER_LIMITS, LOWEST_TPRS)
def test_weights_are_replication(sample, upper_limit, min_tpr):
    scores, positive, weight = sample
    region = up_to(upper_limit, min_tpr)
    copies = np.repeat(np.arange(scores.size), weight.astype(int))
    got = region_weights(scores, Sample(positive, weight), region, 3.0)
    replicated = region_weights(scores[copies], Sample(positive[copies]), region, 3.0)
    assert got[copies] == pytest.approx(replicated, rel=1e-9)


@given(samples(), st.floats(0.5, 4.0), st.floats(-3.0, 3.0))
def test_unit_of_scores_and_of_weights_does_not_matter(sample, factor, shift):
    scores, positive, weight = sample
    got = region_weights(scores, Sample(positive, weight), up_to(0.3), 3.0)
    moved = region_weights(factor * scores + shift, Sample(positive, 4.0 * weight), up_to(0.3), 3.0)
    assert moved == pytest.approx(got, rel=1e-6)


def test_attention_goes_to_the_top_negatives_and_to_positives_at_the_end_of_the_range():
    scores = np.concatenate([np.linspace(0, 1, 100), [0.2, 0.9, 3.0]])
    positive = np.arange(103) >= 100
    weights = region_weights(scores, Sample(positive), up_to(0.1), 5.0)
    assert weights[99] == weights[~positive].max() > 2 * weights[0]
    assert weights[101] == weights[positive].max()


def test_constant_scores_leave_all_rows_equal():
    weights = region_weights(np.zeros(5), Sample(np.arange(5) < 2), up_to(0.2), 3.0)
    assert np.all(weights == 1.0)


def test_positives_above_the_lowest_tpr_get_no_attention():
    scores = np.concatenate([np.linspace(0, 1, 100), [0.85, 0.9, 1.15, 1.2]])
    positive = np.arange(104) >= 100
    whole, lower = (
        region_weights(scores, Sample(positive), up_to(0.1, min_tpr), 5.0) for min_tpr in (0.0, 0.5)
    )
    assert whole[102] > 1.1 * whole[103]
    assert lower[102] == pytest.approx(lower[103], rel=1e-2)
    assert lower[101] > 2 * lower[102]
    np.testing.assert_array_equal(lower[~positive], whole[~positive])


def test_a_weight_of_the_rates_counts_through_the_last_of_them():
    scores = np.random.default_rng(0).normal(size=60)
    sample = Sample(np.arange(60) % 3 == 0)
    until = Region.from_params((0.0, 1.0), lambda u: np.where(u < 0.25, 1.0, 0.0))
    assert region_weights(scores, sample, until, 3.0) == pytest.approx(
        region_weights(scores, sample, up_to(until.upper_limit), 3.0)
    )
    assert until.upper_limit == pytest.approx(0.25, abs=1e-3)
