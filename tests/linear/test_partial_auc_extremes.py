"""The linear classifier on weights and tables at the ends of what numbers can be."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucuba import PartialAUCClassifier
from tests.linear.data import SURROGATES, X, Y


def test_light_weights_are_named_where_they_make_the_rows_few():
    message = r"sample_weight counts as rows: .* adds up to 1\b"
    with pytest.warns(UserWarning, match=message):
        PartialAUCClassifier((0, 0.2)).fit(X, Y, sample_weight=np.full(600, 1 / 600))


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_weights_may_be_as_large_as_numbers_are(surrogate):
    C = 1e-3 if surrogate == "direct" else 1.0
    model = PartialAUCClassifier((0, 0.4), surrogate=surrogate, C=C)
    want = clone(model).fit(X, Y, sample_weight=np.full(600, 1e9))
    for each in (1e16, 1e20, 1e200, 1e300):
        heavy = clone(model).fit(X, Y, sample_weight=np.full(600, each))
        np.testing.assert_allclose(heavy.coef_, want.coef_, rtol=2e-3, atol=1e-3)
        assert heavy.objective_ == pytest.approx(want.objective_, rel=1e-4)


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_the_threshold_of_a_float32_table_is_that_of_predict(surrogate):
    table = (X + 1e4).astype(np.float32)
    model = PartialAUCClassifier((0, 0.2), surrogate=surrogate, C=10.0).fit(table, Y)
    exact = PartialAUCClassifier((0, 0.2), surrogate=surrogate, C=10.0).fit(table.astype(float), Y)
    rates = [np.mean(one.predict(table)[Y.min() == Y] == Y.max()) for one in (model, exact)]
    assert rates[0] == rates[1] <= 0.2


@pytest.mark.parametrize("surrogate", ["tight", "structural"])
@pytest.mark.parametrize("scale", [0.0, 1e-200])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_table_without_information_gives_next_to_zero(surrogate, scale, C):
    with pytest.warns(ConvergenceWarning, match="hardly ranks"):
        model = PartialAUCClassifier((0, 0.3), surrogate=surrogate, C=C).fit(scale * X, Y)
    assert np.abs(model.coef_).max() <= 10 * C * scale


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e30), (np.float64, 1e200)])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_values_whose_products_overflow_are_refused(dtype, scale, container):
    table = container((X * scale).astype(dtype))
    with pytest.raises(ValueError, match="products overflow in float"):
        PartialAUCClassifier((0, 0.3)).fit(table, Y)
