"""Rows in half precision: the fit of their double-precision copy, without that copy."""

import tracemalloc

import numpy as np
import pytest
from numpy.lib.format import open_memmap

from aucuba import (
    FixedFPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
)
from aucuba._columns import _row_digest
from aucuba.design import TableDesign

MODELS = [
    PartialAUCClassifier((0.0, 0.2)),
    PartialAUCClassifierCV((0.0, 0.2), Cs=2, random_state=0),
    PartialAUCClassifierCV((0.0, 0.2), Cs=2, max_features=3, random_state=0),
]


def data(n_rows=600, n_columns=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float16)
    y = X[:, :4].astype(float).sum(axis=1) + rng.normal(size=n_rows) > 2.0
    return X, y


def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


@pytest.mark.parametrize("model", MODELS, ids=["fixed", "CV", "few columns"])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "file"])
def test_the_fit_is_that_of_doubles(model, kind, tmp_path):
    X, y = data()
    if kind == "bfloat16":
        X = X.astype(bfloat16())
    if kind == "file":
        stored = open_memmap(tmp_path / "X.npy", "w+", X.dtype, X.shape)
        stored[:] = X
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
    weight = np.arange(600) % 3
    coefs = []
    for table in (X, X.astype(np.float64)):
        model.fit(table, y, sample_weight=weight)
        coefs.append(model.coef_)
    np.testing.assert_allclose(coefs[0], coefs[1], rtol=1e-9, atol=1e-12)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, model.decision_function(X.astype(np.float64)), rtol=1e-12)


def peak_of(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_no_copy_of_the_table_is_made():
    X = np.random.default_rng(0).normal(size=(4000, 500)).astype(np.float16)
    y = X[:, 0] + X[:, 1] > 2.0
    model = PartialAUCClassifier((0.0, 0.2), max_iter=5)
    # The second derivative of 501 rows and columns, and vectors, but no copy of half of the rows.
    metric = 8 * 501**2
    assert peak_of(lambda: model.fit(X, y)) - 6 * metric < 0.6 * X.nbytes
    assert peak_of(lambda: model.decision_function(X)) < 0.4 * X.nbytes


def test_a_promise_does_not_widen_all_rows():
    X = np.random.default_rng(0).normal(size=(8000, 1000)).astype(np.float16)
    y = X[:, 0] + X[:, 1] > 2.0
    model = PartialAUCClassifier((0.0, 0.2), max_iter=1).fit(X[:500], y[:500])
    promised = FixedFPRClassifier(model, 0.1, cv="prefit")
    # A copy of the held-out rows, and copies in 24 and 4 bytes of a million entries.
    assert peak_of(lambda: promised.fit(X, y)) - X.nbytes < 32e6


@pytest.mark.parametrize("shape", [(300, 7), (300,)])
def test_facts_of_rows_do_not_depend_on_the_parts(shape, monkeypatch):
    X = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    y, found = np.arange(300) % 2, []
    for entries in (10**6, 50, 3):
        monkeypatch.setattr(_row_digest, "_ENTRIES_AT_ONCE", entries)
        found.append((_row_digest.row_digest(X, y), _row_digest.is_single(X)))
    assert found[0] == found[1] == found[2]
    assert found[0][1]
    assert not _row_digest.is_single(X.astype(float) / 3)


def test_folds_and_halves_are_not_copied(monkeypatch):
    X, y = data()
    parts, take = [], TableDesign.take

    def taken(design, rows):
        parts.append(take(design, rows))
        return parts[-1]

    monkeypatch.setattr(TableDesign, "take", taken)
    PartialAUCClassifierCV((0.0, 0.2), Cs=2, random_state=0).fit(X, y)
    assert len(parts) > 20
    assert all(part.X is parts[0].X for part in parts)
    assert parts[0].X.dtype == np.float16


def test_parts_are_the_same_rows_later():
    X, _ = data()
    rng = np.random.default_rng(1)
    first, second = rng.permutation(600)[:300], rng.permutation(300)[:70]
    lazy = TableDesign(X).take(first).take(second)
    plain = TableDesign(X.astype(np.float64)).take(first).take(second)
    w, g = rng.normal(size=12), rng.normal(size=70)
    assert lazy.n_rows == plain.n_rows == 70
    np.testing.assert_allclose(lazy.scores(w), plain.scores(w))
    np.testing.assert_allclose(lazy.adjoint([g, -g]), plain.adjoint([g, -g]))
    np.testing.assert_allclose(lazy.gram(np.abs(g)), plain.gram(np.abs(g)))
    np.testing.assert_array_equal(lazy.table, plain.table)
    np.testing.assert_array_equal(lazy.some_rows(9), plain.some_rows(9))
    np.testing.assert_array_equal(lazy.columns(np.array([3, 1])).X, plain.columns([3, 1]).X)


@pytest.mark.parametrize("kind", ["<f2", ">f2", "bfloat16"])
def test_all_numbers_of_16_bits_are_widened_exactly(kind):
    X = np.arange(2**16, dtype=np.uint16).view(bfloat16() if kind == "bfloat16" else kind)
    with np.errstate(invalid="ignore"):
        X = X[np.isfinite(X)].reshape(-1, 32)
    some = np.arange(0, len(X), 3)
    for design, expected in ((TableDesign(X), X), (TableDesign(X).take(some), X[some])):
        blocks = np.concatenate([block for _, block in design._blocks()])
        np.testing.assert_array_equal(blocks, expected.astype(np.float64))
        np.testing.assert_array_equal(np.signbit(blocks), np.signbit(expected))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_no_numbers(bad):
    X, y = data()
    model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    X[5, 3] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.fit(X, y)
    model = PartialAUCClassifier((0.0, 0.2)).fit(X[6:], y[6:])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.decision_function(X)


def test_other_models_compute_in_double_precision():
    X, y = data(150)
    fits = [PartialAUCSVC((0.0, 0.5), kernel="rbf").fit(t, y) for t in (X, X.astype(float))]
    np.testing.assert_array_equal(*(fit.decision_function(X) for fit in fits))
