"""The hull against a search over penalties and against the reference tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.changepoint import model_selection

tables = st.lists(st.tuples(st.integers(0, 8), st.integers(-6, 6)), min_size=1, max_size=9)


@settings(max_examples=300, deadline=None)
@given(tables, st.fractions(0, 15, max_denominator=7))
def test_selected_model_has_least_penalised_loss(models, penalty):
    size, loss = np.array(models).T
    path = model_selection(loss, size)
    best = min(cost + penalty * count for count, cost in models)
    row = int(path.select(float(penalty)))
    assert float(path.loss[row] + float(penalty) * path.size[row]) == pytest.approx(float(best))


@settings(max_examples=200, deadline=None)
@given(tables, st.randoms())
def test_shape_of_the_path(models, random):
    size, loss = np.array(models).T
    path = model_selection(loss, size)
    assert path.min_penalty[0] == 0
    assert path.max_penalty[-1] == np.inf
    assert np.all(path.min_penalty < path.max_penalty)
    np.testing.assert_array_equal(path.max_penalty[:-1], path.min_penalty[1:])
    assert np.all(np.diff(path.size) < 0)
    np.testing.assert_array_equal(loss[path.index], path.loss)
    random.shuffle(models)
    size, loss = np.array(models).T
    np.testing.assert_array_equal(model_selection(loss, size).max_penalty, path.max_penalty)


def test_collinear_models_drop_out():
    np.testing.assert_array_equal(model_selection([6, 4, 2, 0], [0, 1, 2, 3]).size, [3, 0])


def test_boundary_selects_the_smaller_model():
    path = model_selection([4.0, 1.0], [1, 2])
    np.testing.assert_array_equal(path.size[path.select([0, 2.9, 3.0, np.inf])], [2, 2, 1, 1])


def test_reference_tables(reference):
    import pandas as pd

    given_models = pd.read_csv(reference / "penaltylearning_reference/model_selection_input.csv")
    expected = pd.read_csv(reference / "penaltylearning_reference/model_selection_output.csv")
    assert given_models["case"].nunique() == 5
    for case, table in given_models.groupby("case"):
        path = model_selection(table["loss"], table["complexity"])
        rows = expected[expected["case"] == case]
        np.testing.assert_array_equal(path.size, rows["complexity"])
        np.testing.assert_allclose(path.min_penalty, rows["min.lambda"], rtol=1e-12)
        np.testing.assert_allclose(path.max_penalty, rows["max.lambda"], rtol=1e-12)
        np.testing.assert_allclose(path.min_log_penalty, rows["min.log.lambda"], atol=1e-12)


@pytest.mark.parametrize(
    ("losses", "sizes", "message"),
    [
        ([], [], "at least one model"),
        ([1.0, 2.0], [1], "same length"),
        ([1.0, np.nan], [1, 2], "got nan for size 2"),
        ([1.0], [np.inf], "finite numbers"),
    ],
)
def test_bad_models(losses, sizes, message):
    with pytest.raises(ValueError, match=message):
        model_selection(losses, sizes)


def test_bad_penalty():
    with pytest.raises(ValueError, match="non-negative"):
        model_selection([1.0], [1]).select(-1.0)
