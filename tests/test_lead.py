"""The lead of one model over another, and the rules that act on it."""

import numpy as np
import pytest
from scipy import stats

from aucuba._rows._lead import Lead


@pytest.mark.parametrize("z", [-2.5, -1.0, 0.0, 0.3, 1.0, 2.5])
def test_every_rule_is_a_function_of_z(z):
    for error in (1e-3, 1.0, 1e3):
        lead = Lead(z * error, error)
        assert lead.z == pytest.approx(z)
        assert lead.probability() == pytest.approx(stats.norm.cdf(z))
        assert lead.ramp() == pytest.approx(min(max((1 + z) / 2, 0), 1))
        assert [lead.exceeds(k) for k in (0.0, 0.5, 2.0)] == [z > 0, z > 0.5, z > 2]


def test_a_difference_without_error_is_certain_and_no_difference_is_none():
    certain, none = Lead(0.1, 0.0), Lead(0.0, 0.0)
    assert (certain.z, certain.probability(), certain.ramp()) == (np.inf, 1.0, 1.0)
    assert certain.exceeds(100.0)
    assert (none.z, none.probability(), none.ramp()) == (0.0, 0.0, 0.5)
    assert not none.exceeds(0.0)


def test_rows_that_allow_no_comparison_favour_nobody():
    unknown = Lead(np.nan, np.nan)
    assert not unknown.exceeds(0.0)
    assert unknown.probability() == 0.0
