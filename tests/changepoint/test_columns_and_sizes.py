"""Several columns, smallest sizes and the chosen number of segments, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.changepoint import (
    Label,
    Segmentation,
    SupervisedChangepointDetector,
    segment,
    segment_penalty,
)
from tests.changepoint.test_one_penalty import LOSSES, segment_costs


def all_segmentations(n, min_size):
    """Every list of first samples whose segments have at least ``min_size`` samples."""
    for count in range(n):
        for changes in itertools.combinations(range(1, n), count):
            edges = [0, *changes, n]
            if min(b - a for a, b in itertools.pairwise(edges)) >= min_size:
                yield changes


def best_losses(costs, min_size):
    """Least loss of every number of segments, by trying all segmentations."""
    n = len(costs)
    best = np.full(n + 1, np.inf)
    for changes in all_segmentations(n, min_size):
        loss = sum(costs[a, b] for a, b in itertools.pairwise([0, *changes, n]))
        best[len(changes) + 1] = min(best[len(changes) + 1], loss)
    return best[1:]


def columns(rng, n, n_columns, loss):
    y = np.repeat(rng.normal(size=(4, n_columns)), 4, axis=0)[:n]
    y = y + rng.choice([0.3, 1.0]) * rng.normal(size=y.shape)
    if rng.random() < 0.3:
        y = np.round(y)
    return np.abs(y) if loss == "poisson" else y


def summed_costs(y, weight, loss):
    return sum(segment_costs(column, weight, loss) for column in np.reshape(y, (len(y), -1)).T)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_size_and_penalty_equals_brute_force(loss, n_columns):
    rng = np.random.default_rng([n_columns, LOSSES.index(loss)])
    for _ in range(25):
        n, min_size = int(rng.integers(1, 10)), int(rng.integers(1, 4))
        if n < min_size:
            continue
        y = columns(rng, n, n_columns, loss)
        weight = rng.choice([1.0, 2.0, 0.5], n) if rng.random() < 0.5 else np.ones(n)
        costs = summed_costs(y, weight, loss)
        expected = best_losses(costs, min_size)[: n // min_size]
        settings_ = {"loss": loss, "weights": weight, "min_size": min_size}
        found = segment(y, n // min_size, **settings_)
        rounding = 1e-9 * max(1.0, np.abs(costs[np.isfinite(costs)]).max())
        # Losses never increase with the size, but the least number of samples can forbid that.
        reached = [
            sum(costs[a, b] for a, b in itertools.pairwise([0, *changes, n]))
            for changes in found.changepoints
        ]
        np.testing.assert_allclose(reached, expected, rtol=0, atol=rounding)
        for changes in found.changepoints:
            assert np.diff([0, *changes, n]).min() >= min_size
        for penalty in (0.01, 0.5, 2.0, 10.0):
            one = segment_penalty(y, penalty, **settings_)
            sizes = np.arange(1, expected.size + 1)
            total = one.losses[0] + penalty * one.sizes[0]
            assert total == pytest.approx((expected + penalty * sizes).min(), abs=rounding)
            assert np.diff([0, *one.changepoints[0], n]).min() >= min_size


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=25),
    st.integers(1, 3),
)
def test_columns_may_be_permuted_and_repeated(rows, min_size):
    y = np.array(rows, dtype=float)
    size = min(4, len(y) // min_size)
    if size == 0:
        return
    plain = segment(y, size, min_size=min_size).losses
    tolerance = 1e-9 * max(1.0, plain[0])
    swapped = segment(y[:, ::-1], size, min_size=min_size).losses
    np.testing.assert_allclose(swapped, plain, rtol=0, atol=tolerance)
    one = segment(y[:, 0], size, min_size=min_size)
    twice = segment(y[:, [0, 0]], size, min_size=min_size)
    np.testing.assert_allclose(twice.losses, 2 * one.losses, rtol=0, atol=2 * tolerance)
    constant = segment(np.column_stack([y[:, 0], np.ones(len(y))]), size, min_size=min_size)
    np.testing.assert_allclose(constant.losses, one.losses, rtol=0, atol=tolerance)


def test_longer_columns_equal_the_quadratic_program():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.normal(size=(6, 2)), 20, axis=0) + 0.5 * rng.normal(size=(120, 2))
    costs = summed_costs(y, np.ones(120), "l2")
    best = np.full((6, 121), np.inf)
    best[0, 3:] = costs[0, 3:]
    for k in range(1, 6):
        for t in range(3 * (k + 1), 121):
            best[k, t] = min(best[k - 1, s] + costs[s, t] for s in range(3 * k, t - 2))
    found = segment(y, 6, min_size=3)
    np.testing.assert_allclose(found.losses, best[:, -1], rtol=1e-10)
    partition = np.r_[0.0, np.full(120, np.inf)]
    for t in range(3, 121):
        partition[t] = min(partition[s] + costs[s, t] + 4.0 for s in range(t - 2))
    one = segment_penalty(y, 4.0, min_size=3)
    assert one.losses[0] + 4.0 * one.sizes[0] == pytest.approx(partition[-1], rel=1e-10)


def test_one_column_is_a_vector():
    y = np.repeat([0.0, 2.0, 1.0], 10) + 0.1 * np.random.default_rng(0).normal(size=30)
    assert segment(y[:, None]).changepoints[0].tolist() == [10, 20]
    np.testing.assert_array_equal(segment(y[:, None], 4).losses, segment(y, 4).losses)
    signals = [np.tile(y, (1, 1)).T, y]
    labels = [[Label(5, 15, "one")], [Label(12, 18, "none")]]
    X, _ = SupervisedChangepointDetector(4).prepare(signals, labels)
    np.testing.assert_array_equal(X[0], X[1])


def schwarz(y, sigma):
    """Number of segments by the criterion as printed, from the losses of all sizes."""
    path = segment(y, 12)
    return int(np.argmin(path.losses / sigma**2 + 2 * np.log(len(y)) * path.sizes)) + 1


def test_the_number_of_segments_is_chosen_by_schwarz():
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e4):
        y = scale * (np.repeat([0, 2, 0, 5, 3, 3], 50) + rng.normal(size=300))
        found = segment(y)
        sigma = np.median(np.abs(np.diff(y))) / (0.6744897501960817 * 2**0.5)
        assert len(found.sizes) == 1
        assert found.sizes[0] == schwarz(y, sigma) == 5
        assert np.abs(found.changepoints[0] - [50, 100, 150, 200]).max() <= 4
        # The estimate does not see the steps: within 15 % of the true noise.
        assert sigma == pytest.approx(scale, rel=0.15)


def test_pure_noise_keeps_one_segment():
    rng = np.random.default_rng(1)
    sizes = [segment(rng.normal(size=1000)).sizes[0] for _ in range(100)]
    # 3 % at 1,000 samples, see benchmarks/results/changepoint_ruptures.md
    assert np.mean(np.array(sizes) > 1) <= 0.1
    pairs = [segment(rng.normal(size=(200, 3))).sizes[0] for _ in range(40)]
    assert np.mean(np.array(pairs) > 1) <= 0.05


@pytest.mark.parametrize(
    ("loss", "penalty"), [("poisson", np.log(200)), ("variance", 2 * np.log(200))]
)
def test_likelihoods_need_no_noise_estimate(loss, penalty):
    rng = np.random.default_rng(2)
    if loss == "poisson":
        y = rng.poisson(np.repeat([4.0, 12.0], 100)).astype(float)
    else:
        y = rng.normal(size=200) * np.repeat([1.0, 4.0], 100)
    found = segment(y, loss=loss)
    assert found.changepoints[0] == pytest.approx([100], abs=5)
    np.testing.assert_array_equal(
        found.changepoints[0], segment_penalty(y, penalty, loss=loss).changepoints[0]
    )


def test_shared_changes_are_found_that_few_columns_show():
    rng = np.random.default_rng(3)
    y = np.repeat([[0.0], [0.3]], 200, axis=0) + rng.normal(size=(400, 20))
    assert sum(segment(column).sizes[0] > 1 for column in y.T) < 10
    assert segment(y).changepoints[0] == pytest.approx([200], abs=6)


def test_equal_neighbours_leave_no_noise():
    with pytest.warns(UserWarning, match="71% of the neighbouring samples are equal"):
        assert segment([1, 1, 1, 5, 5, 2, 2, 2]).changepoints[0].tolist() == [3, 5]
    assert segment(np.ones(5)).sizes[0] == 1
    assert segment([3.0]).sizes[0] == 1


def test_repr_is_one_line():
    y = np.repeat([0.0, 5.0, 1.0], 20)
    one = segment_penalty(y, 1.0)
    assert repr(one) == "Segmentation(60 samples, 3 segments, changes at 20, 40)"
    assert repr(segment(y, 4)) == "Segmentation(60 samples, 1 to 4 segments)"
    assert repr(segment(y, 1)) == "Segmentation(60 samples, 1 segment, no change)"
    many = Segmentation.from_table([1.0], [range(1, 20)], n_samples=20)
    assert repr(many).endswith("20 segments, changes at 1, 2, 3, 4, 5, 6, 7, 8, ...)")


def test_a_short_signal_does_not_stop_the_fit_of_many():
    rng = np.random.default_rng(0)
    signals, labels = [], []
    for k in range(24):
        noise = 10.0 ** rng.uniform(-1, 1)
        signals.append(np.repeat([0, 8 * noise * (k % 2), 0], 20) + noise * rng.normal(size=60))
        labels.append([Label(10, 30, "one" if k % 2 else "none")])
    signals[5], labels[5] = np.array([1.0, 1.1, 0.9]), [Label(0, 2, "none")]
    model = SupervisedChangepointDetector(8, random_state=0).fit(signals, labels)
    found = model.predict([*signals[:2], np.array([0.2, 0.1])])
    assert [changes.tolist() for changes in found] == [[], [20, 40], []]
    assert model.score(signals, labels) > 0.9
