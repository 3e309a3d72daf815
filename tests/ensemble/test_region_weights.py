"""The region's weights against a loop over replicated rows, and what never changes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba._roc._region import Region
from aucuba._roc._sample import Sample
from aucuba.ensemble._weights import region_weights


def up_to(upper_limit):
    return Region.from_params((0.0, upper_limit))


def weights_by_loop(scores, positive, upper_limit, strength):
    """The docstring's formula, one row after another, for rows that count once."""
    ranked = sorted(scores[~positive], reverse=True)
    n = len(ranked)

    def first_below(rate):
        return ranked[min(math.floor(rate * n + 1e-9), n - 1)]

    end, twice = first_below(upper_limit), first_below(2 * upper_limit)
    sd = math.sqrt(sum((s - sum(scores) / len(scores)) ** 2 for s in scores) / len(scores))
    raw = []
    for s, is_positive in zip(scores, positive, strict=True):
        if is_positive:
            bump = math.exp(-(((s - end) / (0.5 * sd)) ** 2) / 2)
        else:
            bump = 1 / (1 + math.exp(-min(max((s - twice) / (0.1 * sd), -500), 500)))
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


@given(samples(), st.sampled_from([0.05, 0.2, 0.5, 0.9]), st.sampled_from([1.0, 3.0, 10.0]))
def test_equals_the_loop(sample, upper_limit, strength):
    scores, positive, _ = sample
    got = region_weights(scores, Sample(positive), up_to(upper_limit), strength)
    assert got == pytest.approx(weights_by_loop(scores, positive, upper_limit, strength), rel=1e-9)


@given(samples(), st.sampled_from([0.1, 0.3, 0.7]))
def test_weights_are_replication(sample, upper_limit):
    scores, positive, weight = sample
    copies = np.repeat(np.arange(scores.size), weight.astype(int))
    got = region_weights(scores, Sample(positive, weight), up_to(upper_limit), 3.0)
    replicated = region_weights(scores[copies], Sample(positive[copies]), up_to(upper_limit), 3.0)
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
