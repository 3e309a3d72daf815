"""Baselines against hand-computed cases, brute force and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from aucuba.metrics import partial_auc_score
from reproductions.baselines import GreedyCombination, PAUCBoost
from reproductions.baselines.greedy import partial_aucs
from reproductions.baselines.pauc_boost import (
    SmoothPartialAUC,
    WeakLearners,
    natural_cubic_basis,
    range_weights,
    spline_roughness,
)

BASELINES = [GreedyCombination, PAUCBoost]


def problem(seed=0, n=120, d=4):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 5 == 0).astype(int)
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * y
    X[:, 1] = np.round(X[:, 1] - y)
    return X, y


@pytest.mark.parametrize("kind", BASELINES)
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3)])
def test_baselines_learn_and_predict(kind, fpr_range):
    X, y = problem()
    model = kind(fpr_range).fit(X[::2], np.where(y[::2], "yes", "no"))
    scores = model.decision_function(X)
    assert scores.shape == (120,)
    assert partial_auc_score(y[::2], scores[::2], fpr_range=fpr_range) > 0.5
    assert partial_auc_score(y[1::2], scores[1::2]) > 0.6
    called = model.predict(X[::2]) == "yes"
    assert called[y[::2] == 0].mean() <= fpr_range[1]
    assert clone(model).get_params() == model.get_params()
    again = clone(model).fit(X[::2], y[::2]).decision_function(X)
    np.testing.assert_array_equal(again, scores)


@pytest.mark.parametrize("kind", BASELINES)
def test_baselines_refuse_wrong_input(kind):
    X, y = problem()
    with pytest.raises(ValueError, match="does not have 120 rows"):
        kind().fit(X[:7], y)
    with pytest.raises(ValueError, match="fpr_range"):
        kind((0.5, 0.2)).fit(X, y)
    for parameter in set(kind().get_params()) - {"fpr_range"}:
        with pytest.raises(ValueError, match=parameter):
            kind(**{parameter: 0}).fit(X, y)


# Greedy


def test_greedy_by_hand():
    # Two positives, two negatives; either feature puts one negative above both positives.
    X = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.0, 0.75]])
    y = [1, 1, 0, 0]
    model = GreedyCombination((0.0, 1.0), n_intervals=100).fit(X, y)
    np.testing.assert_array_equal(model.reversed_, [False, False])
    # Scaled feature 1 is (2/3, 2/3, 0, 1). Both features have AUC 1/2, so the first starts; with weight
    # w on the second, positives score (1 - w) / 2 + 2 w / 3, negatives 1 - w and w. The smallest
    # multiple of 1/100 with (1 - w) / 2 + 2 w / 3 > max(1 - w, w) is 0.43.
    np.testing.assert_allclose(model.coef_, [0.57, 0.43])
    np.testing.assert_allclose(model.decision_function(X[:1]), [0.57 / 2 + 0.43 * 2 / 3])


def test_greedy_is_the_best_weight_of_every_pair_by_brute_force():
    X, y = problem(3, 60, 2)
    fpr_range = (0.1, 0.4)
    model = GreedyCombination(fpr_range, n_intervals=20).fit(X, y)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    scaled = np.where(model.reversed_, 1 - scaled, scaled)
    first = int(
        np.argmax([partial_auc_score(y, scaled[:, k], fpr_range=fpr_range) for k in range(2)])
    )
    values = {
        w: partial_auc_score(
            y, (1 - w) * scaled[:, first] + w * scaled[:, 1 - first], fpr_range=fpr_range
        )
        for w in np.linspace(0, 1, 21)
    }
    best = next(w for w, value in values.items() if value > max(values.values()) - 1e-12)
    assert 0 < best < 1
    np.testing.assert_allclose(model.coef_[[first, 1 - first]], [1 - best, best])


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 4)), min_size=2),
    st.sampled_from([(0.0, 1.0), (0.0, 0.3), (0.2, 0.7), (0.95, 1.0)]),
)
def test_partial_aucs_of_columns_are_those_of_the_metric(rows, fpr_range):
    positive = np.array([row[0] for row in rows])
    if positive.all() or not positive.any():
        return
    scores = np.array([row[1:] for row in rows], dtype=float)
    expected = [partial_auc_score(positive, column, fpr_range=fpr_range) for column in scores.T]
    np.testing.assert_allclose(partial_aucs(positive, scores, fpr_range), expected, atol=1e-12)


# pAUCBoost


def test_parts_of_the_range_by_hand():
    # Four negatives fill a quarter of the axis each, the highest first.
    scores = np.array([1.0, 4.0, 2.0, 3.0])
    np.testing.assert_allclose(range_weights(scores, (0.0, 0.5)), [0, 0.5, 0, 0.5])
    np.testing.assert_allclose(range_weights(scores, (0.125, 0.5)), [0, 1 / 3, 0, 2 / 3])
    np.testing.assert_allclose(range_weights(np.zeros(4), (0.0, 0.1)), np.full(4, 0.25))
    tied = np.array([5.0, 5.0, 1.0, 0.0])
    np.testing.assert_allclose(range_weights(tied, (0.0, 0.25)), [0.5, 0.5, 0, 0])


def test_smooth_value_by_hand():
    # Phi(1) and Phi(-1) sum to one; the negative at -5 is outside the range.
    scores = np.array([1.0, -1.0, 0.0, -5.0])
    objective = SmoothPartialAUC.at(scores, np.array([True, True, False, False]), (0.0, 0.5))
    assert objective.value(scores) == pytest.approx(0.5)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.2), (0.1, 0.33)])
def test_smooth_derivatives_by_finite_differences(fpr_range):
    rng = np.random.default_rng(2)
    positive = rng.random(30) < 0.3
    scores, direction = rng.normal(size=(2, 30))
    objective = SmoothPartialAUC.at(scores, positive, fpr_range)

    def value(t):
        return objective.value(scores + t * direction)

    h = 1e-4
    for step in (0.0, 0.7):
        first = (value(step + h) - value(step - h)) / (2 * h)
        second = (value(step + h) - 2 * value(step) + value(step - h)) / h**2
        found = objective.derivatives(scores, direction, step)
        assert found == pytest.approx((first, second), rel=1e-4)
        gradient = objective.gradient(scores + step * direction)
        assert gradient @ direction == pytest.approx(first, rel=1e-6)


def test_smooth_value_tends_to_the_partial_auc():
    rng = np.random.default_rng(4)
    positive = rng.random(40) < 0.3
    scores = rng.normal(size=40) + positive
    objective = SmoothPartialAUC.at(scores, positive, (0.05, 0.4))
    sharp = objective.value(1e6 * scores)
    assert sharp == pytest.approx(partial_auc_score(positive, scores, fpr_range=(0.05, 0.4)))


def test_weak_classifiers():
    few = WeakLearners.from_values(0, np.array([0.0, 1.0, 1.0, 3.0]))
    np.testing.assert_array_equal(few.cuts, [0.5, 2.0])
    np.testing.assert_array_equal(few(np.array([[1.0], [9.0]])), [[1, 0], [1, 1]])
    knots = np.array([0.0, 1.0, 2.0, 4.0])
    assert natural_cubic_basis(np.zeros(3), knots).shape == (3, 3)
    # Beyond the outer knots a natural spline is a straight line.
    for start in (-9.0, 4.0):
        basis = natural_cubic_basis(start + np.arange(5.0), knots)
        np.testing.assert_allclose(np.diff(basis, n=2, axis=0), 0, atol=1e-9)
    inside = natural_cubic_basis(np.linspace(0.0, 4.0, 9), knots)
    assert np.abs(np.diff(inside[:, 1:], n=2, axis=0)).max() > 0.1


def test_roughness_of_stumps_is_that_of_second_differences():
    few = WeakLearners.from_values(0, np.array([0.0, 1.0, 2.0, 3.0]))
    for heights in np.eye(3), np.array([[2.0, -1.0, 0.5]]):
        for height in heights:
            levels = np.concatenate([[0, 0], np.cumsum(height), [height.sum()]])
            expected = np.sum(np.diff(levels, n=2) ** 2)
            assert height @ few.roughness() @ height == pytest.approx(expected)


def test_roughness_of_splines_is_the_integral_of_the_squared_second_derivative():
    knots = np.array([-1.0, 0.0, 0.5, 3.0])
    weights = np.array([5.0, 1.0, -2.0])
    places = np.linspace(-1.0, 3.0, 20_001)
    values = natural_cubic_basis(places, knots) @ weights
    # In units of the distance between the outer knots, 4, which is 20,000 intervals.
    bend = np.diff(values, n=2) * 20_000.0**2
    # The basis of scaled knots is that of the knots in units of 1 and of 4 ** 2.
    scaled = weights * np.array([4.0, 16.0, 16.0])
    assert scaled @ spline_roughness(knots) @ scaled == pytest.approx(np.mean(bend**2), rel=1e-3)


def test_first_step_by_hand():
    # One binary marker, which half of the positives and no negative have: the objective at step t is
    # (Phi(t) + Phi(0)) / 2 - 2 roughness t ** 2.
    X = np.array([[1.0], [0.0], [0.0], [0.0]])
    model = PAUCBoost((0.0, 1.0), n_steps=1, roughness=0.02).fit(X, [1, 1, 0, 0])
    ((weak, step),) = model.steps_
    assert weak == 0
    slope = np.exp(-(step**2) / 2) / np.sqrt(2 * np.pi) / 2 - 4 * 0.02 * step
    assert slope == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(model.decision_function(X), [step, 0, 0, 0])


def test_newton_takes_five_steps_at_most():
    # A perfect marker and hardly a penalty: the maximum is far, and five steps end before it.
    X, y = np.repeat([[1.0], [0.0]], 3, axis=0), np.repeat([1, 0], 3)
    ((_, step),) = PAUCBoost((0.0, 1.0), n_steps=1, roughness=1e-9).fit(X, y).steps_
    expected = 1.0
    for _ in range(5):
        expected += 1 / expected
    assert step == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.1, 0.9)])
def test_every_step_takes_the_steepest_ascent_of_the_penalised_objective(fpr_range):
    # Discrete markers: the functions are stumps as they are, so the penalty is that of their heights.
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3 == 0
    X = rng.integers(0, 4, (60, 3)) + (rng.random((60, 3)) < 0.4) * y[:, None]
    model = PAUCBoost(fpr_range, n_steps=12, roughness=0.05).fit(X, y)
    learners = [WeakLearners.from_values(k, X[:, k].astype(float)) for k in range(3)]
    basis = np.column_stack([learner(X.astype(float)) for learner in learners])
    ends = np.cumsum([0, *(learner.cuts.size for learner in learners)])
    coef = np.zeros(basis.shape[1])

    def penalty(heights):
        parts = [heights[low:high] for low, high in pairwise(ends)]
        return sum(part @ w.roughness() @ part for part, w in zip(parts, learners, strict=True))

    for chosen, step in model.steps_:
        objective = SmoothPartialAUC.at(basis @ coef, y, fpr_range)

        def value(heights, objective=objective):
            return objective.value(basis @ heights) - 0.05 * penalty(heights)

        slopes = [(value(coef + h) - value(coef - h)) / 2e-6 for h in 1e-6 * np.eye(coef.size)]
        assert abs(slopes[chosen]) == pytest.approx(np.abs(slopes).max(), abs=1e-6)
        coef[chosen] += step
    assert np.unique([chosen for chosen, _ in model.steps_]).size > 3


def test_a_larger_penalty_gives_a_smoother_function():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = (np.abs(X[:, 0]) < 0.7) ^ (rng.random(200) < 0.1)
    places = np.linspace(-2, 2, 81)[:, None]
    bends = []
    for roughness in (1e-6, 1e-3, 1.0):
        model = PAUCBoost((0.0, 0.5), n_steps=40, roughness=roughness).fit(X, y)
        bends.append(np.abs(np.diff(model.decision_function(places), n=2)).max())
    assert bends[0] > 2 * bends[1] > 4 * bends[2]


def test_every_step_raises_the_objective_and_stages_end_at_the_model():
    X, y = problem(5)
    model = PAUCBoost((0.0, 0.2), n_steps=30).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.steps_) == 30
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    positive = y == 1
    scores = np.zeros(len(y))
    for stage in stages:
        objective = SmoothPartialAUC.at(scores, positive, (0.0, 0.2))
        assert objective.value(stage) > objective.value(scores) - 1e-6
        scores = stage
