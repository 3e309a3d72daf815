"""The four classifiers: which rows set the threshold, several promises, strata, failures."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba.metrics import make_metric_scorer
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    RateMonitor,
    rows_needed,
)
from aucuba.threshold._order_statistic import threshold_rank
from tests.threshold.bases import FirstFeature, prefit

KINDS = [FixedFPRClassifier, FixedTPRClassifier, FixedPrecisionClassifier, AlertBudgetClassifier]


def sample(n=400, seed=0, prevalence=0.4):
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < prevalence).astype(int)
    return (rng.normal(size=n) + 3 * y)[:, None], y


class TestOrderStatistics:
    @pytest.mark.parametrize("n", [59, 93, 300])
    def test_sensitivity_is_the_false_positive_rule_with_classes_exchanged(self, n):
        X, _ = sample(n)
        tpr = FixedTPRClassifier(prefit(), 0.95, cv="prefit").fit(X, np.ones(n))
        rank = threshold_rank(n, 0.05, 0.05)
        level = np.sort(X[:, 0])[n - rank]
        assert (tpr.rank_, tpr.n_positives_, tpr.guarantee_) == (rank, n, True)
        np.testing.assert_array_equal(tpr.predict(X), X[:, 0] >= level)
        assert tpr.predict(X).sum() == rank
        fpr = FixedFPRClassifier(prefit(), 0.05, cv="prefit").fit(-X, np.zeros(n))
        assert tpr.threshold_ == pytest.approx(-fpr.threshold_)
        assert tpr.violation_probability_ == fpr.violation_probability_

    @given(st.lists(st.integers(0, 4), min_size=8, max_size=40))
    def test_rows_that_tie_with_a_sensitivity_threshold_are_flagged(self, scores):
        X = np.array(scores, dtype=float)[:, None]
        model = FixedTPRClassifier(prefit(), 0.7, 0.9, cv="prefit").fit(X, np.ones(X.size))
        level = np.sort(scores)[len(scores) - model.rank_]
        np.testing.assert_array_equal(model.predict(X), X[:, 0] >= level)

    def test_alert_budget_counts_all_rows_and_needs_no_labels(self):
        X, y = sample()
        model = AlertBudgetClassifier(prefit(), 0.1, cv="prefit").fit(X)
        assert model.n_units_ == 400
        assert model.predict(X).sum() == 400 - threshold_rank(400, 0.1, 0.05)
        unlabelled = model.threshold_
        assert model.fit(X, y).threshold_ == unlabelled
        with pytest.raises(ValueError, match="requires y to be passed"):
            AlertBudgetClassifier(FirstFeature(), 0.1).fit(X)
        with pytest.raises(ValueError, match="requires y to be passed"):
            FixedTPRClassifier(prefit(), 0.9, cv="prefit").fit(X)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("pos_label", ["bad", "good"])
    def test_sign_of_decision_function_and_both_positive_classes(self, kind, pos_label):
        X, y = sample(2000)
        names = np.where(y == 1, "good", "bad")
        base = LogisticRegression().fit(X, names)
        rate = 0.8 if kind in (FixedTPRClassifier, FixedPrecisionClassifier) else 0.2
        model = kind(base, rate, cv="prefit", pos_label=pos_label, random_state=0).fit(X, names)
        decision = model.decision_function(X)
        np.testing.assert_array_equal(decision > 0, model.predict(X) == "good")
        flagged = model.predict(X) == pos_label
        positive = names == pos_label
        rates = {
            FixedFPRClassifier: 1 - np.mean(flagged[~positive]),
            FixedTPRClassifier: np.mean(flagged[positive]),
            FixedPrecisionClassifier: np.mean(positive[flagged]),
            AlertBudgetClassifier: 1 - np.mean(flagged),
        }
        assert 0.8 <= rates[kind] < 1
        sign = 1 if pos_label == "good" else -1
        score = sign * base.decision_function(X)
        np.testing.assert_allclose(sign * decision, score - model.threshold_)
        scorer = make_metric_scorer("partial_auc", fpr_range=(0, 0.1), pos_label=pos_label)
        assert scorer(model, X, names) == pytest.approx(scorer(base, X, names))

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("cv", [0.5, "prefit"])
    def test_a_positive_class_left_to_the_alphabet_is_said(self, kind, cv):
        X, y = sample(2000)
        names = np.where(y == 1, "bad", "good")
        base = LogisticRegression().fit(X, names)
        rate = 0.6 if kind in (FixedTPRClassifier, FixedPrecisionClassifier) else 0.3
        model = kind(base, rate, cv=cv, random_state=0)
        with pytest.warns(UserWarning, match="positive class is 'good'.*Name the positive class"):
            model.fit(X, names)
        model.set_params(pos_label="good").fit(X, names)
        rare = np.where(y == 1, "good", "bad")
        model.set_params(pos_label=None, estimator=clone(base).fit(X, rare)).fit(X, rare)

    def test_calibration_rows_of_one_class_tell_nothing_of_frequencies(self):
        X, _ = sample(400)
        base = prefit(("ill", "well"))
        FixedTPRClassifier(base, 0.9, cv="prefit").fit(X, np.full(400, "well"))


class TestSeveralRates:
    def test_levels_and_the_strictest(self):
        X, y = sample(1000)
        model = FixedFPRClassifier(prefit(), [0.1, 0.02, 0.3], cv="prefit").fit(X, y)
        assert model.thresholds_.shape == model.rank_.shape == (3,)
        assert model.threshold_ == model.thresholds_[1] == model.thresholds_.max()
        passed = X[:, :1] > model.thresholds_
        np.testing.assert_array_equal(model.decision_levels(X), passed.sum(axis=1))
        np.testing.assert_array_equal(model.predict(X), passed.all(axis=1))
        assert "0.1, 0.02, 0.3, with confidence 0.95, jointly" in model.promise_

    def test_sensitivities_use_the_lowest_threshold(self):
        X, y = sample(1000)
        model = FixedTPRClassifier(prefit(), [0.8, 0.95], cv="prefit").fit(X, y)
        assert model.threshold_ == model.thresholds_[1] < model.thresholds_[0]

    def test_one_by_one_they_are_those_of_single_fits(self):
        X, y = sample(1000)
        rates = [0.05, 0.2]
        model = FixedFPRClassifier(prefit(), rates, cv="prefit", joint=False).fit(X, y)
        for rate, threshold in zip(rates, model.thresholds_, strict=True):
            assert FixedFPRClassifier(prefit(), rate, cv="prefit").fit(X, y).threshold_ == threshold
        joint = FixedFPRClassifier(prefit(), rates, cv="prefit").fit(X, y)
        assert np.all(joint.thresholds_ > model.thresholds_)
        assert "each singly" in model.promise_

    @pytest.mark.parametrize("kind", [FixedFPRClassifier, FixedPrecisionClassifier])
    def test_rates_without_a_joint_law_divide_the_error(self, kind):
        X, y = sample(3000)
        limits = [0.1, 0.3] if kind is FixedFPRClassifier else [0.9, 0.8]
        options = {"cv": "prefit", "random_state": 0}
        groups = np.arange(3000)
        both = kind(prefit(), limits, **options).fit(X, y, groups=groups)
        for limit, threshold in zip(limits, both.thresholds_, strict=True):
            one = kind(prefit(), limit, 0.975, **options).fit(X, y, groups=groups)
            assert one.threshold_ == threshold

    @pytest.mark.parametrize("bad", [[], [0.1, 0.1], [0.1, 2.0]])
    def test_bad_lists(self, bad):
        with pytest.raises(ValueError, match="max_fpr"):
            FixedFPRClassifier(prefit(), bad, cv="prefit").fit(*sample())

    def test_false_and_true_positive_rate(self):
        X, y = sample(1000)
        model = FixedFPRClassifier(prefit(), 0.2, cv="prefit", min_tpr=0.8).fit(X, y)
        low, high = model.threshold_range_
        each = np.sqrt(0.95)
        alone = FixedFPRClassifier(prefit(), 0.2, each, cv="prefit").fit(X, y)
        other = FixedTPRClassifier(prefit(), 0.8, each, cv="prefit").fit(X, y)
        assert (low, high) == (alone.threshold_, other.threshold_)
        assert model.violation_probability_ <= 0.05
        with pytest.raises(ValueError, match="min_tpr needs a single max_fpr"):
            FixedFPRClassifier(prefit(), [0.1, 0.2], cv="prefit", min_tpr=0.8).fit(X, y)

    @pytest.mark.parametrize("on_failure", ["error", "trivial"])
    def test_the_best_pair_is_one_that_the_rows_carry(self, on_failure):
        X, y = sample(1000)
        model = FixedFPRClassifier(prefit(), 0.02, cv="prefit", min_tpr=0.99, on_failure=on_failure)
        with pytest.raises(ValueError, match=r"No threshold keeps max_fpr=0\.02") as caught:
            model.fit(X, y)
        numbers = [float(part.split()[0].rstrip(",.")) for part in str(caught.value).split("=")[1:]]
        tpr, fpr = numbers[3], numbers[5]
        # Rounded to four decimals, so a little less is asked for.
        model.set_params(min_tpr=tpr - 1e-3).fit(X, y)
        model.set_params(min_tpr=0.99, max_fpr=fpr + 1e-3).fit(X, y)
        with pytest.raises(ValueError, match="No threshold keeps"):
            model.set_params(max_fpr=fpr - 1e-2).fit(X, y)


class TestFailure:
    @pytest.mark.parametrize(("kind", "flags"), [(KINDS[0], 0), (KINDS[1], 1), (KINDS[3], 0)])
    def test_trivial_thresholds_keep_the_promise(self, kind, flags):
        X, y = sample(20)
        model = kind(prefit(), 0.1 if flags == 0 else 0.9, cv="prefit", on_failure="trivial")
        with pytest.warns(UserWarning, match="cannot carry what is promised") as caught:
            model.fit(X, y)
        assert len(caught) == 1
        assert model.trivial_ is True
        assert model.guarantee_ is True
        assert np.all(model.predict(X) == flags)
        assert "kept by flagging" in model.promise_
        with pytest.raises(ValueError, match="needs at least 29 held-out"):
            model.set_params(on_failure="error").fit(X, y)

    def test_a_precision_that_the_base_does_not_have(self):
        X, y = sample(500)
        X = np.random.default_rng(0).normal(size=X.shape)
        model = FixedPrecisionClassifier(prefit(), 0.9, cv="prefit", random_state=0)
        with pytest.raises(ValueError, match=r"No threshold has a precision of at least .*=0.9"):
            model.fit(X, y)
        with pytest.warns(UserWarning, match="flagging nothing"):
            model.set_params(on_failure="trivial").fit(X, y)
        assert model.trivial_
        assert model.predict(X).sum() == 0

    def test_some_rates_of_a_list(self):
        X = np.arange(100.0)[:, None]
        model = FixedFPRClassifier(prefit(), [0.001, 0.2], cv="prefit", on_failure="trivial")
        with pytest.warns(UserWarning, match="cannot carry"):
            model.fit(X, np.zeros(100))
        assert np.isinf(model.thresholds_[0])
        assert np.isfinite(model.thresholds_[1])
        assert model.decision_levels(X).max() == 1

    def test_the_heuristic_says_that_it_promises_nothing(self):
        model = FixedFPRClassifier(LogisticRegression(), cv=5).fit(*sample())
        assert not model.guarantee_
        assert np.isnan(model.violation_probability_)
        assert model.promise_.startswith("No promise")

    def test_default_holds_out_half(self):
        X, y = sample(2000)
        for kind in KINDS:
            model = kind(FirstFeature(), random_state=0).fit(X, y)
            assert model.guarantee_
            assert model.estimator_.rows_.size == 1000


class TestGroups:
    def grouped(self, n_groups=300, seed=0):
        rng = np.random.default_rng(seed)
        groups = np.repeat(rng.permutation(n_groups), rng.integers(1, 5, size=n_groups))
        X, y = sample(groups.size, seed)
        return X, y, groups

    @pytest.mark.parametrize("kind", KINDS)
    def test_groups_are_held_out_whole(self, kind):
        X, y, groups = self.grouped(600)
        rate = 0.7 if kind in (FixedTPRClassifier, FixedPrecisionClassifier) else 0.3
        model = kind(FirstFeature(), rate, random_state=0).fit(X, y, groups=groups)
        trained = np.isin(X[:, 0], model.estimator_.rows_)
        assert not np.intersect1d(groups[trained], groups[~trained]).size
        assert 180 < model.n_units_ <= 300

    def test_any_is_the_order_statistic_of_the_largest_scores(self):
        X, y, groups = self.grouped()
        model = FixedFPRClassifier(prefit(), 0.1, cv="prefit", group_rate="any")
        model.fit(X, y, groups=groups)
        negative = y == 0
        largest = [
            X[negative & (groups == group), 0].max() for group in np.unique(groups[negative])
        ]
        assert model.n_negatives_ == len(largest)
        expected = np.sort(largest)[threshold_rank(len(largest), 0.1, 0.05) - 1]
        assert model.threshold_ == pytest.approx(expected)

    def test_groups_of_one_row_cost_little(self):
        X, y = sample(2000)
        rows = FixedFPRClassifier(prefit(), 0.1, cv="prefit").fit(X, y)
        ones = clone(rows).set_params(estimator=prefit()).fit(X, y, groups=np.arange(2000))
        flagged = [model.predict(X)[y == 0].mean() for model in (rows, ones)]
        assert 0.06 < flagged[1] <= flagged[0] < 0.1

    def test_copies_of_a_group_row_do_not_count(self):
        X, y, groups = self.grouped()
        once = FixedFPRClassifier(prefit(), 0.1, cv="prefit").fit(X, y, groups=groups)
        twice = clone(once).set_params(estimator=prefit())
        twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), groups=np.repeat(groups, 2))
        assert twice.threshold_ == once.threshold_

    def test_splits_that_cut_a_group(self):
        X, y, groups = self.grouped()
        cv = [(np.arange(200), np.arange(200, y.size))]
        with pytest.raises(ValueError, match="Split 0 of cv trains on rows of 7 of the groups"):
            FixedFPRClassifier(FirstFeature(), cv=cv).fit(X, y, groups=groups % 7)

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.nan, "groups has 1 missing or infinite entries, the first in row 3"),
            (None, "groups has 1 missing or infinite entries, the first in row 3"),
            ("a", "groups mixes int and str"),
        ],
    )
    def test_bad_groups(self, bad, message):
        X, y, groups = self.grouped()
        identifiers = groups.tolist()
        identifiers[3] = bad
        with pytest.raises(ValueError, match=message):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, y, groups=identifiers)
        with pytest.raises(ValueError, match=message):
            RateMonitor(0.1).update(y, y, groups=identifiers)

    def test_folds_keep_groups_whole(self):
        X, y, groups = self.grouped()
        for cv in (3, GroupKFold(3)):
            model = FixedFPRClassifier(FirstFeature(), cv=cv).fit(X, y, groups=groups)
            assert not model.guarantee_
            assert model.n_negatives_ == np.unique(groups[y == 0]).size
        with pytest.raises(ValueError, match="groups"):
            FixedFPRClassifier(FirstFeature(), cv=GroupKFold(3)).fit(X, y)

    def test_too_few_groups_are_counted_as_groups(self):
        X, y, groups = self.grouped(40)
        with pytest.raises(ValueError, match=r"needs at least 69 held-out groups with negatives"):
            FixedFPRClassifier(prefit(), cv="prefit").fit(X, y, groups=groups)
        assert rows_needed("fpr", 0.05, group_rate="mean") == 69

    def test_parameters_of_groups(self):
        X, y, groups = self.grouped()
        row = FixedFPRClassifier(prefit(), 0.1, cv="prefit", group_rate="row")
        with pytest.raises(ValueError, match="needs max_group_size"):
            row.fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="rows that count, more than max_group_size=2"):
            row.set_params(max_group_size=2).fit(X, y, groups=groups)
        assert row.set_params(max_group_size=4).fit(X, y, groups=groups).guarantee_
        precise = FixedPrecisionClassifier(prefit(), cv="prefit", group_rate="any")
        with pytest.raises(ValueError, match="not 'any'"):
            precise.fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="group_rate must be one of"):
            FixedFPRClassifier(prefit(), cv="prefit", group_rate="max").fit(X, y)


class TestWeights:
    def test_constant_weights_keep_the_exact_rule(self):
        X, y = sample(500)
        plain = FixedFPRClassifier(prefit(), 0.1, cv="prefit").fit(X, y)
        model = FixedFPRClassifier(prefit(), 0.1, cv="prefit", weighted_promise=True)
        model.fit(X, y, sample_weight=np.where(y == 1, 7.0, 0.3))
        assert (model.threshold_, model.rank_) == (plain.threshold_, plain.rank_)

    def test_weights_of_the_negatives_move_the_threshold(self):
        X, y = sample(2000)
        model = FixedFPRClassifier(
            prefit(), 0.1, cv="prefit", weighted_promise=True, max_weight=4.0
        )
        thresholds = [
            model.fit(X, y, sample_weight=np.where((X[:, 0] > 0.5) == high, 4.0, 1.0)).threshold_
            for high in (True, False)
        ]
        assert thresholds[0] > thresholds[1]

    def test_parameters_of_weights(self):
        X, y = sample(500)
        weight = 1 + X[:, 0] ** 2
        model = FixedFPRClassifier(prefit(), 0.1, cv="prefit", weighted_promise=True)
        with pytest.raises(ValueError, match="needs sample_weight in fit"):
            model.fit(X, y)
        with pytest.raises(ValueError, match="needs max_weight, an upper limit"):
            model.fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match="above max_weight=2"):
            model.set_params(max_weight=2.0).fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match="needs group_rate='row'"):
            model.fit(X, y, sample_weight=weight, groups=np.arange(500))
        with pytest.raises(ValueError, match=r"more than these .* held-out weighted negatives"):
            model.set_params(max_weight=1e6).fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match=r"counts every row once, so .*'sample_weight'"):
            model.set_params(weighted_promise=False).fit(X, y, sample_weight=weight)

    def test_a_pipeline_takes_weights_for_the_promise(self):
        X, y = sample(600)
        base = make_pipeline(StandardScaler(), LogisticRegression())
        weight = np.where(y == 1, 2.0, 1.0)
        model = FixedFPRClassifier(base, 0.1, weighted_promise=True, random_state=0)
        model.fit(X, y, sample_weight=weight, logisticregression__sample_weight=weight)
        assert model.guarantee_

    def test_routing_of_weights_and_groups(self):
        X, y = sample(600)
        groups = np.arange(600) // 2
        with config_context(enable_metadata_routing=True):
            base = FirstFeature().set_fit_request(sample_weight=True)
            model = FixedFPRClassifier(base, 0.2, random_state=0)
            model.set_fit_request(sample_weight=True, groups=True)
            model.set_score_request(sample_weight=False)
            grid = GridSearchCV(model, {"max_fpr": [0.2, 0.3]}, cv=2, error_score="raise")
            grid.fit(X, y, sample_weight=X[:, 0] + 10, groups=groups)
            fitted = grid.best_estimator_
            np.testing.assert_array_equal(
                fitted.estimator_.sample_weight_, fitted.estimator_.rows_ + 10
            )
            assert fitted.n_units_ <= 150


class TestStrata:
    def data(self, n=900, seed=0):
        rng = np.random.default_rng(seed)
        stratum = rng.integers(0, 3, size=n)
        return np.column_stack([rng.normal(size=n) + 10 * stratum, stratum]), np.zeros(n)

    @pytest.mark.parametrize("strata", [1, lambda X: X[:, 1].astype(int)])
    def test_each_stratum_has_its_own_exact_rule(self, strata):
        X, y = self.data()
        model = FixedFPRClassifier(prefit(), 0.1, cv="prefit", strata=strata).fit(X, y)
        confidence = 0.95 ** (1 / 3)
        for number in range(3):
            inside = X[X[:, 1] == number]
            alone = FixedFPRClassifier(prefit(), 0.1, confidence, cv="prefit")
            alone.fit(inside, np.zeros(len(inside)))
            assert model.threshold_[number] == alone.threshold_
            np.testing.assert_array_equal(model.predict(inside), alone.predict(inside))
        assert model.thresholds_.shape == (3, 1)
        assert 0.03 < model.violation_probability_ <= 0.05
        assert "in each of 3 strata, with confidence 0.95, jointly" in model.promise_
        single = clone(model).set_params(estimator=prefit(), joint=False).fit(X, y)
        assert np.all(single.threshold_ < model.threshold_)

    def test_names_of_columns_and_strata_of_text(self):
        pd = pytest.importorskip("pandas")
        X, y = sample(1200)
        frame = pd.DataFrame({"x": X[:, 0], "site": np.where(np.arange(1200) % 3 == 0, "a", "b")})
        base = make_pipeline(StandardScaler(), LogisticRegression())
        numbers = make_pipeline(pd_columns(["x"]), base)
        model = FixedFPRClassifier(numbers, [0.1, 0.3], strata="site", random_state=0)
        model.fit(frame, y)
        assert model.strata_.tolist() == ["a", "b"]
        assert model.thresholds_.shape == (2, 2)
        site = (frame["site"] == "b").to_numpy().astype(int)
        passed = model.estimator_.decision_function(frame)[:, None] > model.thresholds_[site]
        np.testing.assert_array_equal(model.decision_levels(frame), passed.sum(axis=1))
        strange = frame.assign(site="c")
        with pytest.raises(ValueError, match=r"values that fit did not see: \['c'\]"):
            model.predict(strange)

    def test_small_strata_follow_on_failure(self):
        X, y = self.data()
        X[:10, 1] = 3.0
        model = FixedFPRClassifier(prefit(), 0.1, cv="prefit", strata=1)
        with pytest.raises(ValueError, match=r"In the stratum .*3.0.* needs at least 42 held-out"):
            model.fit(X, y)
        with pytest.warns(UserWarning, match="in some stratum"):
            model.set_params(on_failure="trivial").fit(X, y)
        assert np.isinf(model.threshold_).tolist() == [False, False, False, True]

    def test_bad_strata(self):
        X, y = self.data()
        model = FixedFPRClassifier(prefit(), cv="prefit", strata=7)
        with pytest.raises(ValueError, match="strata=7 is not a column of X"):
            model.fit(X, y)
        with pytest.raises(ValueError, match="strata has 3 entries for 900 rows"):
            model.set_params(strata=lambda X: [1, 2, 3]).fit(X, y)
        with pytest.raises(ValueError, match="strata mixes int and str"):
            model.set_params(strata=lambda X: ["a", *range(899)]).fit(X, y)
        X[5, 1] = np.nan
        with pytest.raises(
            ValueError, match="strata has 1 missing or infinite entries, the first in row 5"
        ):
            model.set_params(strata=1).fit(X, y)


class TestRowsNeeded:
    @pytest.mark.parametrize(("promise", "rate"), [("fpr", 0.1), ("tpr", 0.9), ("alerts", 0.1)])
    @pytest.mark.parametrize("group_rate", [None, "any", "mean"])
    def test_is_what_the_classifiers_ask_for(self, promise, rate, group_rate):
        kind = {"fpr": KINDS[0], "tpr": KINDS[1], "alerts": KINDS[3]}[promise]
        needed = rows_needed(promise, rate, 0.9, group_rate=group_rate)
        X = np.linspace(0, 1, needed)[:, None]
        y = np.full(needed, int(promise == "tpr"))
        model = kind(prefit(), rate, 0.9, cv="prefit", group_rate=group_rate or "mean")
        groups = None if group_rate is None else np.arange(needed)
        assert not model.fit(X, y, groups=groups).trivial_
        fewer = None if groups is None else groups[1:]
        with pytest.raises(ValueError, match=f"at least {needed} held-out .*, got {needed - 1}"):
            model.fit(X[1:], y[1:], groups=fewer)

    def test_prevalence(self):
        assert rows_needed("fpr", 0.05, prevalence=0.5) == 118
        assert rows_needed("tpr", 0.95, prevalence=0.01) == 5900
        assert rows_needed("alerts", 0.05, prevalence=0.01) == 59
        assert rows_needed("precision", 0.9, prevalence=0.1) == 400
        with pytest.raises(ValueError, match="prevalence must lie"):
            rows_needed("tpr", 0.9, prevalence=1.5)

    def test_bad_input(self):
        with pytest.raises(
            ValueError, match="promise must be one of 'fpr', 'tpr', 'precision', 'a"
        ):
            rows_needed("auc", 0.9)
        with pytest.raises(ValueError, match="rate must lie"):
            rows_needed("fpr", 5)
        with pytest.raises(ValueError, match="not 'any'"):
            rows_needed("precision", 0.9, group_rate="any")


def test_a_second_fit_forgets_what_it_does_not_set():
    X, y = sample(1000)
    pd = pytest.importorskip("pandas")
    model = FixedFPRClassifier(LogisticRegression(), 0.3, min_tpr=0.5, random_state=0)
    model.fit(pd.DataFrame(X, columns=["x"]), y)
    assert model.threshold_range_.shape == (2,)
    model.set_params(min_tpr=None).fit(X, y, groups=np.arange(1000) // 2)
    for name in ("rank_", "threshold_range_", "feature_names_in_"):
        assert not hasattr(model, name)
    assert model.n_features_in_ == 1


@pytest.mark.parametrize("kind", KINDS)
def test_fits_leave_parameters_alone_and_are_repeatable(kind):
    X, y = sample(1000)
    model = kind(LogisticRegression(), random_state=3)
    before = {name: repr(value) for name, value in model.get_params().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = model.fit(X, y).threshold_
    assert {name: repr(value) for name, value in model.get_params().items()} == before
    assert clone(model).fit(X, y).threshold_ == first


def pd_columns(names):
    from sklearn.compose import make_column_transformer

    return make_column_transformer(("passthrough", names))
