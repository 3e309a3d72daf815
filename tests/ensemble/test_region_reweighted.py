"""RegionReweighted: the procedure step by step, what it accepts, and what it refuses."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from aucuba import FewRowsWarning
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble import RegionReweighted
from aucuba.ensemble._reweighting import region_weights
from aucuba.ensemble._table import log_odds
from tests.ensemble.data import mixed_frame, numbers

RANGE = (0.0, 0.15)


def test_is_the_mean_of_a_plain_and_a_weighted_fit():
    X, y = numbers()
    folds = StratifiedKFold(4)
    model = RegionReweighted(LogisticRegression(), RANGE, strength=5.0, cv=folds).fit(X, y)
    oof = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="decision_function")
    weights = region_weights(oof, Sample(y == 1), Region.from_params(RANGE), 5.0)
    plain = LogisticRegression().fit(X, y)
    weighted = LogisticRegression().fit(X, y, sample_weight=weights)
    assert model.oof_scores_ == pytest.approx(oof)
    assert model.weights_ == pytest.approx(weights)
    expected = (plain.decision_function(X) + weighted.decision_function(X)) / 2
    assert model.decision_function(X) + model.threshold_ == pytest.approx(expected)
    held_out = cross_val_predict(
        LogisticRegression(),
        X,
        y,
        cv=folds,
        method="decision_function",
        params={"sample_weight": weights},
    )
    means = (oof + held_out) / 2
    above = means > model.threshold_
    assert above[y == 0].sum() == np.floor(RANGE[1] * np.sum(y == 0))
    odds = LogisticRegression(C=np.inf).fit(means[:, None], y).predict_log_proba(expected[:, None])
    assert model.predict_proba(X) == pytest.approx(np.exp(odds), abs=0.02)


def test_probabilities_of_forests_are_held_off_the_ends():
    X, y = numbers()
    model = RegionReweighted(RandomForestClassifier(10), RANGE, cv=3, random_state=0).fit(X, y)
    end = np.log(0.05 / 0.95)
    assert model.oof_scores_.min() == pytest.approx(end)
    assert np.abs(model.decision_function(X) + model.threshold_).max() <= -end + 1e-12


def test_rows_of_zero_weight_are_as_good_as_absent():
    X, y = numbers(120)
    weight = np.ones(120)
    weight[::7] = 0.0
    folds = [(np.flatnonzero(np.arange(120) % 3 != k), np.arange(k, 120, 3)) for k in range(3)]
    model = RegionReweighted(LogisticRegression(), RANGE, cv=folds).fit(X, y, weight)
    assert np.all(model.weights_[::7] == 0.0)
    assert np.all(np.isnan(model.oof_scores_[::7]))
    changed = X.copy()
    changed[::7] += 100.0
    again = RegionReweighted(LogisticRegression(), RANGE, cv=folds).fit(changed, y, weight)
    assert again.decision_function(X) == pytest.approx(model.decision_function(X))


def test_results_do_not_depend_on_the_number_of_jobs():
    X, y = numbers(200)
    forest = RandomForestClassifier(5)
    one, two = (
        RegionReweighted(forest, RANGE, cv=3, n_jobs=n_jobs, random_state=1).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
    assert np.array_equal(one.oof_scores_, two.oof_scores_)


def test_memory_changes_nothing_and_is_used(tmp_path):
    X, y = numbers(200)
    booster = HistGradientBoostingClassifier(max_iter=5)
    plain = RegionReweighted(booster, RANGE, cv=3, random_state=1).fit(X, y)
    for _ in range(2):
        kept = RegionReweighted(booster, RANGE, cv=3, random_state=1, memory=str(tmp_path))
        assert np.array_equal(kept.fit(X, y).decision_function(X), plain.decision_function(X))
    entries = len(list(tmp_path.rglob("output.pkl")))
    RegionReweighted(booster, (0.0, 0.3), cv=3, random_state=1, memory=str(tmp_path)).fit(X, y)
    # Of eight fits for another range only the weighted ones are new.
    assert len(list(tmp_path.rglob("output.pkl"))) == entries + 4


def test_pipeline_with_categories_and_missing_values():
    frame, y = mixed_frame()
    encode = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
            ["colour", "size"],
        ),
        remainder="passthrough",
    )
    booster = HistGradientBoostingClassifier(max_iter=10, categorical_features=[0, 1])
    model = RegionReweighted(make_pipeline(encode, booster), RANGE, cv=3, random_state=0)
    model.fit(frame, np.where(y == 1, "yes", "no"))
    assert list(model.feature_names_in_) == list(frame.columns)
    assert set(model.predict(frame)) == {"no", "yes"}
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_clone_pickle_and_skops():
    skops_io = pytest.importorskip("skops.io")
    X, y = numbers(150)
    model = RegionReweighted(LogisticRegression(), RANGE, cv=3, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    assert np.array_equal(clone(model).fit(X, y).decision_function(X), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), expected)
    data = skops_io.dumps(model)
    loaded = skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
    assert np.array_equal(loaded.decision_function(X), expected)


def test_metadata_routing_brings_weights_to_the_estimator():
    X, y = numbers(150)
    weight = np.where(X[:, 0] > 0, 3.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        model = RegionReweighted(inner, RANGE, cv=3, random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"strength": [3.0]}, cv=2).fit(X, y, sample_weight=weight)
    direct = RegionReweighted(
        make_pipeline(StandardScaler(), LogisticRegression()), RANGE, cv=3, random_state=0
    )
    expected = direct.fit(X, y, sample_weight=weight).decision_function(X)
    assert search.best_estimator_.decision_function(X) == pytest.approx(expected)
    assert direct.fit(X, y).decision_function(X) != pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            RegionReweighted(KNeighborsClassifier()),
            "KNeighborsClassifier.fit takes no sample_weight",
        ),
        (
            RegionReweighted(make_pipeline(StandardScaler(), KNeighborsClassifier())),
            "takes no sample_weight",
        ),
        (RegionReweighted(None), "classifier with a fit method"),
        (RegionReweighted("forest"), "classifier with a fit method"),
        (
            RegionReweighted(GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]})),
            "takes no sample_weight",
        ),
        (RegionReweighted(LogisticRegression(), (0.1, 0.05)), "lower limit below"),
        (RegionReweighted(LogisticRegression(), strength=0.5), "at least 1"),
        (RegionReweighted(LogisticRegression(), cv=1), "at least two folds"),
        (
            RegionReweighted(LogisticRegression(), cv=ShuffleSplit(2, random_state=0)),
            "exactly once",
        ),
    ],
)
def test_bad_input(model, message):
    X, y = numbers(150)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_one_class_in_a_fold():
    X, _ = numbers(40)
    model = RegionReweighted(LogisticRegression(), (0.0, 0.5), cv=KFold(2))
    with pytest.raises(ValueError, match="Split 0 of cv trains on one class only"):
        model.fit(X, np.repeat([0, 1], 20))


def test_few_rows_of_a_class_mean_fewer_folds():
    X, _ = numbers(40)
    y = np.arange(40) < 3
    with (
        pytest.warns(FewRowsWarning, match="using 3 folds instead of cv=5"),
        pytest.warns(FewRowsWarning, match="The plain LogisticRegression is returned"),
    ):
        RegionReweighted(LogisticRegression(), RANGE, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="1 row"):
        RegionReweighted(LogisticRegression(), RANGE).fit(X, np.arange(40) < 1)


# LightGBM 4.6 takes arrays for unnamed frames when it scores them.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("package", ["lightgbm", "xgboost", "catboost"])
def test_other_boosters(package):
    library = pytest.importorskip(package)
    X, y = numbers(200)
    booster = {
        "lightgbm": lambda: library.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1),
        "xgboost": lambda: library.XGBClassifier(n_estimators=5, n_jobs=1),
        "catboost": lambda: library.CatBoostClassifier(
            iterations=5, verbose=0, thread_count=1, allow_writing_files=False
        ),
    }[package]()
    model = RegionReweighted(booster, RANGE, cv=3, random_state=0)
    assert np.all(np.isfinite(model.fit(X, y).decision_function(X)))


@pytest.mark.parametrize(
    ("model", "end"),
    [
        (GridSearchCV(RandomForestClassifier(10), {"max_depth": [3]}, cv=2), 0.05),
        (BaggingClassifier(n_estimators=10), 0.05),
        (make_pipeline(StandardScaler(), ExtraTreesClassifier(10)), 0.05),
        (VotingClassifier([("lr", LogisticRegression()), ("nb", GaussianNB())], voting="soft"), 0),
        (BaggingClassifier(GaussianNB(), n_estimators=2), 0),
    ],
    ids=["search", "bagging", "pipeline", "voting", "bagged bayes"],
)
def test_only_votes_of_trees_are_held_off_the_ends(model, end):
    X, y = numbers(200)
    fitted = RegionReweighted(model, RANGE, cv=3, random_state=0).fit(X, y)
    p = fitted.estimator_.predict_proba(X)[:, 1]
    floor = max(end, 1e-12)
    clipped = np.clip(p, floor, 1 - floor)
    expected = np.log(clipped / (1 - clipped))
    assert log_odds(fitted.estimator_, X) == pytest.approx(expected)
    if not end:
        assert np.unique(fitted.oof_scores_).size > 190


def test_raw_scores_in_place_of_probabilities_are_scores():
    class Raw:
        def predict_proba(self, X):
            return X[:, 0]

    X, _ = numbers(20)
    assert np.array_equal(log_odds(Raw(), X), X[:, 0])


def test_weights_reach_the_model_inside_a_search():
    X, y = numbers(200)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(inner, {"logisticregression__C": [1.0]}, cv=2)
    model = RegionReweighted(search, RANGE, cv=3, random_state=0).fit(X, y)
    alone = RegionReweighted(inner, RANGE, cv=3, random_state=0).fit(X, y)
    assert model.decision_function(X) == pytest.approx(alone.decision_function(X))
