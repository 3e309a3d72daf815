"""Presets, plans and time limits of a stack; boosting that grows, forests scored out of bag."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from aucuba import PartialAUCClassifier
from aucuba._columns._table_columns import Columns
from aucuba._roc._region import Region
from aucuba.ensemble import RegionStack
from aucuba.ensemble._defaults import PRESETS, NamedMembers
from aucuba.ensemble._members import BoostingMember
from aucuba.ensemble._table import log_odds
from aucuba.metrics import partial_auc_score
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import mixed_frame, numbers
from tests.ensemble.slow import Clock, Slow

RANGE = (0.0, 0.2)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_fits_a_mixed_table_and_is_saved(preset, tmp_path):
    frame, y = mixed_frame(160)
    stack = RegionStack(RANGE, preset=preset, cv=2, random_state=0).fit(frame, y)
    assert [name for name, _ in stack.members_] == list(PRESETS[preset])
    settings = [{k: v for k, v in one.items() if k != "member"} for one in stack.plan_]
    for found, wanted in zip(settings, PRESETS[preset].values(), strict=True):
        assert wanted.items() <= found.items()
    path = tmp_path / "stack.aucuba"
    save_model(stack, path)
    loaded = load_model(path)
    assert np.array_equal(loaded.predict_proba(frame), stack.predict_proba(frame))


def test_advice_about_scale_is_for_the_columns_of_the_user():
    # Scaled to variance 1 by one row far from all others, which a sample of rows may miss.
    X, y = numbers(3000)
    X[1, 0] = 1e6
    RegionStack(RANGE, estimators=["linear"], cv=2, random_state=0).fit(X, y)
    own = ("own", PartialAUCClassifier(RANGE))
    with pytest.warns(UserWarning, match="standard deviations of the columns"):
        RegionStack(RANGE, estimators=[own], cv=2, random_state=0).fit(X * 10.0 ** np.arange(6), y)


def test_reweighted_boosting_scores_new_rows_as_its_out_of_fold_scores_say():
    (X, y), folds = numbers(4000), StratifiedKFold(4)
    rows, labels = X[:2000], y[:2000]
    settings = {"cv": folds, "strength": 100.0, "random_state": 0}
    stack = RegionStack((0.0, 0.1), estimators=["boosting"], **settings).fit(rows, labels)
    ((_, model),) = stack.members_
    both = [log_odds(half, X) for half in (model.estimator_, model.weighted_estimator_)]
    scores = np.mean(both, axis=0) - model.threshold_
    assert stack.member_scores(X)[:, 0] == pytest.approx(scores)
    # In the place of out-of-fold scores of the mean: those of the plain half, moved as in one fold.
    tuned = RegionStack((0.0, 0.1), estimators=["boosting_tuned"], **settings).fit(rows, labels)
    train, test = list(folds.split(rows, labels))[-1]
    weighted = clone(model.weighted_estimator_)
    weighted.fit(rows[train], labels[train], model__sample_weight=model.weights_[train])
    plain = tuned.oof_scores_[test, 0]
    negatives = labels[test] == 0
    ends = [
        np.sort(one[negatives])[::-1][int(0.1 * negatives.sum())]
        for one in (plain, (plain + log_odds(weighted, rows[test])) / 2)
    ]
    moved = tuned.oof_scores_ + ends[1] - ends[0] - model.threshold_
    assert abs(ends[1] - ends[0]) > 0.01
    assert stack.oof_scores_ == pytest.approx(moved)
    assert np.mean(scores[2000:][y[2000:] == 0] > 0.0) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize(("n_rows", "epochs"), [(300, 100), (3000, 27), (20_000, 5)])
def test_a_network_takes_as_many_steps_on_few_rows(n_rows, epochs):
    X = np.zeros((n_rows, 2))
    member = NamedMembers(X, Region.from_params(RANGE, None, 0.0), 1.0).member("network")
    assert member.estimator[-1].max_iter == epochs
    assert member.settings == {"n_steps": 150 if n_rows < 2000 else 400}
    assert not member.for_region


def test_a_network_finds_what_no_sum_of_columns_shows():
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = X[:, 0] * X[:, 1] > 0.5
    stack = RegionStack(RANGE, estimators=["network", "splines_logistic"], random_state=0).fit(X, y)
    network, splines, _ = stack.report_
    assert network["partial_auc"] > 0.7 > 0.5 > splines["partial_auc"]
    assert network["coef"] > 3.0 * abs(splines["coef"])


def test_a_plan_repeats_a_fit():
    X, y = numbers(200)
    plan = [{"member": "forest", "n_trees": 20}, {"member": "boosting", "max_rounds": 30}]
    first = RegionStack(RANGE, plan=plan, cv=3, random_state=0).fit(X, y)
    assert first.plan_ == plan
    assert len(first.members_[0][1][-1].estimators_) == 20
    again = clone(first).set_params(plan=first.plan_).fit(X, y)
    assert np.array_equal(again.decision_function(X), first.decision_function(X))


def test_a_plan_may_name_the_pairs_of_estimators():
    X, y = numbers(150)
    pairs = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
    stack = RegionStack(RANGE, estimators=pairs, plan=[{"member": "logistic"}]).fit(X, y)
    assert stack.plan_ == [{"member": "logistic"}]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"preset": "slow"}, "preset must be one of 'fast', 'default', 'best'"),
        ({"time_limit": 0}, "time_limit must be a number above 0"),
        ({"plan": []}, "plan must be plan_ of a fitted stack"),
        ({"plan": ["forest"]}, "plan must be plan_ of a fitted stack"),
        ({"plan": [{"member": "forest", "depth": 3}]}, "'forest' has no setting 'depth'"),
        ({"plan": [{"member": "forest", "n_trees": 0.5}]}, "n_trees of 'forest' must be a whole"),
        ({"plan": [{"member": "nobody"}]}, "Unknown member 'nobody'"),
        ({"plan": [{"member": "forest"}], "time_limit": 9}, "leave time_limit out"),
    ],
)
def test_bad_plans(params, message):
    X, y = numbers(100)
    with pytest.raises(ValueError, match=message):
        RegionStack(RANGE, **params).fit(X, y)


class Slower(Slow):
    seconds = 4.0


class Quick(Slow):
    seconds = 0.1


@pytest.mark.usefixtures("clock")
def test_a_time_limit_leaves_out_what_would_not_end_in_time():
    X, y = numbers(1000)
    members = [("first", Quick()), ("slow", Slower()), ("third", Quick(C=0.1))]
    stack = RegionStack(RANGE, estimators=members, time_limit=15.0, random_state=0).fit(X, y)
    # The slow one would take 20 s.
    assert [one["member"] for one in stack.plan_] == ["first", "third"]
    assert Slower.n_fits == 0
    assert Clock.now < 1.1 * 15.0
    longer = clone(stack).set_params(time_limit=40.0).fit(X, y)
    assert [one["member"] for one in longer.plan_] == ["first", "slow", "third"]
    again = clone(stack).set_params(time_limit=None, plan=stack.plan_).fit(X, y)
    assert np.array_equal(again.decision_function(X), stack.decision_function(X))


@pytest.mark.usefixtures("clock")
def test_a_member_is_abandoned_when_the_time_is_over():
    class Jumpy(Slow):
        """Quick on the rows of a trial alone."""

        def fit(self, X, y, sample_weight=None):
            type(self).seconds = 1.0 if X.shape[0] > 500 else 0.0
            return super().fit(X, y, sample_weight)

    X, y = numbers(1000)
    members = [("first", Quick()), ("jumpy", Jumpy())]
    stack = RegionStack(RANGE, estimators=members, time_limit=3.0, random_state=0).fit(X, y)
    assert [one["member"] for one in stack.plan_] == ["first"]
    # All six would take 5 s; the one under way when the time is over is waited for.
    assert 1 <= Jumpy.n_fits < 6
    assert Clock.now < 3.0 + 0.8


def test_the_first_member_is_fitted_in_any_case_and_boosting_does_less():
    X, y = numbers(300)
    stack = RegionStack(RANGE, time_limit=1e-6, random_state=0).fit(X, y)
    assert [one["member"] for one in stack.plan_] == ["splines_logistic"]
    member = BoostingMember(Columns.from_table(X), 120)
    assert member.reduced(0.5).max_rounds == 60
    assert member.reduced(0.1) is None


def test_estimators_override_the_preset():
    X, y = numbers(120)
    stack = RegionStack(RANGE, estimators=["linear"], preset="best", cv=2).fit(X, y)
    assert [name for name, _ in stack.members_] == ["linear"]


def test_boosting_is_judged_at_every_tenth_round_of_models_that_grow():
    X, y = numbers(240)
    folds = StratifiedKFold(3)
    stack = RegionStack(RANGE, estimators=["boosting_tuned"], cv=folds, random_state=0).fit(X, y)
    n_rounds = stack.members_[0][1][-1].max_iter
    assert n_rounds % 10 == 0
    seed = stack.members_[0][1][-1].random_state
    booster = HistGradientBoostingClassifier(
        learning_rate=0.12,
        max_leaf_nodes=15,
        max_features=0.5,
        early_stopping=False,
        random_state=seed,
    )
    scores = np.empty(240)
    for train, test in folds.split(X, y):
        # The same chunks of rounds: a model that grows draws its columns anew in each.
        model = clone(booster).set_params(warm_start=True)
        for rounds in (60, 120):
            if rounds - 60 < n_rounds:
                model.set_params(max_iter=rounds).fit(X[train], y[train])
        stages = list(model.staged_decision_function(X[test]))
        scores[test] = np.ravel(stages[n_rounds - 1])
    assert stack.oof_scores_[:, 0] == pytest.approx(scores)


def test_log_loss_chooses_the_rounds_of_the_plain_booster():
    X, y = numbers(240)
    plain, tuned = (
        RegionStack(RANGE, estimators=[name], cv=3, random_state=0).fit(X, y)
        for name in ("boosting_log_loss", "boosting_tuned")
    )
    by_loss, by_area = (stack.oof_scores_[:, 0] for stack in (plain, tuned))

    def loss(log_odds):
        return np.logaddexp(0.0, np.where(y == 1, -log_odds, log_odds)).mean()

    assert loss(by_loss) < loss(by_area)
    areas = [partial_auc_score(y, scores, fpr_range=RANGE) for scores in (by_loss, by_area)]
    assert areas[0] < areas[1]


def test_a_forest_is_scored_out_of_bag_only_where_rows_are_free():
    X, y = numbers(300)
    stack = RegionStack(RANGE, estimators=["forest"], random_state=0)
    free = stack.fit(X, y)
    forest = free.members_[0][1][-1]
    votes, count = np.zeros(300), np.zeros(300)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(300), drawn)
        votes[out] += tree.predict_proba(X[out].astype(np.float32))[:, 1]
        count[out] += 1
    p = np.clip(votes / count, 0.005, 0.995)
    assert free.oof_scores_[:, 0] == pytest.approx(np.log(p / (1 - p)))
    assert not hasattr(forest, "oob_decision_function_")
    for given in ({"groups": np.arange(300) // 2}, {"time": np.arange(300)}):
        other = clone(stack).fit(X, y, **given).oof_scores_[:, 0]
        scored = np.isfinite(other)
        assert not np.allclose(other[scored], free.oof_scores_[scored, 0])
    split = clone(stack).set_params(cv=StratifiedKFold(3)).fit(X, y)
    # A third of the trees in the folds.
    levels = np.unique(1 / (1 + np.exp(-split.oof_scores_[:, 0])).round(6))
    assert np.allclose((levels * 34).round(3) % 0.5, 0, atol=1e-3)
