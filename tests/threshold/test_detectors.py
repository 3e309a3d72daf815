"""Promised thresholds around outlier detectors, whose scores may grow towards either end."""

import importlib

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from aucuba.threshold import (
    AlertBudgetClassifier,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    RateMonitor,
)


class PyodLike(BaseEstimator):
    """The interface of PyOD's detectors: outliers score high, no scikit-learn type, no classes."""

    def __init__(self, contamination=0.1):
        self.contamination = contamination

    def fit(self, X, y=None):
        assert y is None or len(y) == len(X)
        self.centre_ = np.mean(X, axis=0)
        self.decision_scores_ = self.decision_function(X)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.centre_, axis=1)

    def predict_confidence(self, X):
        raise NotImplementedError


DETECTORS = {
    "forest": IsolationForest(n_estimators=30, random_state=0),
    "svm": OneClassSVM(gamma=0.1),
    "envelope": EllipticEnvelope(random_state=0),
    "neighbours": LocalOutlierFactor(novelty=True),
    "pipeline": make_pipeline(StandardScaler(), OneClassSVM(gamma=0.1)),
    "pyod": PyodLike(),
    "pyod in a pipeline": make_pipeline(StandardScaler(), PyodLike()),
}


def rows(n=600, n_outliers=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:n_outliers] *= 6
    return X, np.arange(n) < n_outliers


@pytest.fixture(params=DETECTORS)
def detector(request):
    return DETECTORS[request.param]


def test_normal_rows_alone_promise_a_false_positive_rate(detector):
    X, is_outlier = rows()
    model = FixedFPRClassifier(detector, 0.1, random_state=0).fit(X[~is_outlier])
    new, label = rows(seed=1)
    found = model.predict(new)
    assert set(found.tolist()) == {0, 1}
    assert model.classes_.tolist() == [0, 1]
    assert found[label].mean() > 0.6
    assert found[~label].mean() < 0.1
    assert model.promise_.startswith(
        "False positive rate at most 0.1, with confidence 0.95, from 270"
    )
    assert model.guarantee_


def test_a_fitted_detector_and_labelled_rows(detector):
    X, is_outlier = rows()
    fitted = FrozenEstimator(detector.fit(X[~is_outlier]))
    new, label = rows(seed=1)
    alone = FixedFPRClassifier(fitted, 0.1, cv="prefit").fit(new[~label])
    labelled = FixedFPRClassifier(fitted, 0.1, cv="prefit").fit(new, label.astype(int))
    assert alone.threshold_ == labelled.threshold_
    assert labelled.predict(new)[label].mean() > 0.6
    named = FixedFPRClassifier(fitted, 0.1, cv="prefit", pos_label="bad")
    named.fit(new, np.where(label, "bad", "good"))
    assert (named.predict(new)[label] == "bad").mean() > 0.6
    # The sign follows classes_[1], the end that is flagged does not.
    np.testing.assert_allclose(named.decision_function(new), -labelled.decision_function(new))


def test_the_other_promises_take_detectors(detector):
    X, is_outlier = rows(1000, 300)
    new, label = rows(1000, 300, seed=1)
    y = is_outlier.astype(int)
    screen = FixedTPRClassifier(detector, 0.5, random_state=0).fit(X, y)
    assert screen.predict(new)[label].mean() > 0.5
    sure = FixedPrecisionClassifier(detector, 0.6, random_state=0).fit(X, y)
    assert label[sure.predict(new) == 1].mean() > 0.6
    budget = AlertBudgetClassifier(detector, 0.2, random_state=0).fit(X)
    assert 0 < budget.predict(new).mean() < 0.2
    assert label[budget.predict(new) == 1].mean() > 0.6


def test_the_monitor_takes_what_it_predicts():
    X, is_outlier = rows(2000, 100)
    model = FixedFPRClassifier(DETECTORS["forest"], 0.1, random_state=0).fit(X[~is_outlier])
    new, label = rows(2000, 100, seed=1)
    assert RateMonitor(0.2).update(label, model.predict(new)).status == "ok"


