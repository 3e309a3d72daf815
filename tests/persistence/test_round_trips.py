"""Every exported estimator and measure is saved and loaded without asking for trust."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba.persistence import load_model, save_model
from aucuba.structured import Measure, StructuredRanker
from tests.estimators import ESTIMATORS, outputs

MEASURES = {
    "AUC": {},
    "AUCAtK": {"k": 3},
    "BinnedAUC": {"sizes": [2, 4]},
    "UnnestedAUC": {"sizes": 2},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name, tmp_path):
    case = ESTIMATORS[name]
    X, y = case.data()
    model = case.make().fit(X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m").model
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(outputs(again, X), outputs(model, X))


@pytest.mark.parametrize("measure", Measure.__subclasses__())
def test_measures(measure, tmp_path):
    given = measure(**MEASURES[measure.__name__])
    save_model(StructuredRanker(given), tmp_path / "m")
    assert load_model(tmp_path / "m").model.measure == given


@pytest.mark.parametrize("path", ["m.aucuba", Path("m.aucuba")], ids=["text", "path"])
def test_swapped_arguments_get_a_sentence(path):
    model = LogisticRegression()
    match = rf"got a {type(path).__name__} as model and a LogisticRegression as path.*model first"
    with pytest.raises(TypeError, match=match):
        save_model(path, model)


@pytest.mark.parametrize("path", [None, 3], ids=str)
def test_a_path_that_is_none_gets_a_sentence(path):
    with pytest.raises(TypeError, match=rf"and a {type(path).__name__} as path"):
        save_model(LogisticRegression(), path)
