"""RegionStack: the blend step by step, the default members, and what it refuses."""

import logging
import pickle
import sys

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from aucuba._base._callbacks import HAS_CALLBACKS
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._blend import StackedBlend
from aucuba.ensemble._defaults import PRESETS, SPARSE_PRESETS
from aucuba.ensemble._members import moving_mean
from aucuba.metrics import partial_auc_score
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import blended, mixed_frame, numbers
from tests.listeners import StopAfter

RANGE = (0.0, 0.2)
WHOLE = Region.from_params((0.0, 1.0), None, 0.0)
SMALL = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]


def test_is_logistic_regression_on_standardised_out_of_fold_scores():
    X, y = numbers()
    folds = StratifiedKFold(4)
    stack = RegionStack(RANGE, estimators=SMALL, cv=folds).fit(X, y)
    first = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="decision_function")
    p = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")[:, 1]
    p = np.clip(p, 1e-12, 1 - 1e-12)
    oof = np.column_stack([first, np.log(p / (1 - p))])
    assert stack.oof_scores_ == pytest.approx(oof)
    models = LogisticRegression().fit(X, y), GaussianNB().fit(X, y)
    p = np.clip(models[1].predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    scores = np.column_stack([models[0].decision_function(X), np.log(p / (1 - p))])
    assert stack.member_scores(X) == pytest.approx(scores)
    expected = blended(oof, y, stack.shrinkage_, scores)
    ranked = stack.decision_function(X) + stack.threshold_
    assert ranked == pytest.approx(expected, abs=1e-4)
    assert stack.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-ranked)))


def test_report_has_out_of_fold_values_with_errors():
    X, y = numbers()
    stack = RegionStack(RANGE, estimators=SMALL, random_state=0).fit(X, y)
    assert [row["member"] for row in stack.report_] == ["logistic", "bayes", "stack"]
    for row, scores in zip(stack.report_, stack.oof_scores_.T, strict=False):
        assert row["partial_auc"] == pytest.approx(partial_auc_score(y, scores, fpr_range=RANGE))
        assert 0 < row["standard_error"] < 0.2
    assert [row["coef"] for row in stack.report_[:2]] == pytest.approx(list(stack.coef_))


def test_the_value_of_the_stack_is_cross_fitted():
    X, y = numbers()
    folds = StratifiedKFold(3)
    stack = RegionStack(RANGE, estimators=SMALL, cv=folds).fit(X, y)
    stacked = cross_blended(stack.oof_scores_, y, folds, stack.shrinkage_)
    expected = partial_auc_score(y, stacked, fpr_range=RANGE)
    assert stack.report_[-1]["partial_auc"] == pytest.approx(expected)


def cross_blended(scores, y, folds, shrinkage):
    stacked = np.empty(y.size)
    for train, test in folds.split(scores, y):
        stacked[test] = blended(scores[train], y[train], shrinkage, scores[test])
    return stacked


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_drawn_together_as_far_as_log_loss_allows(seed):
    X, y = numbers(250, seed)
    folds = StratifiedKFold(3)
    stack = RegionStack(RANGE, estimators=[*SMALL, "forest"], cv=folds, random_state=0).fit(X, y)

    def losses(shrinkage):
        log_odds = cross_blended(stack.oof_scores_, y, folds, shrinkage)
        return np.logaddexp(0.0, np.where(y == 1, -log_odds, log_odds))

    excess = losses(1.0) - losses(0.0)
    assert stack.shrinkage_ == (excess.mean() <= excess.std() / np.sqrt(250))


def test_weights_stay_apart_where_one_member_is_all_that_counts():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    scores = np.column_stack([np.where(y, 2.0, -2.0), rng.normal(size=(200, 4))])
    splits = list(StratifiedKFold(5).split(scores, y))
    for columns, expected in ((scores, 0.0), (scores[:, 1:], 1.0)):
        kinds = np.zeros(columns.shape[1], dtype=bool)
        blend = StackedBlend.from_scores(columns, Sample(y), splits, kinds, WHOLE)
        assert blend.shrinkage == expected


