"""Model files of ensembles survive whole."""

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

from aucuba import FixedFPRClassifier, PartialAUCSVC, RegionReweighted, RegionStack
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import mixed_frame, numbers

RANGE = (0.0, 0.2)


@pytest.mark.parametrize("table", [numbers, mixed_frame])
def test_the_default_stack_survives(table, tmp_path):
    if table is mixed_frame:
        pytest.importorskip("pandas")
    X, y = table(120)
    stack = RegionStack(RANGE, cv=2, random_state=0).fit(X, y)
    save_model(stack, tmp_path / "m")
    again = load_model(tmp_path / "m").model
    np.testing.assert_array_equal(again.decision_function(X), stack.decision_function(X))
    assert again.report_ == stack.report_


@pytest.mark.parametrize(
    "model",
    [
        RegionReweighted(RandomForestClassifier(4), RANGE, cv=StratifiedKFold(3), random_state=0),
        RegionReweighted(HistGradientBoostingClassifier(max_iter=4), RANGE, random_state=0),
        FixedFPRClassifier(RandomForestClassifier(4, random_state=0), max_fpr=0.3),
        PartialAUCSVC(RANGE, loss="tight", kernel="precomputed"),
    ],
    ids=["forest", "boosting", "fixed", "precomputed"],
)
def test_models_of_trees_and_kernels_survive(model, tmp_path):
    X, y = numbers(150)
    X = X @ X.T if getattr(model, "kernel", None) == "precomputed" else X
    save_model(model.fit(X, y), tmp_path / "m")
    again = load_model(tmp_path / "m").model
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_functions_and_caches_are_not_saved(tmp_path):
    X, y = numbers(150)
    model = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(X, y)
    model[0].func = functools.partial(os.system, "true")
    with pytest.raises(ValueError, match=r"posix\.system|os\.system"):
        save_model(model, tmp_path / "m")
    memory = joblib.Memory(tmp_path / "cache", verbose=0)
    stack = RegionStack(RANGE, estimators=["linear"], memory=memory, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="memory=None"):
        save_model(stack, tmp_path / "m")
    save_model(stack.set_params(memory=None), tmp_path / "m")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "m"]
