"""Groups and times in the folds of ensembles: step by step, and where they leak."""

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba._roc._region import Region
from aucuba._rows._splits import time_blocks
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._reweighting import region_weights
from aucuba.metrics import partial_auc_score, score_interval
from aucuba.risks import Sample
from tests.ensemble.data import blended, numbers

RANGE = (0.0, 0.2)
MEMBERS = [("logistic", LogisticRegression()), ("forest", RandomForestClassifier(30))]


def seen(n_rows, seed=0):
    """Times of rows in random order, some of them equal."""
    return np.random.default_rng(seed).permutation(n_rows) // 3


def test_a_block_of_time_is_scored_by_models_of_earlier_blocks():
    X, y = numbers(240)
    time = seen(240)
    model = RegionReweighted(LogisticRegression(), RANGE, cv=3).fit(X, y, time=time)
    block = time_blocks(time, 4)
    expected = np.full(240, np.nan)
    for number in (1, 2, 3):
        earlier = LogisticRegression().fit(X[block < number], y[block < number])
        expected[block == number] = earlier.decision_function(X[block == number])
    assert model.oof_scores_ == pytest.approx(expected, nan_ok=True)
    later = block > 0
    region = Region.from_params(RANGE, None, 0.0)
    factors = np.ones(240)
    factors[later] = region_weights(expected[later], Sample(y[later] == 1), region, 3.0)
    assert model.weights_ == pytest.approx(factors)
    assert model.weights_[~later].tolist() == [1.0] * int(np.sum(~later))
    # The final models are of all rows.
    assert model.estimator_.coef_ == pytest.approx(LogisticRegression().fit(X, y).coef_)
    weighted = LogisticRegression().fit(X, y, factors)
    assert model.weighted_estimator_.coef_ == pytest.approx(weighted.coef_)


def test_the_first_block_enters_neither_blend_nor_report():
    X, y = numbers(300)
    time, weight = seen(300), np.where(np.arange(300) % 7 == 0, 0.0, 1.0)
    members = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
    stack = RegionStack(RANGE, estimators=members, cv=3).fit(X, y, weight, time=time)
    kept = np.flatnonzero(weight)
    block = np.full(300, -1)
    block[kept] = time_blocks(time[kept], 4)
    scored = block > 0
    assert (np.isnan(stack.oof_scores_).all(axis=1) == ~scored).all()
    scores, labels = stack.oof_scores_[scored], y[scored]
    for row, column in zip(stack.report_, scores.T, strict=False):
        expected = partial_auc_score(labels, column, fpr_range=RANGE)
        assert row["partial_auc"] == pytest.approx(expected)
    by_hand = blended(scores, labels, stack.shrinkage_, stack.member_scores(X))
    assert stack.decision_function(X) + stack.threshold_ == pytest.approx(by_hand, abs=1e-4)
    stacked = np.empty(labels.size)
    for number in (1, 2, 3):
        others = block[scored] != number
        stacked[~others] = blended(
            scores[others], labels[others], stack.shrinkage_, scores[~others]
        )
    expected = partial_auc_score(labels, stacked, fpr_range=RANGE)
    assert stack.report_[-1]["partial_auc"] == pytest.approx(expected)


def test_a_reweighted_member_and_boosting_take_the_blocks_of_the_stack():
    X, y = numbers(200)
    time = np.arange(200)
    member = RegionReweighted(LogisticRegression(), RANGE)
    stack = RegionStack(RANGE, estimators=[("r", member), "boosting"], cv=2, random_state=0)
    stack.fit(X, y, time=time)
    fitted = dict(stack.members_)["r"]
    alone = RegionReweighted(LogisticRegression(), RANGE, cv=2).fit(X, y, time=time)
    assert fitted.oof_scores_ == pytest.approx(alone.oof_scores_, nan_ok=True)
    assert fitted.weights_ == pytest.approx(alone.weights_)
    assert np.isnan(stack.oof_scores_[:67]).all()
    assert np.isfinite(stack.oof_scores_[67:]).all()