def test_probabilities_are_calibrated_on_new_rows():
    X, y = numbers(1200)
    stack = RegionStack(RANGE, estimators=["forest", "linear"], cv=3, random_state=0)
    p = stack.fit(X[:600], y[:600]).predict_proba(X[600:])[:, 1]
    for part in np.array_split(np.argsort(p), 4):
        assert abs(p[part].mean() - y[600:][part].mean()) < 0.12


def test_default_members_take_categories_strings_and_missing_values():
    frame, y = mixed_frame(240)
    stack = RegionStack((0.0, 0.2), cv=2, random_state=0).fit(frame[:160], y[:160])
    assert [name for name, _ in stack.members_] == list(PRESETS["default"])
    new = frame[160:].copy()
    new["colour"] = new["colour"].astype(object)
    new.loc[new.index[0], "colour"] = "never seen"
    assert np.all(np.isfinite(stack.decision_function(new)))
    members = stack.member_scores(frame[:160])
    assert np.all(members.std(axis=0) > 0)


def test_arrays_may_have_missing_values_and_constant_columns():
    X, y = numbers(200)
    X = np.column_stack([X, np.ones(200), np.repeat([0.0, 1.0], 100)])
    X[::9, 2] = np.nan
    stack = RegionStack((0.0, 0.2), cv=2, random_state=0).fit(X, y)
    assert np.all(np.isfinite(stack.predict_proba(X)))


def test_boosting_rounds_are_chosen_by_the_mean_over_neighbours():
    values = np.array([0.0, 1.0, 0.0, 0.7, 0.7, 0.7, 0.7, 0.7])
    smooth = moving_mean(values)
    by_loop = [values[max(0, k - 2) : k + 3].mean() for k in range(values.size)]
    assert smooth == pytest.approx(by_loop)
    assert int(np.argmax(smooth)) == 5


def test_where_the_range_is_perfect_log_loss_chooses_the_rounds():
    y = np.repeat([0, 1], [300, 60])
    X = np.column_stack([y + 0.3 * np.sin(np.arange(360)), np.cos(7.0 * np.arange(360))])
    stack = RegionStack((0.0, 0.3), estimators=["boosting"], cv=2, random_state=0).fit(X, y)
    assert stack.report_[0]["partial_auc"] == 1.0
    assert stack.members_[0][1].estimator[-1].max_iter > 10


def test_a_reweighted_member_shares_the_folds_of_the_stack():
    X, y = numbers(200)
    folds = StratifiedKFold(3)
    member = RegionReweighted(LogisticRegression(), RANGE, cv=7)
    stack = RegionStack(RANGE, estimators=[("r", member), *SMALL], cv=folds).fit(X, y)
    alone = RegionReweighted(LogisticRegression(), RANGE, cv=folds).fit(X, y)
    fitted = dict(stack.members_)["r"]
    assert fitted.decision_function(X) == pytest.approx(alone.decision_function(X))
    by_hand = np.empty(200)
    for train, test in folds.split(X, y):
        weighted = LogisticRegression().fit(X[train], y[train], alone.weights_[train])
        by_hand[test] = (alone.oof_scores_[test] + weighted.decision_function(X[test])) / 2
    assert stack.oof_scores_[:, 0] == pytest.approx(by_hand - fitted.threshold_)


