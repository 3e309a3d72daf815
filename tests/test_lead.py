"""The lead of one model over another, and the one rule that acts on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aucuba._rows._lead import Lead


@pytest.mark.parametrize("z", [-2.5, -1.0, 0.0, 0.3, 1.0, 2.5])
def test_the_rule_is_a_function_of_z(z):
    for error in (1e-3, 1.0, 1e3):
        lead = Lead(z * error, error)
        assert lead.z == pytest.approx(z)
        better, worse = stats.norm.cdf(z), stats.norm.sf(z)
        assert lead.weight == pytest.approx(max(better - worse, 0.0))
        assert [lead.is_clear(k) for k in (0.0, 0.5, 2.0)] == [z > 0, z > 0.5, z > 2]
        assert lead.is_clear() == lead.is_clear(1.0)


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(1e-6, 1e6))
def test_the_weight_grows_with_the_lead_and_one_of_two_models_has_none(first, second, error):
    weights = [Lead(error * z, error).weight for z in sorted([first, second])]
    assert 0.0 <= weights[0] <= weights[1] <= 1.0
    assert min(Lead(first, error).weight, Lead(-first, error).weight) == 0.0


def test_a_difference_without_error_is_certain_and_no_difference_is_none():
    certain, none = Lead(0.1, 0.0), Lead(0.0, 0.0)
    assert (certain.z, certain.weight) == (np.inf, 1.0)
    assert certain.is_clear(100.0)
    assert (none.z, none.weight) == (0.0, 0.0)
    assert not none.is_clear(0.0)


def test_rows_that_allow_no_comparison_favour_nobody():
    unknown = Lead(np.nan, np.nan)
    assert not unknown.is_clear(0.0)
    assert unknown.weight == 0.0
