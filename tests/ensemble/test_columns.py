"""Columns by kind: what each preparation keeps of them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from aucuba.ensemble._columns import Columns

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def frame(n_rows=120):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "curve": rng.uniform(-1, 1, n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "name": np.array(["a", "b", "c"])[rng.integers(3, size=n_rows)],
            "level": pd.Categorical(np.array(["low", "high"])[rng.integers(2, size=n_rows)]),
            "whole": pd.array(rng.integers(0, 50, n_rows), dtype="Int64"),
        }
    )


def test_kinds_of_columns():
    columns = Columns.of(frame())
    assert columns.categorical == [2, 3]
    assert columns.numeric == [0, 1, 4]
    assert columns.smooth == [0, 4]
    array = Columns.of(frame()[["curve", "flag"]].to_numpy(dtype=float))
    assert (array.categorical, array.numeric, array.smooth) == ([], [0, 1], [0])


@pytest.mark.parametrize("preparation", ["for_linear", "for_splines", "for_trees"])
@pytest.mark.parametrize("column", ["name", "level", "flag", "whole"])
def test_every_kind_of_column_reaches_the_model(preparation, column):
    X = frame()
    y = X[column] == {"name": "b", "level": "low", "flag": True}.get(column, 0)
    if column == "whole":
        y = X["whole"] > 25
    tree = preparation == "for_trees"
    model = DecisionTreeClassifier(random_state=0) if tree else LogisticRegression(C=100.0)
    model = getattr(Columns.of(X), preparation)(model).fit(X, y)
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.99


def test_splines_bend_and_straight_lines_do_not():
    X = frame()
    y = X["curve"].abs() > 0.5
    columns, quality = Columns.of(X), {}
    for name in ("for_linear", "for_splines"):
        model = getattr(columns, name)(LogisticRegression(C=100.0)).fit(X, y)
        quality[name] = roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert quality["for_splines"] > 0.99 > 0.85 > quality["for_linear"]