def test_results_do_not_depend_on_the_number_of_jobs():
    X, y = numbers(150)
    members = ["boosting", "extra_trees", "nystroem_logistic"]
    one, two = (
        RegionStack((0.0, 0.2), estimators=members, cv=2, n_jobs=n_jobs, random_state=3).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_importances_are_losses_of_partial_auc():
    X, y = numbers(300)
    X = np.column_stack([X, np.zeros(300)])
    stack = RegionStack(RANGE, estimators=SMALL, random_state=0).fit(X, y)
    result = stack.feature_importances(X, y, n_repeats=3, random_state=0)
    by_column = {row["columns"]: row["importance"] for row in result}
    assert sorted(by_column) == [str(column) for column in range(7)]
    assert by_column["6"] == 0.0
    shuffled = X.copy()
    rng = np.random.default_rng(0)
    best = int(result[0]["columns"])
    shuffled[:, best] = rng.permutation(shuffled[:, best])
    before, after = (
        partial_auc_score(y, stack.decision_function(Z), fpr_range=RANGE) for Z in (X, shuffled)
    )
    assert before > after


def test_clone_pickle_and_skops():
    skops_io = pytest.importorskip("skops.io")
    X, y = numbers(150)
    stack = RegionStack((0.0, 0.2), estimators=["forest", *SMALL], cv=2, random_state=0).fit(X, y)
    expected = stack.decision_function(X)
    assert np.array_equal(clone(stack).fit(X, y).decision_function(X), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(stack)).decision_function(X), expected)
    data = skops_io.dumps(stack)
    loaded = skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
    assert np.array_equal(loaded.decision_function(X), expected)


def test_routed_weights_arrive():
    X, y = numbers(150)
    weight = np.where(X[:, 0] > 0, 3.0, 0.5)
    expected = RegionStack(RANGE, estimators=SMALL, random_state=0).fit(X, y, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        from sklearn.pipeline import make_pipeline

        stack = RegionStack(RANGE, estimators=SMALL, random_state=0)
        pipe = make_pipeline(
            StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False),
            stack.set_fit_request(sample_weight=True),
        ).fit(X, y, sample_weight=weight)
    assert pipe.decision_function(X) == pytest.approx(expected.decision_function(X))


def test_interrupted_fit_leaves_an_unfitted_estimator(monkeypatch):
    X, y = numbers(100)
    stack = RegionStack(RANGE, estimators=SMALL, random_state=0)

    def interrupt(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(GaussianNB, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stack.fit(X, y)
    assert not hasattr(stack, "members_")


def test_progress_is_logged(caplog):
    X, y = numbers(100)
    with caplog.at_level(logging.INFO, logger="aucuba"):
        RegionStack(RANGE, estimators=SMALL, random_state=0, verbose=1).fit(X, y)
    assert [record.args[:2] for record in caplog.records] == [
        ("logistic", "fitted"),
        ("bayes", "fitted"),
    ]


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
@pytest.mark.parametrize(
    ("model", "n_fits"),
    [
        (RegionStack(RANGE, estimators=SMALL), 12),
        (RegionStack(RANGE, estimators=[("r", RegionReweighted(GaussianNB()))], cv=3), 8),
        (RegionReweighted(LogisticRegression(), RANGE), 12),
    ],
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_hear_every_fit(model, n_fits, n_jobs):
    X, y = numbers(100)
    listener = StopAfter(n_iterations=None)
    clone(model).set_params(n_jobs=n_jobs).set_callbacks(listener).fit(X, y)
    assert listener.heard.count("end iteration") == n_fits


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
def test_a_stack_may_be_stopped_between_members():
    X, y = numbers(100)
    listener = StopAfter(4)
    stack = RegionStack(RANGE, estimators=SMALL, random_state=0).set_callbacks(listener).fit(X, y)
    assert [name for name, _ in stack.members_] == ["logistic"]
    assert [row["member"] for row in stack.report_] == ["logistic", "stack"]
    assert listener.heard.count("end iteration") == 4


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimators": ["booosting"]}, "Unknown member 'booosting'; the names are 'boosting'"),
        ({"estimators": []}, "the members of preset"),
        ({"estimators": "forest"}, "must be a list of names"),
        ({"estimators": {"forest": GaussianNB()}}, "must be a list of names"),
        ({"estimators": [("ridge", Ridge())]}, "'ridge' must be a classifier"),
        ({"estimators": SMALL, "cv": []}, "must test every row exactly once"),
        ({"estimators": [LogisticRegression()]}, "names of members and pairs"),
        ({"estimators": ["linear", ("linear", GaussianNB())]}, "different names"),
        ({"estimators": SMALL, "strength": -1.0}, "strength"),
        ({"estimators": ["boosting"], "strength": 0.5}, "strength must be at least 1"),
    ],
)
def test_bad_input(params, message):
    X, y = numbers(100)
    with pytest.raises(ValueError, match=message):
        RegionStack(**params).fit(X, y)


# LightGBM 4.6 takes arrays for unnamed frames when it scores them.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize(
    ("preset", "kind"),
    [("fast", sparse.coo_array), ("fast", sparse.csr_matrix), ("default", sparse.csr_array)],
)
def test_presets_take_sparse_tables(preset, kind, tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 30)) < 0.1) * rng.normal(1.0, 0.5, size=(300, 30))
    y = (X[:, :6].sum(axis=1) + 0.2 * rng.normal(size=300) > 0.9).astype(int)
    stack = RegionStack((0.0, 0.2), preset=preset, cv=2, random_state=0).fit(kind(X[:200]), y[:200])
    names = [name for name, _ in stack.members_]
    assert [name for name in names if name != "lightgbm"] == list(SPARSE_PRESETS[preset])
    new = stack.decision_function(kind(X[200:]))
    assert partial_auc_score(y[200:], new, fpr_range=(0.0, 0.2)) > 0.5
    if "lightgbm" not in names:
        save_model(stack, tmp_path / "sparse")
        loaded = load_model(tmp_path / "sparse")
        assert np.array_equal(loaded.decision_function(kind(X[200:])), new)


