import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize

from aucuba._roc._region import RankWeights
from aucuba.design import TableDesign
from aucuba.risks import Sample, StructuralHinge, TightHinge
from aucuba.solvers import BundleSolver, CuttingPlaneSolver, Status
from tests.oracles import structural_hinge_by_orderings


def small_problem(seed, n_rows=24, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    positive = X[:, 0] + rng.normal(size=n_rows) > 0.5
    positive[:2] = [True, False]
    return X, positive


def pairwise_svm(X, positive, C):
    """SVM-AUC written out: one slack a pair, solved by SLSQP in (w, slack)."""
    pairs = np.array(
        [
            X[i] - X[j]
            for i, j in itertools.product(np.flatnonzero(positive), np.flatnonzero(~positive))
        ]
    )
    d, k = X.shape[1], len(pairs)

    def objective(v):
        return v[:d] @ v[:d] / 2 + C * v[d:].mean()

    def gradient(v):
        return np.concatenate([v[:d], np.full(k, C / k)])

    slack = np.concatenate([pairs, np.eye(k)], axis=1)
    result = minimize(
        objective,
        np.concatenate([np.zeros(d), np.ones(k)]),
        jac=gradient,
        bounds=[(None, None)] * d + [(0, None)] * k,
        constraints={"type": "ineq", "fun": lambda v: slack @ v - 1, "jac": lambda v: slack},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-10},
    )
    return result.fun


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_full_auc_svm_equals_the_written_out_quadratic_program(C):
    X, positive = small_problem(0, n_rows=14)
    solution = BundleSolver(C=C, tol=1e-6).solve(TableDesign(X), StructuralHinge(Sample(positive)))
    assert solution.gap <= 1e-6
    assert solution.objective == pytest.approx(pairwise_svm(X, positive, C), abs=1e-4)


def test_gap_of_a_thousandth_is_reached_and_certified():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 20))
    positive = X[:, 0] + X[:, 1] + rng.normal(size=2000) > 2
    solution = BundleSolver(C=100.0, tol=1e-3).solve(
        TableDesign(X), StructuralHinge(Sample(positive))
    )
    assert solution.status is Status.CONVERGED
    assert solution.gap <= 1e-3
    tight = BundleSolver(C=100.0, tol=1e-6).solve(TableDesign(X), StructuralHinge(Sample(positive)))
    assert solution.lower_bound <= tight.objective <= solution.objective + 1e-9


@pytest.mark.parametrize("fpr_range", [(0, 1), (0, 0.4), (0.2, 0.7), (0.3, 0.35), (0.25, 0.5)])
def test_structural_oracle_equals_all_orderings(fpr_range):
    rng = np.random.default_rng(2)
    for _ in range(12):
        n_rows = int(rng.integers(3, 8))
        positive = np.arange(n_rows) < rng.integers(1, n_rows)
        scores = (
            rng.integers(5, size=n_rows) / 2.0 if rng.random() < 0.5 else rng.normal(size=n_rows)
        )
        risk = StructuralHinge(Sample(positive), RankWeights.from_range(fpr_range))
        want = structural_hinge_by_orderings(positive, scores, fpr_range)
        assert risk.value_and_gradient(scores)[0] == pytest.approx(want)


def test_history_and_bounds_are_monotone():
    X, positive = small_problem(3, n_rows=200)
    solution = BundleSolver(C=50.0, tol=1e-5).solve(
        TableDesign(X), StructuralHinge(Sample(positive), RankWeights.from_range((0.0, 0.5)))
    )
    rows = solution.history
    assert solution.n_iter == len(rows) > 2
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    assert np.all(np.diff([row["objective"] for row in rows]) <= 1e-12)
    assert np.all(np.diff([row["lower_bound"] for row in rows]) >= -1e-12)
    assert rows[-1]["gap"] == pytest.approx(solution.gap)


