"""FixedFPRClassifier: which score becomes the threshold, and which rows it comes from."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB

from aucuba.threshold import FixedFPRClassifier
from aucuba.threshold._order_statistic import threshold_rank, violation_probability
from tests.threshold.bases import FirstFeature, FirstFeatureProbability, prefit


def sample(n_negatives=100, n_positives=60, seed=0, n_features=3):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negatives, n_positives])
    X = rng.normal(size=(y.size, n_features)) + y[:, None]
    order = rng.permutation(y.size)
    return X[order], y[order]


class TestThreshold:
    @pytest.mark.parametrize("base", [FirstFeature, FirstFeatureProbability])
    @pytest.mark.parametrize("n", [59, 92, 93, 94, 500])
    def test_is_the_order_statistic(self, n, base):
        X, y = sample(n, 10, seed=n)
        model = FixedFPRClassifier(prefit(base=base), cv="prefit").fit(X, y)
        rank = threshold_rank(n, 0.05, 0.05)
        score = X[:, 0] if base is FirstFeature else 1 / (1 + np.exp(-X[:, 0]))
        expected = np.sort(score[y == 0])[rank - 1]
        assert model.threshold_ == pytest.approx(expected, rel=1e-12)
        assert (model.rank_, model.n_negatives_, model.guarantee_) == (rank, n, True)
        assert model.violation_probability_ == violation_probability(rank, n, 0.05) <= 0.05
        assert model.predict(X[y == 0]).sum() == n - rank
        np.testing.assert_array_equal(model.predict(X), score > expected)
        np.testing.assert_allclose(model.decision_function(X), score - expected, atol=1e-12)

    @pytest.mark.filterwarnings("ignore:No held-out positive")
    @given(st.lists(st.integers(0, 4), min_size=8, max_size=40), st.integers(0, 10))
    def test_ties_with_it_are_negative(self, scores, n_positives):
        X = np.array([*scores, *range(n_positives)], dtype=float)[:, None]
        y = np.repeat([0, 1], [len(scores), n_positives])
        model = FixedFPRClassifier(prefit(), 0.3, 0.9, cv="prefit").fit(X, y)
        level = np.sort(scores)[model.rank_ - 1]
        np.testing.assert_array_equal(model.predict(X), X[:, 0] > level)

    @pytest.mark.parametrize("seed", range(8))
    def test_ties_stay_negative_when_a_batch_rounds_differently(self, seed):
        rng = np.random.default_rng(seed)
        patterns = rng.integers(0, 2, size=(12, 50)) * rng.normal(size=50)
        X, y = patterns[rng.integers(0, 12, size=400)], rng.integers(0, 2, size=400)
        base = RidgeClassifier().fit(X, y)
        model = FixedFPRClassifier(base, 0.4, 0.8, cv="prefit").fit(X, y)
        one_by_one = np.concatenate([model.predict(row[None]) for row in X])
        np.testing.assert_array_equal(one_by_one, model.predict(X))
        reversed_columns = X[:, ::-1] @ np.ravel(base.coef_)[::-1] + np.ravel(base.intercept_)
        np.testing.assert_array_equal(reversed_columns > model.threshold_, model.predict(X))

    def test_float32_scores_get_float32_room(self):
        class Single(FirstFeature):
            def decision_function(self, X):
                return super().decision_function(X).astype(np.float32)

        X = np.full((100, 1), 3.0)
        base = Single().fit(X, np.arange(100) % 2)
        model = FixedFPRClassifier(base, cv="prefit").fit(X, np.zeros(100))
        assert not model.predict(np.nextafter(X, 4, dtype=np.float32)).any()
        assert model.predict(X + 1e-3).all()

    @given(st.permutations(list(range(40))), st.floats(-5, 5), st.floats(0.1, 10))
    def test_order_shift_and_scale(self, order, shift, scale):
        X, y = sample(25, 15)
        model = FixedFPRClassifier(prefit(), 0.2, 0.9, cv="prefit").fit(X, y)
        moved = scale * X[order] + shift
        other = clone(model).set_params(estimator=prefit()).fit(moved, y[order])
        assert other.threshold_ == pytest.approx(scale * model.threshold_ + shift, abs=1e-9)
        np.testing.assert_array_equal(other.predict(moved), model.predict(X)[order])

    def test_positives_do_not_move_it(self):
        X, y = sample()
        model = FixedFPRClassifier(prefit(), cv="prefit")
        with_positives = model.fit(X, y).threshold_
        assert model.fit(X[y == 0], y[y == 0]).threshold_ == pytest.approx(with_positives)

    def test_falls_as_less_is_promised(self):
        X, y = sample(300)
        promises = [(0.01, 0.9), (0.05, 0.95), (0.05, 0.8), (0.2, 0.8), (0.2, 0.5), (0.6, 0.5)]
        thresholds = [
            FixedFPRClassifier(prefit(), *promise, cv="prefit").fit(X, y).threshold_
            for promise in promises
        ]
        assert np.all(np.diff(thresholds) < 0)


class TestLabels:
    @pytest.mark.parametrize("cv", [0.5, "prefit", 3])
    @pytest.mark.parametrize("base", [FirstFeature, FirstFeatureProbability])
    def test_strings(self, base, cv):
        X, y = sample(400, 200)
        names = np.array(["ham", "spam"], dtype=object)[y]
        fit = FixedFPRClassifier(prefit(base=base), cv=cv, random_state=0).fit(X, y)
        named = FixedFPRClassifier(prefit(("ham", "spam"), base), cv=cv, random_state=0)
        named.fit(X, names)
        assert named.classes_.tolist() == ["ham", "spam"]
        assert named.pos_label_ == "spam"
        assert named.threshold_ == fit.threshold_
        np.testing.assert_array_equal(named.predict(X) == "spam", fit.predict(X) == 1)

    @pytest.mark.parametrize("base", [FirstFeature, FirstFeatureProbability])
    def test_pos_label_is_the_first_class(self, base):
        X, y = sample(80, 150)
        names = np.where(y == 1, "ok", "fraud")
        base = prefit(("fraud", "ok"), base)
        model = FixedFPRClassifier(base, cv="prefit", pos_label="fraud").fit(X, names)
        rank = threshold_rank(150, 0.05, 0.05)
        level = np.sort(-X[names == "ok", 0])[rank - 1]
        alarm = -X[:, 0] > level
        assert model.n_negatives_ == 150
        np.testing.assert_array_equal(model.predict(X) == "fraud", alarm)
        # scikit-learn's sign: above zero speaks for classes_[1].
        np.testing.assert_array_equal(model.decision_function(X) < 0, alarm)

    def test_probabilities_are_those_of_the_base(self):
        X, y = sample()
        model = FixedFPRClassifier(GaussianNB(), cv=5).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))
        assert not hasattr(FixedFPRClassifier(RidgeClassifier()), "predict_proba")

    def test_response_method(self):
        X, y = sample()
        base = LogisticRegression().fit(X, y)
        by_score, by_probability = (
            FixedFPRClassifier(base, cv="prefit", response_method=method).fit(X, y)
            for method in ("auto", "predict_proba")
        )
        odds = np.exp(by_score.threshold_)
        assert by_probability.threshold_ == pytest.approx(odds / (1 + odds))
        np.testing.assert_array_equal(by_score.predict(X), by_probability.predict(X))


class TestHeldOut:
    @pytest.mark.filterwarnings("ignore:No held-out positive")
    @pytest.mark.parametrize(
        "cv",
        [
            0.4,
            ShuffleSplit(1, test_size=0.4, random_state=3),
            StratifiedShuffleSplit(1, test_size=0.4, random_state=3),
            PredefinedSplit(np.where(np.arange(300) % 5 < 2, 0, -1)),
            [(np.arange(180), np.arange(180, 300))],
            [(np.arange(300) < 180, np.arange(300) >= 180)],
        ],
    )
    def test_one_split_sets_the_threshold_from_rows_that_did_not_train(self, cv):
        X, y = sample(200, 100)
        model = FixedFPRClassifier(FirstFeature(), cv=cv, random_state=0).fit(X, y)
        held_out = ~np.isin(X[:, 0], model.estimator_.rows_)
        assert held_out.sum() == 120
        negatives = np.sort(X[held_out & (y == 0), 0])
        assert model.guarantee_ is True
        assert model.n_negatives_ == negatives.size
        assert model.threshold_ == pytest.approx(negatives[model.rank_ - 1])

    def test_fraction_is_stratified_and_seeded(self):
        X, y = sample(200, 100)
        thresholds = set()
        for seed in (0, 0, 1, 2):
            model = FixedFPRClassifier(FirstFeature(), cv=0.5, random_state=seed).fit(X, y)
            assert model.n_negatives_ == 100
            thresholds.add(model.threshold_)
        assert len(thresholds) == 3

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_folds_pool_out_of_fold_scores_and_refit(self, n_jobs):
        X, y = sample(200, 100)
        base = LogisticRegression(C=0.1)
        with parallel_config("threading"):
            model = FixedFPRClassifier(base, cv=4, n_jobs=n_jobs).fit(X, y)
        scores = cross_val_predict(base, X, y, cv=4, method="decision_function")
        expected = np.sort(scores[y == 0])[threshold_rank(200, 0.05, 0.05) - 1]
        assert model.guarantee_ is False
        assert model.n_negatives_ == 200
        assert model.threshold_ == pytest.approx(expected)
        np.testing.assert_allclose(model.estimator_.coef_, base.fit(X, y).coef_)

    @pytest.mark.filterwarnings("ignore:No held-out positive")
    def test_a_fold_may_lack_negatives(self):
        X, y = sample(100, 40)
        order = np.argsort(-y, kind="stable")
        rows = np.arange(140)
        only_positives, mixed = rows < 20, (rows >= 30) & (rows < 110)
        cv = [(~only_positives, only_positives), (~mixed, mixed)]
        model = FixedFPRClassifier(FirstFeature(), cv=cv).fit(X[order], y[order])
        assert model.n_negatives_ == 70

    def test_prefit_estimator_is_used_as_it_is(self):
        X, y = sample()
        base = prefit()
        model = FixedFPRClassifier(base, cv="prefit").fit(X, y)
        assert model.estimator_ is base
        assert base.rows_.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("cv", "n_splits"),
    [
        (0.5, 1),
        (3, 3),
        (np.int64(3), 3),
        (None, 5),
        (KFold(4, shuffle=True, random_state=0), 4),
        (ShuffleSplit(1, random_state=0), 1),
        ([(np.arange(0, 300, 2), np.arange(1, 300, 2))], 1),
        ("prefit", 1),
    ],
)
def test_cv_takes_what_scikit_learn_takes(cv, n_splits):
    X, y = sample(200, 100)
    base = LogisticRegression().fit(X, y)
    refit = n_splits > 1
    TunedThresholdClassifierCV(base, cv=cv, refit=refit, random_state=0).fit(X, y)
    model = FixedFPRClassifier(base, 0.3, 0.8, cv=cv, random_state=0).fit(X, y)
    assert model.guarantee_ == (not refit)
    assert np.isnan(model.violation_probability_) == refit
    # Only folds are followed by a fit on all rows.
    if refit or isinstance(cv, str):
        np.testing.assert_array_equal(model.estimator_.coef_, base.coef_)
    else:
        assert np.any(model.estimator_.coef_ != base.coef_)


def test_a_splitter_need_not_know_groups():
    class Halves:
        def get_n_splits(self, X=None, y=None):
            return 1

        def split(self, X, y):
            yield np.arange(0, 300, 2), np.arange(1, 300, 2)

    X, y = sample(200, 100)
    model = FixedFPRClassifier(LogisticRegression(), 0.3, cv=Halves()).fit(X, y)
    assert (model.guarantee_, model.n_negatives_) == (True, np.sum(y[1::2] == 0))


def test_a_generator_of_splits_is_read_once():
    X, y = sample(200, 100)
    halves = ((np.arange(300) % 2 == part, np.arange(300) % 2 != part) for part in (0, 1))
    model = FixedFPRClassifier(LogisticRegression(), 0.3, cv=halves).fit(X, y)
    assert (model.guarantee_, model.n_negatives_) == (False, 200)


class TestMetadata:
    def test_weights_reach_the_base_only(self):
        X, y = sample(200, 100)
        weight = X[:, 0] + 10
        plain = FixedFPRClassifier(FirstFeature(), cv=0.5, random_state=0).fit(X, y)
        model = clone(plain).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(model.estimator_.sample_weight_, model.estimator_.rows_ + 10)
        assert (model.threshold_, model.rank_) == (plain.threshold_, plain.rank_)

    @pytest.mark.parametrize("as_type", [list, np.asarray])
    def test_weights_are_cut_to_the_folds_and_whole_at_the_refit(self, as_type):
        X, y = sample()
        weight = X[:, 0] + 10
        model = FixedFPRClassifier(FirstFeature(), cv=5).fit(X, y, sample_weight=as_type(weight))
        np.testing.assert_array_equal(model.estimator_.sample_weight_, weight)

    def test_weights_change_the_base(self):
        X, y = sample(200, 100)
        weight = np.where(X[:, 1] > 0, 5.0, 0.1)
        base = LogisticRegression()
        model = FixedFPRClassifier(base, cv=5).fit(X, y, sample_weight=weight)
        expected = base.fit(X, y, sample_weight=weight).coef_
        np.testing.assert_allclose(model.estimator_.coef_, expected)

    @pytest.mark.filterwarnings("ignore:No held-out positive")
    def test_routing(self):
        X, y = sample()
        weight, groups = X[:, 0] + 10, np.arange(y.size)
        with config_context(enable_metadata_routing=True):
            base = FirstFeature().set_fit_request(sample_weight=True)
            model = FixedFPRClassifier(base, cv=GroupKFold(5))
            model.fit(X, y, sample_weight=weight, groups=groups)
            np.testing.assert_array_equal(model.estimator_.sample_weight_, weight)
            base.set_fit_request(sample_weight=False)
            model.fit(X, y, groups=groups)
            assert model.estimator_.sample_weight_ is None
            model.fit(X, y, sample_weight=weight, groups=groups)
            assert model.estimator_.sample_weight_ is None
            with pytest.raises(TypeError, match="offset"):
                model.fit(X, y, groups=groups, offset=weight)

    def test_prefit_takes_no_fit_parameters(self):
        X, y = sample()
        with pytest.raises(
            ValueError, match=r"fits nothing and counts every row once, so .*'sample_weight'"
        ):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, y, sample_weight=np.ones(y.size))


class TestContainers:
    @pytest.mark.parametrize("cv", [5, 0.5, "prefit"])
    @pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.coo_matrix, list])
    def test_sparse_and_lists(self, container, cv):
        X, y = sample(200, 100)
        base = RidgeClassifier(solver="lsqr", tol=1e-10).fit(X, y)
        model = FixedFPRClassifier(base, cv=cv, random_state=0)
        converted = X.tolist() if container is list else container(X)
        expected = clone(model).set_params(estimator=base).fit(X, y).threshold_
        assert model.fit(converted, y).threshold_ == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize("cv", [5, 0.5, "prefit"])
    def test_pandas(self, cv):
        pd = pytest.importorskip("pandas")
        X, y = sample(200, 100)
        frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(300)[::-1])
        labels = pd.Series(np.where(y == 1, "yes", "no"), index=frame.index)
        base = GaussianNB().fit(frame, labels)
        model = FixedFPRClassifier(base, cv=cv, random_state=0).fit(frame, labels)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.n_features_in_ == 3
        assert set(model.predict(frame)) == {"no", "yes"}
        bare = FixedFPRClassifier(GaussianNB().fit(X, y), cv=cv, random_state=0).fit(X, y)
        assert bare.threshold_ == pytest.approx(model.threshold_)


class TestBadInput:
    @pytest.mark.parametrize("name", ["max_fpr", "confidence"])
    @pytest.mark.parametrize("value", [0, 1, -0.1, 5, "a"])
    def test_promise(self, name, value):
        with pytest.raises(ValueError, match=rf"{name} must .*\(0, 1\), got {value!r}"):
            FixedFPRClassifier(FirstFeature(), **{name: value}).fit(*sample())

    @pytest.mark.parametrize(("cv", "seen"), [(5, 50), (0.5, 25), ("prefit", 50)])
    def test_too_few_negatives(self, cv, seen):
        match = f"needs at least 59 held-out negatives, got {seen}"
        with pytest.raises(ValueError, match=match):
            FixedFPRClassifier(prefit(), cv=cv, random_state=0).fit(*sample(50, 100))

    def test_too_few_negatives_is_said_before_any_fit(self):
        class Explosive(FirstFeature):
            def fit(self, X, y):
                raise AssertionError

        with pytest.raises(ValueError, match="got 25"):
            FixedFPRClassifier(Explosive()).fit(*sample(50, 100))

    def test_unfitted_prefit(self):
        with pytest.raises(ValueError, match="cv='prefit' needs a fitted estimator, but this Logi"):
            FixedFPRClassifier(LogisticRegression(), cv="prefit").fit(*sample())

    def test_predict_before_and_after_a_failed_fit(self):
        X, y = sample(50, 100)
        model = FixedFPRClassifier(FirstFeature())
        for _ in range(2):
            with pytest.raises(NotFittedError):
                model.predict(X)
            with pytest.raises(ValueError, match="held-out negatives"):
                model.fit(X, y)

    def test_no_scores(self):
        class Labels(FirstFeature):
            decision_function = property()

        with pytest.raises(ValueError, match="Labels has no decision_function or predict_proba"):
            FixedFPRClassifier(Labels()).fit(*sample())
        with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba;"):
            FixedFPRClassifier(RidgeClassifier(), response_method="predict_proba").fit(*sample())

    @pytest.mark.parametrize("cv", [5, 0.5])
    def test_one_class(self, cv):
        X, _ = sample()
        with pytest.raises(ValueError, match="only one class"):
            FixedFPRClassifier(FirstFeature(), cv=cv).fit(X, np.zeros(len(X)))

    def test_prefit_needs_negatives_only(self):
        X, y = sample(0, 100)
        with pytest.raises(ValueError, match="at least 59 held-out negatives, got 0"):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, y)

    def test_a_split_that_trains_on_one_class(self):
        X, y = sample(200, 100)
        order = np.argsort(y, kind="stable")
        with pytest.raises(ValueError, match=r"Split 2 of cv trains on one class only, \[0\]"):
            FixedFPRClassifier(FirstFeature(), cv=KFold(3)).fit(X[order], y[order])
        weight = np.maximum(y[order], np.arange(300) == 0)
        with pytest.raises(ValueError, match=r"one class only, \[1\] among .*sample_weight"):
            FixedFPRClassifier(FirstFeature(), cv=KFold(3)).fit(X[order], y[order], weight)
        with pytest.raises(ValueError, match=r"only one class \(1\) among .* positive weight"):
            FixedFPRClassifier(FirstFeature()).fit(X, y, sample_weight=y)

    def test_three_classes(self):
        X, y = sample()
        y = y + (X[:, 0] > 1)
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            FixedFPRClassifier(FirstFeature()).fit(X, y)
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            FixedFPRClassifier(prefit((0, 1, 2)), cv="prefit").fit(X, y)

    def test_unknown_labels(self):
        X, y = sample()
        with pytest.raises(ValueError, match=r"labels \[7\] .* classes are \[0, 1\]"):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, np.where(y == 1, 7, 0))
        with pytest.raises(ValueError, match=r"pos_label=2 is not one of the classes \[0, 1\]"):
            FixedFPRClassifier(FirstFeature(), pos_label=2).fit(X, y)

    @pytest.mark.parametrize("cv", [1, 0, 1.5, -0.5, "prefix", True])
    def test_unknown_cv(self, cv):
        with pytest.raises(ValueError, match=f"cv must be 'prefit', a fraction .* got {cv!r}"):
            FixedFPRClassifier(FirstFeature(), cv=cv).fit(*sample())

    def test_overlapping_folds(self):
        cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
        with pytest.raises(ValueError, match="holds out some rows more than once"):
            FixedFPRClassifier(FirstFeature(), cv=cv).fit(*sample())
        rows = np.arange(160)
        with pytest.raises(
            ValueError, match="Split 0 of cv trains on 160 of the rows that it tests"
        ):
            FixedFPRClassifier(FirstFeature(), cv=[(rows, rows)]).fit(*sample())

    def test_scores_that_are_not_finite(self):
        X, y = sample()
        X[3, 0] = np.inf
        with pytest.raises(ValueError, match="The base score contains 1 NaN or infinite"):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, np.zeros(y.size))

    def test_response_method(self):
        with pytest.raises(ValueError, match="response_method must be one of 'auto'"):
            FixedFPRClassifier(FirstFeature(), response_method="predict").fit(*sample())
