"""Training on fewer rows, with thresholds and out-of-fold scores of all."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from aucuba._roc._logistic import logistic_calibration
from aucuba._roc._region import Region
from aucuba._roc._threshold import operating_point
from aucuba._rows._sample import Sample
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._reweighting import region_weights
from aucuba.ensemble._sampling import sample_rows
from aucuba.ensemble._table import TrainingTable
from aucuba.metrics import partial_auc_score


def rows(n=4000, prevalence=0.05, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    return rng.normal(size=(n, 4)) + 1.5 * y[:, None] * [1, 0.5, 0, 0], y


class Recorder(ClassifierMixin, BaseEstimator):
    """Logistic regression that remembers what it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        Recorder.seen.append((len(y), int(y.sum()), sample_weight))
        self.model_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


def test_enough_rows_change_nothing():
    X, y = rows(600)
    plain = RegionReweighted(LogisticRegression(), (0.0, 0.1), random_state=0)
    want = clone(plain).fit(X, y)
    for max_rows in (600, 10_000):
        got = clone(plain).set_params(max_rows=max_rows).fit(X, y)
        np.testing.assert_array_equal(got.decision_function(X), want.decision_function(X))
        np.testing.assert_array_equal(got.oof_scores_, want.oof_scores_)


def test_every_fit_has_at_most_so_many_rows_and_all_rows_are_scored():
    X, y = rows()
    Recorder.seen = []
    model = RegionReweighted(Recorder(), (0.0, 0.01), max_rows=800, random_state=0).fit(X, y)
    # A first model, five folds twice and two models on all rows.
    assert len(Recorder.seen) == 13
    assert [n for n, _, _ in Recorder.seen[:1] + Recorder.seen[6:8]] == [800, 800, 800]
    assert all(500 < n < 800 for n, _, _ in Recorder.seen[1:6] + Recorder.seen[8:])
    assert Recorder.seen[0][1] == Recorder.seen[6][1] == y.sum()
    assert np.isfinite(model.oof_scores_).all()
    assert model.weights_.shape == y.shape
    assert abs(model.weights_[y == 0].mean() - 1) < 1e-9
    flagged = (model.oof_scores_ > np.quantile(model.oof_scores_[y == 0], 0.99)).mean()
    assert flagged < 0.1


class FirstColumn(Recorder):
    """A classifier whose log-odds are the first column, whatever it was trained on."""

    def predict_proba(self, X):
        return np.stack([expit(-X[:, 0]), expit(X[:, 0])], axis=1)


def test_threshold_and_calibration_are_those_of_all_rows():
    X, y = rows()
    model = RegionReweighted(FirstColumn(), (0.0, 0.01), max_rows=800, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.oof_scores_, X[:, 0])
    sample = Sample(y.astype(bool))
    assert model.threshold_ == pytest.approx(operating_point(X[:, 0], sample, 0.01)[0])
    np.testing.assert_allclose(model.calibration_, logistic_calibration(X[:, 0], sample))
    region = Region.from_params((0.0, 0.01))
    np.testing.assert_allclose(model.weights_, region_weights(X[:, 0], sample, region, 3.0))


