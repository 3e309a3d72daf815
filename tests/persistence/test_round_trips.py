"""Every exported estimator and measure is saved and loaded without asking for trust."""

import numpy as np
import pytest

from aucuba.persistence import load_model, save_model
from aucuba.structured import Measure, StructuredRanker
from tests.estimators import ESTIMATORS, outputs

pytest.importorskip("skops")
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
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m").model
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(outputs(again, X), outputs(model, X))


@pytest.mark.parametrize("measure", Measure.__subclasses__())
def test_measures(measure, tmp_path):
    given = measure(**MEASURES[measure.__name__])
    save_model(tmp_path / "m", StructuredRanker(given))
    assert load_model(tmp_path / "m").model.measure == given
