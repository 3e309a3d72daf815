from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from aucuba.design import TableDesign
from aucuba.linear._convex_fit import ConvexFit
from aucuba.risks import PairwiseHinge, Region, Sample
from aucuba.solvers import BundleSolver, CuttingPlaneSolver


def problem(seed, n_rows=60, n_features=5, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    positive = rng.random(n_rows) < 0.3
    positive[:2] = [True, False]
    X[positive] += 0.7
    weight = rng.integers(1, 4, size=n_rows).astype(float) if weighted else None
    return X, Sample(positive, weight)


def solve(solver, design, sample):
    model, planes = solver.start_on_pairs(design, sample)
    assert model is not None
    return solver.solve(design, PairwiseHinge(sample), start=model, warm_start=planes)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([10.0, 100.0, 1e4]),
    tol=st.sampled_from([1e-2, 1e-5, 1e-8]),
    weighted=st.booleans(),
)
def test_one_iteration_certifies_the_optimum_of_cutting_planes(seed, C, tol, weighted):
    X, sample = problem(seed, weighted=weighted)
    design, risk = TableDesign(X), PairwiseHinge(sample)
    solution = solve(BundleSolver(C, tol, rtol=tol), design, sample)
    assert solution.n_iter == 1
    value = risk.value_and_gradient(X @ solution.coef)[0]
    objective = solution.coef @ solution.coef / 2 + C * value
    assert solution.objective == pytest.approx(objective, rel=1e-12)
    assert 0 <= solution.objective - solution.lower_bound <= tol * solution.objective
    other = CuttingPlaneSolver(C, tol, 100_000, tol).solve(design, risk)
    assert solution.lower_bound <= other.objective
    assert other.lower_bound <= solution.objective


def test_a_row_of_weight_k_counts_as_k_rows():
    X, sample = problem(3, weighted=True)
    count = sample.weight.astype(int)
    copies = Sample(np.repeat(sample.positive, count))
    solver = BundleSolver(10.0)
    weighted = solve(solver, TableDesign(X), sample)
    repeated = solve(solver, TableDesign(np.repeat(X, count, axis=0)), copies)
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-6)


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asfortranarray, np.float32])
def test_kinds_of_tables_agree(kind):
    X, sample = problem(4)
    X = X.astype(np.float32).astype(np.float64)
    solver = BundleSolver(10.0)
    want = solve(solver, TableDesign(X), sample).coef
    np.testing.assert_allclose(solve(solver, TableDesign(kind(X)), sample).coef, want, rtol=1e-6)


def test_columns_that_are_equal_or_constant_do_no_harm():
    X, sample = problem(5)
    X = np.hstack([X, X, np.ones((len(X), 1)), np.zeros((len(X), 1))])
    solution = solve(BundleSolver(100.0, 1e-6), TableDesign(X), sample)
    assert solution.gap <= 1e-6
    np.testing.assert_allclose(solution.coef[:5], solution.coef[5:10], atol=1e-9)
    np.testing.assert_allclose(solution.coef[10:], 0.0, atol=1e-9)


def test_classes_apart_end_with_a_small_norm_and_no_loss():
    X = np.array([[-1.0], [-2.0], [1.0], [3.0]])
    sample = Sample(np.array([False, False, True, True]))
    solution = solve(BundleSolver(1e6, 1e-8), TableDesign(X), sample)
    # The closest pair is 2 apart.
    assert solution.coef[0] == pytest.approx(0.5, rel=1e-3)
    assert solution.gap <= 1e-8


def test_scores_of_any_scale():
    X, sample = problem(6)
    for scale in (1e-6, 1e6):
        solver = BundleSolver(10.0 / scale**2, 1e-6)
        found = solve(solver, TableDesign(X * scale), sample)
        want = solve(BundleSolver(10.0, 1e-6), TableDesign(X), sample)
        np.testing.assert_allclose(found.coef * scale, want.coef, rtol=1e-2)


def test_no_start_where_another_method_is_quicker():
    X, sample = problem(7)
    many, many_rows = problem(8, n_rows=500)
    wide, wide_rows = problem(9, n_features=100)
    for table, rows, C in (
        (X, sample, 1e-3),
        (many, many_rows, 10.0),
        (wide, wide_rows, 10.0),
    ):
        start = BundleSolver(C).start_on_pairs(TableDesign(table), rows)
        assert start.model is None
        assert start.planes is None


@pytest.mark.parametrize(
    ("limits", "query", "solver", "starts"),
    [
        ((0.0, 1.0), None, "bundle", True),
        ((0.0, 1.0), None, "cutting_plane", False),
        ((0.0, 1.0), np.zeros(60, dtype=int), "bundle", False),
        ((0.0, 0.1), None, "bundle", False),
    ],
)
def test_fits_start_on_pairs_for_the_whole_curve_alone(limits, query, solver, starts):
    X, sample = problem(7)
    fit = ConvexFit("structural", solver, C=10.0, tol=1e-3, rtol=None, max_iter=100)
    region = Region.from_params(limits)
    start = fit.start(TableDesign(X), replace(sample, query=query), region)
    assert (start.model is not None) == (start.planes is not None) == starts