@pytest.mark.parametrize("prevalence", [0.05, 0.3])
def test_what_is_kept_and_what_it_stands_for(prevalence):
    X, y = rows(prevalence=prevalence)
    table = TrainingTable(X, Sample(y.astype(bool)))
    region = Region.from_params((0.0, 0.005))
    sampling = sample_rows(LogisticRegression(), table, region, 1000, 0)
    chosen = np.zeros(y.size, dtype=bool)
    chosen[sampling.rows] = True
    assert chosen.sum() == 1000
    assert np.all(np.diff(sampling.rows) > 0)
    n_kept = int(chosen[y == 1].sum())
    assert n_kept == min(int(y.sum()), 500)
    kept_weight = sampling.factor[chosen & (y == 1)].sum()
    assert kept_weight == pytest.approx(y.sum())
    # The negatives stand for all negatives, and the top of them for themselves.
    assert sampling.factor[chosen & (y == 0)].sum() == pytest.approx((y == 0).sum())
    n_top = min(int(np.ceil(20 * 0.005 * (y == 0).sum())), (1000 - n_kept) // 2)
    alone = chosen & (y == 0) & (sampling.factor == 1)
    assert alone.sum() == n_top
    score = LogisticRegression().fit(X, y).decision_function(X)
    highest = np.argsort(-np.where(y == 0, score, -np.inf))[: n_top // 2]
    assert alone[highest].mean() > 0.95


def test_half_of_the_rest_bounds_the_top():
    X, y = rows()
    table = TrainingTable(X, Sample(y.astype(bool)))
    sampling = sample_rows(LogisticRegression(), table, Region.from_params((0.0, 0.5)), 1000, 0)
    alone = (sampling.factor[sampling.rows] == 1) & (y[sampling.rows] == 0)
    assert alone.sum() == (1000 - y.sum()) // 2


def test_weights_of_rows_are_multiplied():
    X, y = rows()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size)
    Recorder.seen = []
    RegionReweighted(Recorder(), (0.0, 0.01), strength=1, max_rows=800, random_state=0).fit(
        X, y, weight
    )
    plain = Recorder.seen[6]
    assert plain[2].size == 800
    assert plain[2].sum() == pytest.approx(weight.sum(), rel=0.1)


def test_a_tenth_of_the_rows_ranks_nearly_as_well():
    X, y = rows(20_000, 0.02)
    new, truth = rows(20_000, 0.02, seed=1)
    values = {}
    for max_rows in (None, 2000):
        boosting = HistGradientBoostingClassifier(max_iter=30, max_depth=3)
        model = RegionReweighted(boosting, (0.0, 0.01), cv=3, max_rows=max_rows, random_state=0)
        scores = model.fit(X, y).decision_function(new)
        values[max_rows] = partial_auc_score(truth, scores, fpr_range=(0.0, 0.01))
    uniform = np.random.default_rng(0).choice(y.size, 2000, replace=False)
    boosting = HistGradientBoostingClassifier(max_iter=30, max_depth=3)
    drawn = boosting.fit(X[uniform], y[uniform]).predict_proba(new)[:, 1]
    assert values[2000] > partial_auc_score(truth, drawn, fpr_range=(0.0, 0.01))
    assert values[2000] > values[None] - 0.05


@pytest.mark.parametrize("max_rows", [0, 99, 1.5, "many", True])
def test_bad_numbers(max_rows):
    X, y = rows(300)
    with pytest.raises(ValueError, match="max_rows must be"):
        RegionReweighted(LogisticRegression(), (0.0, 0.1), max_rows=max_rows).fit(X, y)


def test_a_stack_trains_its_members_on_fewer_rows_and_scores_all():
    X, y = rows()
    Recorder.seen = []
    stack = RegionStack(
        (0.0, 0.05),
        estimators=[("recorded", Recorder()), "forest", "boosting_log_loss"],
        cv=2,
        max_rows=900,
        random_state=0,
    ).fit(X, y)
    assert [n for n, _, _ in Recorder.seen[:1] + Recorder.seen[-1:]] == [900, 900]
    assert all(n < 600 for n, _, _ in Recorder.seen[1:-1])
    assert stack.oof_scores_.shape == (y.size, 3)
    assert np.isfinite(stack.oof_scores_).all()
    assert partial_auc_score(y, stack.oof_scores_.sum(axis=1), fpr_range=(0.0, 0.05)) > 0.2


def test_a_stack_with_enough_rows_changes_nothing():
    X, y = rows(500)
    stack = RegionStack((0.0, 0.2), estimators=["forest", "linear_logistic"], cv=2, random_state=0)
    want = clone(stack).fit(X, y)
    got = clone(stack).set_params(max_rows=500).fit(X, y)
    np.testing.assert_array_equal(got.decision_function(X), want.decision_function(X))
