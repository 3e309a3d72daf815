"""Values of the risks against sums written out pair by pair and row by row."""

import itertools

import numpy as np
import pytest

from aucuba.risks import (
    HingeDifference,
    PairwiseHinge,
    RankWeights,
    Region,
    Sample,
    SmoothRamp,
    StructuralHinge,
    TightHinge,
    make_risk,
)
from tests.oracles import random_ranking, rank_overlap

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.2, 0.7), (0.31, 0.34), (0.0, 0.05), (0.9, 1.0)]


def ranked(positive, scores):
    """Positives from the lowest, negatives from the highest."""
    return np.sort(scores[positive]), np.sort(scores[~positive])[::-1]


def overlaps(n, limits):
    return np.array([rank_overlap(j, j + 1, n * limits[0], n * limits[1]) for j in range(n)])


def ramp(d, h):
    if d <= -h:
        return 0.0
    if d <= 0:
        return (d + h) ** 2 / (2 * h**2)
    return 1 - (h - d) ** 2 / (2 * h**2) if d < h else 1.0


def sum_over_pairs(positive, scores, limits, loss, min_tpr=0.0):
    p, q = ranked(positive, scores)
    c, b = overlaps(q.size, limits), overlaps(p.size, (0.0, 1.0 - min_tpr))
    total = sum(
        b[i] * c[j] * loss(q[j] - p[i]) for i, j in itertools.product(range(p.size), range(q.size))
    )
    return total / (b.sum() * c.sum())


def tight_bound(positive, scores, limits):
    """The convex bound: prefixes of the top beta negatives, the last one fractional."""
    p, q = ranked(positive, scores)
    n = q.size
    c = overlaps(n, limits)
    u = overlaps(n, (0.0, limits[1]))
    total = 0.0
    for value in p:
        rows = [
            sum(u[j] * (c[j] / u[j] - value + q[j]) for j in range(r))
            for r in range(int(np.ceil(n * limits[1])) + 1)
        ]
        total += max(rows)
    return total / (p.size * c.sum())


def cases(seed, count=60, max_rows=9):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        positive, scores = random_ranking(rng, max_rows=max_rows)
        yield positive, scores if rng.random() < 0.5 else scores + rng.normal(size=scores.size)


@pytest.mark.parametrize("limits", [r for r in RANGES if r[0] == 0])
def test_tight_is_the_hinge_on_the_top_negatives(limits):
    for positive, scores in cases(0):
        got = TightHinge(Sample(positive), RankWeights.from_range(limits)).value_and_gradient(
            scores
        )[0]
        want = sum_over_pairs(positive, scores, limits, lambda d: max(0.0, 1 + d))
        assert got == pytest.approx(want)


@pytest.mark.parametrize("limits", RANGES)
def test_tight_bound_is_the_best_prefix_row_by_row(limits):
    for positive, scores in cases(1):
        got = TightHinge(Sample(positive), RankWeights.from_range(limits)).value_and_gradient(
            scores
        )[0]
        assert got == pytest.approx(tight_bound(positive, scores, limits))


@pytest.mark.parametrize("limits", [(0.0, 0.4), (0.0, 1.0)])
@pytest.mark.parametrize("min_tpr", [0.3, 0.75])
def test_two_way_risks_count_the_lowest_positives(limits, min_tpr):
    weights = RankWeights.from_range(limits)
    for positive, scores in cases(2):
        hinge = TightHinge(Sample(positive), weights, min_tpr).value_and_gradient(scores)[0]
        want = sum_over_pairs(positive, scores, limits, lambda d: max(0.0, 1 + d), min_tpr)
        assert hinge == pytest.approx(want)
        smooth = SmoothRamp(Sample(positive), weights, min_tpr, 0.8).value_and_gradient(scores)[0]
        want = sum_over_pairs(positive, scores, limits, lambda d: ramp(d, 0.8), min_tpr)
        assert smooth == pytest.approx(want)


