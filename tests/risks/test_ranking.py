import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba._core._arrays import NumpyArrays
from aucuba.risks._ranking import top

count_at_or_below = NumpyArrays().count_at_or_below

SCORES = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)


@given(st.lists(SCORES, min_size=1, max_size=8), st.lists(SCORES, min_size=1, max_size=60))
def test_count_at_or_below_is_searchsorted(ranked, values):
    ranked, values = np.sort(ranked), np.array(values)
    want = np.searchsorted(ranked, values, side="right")
    np.testing.assert_array_equal(count_at_or_below(ranked, values), want)


@pytest.mark.parametrize("spread", [1.0, 1e-300, 1e300])
def test_count_at_or_below_on_its_own_entries_and_at_any_scale(spread):
    rng = np.random.default_rng(0)
    ranked = np.sort(rng.normal(size=200)) * spread
    values = np.concatenate([np.repeat(ranked, 5), rng.normal(size=5000) * 3 * spread])
    want = np.searchsorted(ranked, values, side="right")
    np.testing.assert_array_equal(count_at_or_below(ranked, values), want)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.floats(0.1, 25))
def test_top_holds_the_highest_and_all_ties_of_the_last(scores, count):
    scores = np.array(scores, dtype=float)
    rows = top(scores, count, None)
    keep = min(int(np.ceil(count)), scores.size)
    last = np.sort(scores)[::-1][keep - 1]
    assert sorted(rows) == np.flatnonzero(scores >= last).tolist()
    assert np.all(np.diff(scores[rows]) <= 0)
