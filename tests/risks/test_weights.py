"""Weights of the rows, where the contract tests cannot tell right from wrong."""

import numpy as np
import pytest

from tests.members import RISK_NAMES, random_labels, risks


@pytest.mark.parametrize("name", RISK_NAMES)
def test_real_valued_weights_may_have_any_scale(name):
    rng = np.random.default_rng(0)
    labels = random_labels(rng, weighted=True)
    scores = rng.normal(size=labels.positive.size)
    value, gradient = risks(labels)[name].value_and_gradient(scores)
    scaled = type(labels)(labels.positive, 7.3 * labels.weight, labels.group)
    other = risks(scaled)[name].value_and_gradient(scores)
    assert other[0] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(other[1], gradient, atol=1e-10)