@pytest.mark.parametrize("limits", RANGES)
@pytest.mark.parametrize("width", [0.05, 0.7, 10.0])
def test_direct_is_the_sum_over_pairs(limits, width):
    weights = RankWeights.from_range(limits)
    for positive, scores in cases(3):
        # Far from zero, where sums of squares would lose their digits.
        risk = SmoothRamp(Sample(positive), weights, width=width)
        want = sum_over_pairs(positive, scores, limits, lambda d: ramp(d, width))
        assert risk.value_and_gradient(scores + 1e4)[0] == pytest.approx(want, abs=1e-7)
        assert risk.value_and_gradient(scores)[0] == pytest.approx(want)


@pytest.mark.parametrize("limits", [(0.2, 0.7), (0.31, 0.34), (0.9, 1.0)])
def test_difference_is_the_hinge_on_the_range(limits):
    for positive, scores in cases(4):
        got = HingeDifference(Sample(positive), limits).value_and_gradient(scores)[0]
        want = sum_over_pairs(positive, scores, limits, lambda d: max(0.0, 1 + d))
        assert got == pytest.approx(want, abs=1e-9)


def test_linearised_difference_bounds_it_from_above_and_touches():
    rng = np.random.default_rng(5)
    for positive, scores in cases(5):
        risk = HingeDifference(Sample(positive), (0.2, 0.7))
        convex = risk.linearised(scores)
        assert convex.value_and_gradient(scores)[0] == pytest.approx(
            risk.value_and_gradient(scores)[0], abs=1e-9
        )
        other = scores + rng.normal(size=scores.size)
        assert (
            convex.value_and_gradient(other)[0]
            >= risk.value_and_gradient(other)[0] - 1e-9
            >= risk.lower_bound - 1e-9
        )


def test_every_hinge_is_above_the_loss():
    from aucuba.metrics import partial_auc_score

    for limits in RANGES:
        weights = RankWeights.from_range(limits)
        for positive, scores in cases(6, count=30):
            scores = scores + np.arange(scores.size) * 1e-3
            loss = 1 - partial_auc_score(positive, scores, fpr_range=limits)
            for form in (TightHinge, StructuralHinge):
                assert form(Sample(positive), weights).value_and_gradient(scores)[0] >= loss - 1e-12


def test_pairwise_equals_both_forms_on_the_full_range():
    for positive, scores in cases(7, max_rows=30):
        labels = Sample(positive, np.linspace(0.5, 2, positive.size))
        value, gradient = PairwiseHinge(labels).value_and_gradient(scores)
        for form in (StructuralHinge, TightHinge):
            other, other_gradient = form(labels).value_and_gradient(scores)
            assert value == pytest.approx(other)
            np.testing.assert_allclose(gradient, other_gradient, atol=1e-12)


def test_any_weighting_of_the_rates():
    """A triangular weight, integrated over each rank."""
    for positive, scores in cases(8):
        p, q = ranked(positive, scores)
        n = q.size
        c = np.array([n * ((j + 1) ** 2 - j**2) / (2 * n**2) for j in range(n)])
        total = sum(
            c[j] * ramp(q[j] - p[i], 0.6) for i, j in itertools.product(range(p.size), range(n))
        )
        risk = SmoothRamp(Sample(positive), RankWeights.from_weight(lambda u: 3 * u), width=0.6)
        got = risk.value_and_gradient(scores)[0]
        assert got == pytest.approx(total / (p.size * c.sum()), rel=1e-6)


def test_queries_are_averaged():
    rng = np.random.default_rng(9)
    group = np.repeat([0, 1, 2], 8)
    positive = np.tile([True, False], 12)
    scores = rng.normal(size=24)
    weights = RankWeights.from_range((0.0, 0.5))
    whole = make_risk("tight", Sample(positive, None, group), Region.from_params((0.0, 0.5)))
    parts = [
        TightHinge(Sample(positive[group == k]), weights).value_and_gradient(scores[group == k])[0]
        for k in range(3)
    ]
    assert whole.value_and_gradient(scores)[0] == pytest.approx(np.mean(parts))
