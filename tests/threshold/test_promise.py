"""The promise itself: how often the true false positive rate exceeds it in simulation."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from aucuba.threshold import FixedFPRClassifier
from tests.threshold.bases import prefit

SHIFT = np.array([1.2, 0.8])
BASES = {
    "logistic regression": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_leaf_nodes=10, random_state=0),
}


def draw(rng, n_negatives, n_positives):
    y = np.repeat([0, 1], [n_negatives, n_positives])
    return rng.normal(size=(y.size, 2)) + y[:, None] * SHIFT, y


def linear_fpr(model):
    """The exact rate: the score of a standard normal negative is normal."""
    base = model.estimator_
    return norm.sf((model.threshold_ - base.intercept_[0]) / np.linalg.norm(base.coef_))


def count_violations(name, cv, n_sets, max_fpr, confidence):
    rng = np.random.default_rng(20)
    fresh = rng.normal(size=(20_000, 2))
    violations, bound = 0, 0.0
    for seed in range(n_sets):
        base = BASES[name]
        if cv == "prefit":
            base.fit(*draw(rng, 60, 30))
            rows = draw(rng, 60, 0)
        else:
            rows = draw(rng, 120, 60)
        model = FixedFPRClassifier(base, max_fpr, confidence, cv=cv, random_state=seed).fit(*rows)
        if name == "logistic regression":
            fpr = linear_fpr(model)
        else:
            fpr = np.mean(model.predict(fresh))
        violations += fpr > max_fpr
        bound = model.violation_probability_
        assert (model.n_negatives_, model.guarantee_) == (60, True)
    return violations, bound


def assert_promise_kept(name, cv, n_sets):
    max_fpr, confidence = 0.1, 0.9
    violations, bound = count_violations(name, cv, n_sets, max_fpr, confidence)
    assert bound <= 1 - confidence
    assert violations <= binom.ppf(0.9999, n_sets, bound)
    if name != "tree":
        # Continuous scores: the bound is the probability itself, so a rule that is too careful
        # shows as well.
        assert violations >= binom.ppf(0.0001, n_sets, bound)


@pytest.mark.filterwarnings("ignore:No held-out positive")
@pytest.mark.parametrize("cv", ["prefit", 0.5])
@pytest.mark.parametrize("name", BASES)
def test_promise_is_kept(name, cv):
    assert_promise_kept(name, cv, n_sets=150)


@pytest.mark.slow
@pytest.mark.parametrize("cv", ["prefit", 0.5])
@pytest.mark.parametrize("name", BASES)
def test_promise_is_kept_over_a_thousand_data_sets(name, cv):
    assert_promise_kept(name, cv, n_sets=1000)


@pytest.mark.parametrize("n", [22, 60, 137])
def test_violations_are_as_frequent_as_the_binomial_says(n):
    rng = np.random.default_rng(n)
    n_sets, base, y = 800, prefit(), np.zeros(n)
    models = [
        FixedFPRClassifier(base, 0.1, 0.9, cv="prefit").fit(scores[:, None], y)
        for scores in rng.uniform(size=(n_sets, n))
    ]
    violations = sum(1 - model.threshold_ > 0.1 for model in models)
    low, high = binom.ppf([1e-5, 1 - 1e-5], n_sets, models[0].violation_probability_)
    assert low <= violations <= high


def test_promise_is_kept_with_tied_scores():
    # Whole levels only: above level 0 the rate is 0.15, above level 1 it is 0.05.
    levels = np.array([0.85, 0.10, 0.05])
    rng = np.random.default_rng(0)
    y, base, violations = np.zeros(60), prefit(), 0
    for _ in range(1000):
        scores = rng.choice(3, p=levels, size=(60, 1)).astype(float)
        model = FixedFPRClassifier(base, 0.1, 0.9, cv="prefit").fit(scores, y)
        predicted = model.predict(np.arange(3.0)[:, None])
        violations += levels @ predicted > 0.1
    assert violations <= binom.ppf(0.9999, 1000, model.violation_probability_)
