"""Features against the R package's values and their promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.changepoint import FEATURE_NAMES, signal_features


def test_reference_values(reference):
    import pandas as pd

    table = pd.read_csv(reference / "penaltylearning_reference/feature_vector.csv")
    expected = table.set_index("feature")["value"].loc[list(FEATURE_NAMES)].to_numpy()
    assert np.all(np.isfinite(expected))
    # The table does not name its signal; these eight values are the ones that give it.
    found = signal_features([1, 2.5, -0.3, 4, 4.2, 0.1, 7, 3])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_always_finite(signal):
    features = signal_features(signal)
    assert features.shape == (len(FEATURE_NAMES),) == (93,)
    assert np.all(np.isfinite(features))


@pytest.mark.parametrize("signal", [[0.0], [0.0, 0.0], [1e-12] * 5, [3, 3, 3]])
def test_degenerate_signals_are_finite(signal):
    assert np.all(np.isfinite(signal_features(signal)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=20), st.sampled_from([0.01, 3.0, 1e4]))
def test_logarithms_shift_with_the_unit(signal, unit):
    value = signal_features(np.array(signal, dtype=float))
    scaled = signal_features(unit * np.array(signal, dtype=float))
    if not any(signal):
        return
    for name, before, after in zip(FEATURE_NAMES, value, scaled, strict=True):
        if "abs.log" in name and before > np.log(1e-6):
            assert after == pytest.approx(before + np.log(unit), abs=1e-6)


def test_error_names_the_signal():
    with pytest.raises(ValueError, match="chr2 contains 1 NaN"):
        signal_features([1.0, np.nan], name="chr2")