def test_some_members_need_a_dense_table():
    X, y = numbers(100)
    with pytest.raises(ValueError, match=r"'splines_logistic' needs a dense table.*X.toarray\(\)"):
        RegionStack(RANGE, estimators=["forest", "splines_logistic"]).fit(sparse.csr_array(X), y)


def test_weights_reach_every_default_member():
    X, y = numbers(160)
    weight = np.where(np.arange(160) % 2 == 0, 5.0, 0.1)
    stack = RegionStack((0.0, 0.3), cv=2, random_state=0)
    plain, weighted = stack.fit(X, y).oof_scores_, stack.fit(X, y, weight).oof_scores_
    assert np.all(np.abs(plain - weighted).max(axis=0) > 1e-3)


def test_weights_need_members_that_take_them():
    X, y = numbers(100)
    stack = RegionStack(RANGE, estimators=[("neighbours", KNeighborsClassifier())])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        stack.fit(X, y, sample_weight=np.ones(100))
    assert stack.fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("lightgbm", "LightGBM: pip install lightgbm"),
        ("xgboost", "XGBoost: pip install xgboost"),
        ("catboost", "CatBoost: pip install catboost"),
    ],
)
def test_a_missing_library_is_named(monkeypatch, name, remedy):
    monkeypatch.setitem(sys.modules, name, None)
    X, y = numbers(100)
    with pytest.raises(ImportError, match=remedy):
        RegionStack(RANGE, estimators=[name]).fit(X, y)


# LightGBM 4.6 takes arrays for unnamed frames when it scores them.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
def test_other_boosters_when_asked_for(name):
    pytest.importorskip(name)
    X, y = numbers(150)
    stack = RegionStack((0.0, 0.2), estimators=[name, "linear"], cv=2, random_state=0)
    assert np.all(np.isfinite(stack.fit(X, y).decision_function(X)))


def test_members_are_tuned_by_their_names():
    X, y = numbers(150)
    stack = RegionStack(RANGE, estimators=["linear", *SMALL], random_state=0)
    assert stack.get_params()["logistic__C"] == 1.0
    assert "logistic__C" not in stack.get_params(deep=False)
    stack.set_params(logistic__C=0.5, strength=4.0)
    assert (stack.get_params()["logistic__C"], stack.strength) == (0.5, 4.0)
    stack.set_params(bayes=LogisticRegression(C=3.0))
    assert stack.estimators[2][1].C == 3.0
    assert SMALL[0][1].C == 0.5
    SMALL[0][1].C = 1.0
    with pytest.raises(ValueError, match="Invalid parameter 'nobody__C'"):
        stack.set_params(nobody__C=1.0)
    search = GridSearchCV(
        RegionStack(RANGE, estimators=SMALL, cv=2), {"logistic__C": [1e-4, 1.0]}, cv=2
    )
    assert search.fit(X, y).best_params_["logistic__C"] in (1e-4, 1.0)
    assert SMALL[0][1].C == 1.0


