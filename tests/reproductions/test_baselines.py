"""Baselines against hand-computed cases, brute force and finite differences."""

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
    parameter = set(kind().get_params()) - {"fpr_range"}
    with pytest.raises(ValueError, match=parameter.pop()):
        kind(**dict.fromkeys(set(kind().get_params()) - {"fpr_range"}, 0)).fit(X, y)


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
    assert objective.value_and_gradient(scores)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.2), (0.1, 0.33)])
def test_smooth_derivatives_by_finite_differences(fpr_range):
    rng = np.random.default_rng(2)
    positive = rng.random(30) < 0.3
    scores, direction = rng.normal(size=(2, 30))
    objective = SmoothPartialAUC.at(scores, positive, fpr_range)

    def value(t):
        return objective.value_and_gradient(scores + t * direction)[0]

    gradient = objective.value_and_gradient(scores)[1]
    h = 1e-4
    assert gradient @ direction == pytest.approx((value(h) - value(-h)) / (2 * h), rel=1e-6)
    second = (value(h) - 2 * value(0.0) + value(-h)) / h**2
    assert objective.second_derivative(scores, direction) == pytest.approx(second, rel=1e-4)


def test_smooth_value_tends_to_the_partial_auc():
    rng = np.random.default_rng(4)
    positive = rng.random(40) < 0.3
    scores = rng.normal(size=40) + positive
    objective = SmoothPartialAUC.at(scores, positive, (0.05, 0.4))
    sharp = objective.value_and_gradient(1e6 * scores)[0]
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


def test_first_step_by_hand():
    # One binary marker, which half of the positives and no negative have: the stump is the only weak
    # classifier, all scores start equal, so the bend is zero and the first step has length one.
    X = np.array([[1.0], [0.0], [0.0], [0.0]])
    model = PAUCBoost((0.0, 1.0), n_steps=1).fit(X, [1, 1, 0, 0])
    assert model.steps_ == [(0, 1.0)]
    mean, spread = 0.25, np.sqrt(0.25 * 0.75)
    np.testing.assert_allclose(
        model.decision_function(X), [(1 - mean) / spread] + [-mean / spread] * 3
    )


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
        before = objective.value_and_gradient(scores)[0]
        assert objective.value_and_gradient(stage)[0] > before
        scores = stage
