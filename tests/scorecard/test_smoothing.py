"""Classes smoothed by trees."""

import numpy as np
import pytest

from aucuba._rows._sample import Sample
from aucuba.scorecard._search import ConditionTable
from aucuba.scorecard._smoothing import smoothed_classes


def noisy(seed=0, n_rows=600):
    rng = np.random.default_rng(seed)
    met = rng.random((6, n_rows)) < 0.5
    probability = np.where(met[0] & met[1], 0.8, 0.1)
    return ConditionTable(met, np.arange(6)), rng.random(n_rows) < probability, probability


def test_smoothed_classes_are_nearer_to_the_probabilities():
    table, positive, probability = noisy()
    share = smoothed_classes(table, Sample(positive), 0)
    # Most of the own class stays.
    assert np.all(share[positive] >= 0.6)
    assert np.all(share[~positive] <= 0.4)
    estimated = smoothed_classes(table, Sample(positive), 0, trust=1.0)
    assert np.mean((estimated - probability) ** 2) < 0.2 * np.mean((positive - probability) ** 2)
    # Exact in any order.
    assert np.array_equal(share * 1024, np.rint(share * 1024))


def test_no_row_is_scored_by_trees_that_it_trained():
    """Where conditions tell nothing, the trees must not know a row's own class."""
    rng = np.random.default_rng(1)
    positive = rng.random(500) < 0.5
    table = ConditionTable(rng.random((40, 500)) < 0.5, np.arange(40))
    estimated = smoothed_classes(table, Sample(positive), 0, trust=1.0)
    assert abs(estimated[positive].mean() - estimated[~positive].mean()) < 0.05


def test_rows_of_a_group_are_in_the_same_bags():
    rng = np.random.default_rng(2)
    positive = np.repeat(rng.random(100) < 0.5, 5)
    met = np.repeat(rng.random((40, 100)) < 0.5, 5, axis=1)
    # Rows of a group differ in one condition, so that they are not equal.
    met = np.vstack([met, rng.random((3, 500)) < 0.5])
    table = ConditionTable(met, np.arange(43))
    group = np.repeat(np.arange(100), 5)
    gap = []
    for one in (group, None):
        estimated = smoothed_classes(table, Sample(positive, group=one), 0, trust=1.0)
        gap.append(estimated[positive].mean() - estimated[~positive].mean())
    assert abs(gap[0]) < 0.1
    assert gap[1] > 0.3


def test_weights_are_copies_in_any_order():
    table, positive, _ = noisy(n_rows=200)
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, 200)
    rows = rng.permutation(np.repeat(np.arange(200), weight))
    once = smoothed_classes(table, Sample(positive, weight.astype(float)), 0)
    many = smoothed_classes(table.take(rows), Sample(positive[rows]), 0)
    assert np.array_equal(once[rows], many)


@pytest.mark.parametrize("positive", [np.zeros(4, bool), np.ones(4, bool)])
def test_one_class_stays(positive):
    table = ConditionTable(np.eye(4, dtype=bool), np.arange(4))
    assert np.array_equal(smoothed_classes(table, Sample(positive), 0), positive)
