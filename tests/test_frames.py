"""Tables of several libraries give the same model, and the names of their columns."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba import (
    AUMClassifier,
    FixedFPRClassifier,
    PartialAUCClassifier,
    RegionReweighted,
    RegionStack,
)
from aucuba.metrics import partial_auc_score

pd = pytest.importorskip("pandas")

RANGE = (0.0, 0.3)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 0.8).astype(int)
NUMBERS = pd.DataFrame(X, columns=["a", "b", "c"])
MIXED = NUMBERS.assign(city=np.where(X[:, 1] > 0, "Rome", "Oslo"))
MODELS = {
    "linear": lambda: PartialAUCClassifier(RANGE),
    "aum": lambda: AUMClassifier(tol=0.1),
    "reweighted": lambda: RegionReweighted(LogisticRegression(), RANGE, cv=2, random_state=0),
    "stack": lambda: RegionStack(RANGE, estimators=["linear"], cv=2, random_state=0),
    "promised": lambda: FixedFPRClassifier(LogisticRegression(), 0.3, random_state=0),
}


class Stream:
    """A table that can do nothing but stream Arrow columns, and only once."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def pyarrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def stream(frame):
    return Stream(pyarrow(frame))


def narwhals(frame):
    return pytest.importorskip("narwhals").from_native(polars(frame))


@pytest.mark.parametrize("table", [polars, pyarrow, stream, narwhals])
@pytest.mark.parametrize("name", MODELS)
def test_same_scores_and_names(name, table):
    frame = MIXED if name == "stack" else NUMBERS
    expected = MODELS[name]().fit(frame, Y)
    model = MODELS[name]().fit(table(frame), Y)
    scores = model.decision_function(table(frame))
    np.testing.assert_allclose(scores, expected.decision_function(frame), atol=1e-12)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(model.predict(table(frame)), expected.predict(frame))


def test_levels_and_probabilities_of_streams():
    model = MODELS["promised"]().fit(NUMBERS, Y)
    levels = model.decision_levels(stream(NUMBERS))
    np.testing.assert_array_equal(levels, model.decision_levels(NUMBERS))
    found = model.predict_proba(stream(NUMBERS))
    np.testing.assert_allclose(found, model.predict_proba(NUMBERS), atol=1e-12)


def test_columns_of_labels_and_scores():
    expected = partial_auc_score(Y, X[:, 0], fpr_range=RANGE)
    columns = [pytest.importorskip("polars").Series, pytest.importorskip("pyarrow").array]
    for column in columns:
        assert partial_auc_score(column(Y), column(X[:, 0]), fpr_range=RANGE) == expected
