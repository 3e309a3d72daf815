"""Promises that are calibrated on the latest rows."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from aucuba.threshold import (
    AlertBudgetClassifier,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    TriageClassifier,
)
from tests.threshold.bases import FirstFeature

RNG = np.random.default_rng(0)
N = 600
TIME = RNG.permutation(N) // 4
Y = (RNG.random(N) < 0.4).astype(int)
X = np.column_stack([RNG.normal(size=N) + 2.0 * Y, TIME])
MODELS = [
    FixedFPRClassifier(FirstFeature(), 0.1, cv=0.4),
    FixedTPRClassifier(FirstFeature(), 0.8, cv=0.4),
    FixedPrecisionClassifier(FirstFeature(), 0.5, 0.9, cv=0.4, random_state=0),
    AlertBudgetClassifier(FirstFeature(), 0.3, cv=0.4),
    TriageClassifier(FirstFeature(), 0.1, 0.8, cv=0.4),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_latest_rows_set_the_threshold_and_the_earlier_ones_train(model):
    model.fit(X, Y, time=TIME)
    late = np.sort(TIME)[N - 240] <= TIME
    assert sorted(model.estimator_.rows_) == sorted(X[~late, 0])
    by_hand = sklearn.clone(model).set_params(estimator=model.estimator_, cv="prefit")
    by_hand.fit(X[late], Y[late])
    assert model.threshold_ == by_hand.threshold_
    if isinstance(model, TriageClassifier):
        assert model.thresholds_.tolist() == by_hand.thresholds_.tolist()
    assert model.n_units_ == by_hand.n_units_
    assert model.guarantee_


def test_the_latest_negatives_are_those_that_a_selection_compares_with():
    model = FalseDiscoverySelector(FirstFeature(), 0.2, cv=0.4, random_state=0)
    model.fit(X, Y, time=TIME)
    late = np.sort(TIME)[N - 240] <= TIME
    assert sorted(model.estimator_.rows_) == sorted(X[~late, 0])
    assert model.calibration_scores_.tolist() == sorted(X[late & (Y == 0), 0])
    assert model.guarantee_


def test_earlier_rows_of_a_group_held_out_do_not_train():
    groups = RNG.integers(150, size=N)
    model = FixedFPRClassifier(FirstFeature(), 0.2, cv=0.4).fit(X, Y, groups=groups, time=TIME)
    late = np.sort(TIME)[N - 240] <= TIME
    unseen = ~late & ~np.isin(groups, groups[late])
    assert sorted(model.estimator_.rows_) == sorted(X[unseen, 0])


def test_a_drifting_score_keeps_its_promise_for_rows_like_the_latest():
    """The scores of negatives rise with time: a random part would set the threshold too low."""
    rng = np.random.default_rng(1)
    n = 4000
    y, time = (rng.random(n) < 0.3).astype(int), np.arange(n)
    drift = 3.0 * time / n
    table = (rng.normal(size=n) + drift + 2.0 * y)[:, np.newaxis]
    new = rng.normal(size=(20_000, 1)) + 3.0 * (0.9 + 0.1 * rng.random((20_000, 1)))
    model = FixedFPRClassifier(FirstFeature(), 0.1, cv=0.1, random_state=0)
    assert model.fit(table, y, time=time).predict(new).mean() < 0.1
    assert model.fit(table, y).predict(new).mean() > 0.15


@pytest.mark.parametrize("cv", [5, None, "prefit"])
def test_time_needs_a_fraction(cv):
    base = FirstFeature().fit(X, Y)
    with pytest.raises(ValueError, match=r"cv must be the fraction|'time'. would have no effect"):
        FixedFPRClassifier(base, 0.1, cv=cv).fit(X, Y, time=TIME)


def test_time_is_routed():
    expected = FixedFPRClassifier(LogisticRegression(), 0.1, cv=0.4).fit(X, Y, time=TIME)
    with sklearn.config_context(enable_metadata_routing=True):
        model = FixedFPRClassifier(LogisticRegression(), 0.1, cv=0.4).set_fit_request(time=True)
        assert model.fit(X, Y, time=TIME).threshold_ == expected.threshold_