def test_planes_of_one_C_serve_another():
    X, positive = small_problem(4, n_rows=300, n_features=8)
    design, risk = (
        TableDesign(X),
        StructuralHinge(Sample(positive), RankWeights.from_range((0, 0.2))),
    )
    first = BundleSolver(C=10.0, tol=1e-4).solve(design, risk)
    cold = BundleSolver(C=12.0, tol=1e-4).solve(design, risk)
    warm = BundleSolver(C=12.0, tol=1e-4).solve(design, risk, warm_start=first.warm_start)
    assert warm.objective == pytest.approx(cold.objective, abs=2e-4 * 12)
    assert warm.n_iter < cold.n_iter


def collapsed_data():
    """Positives in the middle of the negatives: the top negatives surround every direction."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    positive = np.zeros(400, bool)
    positive[:30] = True
    X[positive] *= 0.05
    return X, positive


@pytest.mark.parametrize("make", [BundleSolver, CuttingPlaneSolver])
def test_zero_is_certified_as_good_and_the_minimiser_of_the_planes_returned(make):
    X, positive = collapsed_data()
    risk = StructuralHinge(Sample(positive), RankWeights.from_range((0, 0.1)))
    for C in (1.0, 1e4):
        solution = make(C=C).solve(TableDesign(X), risk)
        assert solution.status is Status.ZERO_AS_GOOD
        assert solution.lower_bound / C >= 1 - 1e-3
        assert 0 <= solution.gap <= 1e-3
        # The model is a combination of the planes that gave the bound, not a point of a line search.
        planes = solution.warm_start
        minimum = planes.minimum(TableDesign(X), planes.dual)
        np.testing.assert_array_equal(solution.coef, minimum.model)
        np.testing.assert_allclose(minimum.lower_bound, solution.lower_bound, rtol=1e-9)
    # An independent test: the positives' mean is a mixture of negatives with
    # weights of at most 1/(n beta) each.
    negatives = X[~positive]
    limit = 1 / (0.1 * len(negatives))
    feasible = linprog(
        np.zeros(len(negatives)),
        A_eq=np.vstack([negatives.T, np.ones(len(negatives))]),
        b_eq=np.append(X[positive].mean(axis=0), 1.0),
        bounds=[(0, limit)] * len(negatives),
    )
    assert feasible.status == 0


@pytest.mark.parametrize("make", [BundleSolver, CuttingPlaneSolver])
def test_a_table_of_zeros_gives_exactly_zero(make):
    solution = make(C=10.0).solve(
        TableDesign(np.zeros((20, 2))), StructuralHinge(Sample(np.arange(20) < 5))
    )
    assert solution.status is Status.ZERO_AS_GOOD
    np.testing.assert_array_equal(solution.coef, 0.0)
    assert solution.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("make", [BundleSolver, CuttingPlaneSolver])
def test_a_gain_below_the_tolerance_is_found_at_a_finer_one(make):
    X, positive = collapsed_data()
    X[positive, 0] += 1.7
    risk = StructuralHinge(Sample(positive), RankWeights.from_range((0, 0.1)))
    # The optimum is 95.2: zero is within a tolerance of 0.15, which counts in units of C = 100.
    coarse = make(C=100.0, tol=0.15, rtol=None).solve(TableDesign(X), risk)
    assert coarse.status is Status.ZERO_AS_GOOD
    assert 0 < coarse.gap <= 0.15
    assert [row["iteration"] for row in coarse.history] == list(range(1, coarse.n_iter + 1))
    for key in ("n_evaluations", "seconds"):
        assert np.all(np.diff([row[key] for row in coarse.history]) >= 0)
    fine = make(C=100.0, tol=0.15, rtol=1e-3).solve(TableDesign(X), risk)
    assert fine.status is Status.CONVERGED
    assert fine.objective == pytest.approx(95.2, abs=0.1)
    assert fine.coef[0] > 1


def test_the_relative_gap_must_be_reached_too():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    positive = X[:, 0] > 0.5
    design, risk = TableDesign(X), StructuralHinge(Sample(positive))
    loose = BundleSolver(tol=0.1, rtol=None).solve(design, risk)
    assert loose.objective - loose.lower_bound > 1e-4 * loose.objective
    close = BundleSolver(tol=0.1, rtol=1e-4).solve(design, risk)
    assert close.objective - close.lower_bound <= 1e-4 * close.objective


@pytest.mark.parametrize("seed", [1321, *range(40)])
def test_the_certificate_is_that_of_the_model_returned(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.choice([12, 30, 100, 400])), int(rng.choice([1, 2, 5]))
    shift = rng.choice([0, 0.1, 0.3])
    X = rng.normal(size=(n_rows, n_features))
    positive = rng.random(n_rows) < 0.4
    positive[:2] = [False, True]
    X[positive] += shift
    risk = TightHinge(Sample(positive), RankWeights.from_range((0.1, 0.4)))
    solution = BundleSolver(C=0.01, tol=1e-6).solve(TableDesign(X), risk)
    w = solution.coef
    assert w @ w / 2 + 0.01 * risk.value_and_gradient(X @ w)[0] == pytest.approx(
        solution.objective, rel=1e-13
    )
    exact = CuttingPlaneSolver(C=0.01, tol=1e-8, max_iter=5000).solve(TableDesign(X), risk)
    assert solution.objective >= exact.lower_bound - 1e-12
    assert solution.objective <= exact.objective + 1e-6 * 0.01
    assert 0 <= solution.gap <= 1e-6


def test_a_small_C_is_no_collapse():
    X, positive = small_problem(6, n_rows=200)
    solution = BundleSolver(C=1e-6).solve(TableDesign(X), StructuralHinge(Sample(positive)))
    assert solution.status is Status.CONVERGED
    assert solution.coef[0] > 0


def test_limits_callbacks_and_interrupts_keep_the_best_model():
    X, positive = small_problem(7, n_rows=300, n_features=10)
    design, risk = (
        TableDesign(X),
        StructuralHinge(Sample(positive), RankWeights.from_range((0, 0.1))),
    )
    solver = BundleSolver(C=100.0, tol=1e-9, max_iter=3)
    limited = solver.solve(design, risk)
    assert (limited.status, limited.n_iter) == (Status.ITERATION_LIMIT, 3)

    stopped = solver.solve(design, risk, monitor=lambda row: row["iteration"] == 2)
    assert (stopped.status, stopped.n_iter) == (Status.STOPPED_BY_CALLBACK, 2)

    whole = StructuralHinge(Sample(positive))
    finished = BundleSolver(C=100.0, tol=0.1, rtol=None).solve(
        design, whole, monitor=lambda row: row["gap"] <= 0.1
    )
    assert finished.status is Status.CONVERGED

    def interrupt(row):
        if row["iteration"] == 2:
            raise KeyboardInterrupt

    interrupted = solver.solve(design, risk, monitor=interrupt)
    assert interrupted.status is Status.INTERRUPTED
    np.testing.assert_array_equal(interrupted.coef, stopped.coef)
    assert "best model so far" in str(interrupted.status)


def test_a_risk_that_is_not_convex_is_refused():
    class Bounded:
        is_convex = False
        lower_bound = 0.0

        def value_and_gradient(self, scores):
            return 0.0, np.zeros_like(scores)

    with pytest.raises(ValueError, match="needs a convex risk; Bounded is not"):
        BundleSolver().solve(TableDesign(np.eye(3)), Bounded())


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_objective_of_a_float32_table_is_exact(is_sparse, monkeypatch):
    monkeypatch.setattr("aucuba.design._table._ENTRIES_AT_ONCE", 64)
    X, positive = small_problem(3, n_rows=200)
    X = (X + 1e3).astype(np.float32)
    table = sparse.csr_array(X) if is_sparse else X
    risk = StructuralHinge(Sample(positive))
    solution = BundleSolver(C=10.0).solve(TableDesign(table), risk)
    w = solution.coef
    assert w.any()
    exact = w @ w / 2 + 10.0 * risk.value_and_gradient(X.astype(float) @ w)[0]
    assert solution.objective == pytest.approx(exact, rel=1e-12)
