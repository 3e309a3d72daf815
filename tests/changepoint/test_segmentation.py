"""Functional pruning against the quadratic dynamic program."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.changepoint import Segmentation, segment


def segment_cost(y, loss):
    total = y.sum()
    if loss == "l2":
        return float(((y - y.mean()) ** 2).sum())
    return 0.0 if total == 0 else float(total - total * np.log(total / y.size))


def quadratic_losses(y, n_levels, loss):
    """Best loss for 1 .. n_levels segments by trying every last change."""
    n = y.size
    cost = {(i, j): segment_cost(y[i:j], loss) for i in range(n) for j in range(i + 1, n + 1)}
    best = [[np.inf] * (n + 1) for _ in range(n_levels)]
    best[0] = [np.inf] + [cost[0, t] for t in range(1, n + 1)]
    for k in range(1, n_levels):
        for t in range(k + 1, n + 1):
            best[k][t] = min(best[k - 1][s] + cost[s, t] for s in range(k, t))
    return np.array([row[n] for row in best])


def total_cost(y, changepoints, loss):
    edges = [0, *changepoints, y.size]
    return sum(segment_cost(y[a:b], loss) for a, b in itertools.pairwise(edges))


signals = st.one_of(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(st.floats(0, 1e3, allow_subnormal=False), min_size=1, max_size=12),
    st.tuples(st.floats(0, 10), st.integers(1, 10)).map(lambda pair: [pair[0]] * pair[1]),
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=4).map(
        lambda runs: [0.1 * value for value, length in runs for _ in range(length)]
    ),
)


@pytest.mark.parametrize("loss", ["l2", "poisson"])
@settings(max_examples=300, deadline=None)
@given(signal=signals)
def test_every_size_equals_the_quadratic_program(loss, signal):
    y = np.asarray(signal, dtype=float)
    found = segment(y, y.size, loss=loss)
    expected = quadratic_losses(y, y.size, loss)
    scale = 1e-9 * max(1.0, np.abs(expected).max(), (y**2).sum())
    np.testing.assert_allclose(found.losses, expected, rtol=1e-9, atol=scale)
    for size, changepoints in zip(found.sizes, found.changepoints, strict=True):
        assert changepoints.size == size - 1
        assert np.all(np.diff([0, *changepoints, y.size]) > 0)
        assert total_cost(y, changepoints, loss) <= expected[size - 1] + scale
    assert np.all(np.diff(found.losses) <= 0)


@pytest.mark.parametrize("loss", ["l2", "poisson"])
def test_longer_signals_equal_the_quadratic_program(loss):
    rng = np.random.default_rng(3)
    for _ in range(5):
        mean = np.repeat(rng.uniform(1, 20, 6), rng.integers(3, 20, 6))
        y = rng.poisson(mean).astype(float)
        found = segment(y, 9, loss=loss)
        np.testing.assert_allclose(
            found.losses, quadratic_losses(y, 9, loss), rtol=1e-10, atol=1e-8
        )


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=30),
    st.integers(-1000, 1000),
    st.sampled_from([-4.0, 0.5, 3.0]),
)
def test_shift_scale_and_reversal(signal, shift, factor):
    y = np.array(signal, dtype=float)
    size = min(6, y.size)
    plain = segment(y, size).losses
    tolerance = 1e-9 * max(1.0, plain[0])
    np.testing.assert_allclose(segment(y + shift, size).losses, plain, rtol=0, atol=tolerance)
    np.testing.assert_allclose(segment(y[::-1], size).losses, plain, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        segment(factor * y, size).losses, factor**2 * plain, rtol=0, atol=factor**2 * tolerance
    )


def test_exact_fit_leaves_no_rounding_steps():
    y = np.repeat([0.1, 0.7, 0.3], 40)
    losses = segment(y, 12).losses
    assert np.all(losses[2:] == losses[2])


def test_large_offset_keeps_the_changes():
    y = np.repeat([0.0, 1.0, 0.0], 50) + 1e8
    np.testing.assert_array_equal(segment(y, 3).changepoints[2], [50, 100])


def test_read_only_and_strided_input():
    y = np.arange(20.0)[::2]
    y.setflags(write=False)
    assert segment(y, 2).changepoints[1] == [5]
    assert segment([True, False], 2).losses[1] == 0


def test_positions_move_the_changes():
    found = segment([0, 0, 5, 5], 2, positions=[10, 20, 40, 41])
    np.testing.assert_array_equal(found.change_positions(1), [30.0])
    np.testing.assert_array_equal(segment([0, 0, 5, 5], 2).change_positions(1), [1.5])


@pytest.mark.parametrize(
    ("signal", "size", "kwargs", "message"),
    [
        ([], 1, {}, "empty"),
        ([1.0, np.nan], 1, {}, "first at sample 1"),
        ([1.0, 2.0], 3, {}, "exceeds the 2 samples"),
        ([1.0, 2.0], 0, {}, "max_segments"),
        ([[[1.0, 2.0]]], 1, {}, r"one row per sample, got shape \(1, 1, 2\)"),
        ([[1.0, 2.0], [np.inf, 1.0]], 1, {}, "first at sample 1"),
        (np.ones((3, 0)), 1, {}, "empty"),
        ([1.0, 2.0, 3.0], 2, {"min_size": 2}, "at least min_size=2 samples"),
        ([1.0, 2.0], 1, {"min_size": 3}, "min_size=3 exceeds the 2 samples"),
        ([1.0, 2.0], 1, {"min_size": 0}, "min_size must be a whole number above 0"),
        ([1.0, 2.0], None, {"weights": [1, 2]}, "Give max_segments, or a penalty"),
        (["a"], 1, {}, "numeric"),
        ([1.0, -2.0], 1, {"loss": "poisson"}, "non-negative"),
        ([1.0, 2.0], 1, {"loss": "l1"}, "'l2', 'poisson'"),
        ([1.0, 2.0], 1, {"positions": [2, 1]}, "strictly increasing"),
        ([1.0, 2.0], 1, {"positions": [1]}, "one entry per sample"),
    ],
)
def test_bad_signals(signal, size, kwargs, message):
    with pytest.raises(ValueError, match=message):
        segment(signal, size, **kwargs)


@pytest.mark.parametrize(
    ("losses", "changes", "kwargs", "message"),
    [
        ([1.0], [[1]], {}, "n_samples"),
        ([1.0, 2.0], [[1]], {"n_samples": 4}, "one entry per model"),
        ([np.inf], [[1]], {"n_samples": 4}, "finite"),
        ([1.0], [[4]], {"n_samples": 4}, "1 .. 3"),
        ([1.0], [[2, 2]], {"n_samples": 4}, "increase strictly"),
        ([1.0], [[0.5]], {"n_samples": 4}, "whole numbers"),
    ],
)
def test_bad_tables(losses, changes, kwargs, message):
    with pytest.raises(ValueError, match=message):
        Segmentation.from_table(losses, changes, **kwargs)


def test_import_leaves_numba_alone():
    code = "import sys, aucuba.changepoint; sys.exit('numba' in sys.modules)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=path).returncode == 0


def test_a_spike_does_not_hide_the_models_that_follow():
    y = np.r_[np.zeros(50), np.ones(50)]
    y[20] = 3e7
    found = segment(y, 5)
    assert found.changepoints[3].tolist() == [20, 21, 50]
    assert found.losses[3] == 0.0
    assert found.losses[2] == pytest.approx(29 * 50 / 79)
    assert found.losses[4] == 0.0


def test_values_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="squares overflows"):
        segment(np.array([1.0, -1.0, 2.0]) * 1e160, 2)
