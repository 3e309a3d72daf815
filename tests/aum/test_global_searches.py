"""Tangent search and branch and bound against the path, and the compiled loops against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from aucuba.aum import ErrorFunctions, _minimum, aum, line_search_path, maximize_auc, minimize_aum
from aucuba.aum._lines import Segment
from tests.aum.oracle import labels


def monotone_problem(seed, n=30, ties=False):
    """Labels, or steps of both errors at one breakpoint, on a random or an integer line."""
    rng = np.random.default_rng(seed)
    if seed % 3:
        errors = ErrorFunctions.from_labels(labels(rng, n), sample_weight=rng.uniform(0.5, 2, n))
    else:
        value = rng.integers(-2, 3, n) if ties else rng.normal(size=n)
        steps = rng.integers(0, 3, (2, n)) + (np.arange(n) == 0)
        errors = ErrorFunctions(np.arange(n), value, steps[0], -steps[1])
    if ties:
        return errors, *rng.integers(-3, 4, (2, n)) + (np.arange(n) == 0)
    return errors, *rng.normal(size=(2, n))


@given(st.integers(0, 10_000), st.booleans())
def test_tangents_find_the_first_minimum(seed, ties):
    problem = monotone_problem(seed, ties=ties)
    found = minimize_aum(*problem)
    best = line_search_path(*problem).best_aum()
    whole = line_search_path(*problem, stop="all").best_aum()
    assert_allclose([found.step, found.aum], [best.step, best.aum], rtol=1e-10, atol=1e-12)
    assert_allclose(found.aum, whole.aum, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_tangents_from_few_lines_are_those_of_all(seed, ties, monkeypatch):
    """Lines left as sums change nothing, in ever narrower brackets and on leaving them."""
    for name, value in (("_FEW", 0), ("_SAMPLED", 10)):
        monkeypatch.setattr(_minimum, name, value)
    segment = Segment.from_predictions(*monotone_problem(seed, 300, ties), 0.0)
    function, rng = _minimum._MonotoneAUM(segment), np.random.default_rng(seed)
    ends = [0.0, 2.0]
    steps = [*ends]
    for _ in range(12):
        steps.append(rng.uniform(*ends))
        ends[int(rng.random() < 0.5)] = steps[-1]
    fewest = 300
    for step in [*steps, 1.9, 0.1, 5.0]:
        found = function.tangents(step)
        fewest = min(fewest, function._lines[0].size)
        for one, want in zip(found, _minimum._MonotoneAUM(segment).tangents(step), strict=True):
            assert one.value == pytest.approx(want.value, rel=1e-12)
            assert one.slope == pytest.approx(want.slope, abs=1e-11)
    assert fewest < 60


@given(st.integers(0, 10_000), st.booleans())
def test_greatest_auc_is_found_and_certified(seed, ties):
    problem = monotone_problem(seed, ties=ties)
    path = line_search_path(*problem, stop="all")
    end = np.sqrt(0.5) * path.step[-1] + 0.1
    enumerated = [path.auc_at[0], *path.auc_after[path.step < end]]
    best = maximize_auc(*problem, max_step=end)
    assert_allclose(best.auc, max(enumerated), atol=1e-11)
    assert best.auc <= best.upper_bound <= best.auc + 1e-11
    assert 0 <= best.step <= end
    errors, predictions, direction = problem
    if not ties:
        assert_allclose(aum(errors, predictions + best.step * direction).auc, best.auc, atol=1e-12)


@pytest.mark.parametrize("n", [300, 2000])
def test_branch_and_bound_splits(n):
    errors, predictions, direction = monotone_problem(1, n)
    path = line_search_path(errors, predictions, direction, stop="all", max_step=1.0)
    top = max(path.auc_at[0], path.auc_after.max())
    loose = maximize_auc(errors, predictions, direction, max_step=1.0, tol=1e-2)
    assert loose.auc <= top <= loose.upper_bound <= loose.auc + 1e-2
    cut_short = maximize_auc(errors, predictions, direction, max_step=1.0, max_splits=2)
    assert cut_short.n_splits == 2
    assert cut_short.auc <= top <= cut_short.upper_bound
    exact = maximize_auc(errors, predictions, direction, max_step=1.0)
    assert_allclose([exact.auc, exact.upper_bound], top, atol=1e-11)
    assert cut_short.n_splits < exact.n_splits
    assert loose.n_splits < exact.n_splits


def test_shift_and_scale_of_the_line():
    errors, predictions, direction = monotone_problem(2)
    one = minimize_aum(errors, predictions, direction)
    other = minimize_aum(errors, 3 * predictions + 5, direction - 2)
    assert_allclose([other.step, other.aum], [3 * one.step, 3 * one.aum], rtol=1e-9)


def test_a_rising_line_has_its_minimum_at_the_start():
    errors = ErrorFunctions.from_labels([0, 1, 0, 1])
    found = minimize_aum(errors, [0.0, 1.0, 0.5, 2.0], [1, -1, 1, -1])
    assert (found.step, found.aum) == (0.0, 0.0)


@given(st.integers(0, 10_000))
def test_weighted_selection(seed):
    from aucuba.aum import _loops

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values, weights = rng.integers(0, 6, n).astype(float), rng.integers(1, 5, n).astype(float)
    target = float(rng.integers(0, int(weights.sum()) + 1))
    found = _loops.weighted_select(values.copy(), weights.copy(), target)
    assert weights[values < found].sum() <= target <= weights[values <= found].sum()


@given(st.integers(0, 10_000), st.booleans())
def test_sorting_counts_the_pairs_that_turn(seed, positive_first):
    from aucuba.aum import _loops

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    key = rng.integers(0, 30, n).astype(float)
    weight = rng.choice([-2.0, -1.0, 1.0, 3.0], n)
    found, sign = np.arange(n), 1.0 if positive_first else -1.0
    gain, changes = _loops.merge_order(key, weight, found, np.empty_like(found), sign)
    favoured = (weight < 0) == positive_first
    rank = 2 * key + np.where(favoured, 0, 1)
    i, j = np.triu_indices(n, 1)
    turned = rank[j] < rank[i]
    wins = turned & (weight[i] > 0) & (weight[j] < 0)
    assert changes == turned.sum()
    assert gain == -(weight[i] * weight[j])[wins].sum()
    order = np.argsort(rank, kind="stable")
    assert (found == order).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_step": 0.0}, "max_step must be a number above 0"),
        ({"max_step": np.inf}, "max_step must be a number above 0"),
        ({"tol": -1.0}, "tol must be a number from 0 on"),
        ({"max_splits": 0}, "max_splits must be a whole number above 0"),
    ],
)
def test_bad_options(change, message):
    problem = monotone_problem(1)
    with pytest.raises(ValueError, match=message):
        maximize_auc(*problem, **{"max_step": 1.0, **change})
    with pytest.raises(ValueError, match="direction is zero"):
        minimize_aum(problem[0], problem[1], np.zeros(30))
    with pytest.raises(ValueError, match="direction is zero"):
        maximize_auc(problem[0], problem[1], np.zeros(30), max_step=1.0)


@pytest.mark.parametrize("n_levels", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(12))
def test_predictions_that_tie_at_the_start(n_levels, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    errors = ErrorFunctions.from_labels(y)
    predictions = rng.integers(n_levels, size=60).astype(float)
    direction = rng.normal(size=60)
    path = line_search_path(errors, predictions, direction, stop="all", max_step=1.0)
    best = max(path.auc_at.max(), path.auc_after.max())
    found = maximize_auc(errors, predictions, direction, max_step=1.0, max_splits=1000)
    assert found.auc == pytest.approx(best)
    assert found.upper_bound == pytest.approx(best)
    assert found.step == 0.0 or found.step > 1e-6
    assert aum(errors, predictions + found.step * direction).auc == pytest.approx(best)
