"""Model files of ensembles: they survive whole, and forged trees are refused."""

import functools
import os

import joblib
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from aucuba import FixedFPRClassifier, PartialAUCClassifier, RegionReweighted, RegionStack
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import mixed_frame, numbers

pytest.importorskip("skops", reason="skops is not installed")

RANGE = (0.0, 0.2)


@pytest.mark.parametrize("table", [numbers, mixed_frame])
def test_the_default_stack_survives(table, tmp_path):
    if table is mixed_frame:
        pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = table(120)
    stack = RegionStack(RANGE, cv=2, random_state=0).fit(X, y)
    save_model(tmp_path / "m", stack)
    again = load_model(tmp_path / "m").model
    np.testing.assert_array_equal(again.decision_function(X), stack.decision_function(X))
    assert again.report_ == stack.report_


@pytest.mark.parametrize(
    "model",
    [
        RegionReweighted(RandomForestClassifier(4), RANGE, cv=StratifiedKFold(3), random_state=0),
        RegionReweighted(HistGradientBoostingClassifier(max_iter=4), RANGE, random_state=0),
        FixedFPRClassifier(RandomForestClassifier(4, random_state=0), max_fpr=0.3),
        PartialAUCClassifier(RANGE, kernel="precomputed", n_components=20, random_state=0),
    ],
    ids=["forest", "boosting", "fixed", "precomputed"],
)
def test_models_of_trees_and_kernels_survive(model, tmp_path):
    X, y = numbers(150)
    X = X @ X.T if getattr(model, "kernel", None) == "precomputed" else X
    save_model(tmp_path / "m", model.fit(X, y))
    again = load_model(tmp_path / "m").model
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def forged_tree(part, place):
    """A forest with one child, or one column, that does not exist."""
    tree = part.estimators_[0].tree_
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    nodes[place][0] = {"left_child": 0, "right_child": 10**6, "feature": 99}[place]
    tree.__setstate__({**state, "nodes": nodes})


@pytest.mark.parametrize("place", ["left_child", "right_child", "feature"])
def test_forged_forests_are_refused(place, tmp_path):
    X, y = numbers(150)
    model = RegionReweighted(RandomForestClassifier(4), RANGE, random_state=0).fit(X, y)
    forged_tree(model.weighted_estimator_, place)
    save_model(tmp_path / "m", model)
    with pytest.raises(ValueError, match="is damaged"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("place", "value"), [("left", 0), ("right", 10**6), ("feature_idx", 99), ("bitset_idx", 50)]
)
def test_forged_boosting_is_refused(place, value, tmp_path):
    X, y = numbers(300)
    X[:, 0] = np.round(X[:, 0]) % 4
    y = np.isin(X[:, 0], [1, 3])
    booster = HistGradientBoostingClassifier(max_iter=3, categorical_features=[0])
    model = RegionReweighted(booster, RANGE, random_state=0).fit(X, y)
    nodes = model.estimator_._predictors[0][0].nodes
    assert nodes["is_categorical"][0]
    nodes[place][0] = value
    save_model(tmp_path / "m", model)
    with pytest.raises(ValueError, match="is damaged"):
        load_model(tmp_path / "m")


def test_functions_and_caches_are_not_saved(tmp_path):
    X, y = numbers(150)
    model = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(X, y)
    model[0].func = functools.partial(os.system, "true")
    with pytest.raises(ValueError, match=r"posix\.system|os\.system"):
        save_model(tmp_path / "m", model)
    memory = joblib.Memory(tmp_path / "cache", verbose=0)
    stack = RegionStack(RANGE, estimators=["linear"], memory=memory, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="memory=None"):
        save_model(tmp_path / "m", stack)
    save_model(tmp_path / "m", stack.set_params(memory=None))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "m"]