def test_rows_of_zero_weight_have_no_out_of_fold_scores():
    X, y = numbers(120)
    weight = np.ones(120)
    weight[::7] = 0.0
    stack = RegionStack(RANGE, estimators=SMALL, random_state=0).fit(X, y, weight)
    assert stack.oof_scores_.shape == (120, 2)
    assert np.array_equal(np.isnan(stack.oof_scores_).all(axis=1), weight == 0)


def test_a_reweighted_member_has_the_attributes_of_one_alone():
    X, y = numbers(200)
    weight, folds = np.where(np.arange(200) % 7, 1.0, 0.0), StratifiedKFold(3)
    member = RegionReweighted(LogisticRegression(), RANGE, cv=folds)
    stack = RegionStack(RANGE, estimators=[("r", member), *SMALL], cv=folds).fit(X, y, weight)
    alone, fitted = clone(member).fit(X, y, weight), stack.members_[0][1]
    assert vars(fitted).keys() == vars(alone).keys()
    for name in ("weights_", "oof_scores_", "calibration_", "threshold_", "predict_fpr_"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(alone, name))


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.parametrize("total", [1.0, 1e6])
def test_weights_of_any_scale_give_finite_scores(total):
    X, y = numbers(200)
    weight = np.full(200, total / 200)
    stack = RegionStack(RANGE, estimators=["linear"], random_state=0).fit(X, y, weight)
    assert np.isfinite(stack.decision_function(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_metadata_routing_does_not_disturb_the_default_members(weighted):
    pytest.importorskip("pandas")
    frame, y = mixed_frame(120)
    weight = np.where(y == 1, 2.0, 1.0) if weighted else None
    members = ["boosting", "linear"]
    plain = RegionStack((0.0, 0.2), estimators=members, cv=2, random_state=0)
    expected = plain.fit(frame, y, weight).decision_function(frame)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(plain).fit(frame, y, weight).decision_function(frame)
    assert np.array_equal(routed, expected)


def test_the_memory_knows_whether_metadata_is_routed(tmp_path):
    X, y = numbers(150)
    weight = np.where(X[:, 0] > 0, 5.0, 0.2)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True),
            PolynomialFeatures(2),
            LogisticRegression(C=0.01).set_fit_request(sample_weight=True),
        )
    stack = RegionStack(RANGE, estimators=[("p", pipe)], cv=2, random_state=0)
    remembered = clone(stack).set_params(memory=str(tmp_path))
    remembered.fit(X, y, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        fresh = clone(stack).fit(X, y, weight).decision_function(X)
        assert np.array_equal(remembered.fit(X, y, weight).decision_function(X), fresh)
    assert not np.array_equal(stack.fit(X, y, weight).decision_function(X), fresh)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_the_output_that_transformers_are_set_to_does_not_matter(output):
    pytest.importorskip("pandas")
    frame, y = mixed_frame(120)
    members = ["boosting", "splines_logistic", "nystroem_logistic"]
    with sklearn.config_context(transform_output=output):
        stack = RegionStack((0.0, 0.2), estimators=members, cv=2, random_state=0).fit(frame, y)
        assert np.isfinite(stack.decision_function(frame)).all()


def test_members_are_checked_before_any_is_fitted():
    X, y = numbers(150)
    fitted = []

    class Watched(LogisticRegression):
        def fit(self, *args, **kwargs):
            fitted.append(1)
            return super().fit(*args, **kwargs)

    members = [("watched", Watched()), ("near", KNeighborsClassifier())]
    with pytest.raises(ValueError, match="takes no sample_weight"):
        RegionStack(RANGE, estimators=members).fit(X, y, np.ones(150))
    assert not fitted