@pytest.mark.parametrize("model", [RegionStack(RANGE, estimators=MEMBERS, random_state=0)])
def test_groups_and_time_are_routed(model):
    X, y = numbers(200)
    groups, time = np.arange(200) // 2, np.arange(200)
    expected = model.fit(X, y, groups=groups, time=time).oof_scores_
    assert not np.allclose(expected, model.fit(X, y, time=time).oof_scores_, equal_nan=True)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler(with_mean=False, with_std=False),
            model.set_fit_request(groups=True, time=True),
        ).fit(X, y, groups=groups, time=time)
    assert np.array_equal(pipe[-1].oof_scores_, expected, equal_nan=True)


@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_groups_are_the_units_of_the_reported_error():
    X, y = numbers(300)
    groups = np.arange(300) // 3
    stack = RegionStack(RANGE, estimators=MEMBERS, random_state=0).fit(X, y, groups=groups)
    for row, column in zip(stack.report_, stack.oof_scores_.T, strict=False):
        found = score_interval(
            "partial_auc", y, column, groups=groups, fpr_range=RANGE, method="delong"
        )
        half_width = row["standard_error"] * 1.984
        assert found.high - found.low == pytest.approx(2 * half_width, rel=1e-3)


def units(n_units, seed, size=6):
    """Units of rows with a fingerprint and a common label that the fingerprint does not tell.

    One more column is honest: it tells a little of the label, for every unit alike.
    """
    rng = np.random.default_rng(seed)
    label = rng.random(n_units) < 0.3
    fingerprint = 3.0 * rng.normal(size=(n_units, 3))
    unit = np.repeat(np.arange(n_units), size)
    X = fingerprint[unit] + 0.05 * rng.normal(size=(unit.size, 3))
    honest = label[unit] + 1.5 * rng.normal(size=unit.size)
    return np.column_stack([X, honest]), label[unit].astype(int), unit


def value_and_error(y, score, unit):
    found = score_interval("partial_auc", y, score, groups=unit, fpr_range=RANGE, method="delong")
    return found.value, (found.high - found.low) / (2 * 1.97)


def z_of(first, second):
    return (first[0] - second[0]) / np.hypot(first[1], second[1])


@pytest.fixture(scope="module")
def world():
    """Units in order of time; new ones; and a value on new ones with models of as many rows."""
    X, y, unit = units(200, 0)
    X_new, y_new, unit_new = units(400, 1)
    return X, y, unit, X_new, y_new, unit_new


FOREST = RegionReweighted(RandomForestClassifier(60), RANGE, cv=5, random_state=0)


def test_groups_close_a_planted_leak(world):
    X, y, unit, X_new, y_new, unit_new = world
    # As many rows as a model of four folds has.
    part = unit < 160
    new = RandomForestClassifier(60, random_state=0).fit(X[part], y[part]).predict_proba(X_new)
    future = value_and_error(y_new, new[:, 1], unit_new)
    open_ = value_and_error(y, FOREST.fit(X, y).oof_scores_, unit)
    closed = value_and_error(y, FOREST.fit(X, y, groups=unit).oof_scores_, unit)
    assert abs(z_of(closed, future)) < 2
    assert z_of(open_, future) > 4


def test_time_closes_a_planted_leak(world):
    X, y, unit, X_new, y_new, unit_new = world
    # Rows of one unit come one after the other, so that only a boundary divides a unit.
    time = unit
    scores = FOREST.fit(X, y, time=time).oof_scores_
    block, block_new = time_blocks(time, 6), time_blocks(unit_new, 6)
    future_scores = np.full(y_new.size, np.nan)
    for number in range(1, 6):
        model = RandomForestClassifier(60, random_state=1).fit(X[block < number], y[block < number])
        rows = block_new == number
        p = np.clip(model.predict_proba(X_new[rows])[:, 1], 1 / 120, 1 - 1 / 120)
        future_scores[rows] = np.log(p / (1 - p))
    later, later_new = block > 0, block_new > 0
    future = value_and_error(y_new[later_new], future_scores[later_new], unit_new[later_new])
    closed = value_and_error(y[later], scores[later], unit[later])
    open_ = value_and_error(y, FOREST.fit(X, y).oof_scores_, unit)
    assert abs(z_of(closed, future)) < 2
    assert z_of(open_, future) > 4
