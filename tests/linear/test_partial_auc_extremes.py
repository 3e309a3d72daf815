"""The linear classifier on weights and tables at the ends of what numbers can be."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucuba import PartialAUCClassifier
from tests.linear.data import LOSSES, X, Y, make_model


def test_light_weights_are_named_where_they_make_the_rows_few():
    message = r"sample_weight counts as rows: .* adds up to 1\b"
    with pytest.warns(UserWarning, match=message):
        PartialAUCClassifier((0, 0.2)).fit(X, Y, sample_weight=np.full(600, 1 / 600))


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_may_be_as_large_as_numbers_are(loss):
    C = 1e-3 if loss == "ramp" else 1.0
    model = make_model(loss, (0, 0.4), C=C)
    want = clone(model).fit(X, Y, sample_weight=np.full(600, 1e9))
    for each in (1e16, 1e20, 1e200, 1e300):
        heavy = clone(model).fit(X, Y, sample_weight=np.full(600, each))
        np.testing.assert_allclose(heavy.coef_, want.coef_, rtol=2e-3, atol=1e-3)
        assert heavy.objective_ == pytest.approx(want.objective_, rel=1e-4)


@pytest.mark.parametrize("loss", ["tight", "ramp"])
def test_the_threshold_of_a_float32_table_is_that_of_predict(loss):
    table = (X + 1e4).astype(np.float32)
    model = make_model(loss, (0, 0.2), C=10.0).fit(table, Y)
    exact = make_model(loss, (0, 0.2), C=10.0).fit(table.astype(float), Y)
    rates = [np.mean(one.predict(table)[Y.min() == Y] == Y.max()) for one in (model, exact)]
    assert rates[0] == rates[1] <= 0.2


@pytest.mark.parametrize("loss", ["tight", "structural"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_table_without_information_gives_zero(loss, C):
    with pytest.warns(ConvergenceWarning, match="hardly ranks"):
        model = make_model(loss, (0, 0.3), C=C).fit(0.0 * X, Y)
    assert not model.coef_.any()


def test_values_whose_products_underflow_are_refused():
    with pytest.raises(ValueError, match="products underflow in float64"):
        make_model("structural", (0, 0.3)).fit(1e-200 * X, Y)


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e30), (np.float64, 1e200)])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_values_whose_products_overflow_are_refused(dtype, scale, container):
    table = container((X * scale).astype(dtype))
    with pytest.raises(ValueError, match="products overflow in float"):
        PartialAUCClassifier((0, 0.3)).fit(table, Y)
