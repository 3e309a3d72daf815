"""Importances of columns in a region: the plain difference, intervals, groups of columns, errors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from aucuba.ensemble import RegionReweighted, region_importances
from aucuba.metrics import partial_auc_score

RANGE = (0.0, 0.2)


def data(seed, n_rows=3000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    # The second column repeats the first but for a little noise; the last is noise alone.
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n_rows)
    y = (X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 3.0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def model():
    return LogisticRegression(C=0.01).fit(*data(0))


def test_it_is_the_loss_of_partial_auc(model):
    X, y = data(1)
    found = region_importances(model, X, y, fpr_range=RANGE, n_repeats=1, random_state=3)
    rng = np.random.RandomState(3)
    plain = partial_auc_score(y, model.decision_function(X), fpr_range=RANGE)
    by_name = {row["columns"]: row for row in found}
    for column in range(4):
        moved = X.copy()
        moved[:, column] = X[rng.permutation(3000), column]
        shuffled = partial_auc_score(y, model.decision_function(moved), fpr_range=RANGE)
        assert by_name[str(column)]["importance"] == pytest.approx(plain - shuffled)
    assert [row["importance"] for row in found] == sorted(
        (row["importance"] for row in found), reverse=True
    )


def test_intervals_hold_the_value_of_many_rows(model):
    truth = region_importances(model, *data(2, 100_000), fpr_range=RANGE, random_state=0)
    value = {row["columns"]: row["importance"] for row in truth}
    held = []
    for seed in range(60):
        for row in region_importances(model, *data(100 + seed), fpr_range=RANGE, random_state=seed):
            held.append(row["low"] <= value[row["columns"]] <= row["high"])
    assert np.mean(held) > 0.88


def test_columns_that_say_the_same_count_together(model):
    pd = pytest.importorskip("pandas")
    X, y = data(3)
    frame = pd.DataFrame(X, columns=["a", "twin", "b", "noise"], index=np.arange(3000) + 7)
    named = LogisticRegression(C=0.01).fit(frame, y)
    alone = region_importances(named, frame, y, fpr_range=RANGE, random_state=0)
    together = region_importances(
        named, frame, y, fpr_range=RANGE, columns={"both": ["a", "twin"]}, random_state=0
    )
    single = {row["columns"]: row for row in alone}
    assert (
        together[0]["importance"] > single["a"]["importance"] + single["twin"]["importance"] - 0.1
    )
    assert together[0]["low"] > max(single["a"]["importance"], single["twin"]["importance"])
    assert single["noise"]["low"] < 0 < single["noise"]["high"] + 1e-12
    as_array = region_importances(model, X, y, fpr_range=RANGE, random_state=0)
    assert {row["columns"] for row in as_array} == {"0", "1", "2", "3"}


def test_the_positive_class_of_the_model_and_weights_count():
    X, y = data(4, 600)
    labels = np.where(y == 1, "bad", "good")
    model = RegionReweighted(
        LogisticRegression(), fpr_range=RANGE, pos_label="bad", random_state=0
    ).fit(X, labels)
    weight = np.random.default_rng(0).integers(0, 3, size=600)
    rows = np.repeat(np.arange(600), weight)
    found = region_importances(model, X, labels, fpr_range=RANGE, sample_weight=weight)
    assert found[0]["importance"] > 0.05
    plain = region_importances(model, X[rows], labels[rows], fpr_range=RANGE)
    assert plain[0]["columns"] == found[0]["columns"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": sparse.csr_array(np.eye(4))}, "dense columns"),
        ({"X": np.zeros(4)}, "two dimensions"),
        ({"columns": {"g": [9]}}, "names 9, which is not a column"),
        ({"columns": {"g": "a"}}, "must be a list of columns"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"confidence": 95}, "confidence"),
    ],
)
def test_bad_input(model, change, words):
    X, y = data(5, 200)
    with pytest.raises(ValueError, match=words):
        region_importances(model, **{"X": X, "y": y, **change})