@pytest.mark.parametrize("direction", ["high", "low"])
def test_a_named_end_is_the_one_that_is_flagged(direction):
    X, _ = rows()

    class Plain(BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def decision_function(self, X):
            return X[:, 0]

    with pytest.raises(
        ValueError, match="Plain is neither a classifier nor a known outlier detector"
    ):
        FixedFPRClassifier(Plain()).fit(X)
    model = FixedFPRClassifier(Plain(), 0.1, score_direction=direction, random_state=0).fit(X)
    flagged = X[model.predict(X) == 1, 0]
    kept = X[model.predict(X) == 0, 0]
    assert flagged.min() > kept.max() if direction == "high" else flagged.max() < kept.min()
    with pytest.raises(ValueError, match="score_direction must be one of"):
        FixedFPRClassifier(Plain(), score_direction="up").fit(X)


class Foreign:
    """A fitted object that shares nothing with scikit-learn but a method."""

    def decision_function(self, X):
        return -np.linalg.norm(X, axis=1)


def test_bases_that_cannot_score_have_one_clear_error():
    X, _ = rows()
    with pytest.raises(ValueError, match="is not a scikit-learn estimator"):
        FixedFPRClassifier(Foreign(), 0.1, cv="prefit").fit(X)
    with pytest.raises(ValueError, match="LocalOutlierFactor scores new rows only with novelty"):
        FixedFPRClassifier(LocalOutlierFactor(), 0.1).fit(X)


def test_labels_of_scikit_learn_must_be_named():
    X, is_outlier = rows()
    y = np.where(is_outlier, -1, 1)
    with pytest.raises(ValueError, match="name the label of outliers as pos_label"):
        FixedFPRClassifier(DETECTORS["forest"], 0.1).fit(X, y)
    model = FixedFPRClassifier(DETECTORS["forest"], 0.1, pos_label=-1, random_state=0).fit(X, y)
    assert (model.predict(X)[is_outlier] == -1).mean() > 0.6


def test_labels_that_are_needed():
    X, _ = rows()
    for kind in (FixedTPRClassifier, FixedPrecisionClassifier):
        with pytest.raises(ValueError, match="requires y"):
            kind(DETECTORS["forest"]).fit(X)
    with pytest.raises(ValueError, match="held-out positives, got 0"):
        FixedFPRClassifier(DETECTORS["forest"], 0.1, min_tpr=0.5).fit(X)
    with pytest.raises(ValueError, match="not fitted"):
        FixedFPRClassifier(SGDOneClassSVM(), 0.1, cv="prefit").fit(X)
    with pytest.raises(ValueError, match=r"y has the labels \['a'\]"):
        FixedFPRClassifier(DETECTORS["forest"], 0.1).fit(X, np.full(600, "a"))


@pytest.mark.parametrize("kind", [FixedFPRClassifier, AlertBudgetClassifier])
def test_the_promise_holds_over_draws_of_normal_rows(kind):
    rng = np.random.default_rng(0)
    detector = PyodLike().fit(rng.normal(size=(200, 2)))
    population = detector.decision_function(rng.normal(size=(200_000, 2)))
    fitted = kind(detector, 0.1, cv="prefit")
    rates = [
        np.mean(population > fitted.fit(rng.normal(size=(60, 2))).threshold_) for _ in range(300)
    ]
    assert np.mean(np.array(rates) > 0.1) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


class BatchRanks(PyodLike):
    """Scores of a row depend on the other rows of its batch."""

    def decision_function(self, X):
        return super().decision_function(X).argsort().argsort()


@pytest.mark.parametrize("cv", ["prefit", 0.5])
@pytest.mark.parametrize(
    "kind", [FixedFPRClassifier, AlertBudgetClassifier, FalseDiscoverySelector]
)
def test_scores_that_depend_on_the_batch_are_refused(kind, cv):
    X, _ = rows()
    message = (
        r"The scores of BatchRanks depend on the other rows of a batch.* among 5\. No threshold"
    )
    with pytest.raises(ValueError, match=message):
        kind(BatchRanks().fit(X), cv=cv, random_state=0).fit(X)
    # Folds promise nothing.
    if kind is not FalseDiscoverySelector:
        assert not kind(BatchRanks(), cv=3).fit(X).guarantee_


PYOD = ("iforest.IForest", "knn.KNN", "hbos.HBOS")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ecod.ECOD", "copod.COPOD"])
def test_detectors_of_pyod_that_rank_within_the_batch(name):
    pytest.importorskip("pyod")
    module, kind = name.split(".")
    detector = getattr(importlib.import_module(f"pyod.models.{module}"), kind)()
    with pytest.raises(ValueError, match=f"The scores of {kind} depend on the other rows"):
        FixedFPRClassifier(detector, 0.1, random_state=0).fit(rows()[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PYOD)
@pytest.mark.parametrize("is_fitted", [False, True])
def test_detectors_of_pyod(name, is_fitted):
    pytest.importorskip("pyod")
    module, kind = name.split(".")
    detector = getattr(importlib.import_module(f"pyod.models.{module}"), kind)()
    if hasattr(detector, "random_state"):
        detector.set_params(random_state=0)
    X, is_outlier = rows()
    new, label = rows(seed=1)
    if is_fitted:
        detector.fit(X[~is_outlier])
        model = FixedFPRClassifier(detector, 0.1, cv="prefit").fit(new[~label])
        new, label = rows(seed=2)
    else:
        model = FixedFPRClassifier(detector, 0.1, random_state=0).fit(X[~is_outlier])
    found = model.predict(new)
    assert set(found.tolist()) == {0, 1}
    assert found[label].mean() > 0.6
    assert found[~label].mean() < 0.1
    assert model.guarantee_
    with pytest.raises(ValueError, match="must be one of"):
        FixedFPRClassifier(detector, 0.1, score_direction="up").fit(X)
    # Named against its nature, the normal end is flagged.
    wrong = FixedFPRClassifier(detector, 0.1, score_direction="low", random_state=0)
    assert wrong.fit(X[~is_outlier]).predict(new)[label].mean() < 0.1
