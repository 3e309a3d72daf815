"""One-penalty segmentation and weights against brute-force optimal partitioning."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from aucuba.changepoint import model_selection, segment, segment_penalty

LOSSES = ("l2", "poisson", "variance")
KINDS = ("integers", "pieces", "walk", "spikes")


def make(kind, loss, rng):
    n = int(rng.integers(1, 15))
    if kind == "integers":
        y = rng.integers(0, 4, n).astype(float)
    elif kind == "pieces":
        y = np.repeat(rng.normal(size=5), 3)[:n] + 0.3 * rng.normal(size=min(n, 15))
    elif kind == "walk":
        y = rng.normal(size=n).cumsum()
    else:
        y = rng.standard_t(1, size=n) * 10.0 ** rng.integers(-3, 4)
    weight = rng.choice([1.0, 2.0, 3.0, 0.5, 10.0], n) if rng.random() < 0.5 else np.ones(n)
    return np.abs(y) if loss == "poisson" else y, weight


def segment_costs(y, weight, loss):
    """Cost of every segment by its definition."""
    n = y.size
    costs = np.full((n, n + 1), np.inf)
    floor = 1e-8 * np.average(y**2, weights=weight) or 1.0
    for i, j in itertools.combinations(range(n + 1), 2):
        part, mass = y[i:j], weight[i:j]
        total = mass.sum()
        if loss == "l2":
            costs[i, j] = (mass * (part - np.average(part, weights=mass)) ** 2).sum()
        elif loss == "poisson":
            rate = np.average(part, weights=mass)
            costs[i, j] = 0.0 if rate == 0 else total * (rate - rate * np.log(rate))
        else:
            variance = max(np.average(part**2, weights=mass), floor)
            costs[i, j] = total * np.log(variance) + (mass * part**2).sum() / variance
    return costs


def optimal_partition(costs, penalty):
    """Least cost, and the fewest segments that reach it, by trying every last change."""
    n = len(costs)
    best, size = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
    best[0] = 0.0
    for t in range(1, n + 1):
        values = best[:t] + costs[:t, t] + penalty
        best[t] = values.min()
        ties = values <= best[t] + 1e-11 * max(1.0, abs(best[t]))
        size[t] = size[:t][ties].min() + 1
    return best[n], size[n]


@pytest.mark.parametrize(("loss", "kind"), list(itertools.product(LOSSES, KINDS)))
def test_equals_brute_force(loss, kind):
    """Together with the other parameters 2,004 signals."""
    rng = np.random.default_rng([LOSSES.index(loss), KINDS.index(kind)])
    for _ in range(167):
        y, weight = make(kind, loss, rng)
        scale = np.var(y) or 1.0 if loss == "l2" else 1.0
        penalty = float(rng.choice([0.01, 0.5, 1.0, 2.0, 5.0, 20.0])) * scale
        costs = segment_costs(y, weight, loss)
        expected, fewest = optimal_partition(costs, penalty)
        found = segment_penalty(y, penalty, loss=loss, weights=weight)
        edges = [0, *found.changepoints[0], y.size]
        losses = sum(costs[a, b] for a, b in itertools.pairwise(edges))
        reached = losses + penalty * found.sizes[0]
        rounding = 1e-9 * max(abs(expected), abs(costs[0, -1]))
        assert reached == pytest.approx(expected, abs=rounding)
        assert found.losses[0] == pytest.approx(losses, abs=rounding)
        assert found.sizes[0] == fewest == found.changepoints[0].size + 1


@pytest.mark.parametrize("loss", LOSSES)
def test_the_path_with_weights_equals_brute_force(loss):
    rng = np.random.default_rng(7)
    for _ in range(40):
        y, weight = make("pieces", loss, rng)
        costs = segment_costs(y, weight, loss)
        found = segment(y, y.size, loss=loss, weights=weight)
        best = np.full((y.size + 1, y.size + 1), np.inf)
        best[0, 0] = 0.0
        for k in range(1, y.size + 1):
            for t in range(k, y.size + 1):
                best[k, t] = (best[k - 1, :t] + costs[:t, t]).min()
        scale = 1e-9 * max(1.0, np.abs(costs[np.isfinite(costs)]).max())
        np.testing.assert_allclose(found.losses, best[1:, -1], rtol=1e-9, atol=scale)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_integer_weight_is_a_number_of_copies(loss):
    rng = np.random.default_rng(3)
    for _ in range(30):
        y = rng.integers(0, 5, 12).astype(float)
        weight = rng.integers(1, 5, 12)
        ends = np.cumsum(weight)
        options = {"loss": loss, "variance_floor": 0.1 if loss == "variance" else None}
        coded = segment_penalty(y, 2.0, weights=weight, **options)
        plain = segment_penalty(np.repeat(y, weight), 2.0, **options)
        assert coded.losses[0] + 2 * coded.sizes[0] == pytest.approx(
            plain.losses[0] + 2 * plain.sizes[0]
        )
        assert set(ends[coded.changepoints[0] - 1]) <= set(ends)
        path = segment(y, 6, weights=weight, **options)
        copies = segment(np.repeat(y, weight), 6, **options)
        # Copies may be split, but it never pays.
        np.testing.assert_allclose(path.losses, copies.losses, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_penalty_selects_what_the_path_selects(loss):
    rng = np.random.default_rng(1)
    y = np.repeat(rng.uniform(1, 9, 6), 15) * rng.uniform(0.5, 1.5, 90)
    path = segment(y, 90, loss=loss)
    selection = model_selection(path.losses, path.sizes)
    edges = selection.max_penalty[:-1]
    for penalty in np.r_[(edges[1:] + edges[:-1]) / 2, 2 * edges[-1]]:
        found = segment_penalty(y, penalty, loss=loss)
        row = int(selection.select(penalty))
        assert found.sizes[0] == selection.size[row]
        assert found.losses[0] == pytest.approx(selection.loss[row])
        np.testing.assert_array_equal(
            found.changepoints[0], path.changepoints[selection.index[row]]
        )


def test_long_random_walk_has_the_cost_of_pruned_partitioning():
    """PELT-like search with exact pruning of candidates, on a signal with many segments."""
    y = np.random.default_rng(0).normal(size=1500).cumsum()
    sums, squares = (np.r_[0.0, np.cumsum(part)] for part in (y, y**2))
    best, candidates = np.zeros(y.size + 1), np.zeros(1, dtype=int)
    for t in range(1, y.size + 1):
        length = t - candidates
        cost = squares[t] - squares[candidates] - (sums[t] - sums[candidates]) ** 2 / length
        values = best[candidates] + cost
        best[t] = values.min() + 12.0
        candidates = np.append(candidates[values <= best[t]], t)
    found = segment_penalty(y, 12.0)
    assert found.losses[0] + 12.0 * found.sizes[0] == pytest.approx(best[-1], rel=1e-9)
    assert found.sizes[0] > 50


def test_variance_floor():
    y = np.r_[np.zeros(5), 1.0, -1.0, 1.0]
    low, high = (segment(y, 2, loss="variance", variance_floor=v).losses for v in (1e-4, 0.5))
    assert low[1] == pytest.approx(5 * np.log(1e-4) + 3)
    assert high[1] == pytest.approx(5 * np.log(0.5) + 3)
    assert segment_penalty(np.zeros(9), 1.0, loss="variance").sizes[0] == 1
    with pytest.raises(ValueError, match="variance_floor applies only to loss='variance'"):
        segment(y, 2, variance_floor=0.1)
    with pytest.raises(ValueError, match="variance_floor must be a number above 0"):
        segment_penalty(y, 2.0, loss="variance", variance_floor=0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1.0}, "penalty must be a finite number, at least 0, got -1.0"),
        ({"penalty": np.nan}, "penalty must be a finite number"),
        ({"penalty": "2"}, "penalty must be a finite number"),
        ({"weights": [1.0, 2.0]}, r"weights has shape \(2,\) for 3 samples"),
        ({"weights": [1.0, 0.0, 2.0]}, "weights must be positive and finite, got 0.0 at sample 1"),
        ({"loss": "huber"}, "loss must be one of 'l2', 'poisson', 'variance'"),
        ({"loss": "poisson", "signal": [1, -1, 2]}, "non-negative values, got -1.0 at sample 1"),
        ({"loss": "variance", "signal": [1e200, 1, 2]}, "squares overflow"),
    ],
)
def test_bad_input(options, message):
    given = {"signal": [1.0, 2.0, 4.0], "penalty": 1.0, **options}
    with pytest.raises(ValueError, match=message):
        segment_penalty(given.pop("signal"), given.pop("penalty"), **given)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e-200])
def test_a_constant_signal_has_one_segment_at_no_penalty(value):
    assert segment_penalty(np.full(7, value), 0.0).sizes[0] == 1
