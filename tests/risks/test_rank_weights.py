import itertools

import numpy as np
import pytest

from aucuba.risks import RankWeights
from tests.oracles import rank_overlap

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.2, 0.45), (0.31, 0.32), (0.5, 1.0)]


@pytest.mark.parametrize("fpr_range", RANGES)
def test_a_range_weighs_the_overlap_of_every_rank(fpr_range):
    weights = RankWeights.from_range(fpr_range)
    for n in (1, 3, 7, 20):
        want = [rank_overlap(j, j + 1, n * fpr_range[0], n * fpr_range[1]) for j in range(n)]
        np.testing.assert_allclose(weights.between(np.arange(n + 1.0), n), want, atol=1e-12)
    assert weights.total == pytest.approx(fpr_range[1] - fpr_range[0])
    assert weights.last_rate == fpr_range[1]
    assert weights.is_uniform == (fpr_range == (0.0, 1.0))


@pytest.mark.parametrize(
    ("density", "integral"),
    [
        (lambda u: 5 * (1 - u), lambda u: u - u**2 / 2),
        (lambda u: np.exp(-3 * u), lambda u: (1 - np.exp(-3 * u)) / 3),
    ],
)
def test_a_function_is_integrated_and_scaled_to_a_maximum_of_one(density, integral):
    weights = RankWeights.from_weight(density)
    rate = np.array([0.0, 0.003217, 0.25, 0.60001, 1.0])
    np.testing.assert_allclose(weights.cumulated(rate), integral(rate), atol=1e-8)
    assert weights.total == pytest.approx(integral(1.0), abs=1e-8)
    edges = np.array([0.0, 0.7, 2.0, 5.0])
    np.testing.assert_allclose(
        weights.between(edges, 5.0), 5 * np.diff(integral(edges / 5)), atol=1e-7
    )


def test_a_density_is_linear_between_its_knots():
    falling = RankWeights(np.array([0.0, 1.0]), np.array([0.0, 0.5]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(falling.cumulated(np.array([0.5, 2.0])), [0.375, 0.5])


def test_the_envelope_never_rises_and_stays_above():
    plain = RankWeights.from_range((0.2, 0.45)).envelope()
    assert (plain.total, plain.last_rate) == (0.45, 0.45)
    hump = RankWeights.from_weight(lambda u: u * (1 - u)).envelope()
    want = np.where(hump.knots < 0.5, 1.0, 4 * hump.knots * (1 - hump.knots))
    np.testing.assert_allclose(hump.density, want, atol=1e-12)


def test_a_function_may_be_constant():
    constant = RankWeights.from_weight(lambda u: 2.0)
    assert constant.total == pytest.approx(1.0)
    np.testing.assert_allclose(constant.between(np.arange(6.0), 5.0), 1.0)


@pytest.mark.parametrize("bad", [lambda u: -u, lambda u: 0 * u, lambda u: np.full_like(u, np.nan)])
def test_a_function_without_usable_weights_is_refused(bad):
    with pytest.raises(ValueError, match="fpr_weight must return finite, non-negative weights"):
        RankWeights.from_weight(bad)


def test_a_function_of_one_rate_at_a_time():
    def branching(rate):
        return 1.0 if rate <= 0.25 else 0.5

    def vectorised(rate):
        return np.where(rate <= 0.25, 1.0, 0.5)

    one, many = RankWeights.from_weight(branching), RankWeights.from_weight(vectorised)
    np.testing.assert_array_equal(one.integral, many.integral)


@pytest.mark.parametrize(
    "weights",
    [
        RankWeights.from_range((0.0, 0.3)),
        RankWeights.from_range((0.25, 0.5)),
        RankWeights.from_weight(lambda u: u * (1 - u)),
    ],
)
def test_mean_of_the_integral_keeps_its_digits_over_small_gaps(weights):
    nodes, share = np.polynomial.legendre.leggauss(8)
    for low in (0.0, 0.1, 0.2 - 1e-13, 0.25 - 3e-14, 0.3 - 1e-16, 0.4, 0.7):
        for gap in (0.0, 1e-16, 1e-13, 1e-9, 1e-6):
            high = low + gap
            # G is a polynomial on either side of a knot.
            knots = weights.knots[(weights.knots > low) & (weights.knots < high)]
            edges = np.concatenate([[low], knots, [high]])
            if gap > 0:
                parts = [
                    np.average(weights.cumulated((a + b) / 2 + (b - a) / 2 * nodes), weights=share)
                    for a, b in itertools.pairwise(edges)
                ]
                want = np.average(parts, weights=np.diff(edges)) if high > low else parts[0]
            else:
                want = weights.cumulated(np.array(low))
            got = weights.mean_cumulated(np.array([low]), np.array([high]))[0]
            assert got == pytest.approx(want, rel=1e-13, abs=1e-16)


def test_limits_that_rounding_has_swapped_are_one_rate():
    weights = RankWeights.from_weight(lambda u: np.exp(-3 * u))
    low = weights.knots[1:-1]
    high = np.nextafter(low, 0.0)
    np.testing.assert_allclose(
        weights.mean_cumulated(low, high), weights.cumulated(low), rtol=1e-12
    )
