"""Fits of parts of a wide table are in single precision, those of all rows in double."""

from unittest import mock

import numpy as np
import pytest
from scipy import sparse

from aucuba import PartialAUCClassifierCV
from aucuba.design import TableDesign
from aucuba.linear._logistic_fit import LogisticPath
from aucuba.risks import Sample


def table(n_rows=400, n_columns=210, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) + 3.0
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 1, rng


def test_products_are_those_of_the_table_to_six_digits():
    X, _, rng = table()
    rough, rows = TableDesign(X).in_single_precision(), rng.permutation(400)[:100]
    assert rough.X.dtype == np.float32
    assert not rough.is_exact
    model, gradients = rng.normal(size=210), rng.normal(size=(3, 100))
    part, exact = rough.take(rows), TableDesign(X[rows])
    assert part.X.dtype == np.float32
    size = np.abs(exact.X) @ np.abs(model)
    for found, want, scale in (
        (part.scores(model), exact.scores(model), size),
        (part.adjoint(gradients), exact.adjoint(gradients), 1000.0),
    ):
        assert found.dtype == np.float64
        assert np.all(np.abs(found - want) < 1e-6 * scale)
        assert np.any(found != want)


def test_a_table_of_single_precision_is_not_copied():
    X = table()[0].astype(np.float32)
    assert TableDesign(X).in_single_precision().X is X


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        lambda X: X.astype(np.float16),
        lambda X: X * 1e16,
        lambda X: X * 1e-17,
        lambda X: np.column_stack([X, X[:, 0] + 1000.0]),
    ],
    ids=["sparse", "half", "large", "small", "far from zero"],
)
def test_tables_that_would_lose_stay_as_they_are(convert):
    design = TableDesign(convert(table()[0]))
    assert design.in_single_precision() is design


def test_only_parts_of_a_wide_table_are_fitted_in_single_precision():
    X, y, _ = table()
    seen = []
    products = TableDesign.scores

    def scores(design, model):
        seen.append((design.X.dtype, len(design.X)))
        return products(design, model)

    fits = []
    for width in (200, 210):
        with mock.patch.object(TableDesign, "scores", scores):
            fits.append(PartialAUCClassifierCV((0, 0.3), random_state=0).fit(X[:, :width], y))
    with mock.patch.object(TableDesign, "in_single_precision", lambda design: design):
        in_double = PartialAUCClassifierCV((0, 0.3), random_state=0).fit(X, y)
    narrow = [one for one in seen if one[1] != 400]
    # Products of parts are those of 200 columns alone; what is left is in double precision.
    assert narrow
    assert all(dtype == np.float64 for dtype, _ in seen)
    wide = fits[1]
    assert wide.C_ == in_double.C_
    np.testing.assert_array_equal(wide.logistic_coef_, in_double.logistic_coef_)
    losses = wide.cv_results_["log_loss"], in_double.cv_results_["log_loss"]
    # Weak penalties of nearly separable rows end where single precision sees no decrease.
    np.testing.assert_allclose(losses[0][:4], losses[1][:4], rtol=1e-4)
    np.testing.assert_allclose(*losses, rtol=1e-2)
    assert np.any(losses[0] != losses[1])


def test_weights_and_copies_of_rows_agree():
    X, y, rng = table(300)
    weight = rng.integers(1, 3, size=300)
    rough = TableDesign(X).in_single_precision()
    copies = TableDesign(np.repeat(X, weight, axis=0)).in_single_precision()
    weighted = LogisticPath(rough, Sample(y, weight.astype(float))).fit(0.1)
    copied = LogisticPath(copies, Sample(np.repeat(y, weight))).fit(0.1)
    scores = [X @ one.coef for one in (weighted, copied)]
    assert np.std(scores[0] - scores[1]) < 2e-3 * np.std(scores[0])
