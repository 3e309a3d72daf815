import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba._base._arrays import NumpyArrays, mean_and_scale
from aucuba.risks._base import top

count_at_or_below = NumpyArrays().count_at_or_below
kth_largest = NumpyArrays().kth_largest

SCORES = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)


@given(st.lists(SCORES, min_size=1, max_size=8), st.lists(SCORES, min_size=1, max_size=60))
def test_count_at_or_below_is_searchsorted(ranked, values):
    # Enough of them for the grid.
    ranked, values = np.sort(ranked), np.resize(values, 1000)
    want = np.searchsorted(ranked, values, side="right")
    np.testing.assert_array_equal(count_at_or_below(ranked, values), want)


@pytest.mark.parametrize("spread", [1.0, 1e-300, 1e300])
def test_count_at_or_below_on_its_own_entries_and_at_any_scale(spread):
    rng = np.random.default_rng(0)
    ranked = np.sort(rng.normal(size=200)) * spread
    values = np.concatenate([np.repeat(ranked, 5), rng.normal(size=5000) * 3 * spread])
    want = np.searchsorted(ranked, values, side="right")
    np.testing.assert_array_equal(count_at_or_below(ranked, values), want)


@pytest.mark.parametrize("zeros", [0.0, 0.9])
@pytest.mark.parametrize("order", ["random", "rising", "falling", "every sixteenth low"])
def test_the_kth_largest_does_not_depend_on_the_sample_that_suggests_it(order, zeros):
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000) * (rng.random(5000) >= zeros)
    want = np.sort(values)[::-1]
    if order == "rising":
        values = want[::-1]
    elif order == "falling":
        values = want
    elif order == "every sixteenth low":
        # The sample holds the lowest values alone: nearly all are candidates.
        values = np.concatenate(
            [want[-313:, np.newaxis], np.resize(want[:-313], (313, 15))], axis=1
        )
        values = values.ravel()
        want = np.sort(values)[::-1]
    for k in (1, 2, 50, 250, 2500, 4999):
        assert kth_largest(values, k) == want[k - 1]


def test_the_kth_largest_is_found_where_the_sample_holds_only_high_values():
    values = np.arange(4800.0)
    values[::16] += 1e6
    want = np.sort(values)[::-1]
    for k in (1, 100, 290, 400, 2000):
        assert kth_largest(values, k) == want[k - 1]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.floats(0.1, 25))
def test_top_holds_the_highest_and_all_ties_of_the_last(scores, count):
    scores = np.array(scores, dtype=float)
    rows = top(scores, count, None)
    keep = min(int(np.ceil(count)), scores.size)
    last = np.sort(scores)[::-1][keep - 1]
    assert sorted(rows) == np.flatnonzero(scores >= last).tolist()
    assert np.all(np.diff(scores[rows]) <= 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("value", [1.519825753744413, -1e-9, 1e12 / 3])
def test_constant_scores_have_the_scale_one_whatever_the_rounding_of_their_mean(value, weighted):
    rng = np.random.default_rng(0)
    for n in (40, 1000, 100_000):
        scores = np.column_stack([np.full(n, value), rng.normal(size=n) * 1e-9 + 1e-3])
        mean, scale = mean_and_scale(scores, rng.uniform(size=n) if weighted else None)
        assert scale[0] == 1.0
        assert mean[0] == pytest.approx(value, rel=1e-11)
        assert scale[1] == pytest.approx(1e-9, rel=0.5)
