"""Scores that made promised thresholds flag nothing, or everything, without a word."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)
from aucuba.threshold._order_statistic import raised_by_rounding

POPULATION = 200_000


class Probabilities(ClassifierMixin, BaseEstimator):
    """A fitted network: the probability is the sigmoid of the first column, in single precision."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        second = expit(X[:, 0]).astype(np.float32)
        return np.column_stack([1 - second, second])


def rows(rng, n, centre, distance=5.0, spread=2.0):
    y = np.repeat([0, 1], n)
    return (centre + spread * rng.normal(size=2 * n) + distance * y)[:, None], y


@pytest.mark.parametrize("kind", [FixedFPRClassifier, AlertBudgetClassifier])
@pytest.mark.parametrize("centre", [8.0, 9.0, 10.0])
def test_single_precision_near_one_still_flags(kind, centre):
    X, y = rows(np.random.default_rng(0), 200, centre)
    model = kind(Probabilities(), 0.1, cv="prefit").fit(X, y)
    assert model.threshold_ < 1
    assert 0 < model.predict(X).sum() < 250
    assert not model.trivial_


def test_single_precision_near_zero_does_not_flag_everything():
    X, y = rows(np.random.default_rng(0), 200, -18.0, distance=5.0)
    X = np.vstack([X, np.full((300, 1), 5.0)])
    y = np.append(y, np.ones(300, dtype=int))
    model = FixedTPRClassifier(Probabilities(), 0.9, cv="prefit").fit(X, y)
    assert 0 < model.threshold_ < 1e-3
    assert model.predict(X)[:200].mean() < 0.1


@pytest.mark.parametrize("kind", [FixedFPRClassifier, FixedTPRClassifier])
@pytest.mark.parametrize("centre", [-14.0, 10.0])
def test_the_promise_holds_in_saturated_worlds(kind, centre):
    rng = np.random.default_rng(0)
    X, y = rows(rng, POPULATION, centre)
    population = Probabilities().predict_proba(X)[y == (kind is FixedTPRClassifier), 1]
    n_worlds, broken = 400, 0
    for _ in range(n_worlds):
        limit = 0.1 if kind is FixedFPRClassifier else 0.9
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No held-out positive")
            model = kind(Probabilities(), limit, cv="prefit").fit(*rows(rng, 60, centre))
        rate = np.mean(population > np.float32(model.threshold_))
        broken += rate > limit if kind is FixedFPRClassifier else rate < limit
    assert broken <= n_worlds * (0.05 + 3 * np.sqrt(0.05 * 0.95 / n_worlds))


@pytest.mark.parametrize(
    "model",
    [
        FixedFPRClassifier(Probabilities(), 0.1, cv="prefit"),
        FixedFPRClassifier(Probabilities(), [0.3, 0.1], cv="prefit"),
        AlertBudgetClassifier(Probabilities(), 0.1, cv="prefit"),
    ],
)
def test_a_threshold_that_nothing_passes_is_trivial(model):
    X, y = rows(np.random.default_rng(0), 200, 40.0)
    with pytest.warns(UserWarning, match="No held-out positive scores above the threshold"):
        model.fit(X, y)
    assert model.trivial_
    assert model.predict(X).sum() == 0
    assert "kept by flagging nothing" in model.promise_


@pytest.mark.parametrize("kind", [FixedFPRClassifier, AlertBudgetClassifier])
def test_the_fewest_rows_and_positives_above_them_are_not_trivial(kind):
    # With 29 rows none may lie above a threshold of 0.1 at a confidence of 0.95.
    X = np.linspace(-1, 1, 29)[:, None]
    y = np.repeat([0, 1], [15, 14])
    if kind is FixedFPRClassifier:
        X, y = np.vstack([X, [[2.0]]]), np.append(np.zeros(29, dtype=int), 1)
    assert not kind(Probabilities(), 0.1, cv="prefit").fit(X, y).trivial_


def test_a_precision_that_is_kept_is_not_trivial():
    X, y = rows(np.random.default_rng(0), 500, 8.0)
    model = FixedPrecisionClassifier(Probabilities(), 0.8, cv="prefit", random_state=0).fit(X, y)
    assert not model.trivial_
    assert model.predict(X).sum() > 100


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_ties_of_rounded_dot_products_stay_below(kind):
    scores = np.repeat(np.arange(-3, 4), 50).astype(kind)
    level = np.array([1.0])
    noise = np.spacing(kind(3)) * 8
    assert raised_by_rounding(level, scores)[0] > 1 + noise
