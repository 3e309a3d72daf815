"""Weights of the rows, where the contract tests cannot tell right from wrong."""

import numpy as np
import pytest

from aucuba.risks import PairwiseHinge, RankWeights, Sample, StructuralHinge, TightHinge
from tests.contract_cases import RISK_NAMES, random_labels, risks


@pytest.mark.parametrize("name", RISK_NAMES)
def test_real_valued_weights_may_have_any_scale(name):
    rng = np.random.default_rng(0)
    labels = random_labels(rng, weighted=True)
    scores = rng.normal(size=labels.positive.size)
    value, gradient = risks(labels)[name].value_and_gradient(scores)
    scaled = type(labels)(labels.positive, 7.3 * labels.weight, labels.query)
    other = risks(scaled)[name].value_and_gradient(scores)
    assert other[0] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(other[1], gradient, atol=1e-10)


@pytest.mark.parametrize("kind", [StructuralHinge, TightHinge])
def test_a_weight_function_costs_no_more_for_large_whole_weights(kind):
    rng = np.random.default_rng(1)
    positive = rng.random(60) < 0.4
    scores = np.round(rng.normal(size=60), 1)
    weight = rng.integers(1, 5, size=60).astype(float)
    ranks = RankWeights.from_weight(lambda u: np.exp(-3 * u))
    # Finer and finer replication has a limit, which is reached to within one rank of many.
    want = kind(Sample(positive, 200 * weight), ranks).value_and_gradient(scores)
    for factor in (1e4, 1e8, 1e20, 1e200):
        risk = kind(Sample(positive, factor * weight), ranks)
        assert risk._pieces(np.arange(risk.negative.size))[1].size < 50_000
        value, gradient = risk.value_and_gradient(scores)
        assert value == pytest.approx(want[0], rel=1e-4)
        np.testing.assert_allclose(gradient, want[1], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("factor", [1e9, 1e12, 1e15, 1e16, 1e18, 1e20, 1e100, 1e200, 1e-200])
@pytest.mark.parametrize("limits", [(0.0, 0.3), (0.15, 0.4), (0.0, 1.0)])
@pytest.mark.parametrize("kind", [StructuralHinge, TightHinge])
def test_whole_weights_may_be_too_large_to_count_in(kind, limits, factor):
    rng = np.random.default_rng(2)
    positive = rng.random(60) < 0.4
    scores = rng.normal(size=60)
    weight = rng.integers(1, 5, size=60).astype(float)
    ranks = RankWeights.from_range(limits)
    want = kind(Sample(positive, 1e6 * weight), ranks).value_and_gradient(scores)
    value, gradient = kind(Sample(positive, factor * weight), ranks).value_and_gradient(scores)
    tol = 1e-6 if factor > 1 else 0.1
    assert value == pytest.approx(want[0], rel=tol)
    np.testing.assert_allclose(gradient, want[1], rtol=tol, atol=tol / 10)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
def test_pairs_may_have_weights_in_any_unit(factor):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, weighted=True)
    scores = rng.normal(size=labels.positive.size)
    want = PairwiseHinge(labels).value_and_gradient(scores)
    scaled = Sample(labels.positive, factor * labels.weight)
    value, gradient = PairwiseHinge(scaled).value_and_gradient(scores)
    assert value == pytest.approx(want[0], rel=1e-12)
    np.testing.assert_allclose(gradient, want[1], rtol=1e-12)
