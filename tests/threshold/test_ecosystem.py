"""FixedFPRClassifier among scikit-learn's tools, copied and stored."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba.linear import PartialAUCClassifier
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
)


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture
def inner():
    base = make_pipeline(StandardScaler(), LogisticRegression())
    return FixedFPRClassifier(base, max_fpr=0.1, cv=0.5, random_state=0)


def test_pipeline_inside_and_outside(data, inner):
    outer = make_pipeline(StandardScaler(), clone(inner).set_params(estimator=LogisticRegression()))
    X, y = data
    inner.fit(X, y)
    outer.fit(X, y)
    # Scaling on all rows or on the training half: not the same numbers, but nearly the same alarms.
    assert np.mean(inner.predict(X) == outer.predict(X)) > 0.97
    assert cross_val_score(outer, X, y, scoring="roc_auc", cv=3).min() > 0.95


def test_grid_search_over_base_and_promise(data, inner):
    grid = {
        "estimator__logisticregression__C": [0.1, 1.0],
        "max_fpr": [0.1, 0.3],
    }
    search = GridSearchCV(inner, grid, cv=3, scoring="balanced_accuracy").fit(*data)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.guarantee_
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_grid_search_as_the_base(data):
    search = GridSearchCV(LogisticRegression(solver="liblinear"), {"C": [0.1, 1.0]}, cv=2)
    model = FixedFPRClassifier(search, cv=0.5, random_state=0).fit(*data)
    assert model.estimator_.best_params_["C"] in (0.1, 1.0)


def test_grid_search_over_the_promise_of_a_frozen_base(data):
    X, y = data
    base = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    grid = {"max_fpr": [0.1, 0.3]}
    frozen = FixedFPRClassifier(FrozenEstimator(base), cv="prefit")
    search = GridSearchCV(frozen, grid, cv=2, scoring="balanced_accuracy").fit(X[1::2], y[1::2])
    assert search.best_estimator_.n_negatives_ == np.sum(y[1::2] == 0)
    thawed = GridSearchCV(frozen.set_params(estimator=base), grid, cv=2, error_score="raise")
    with pytest.raises(NotFittedError, match="FrozenEstimator keeps it"):
        thawed.fit(X[1::2], y[1::2])


def test_threshold_of_a_partial_auc_classifier(data):
    X, y = data
    base = make_pipeline(StandardScaler(), PartialAUCClassifier((0.0, 0.1)))
    weight = np.where(y == 1, 2.0, 1.0)
    model = FixedFPRClassifier(base, 0.1, cv=0.5, random_state=0)
    model.fit(X, y, partialaucclassifier__sample_weight=weight)
    assert model.guarantee_
    assert np.mean(model.predict(X[y == 0])) < 0.1
    assert np.mean(model.predict(X[y == 1])) > 0.9


def test_clone_keeps_parameters_and_forgets_the_fit(data, inner):
    copy = clone(inner.fit(*data))
    assert not hasattr(copy, "threshold_")
    assert copy.get_params(deep=False).keys() == inner.get_params(deep=False).keys()
    assert copy.fit(*data).threshold_ == inner.threshold_


def test_pickle(data, inner):
    X, y = data
    again = pickle.loads(pickle.dumps(inner.fit(X, y)))
    np.testing.assert_array_equal(again.decision_function(X), inner.decision_function(X))


def test_skops_with_string_labels(data, inner):
    skops_io = pytest.importorskip("skops.io")
    X, y = data
    inner.fit(X, np.array(["malignant", "benign"])[y])
    stored = skops_io.dumps(inner)
    untrusted = skops_io.get_untrusted_types(data=stored)
    assert untrusted == ["aucuba.threshold._class_rates.FixedFPRClassifier"]
    again = skops_io.loads(stored, trusted=untrusted)
    np.testing.assert_array_equal(again.predict(X), inner.predict(X))
    assert again.violation_probability_ == inner.violation_probability_


@pytest.mark.parametrize(
    "model",
    [
        FixedFPRClassifier(LogisticRegression(), [0.1, 0.2], strata=1, random_state=0),
        FixedFPRClassifier(LogisticRegression(), 0.3, min_tpr=0.6, random_state=0),
        FixedPrecisionClassifier(LogisticRegression(), 0.8, random_state=0),
        AlertBudgetClassifier(LogisticRegression(), (0.1, 0.2), random_state=0),
    ],
    ids=["strata", "two rates", "precision", "alerts"],
)
def test_model_files(model, tmp_path):
    pytest.importorskip("skops")
    from aucuba.persistence import load_model, save_model

    rng = np.random.default_rng(0)
    y = (rng.uniform(size=1000) < 0.4).astype(int)
    X = np.column_stack([rng.normal(size=1000) + 2 * y, rng.integers(0, 2, size=1000)])
    save_model(model.fit(X, y), tmp_path / "model")
    again = load_model(tmp_path / "model").model
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.decision_levels(X), model.decision_levels(X))
    assert again.promise_ == model.promise_


def test_fitted_attributes_are_plain(data, inner):
    inner.fit(*data)
    kinds = {name: type(getattr(inner, name)) for name in vars(inner) if name.endswith("_")}
    kinds.pop("estimator_")
    assert set(kinds.values()) <= {float, int, bool, str, np.ndarray}


def test_html_representation(data, inner):
    assert "FixedFPRClassifier" in inner.fit(*data)._repr_html_()
