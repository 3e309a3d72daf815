"""What every Design, Risk and Solver must keep, over the lists of `tests.contract_cases`."""

import numpy as np
import pytest

from aucuba.aum import AUMDescent, ErrorFunctions, LabelledData
from aucuba.risks import Sample
from aucuba.solvers import DCSolver, LBFGSSolver, Status
from tests.contract_cases import (
    CONVEX_RISKS,
    CONVEX_SOLVERS,
    DESIGN_NAMES,
    DIFFERENCES,
    LEVEL_RISKS,
    RISK_NAMES,
    ROW_RISKS,
    SMOOTH_RISKS,
    make_design,
    random_labels,
    risks,
)
from tests.optional import missing_packages


def all_but(names):
    return [name for name in RISK_NAMES if name not in names]


@pytest.fixture(scope="module", autouse=True)
def _in_this_thread():
    """Blocks of Dask are computed here, where tasks cost least."""
    if "dask" in missing_packages():
        yield
        return
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("name", DESIGN_NAMES)
def test_design_is_a_linear_map_with_its_adjoint(name):
    rng = np.random.default_rng(0)
    design = make_design(name, rng)
    rtol = 1e-12
    a, b = (rng.normal(size=design.zeros().size) for _ in range(2))
    g = rng.normal(size=design.n_rows)
    assert design.scores(a).dtype == np.float64
    np.testing.assert_array_equal(design.scores(design.zeros()), np.zeros(design.n_rows))
    combined = design.scores(2 * a - b)
    np.testing.assert_allclose(
        combined, 2 * design.scores(a) - design.scores(b), rtol=rtol, atol=10 * rtol
    )
    dual = design.inner(a, design.adjoint(g))
    np.testing.assert_allclose(design.scores(a) @ g, dual, rtol=rtol, atol=10 * rtol)
    many = design.adjoint([g, 2 * g])
    np.testing.assert_allclose(many, [design.adjoint(g), design.adjoint(2 * g)], atol=10 * rtol)
    assert np.abs(design.scores(a)).max() <= design.largest * np.abs(a).sum()
    if name != "kernel":
        both = design.scores(np.stack([a, b]))
        assert both.dtype == np.float64
        np.testing.assert_allclose(both, [design.scores(a), design.scores(b)], atol=10 * rtol)
    stacked = design.inner(np.stack([a, b]), a)
    np.testing.assert_allclose(stacked, [design.inner(a, a), design.inner(b, a)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RISK_NAMES)
def test_gradient_is_a_finite_difference_where_smooth(name, weighted):
    rng = np.random.default_rng(1)
    risk = risks(random_labels(rng, weighted=weighted))[name]
    for _ in range(5):
        scores, direction = rng.normal(size=(2, 30))
        value, gradient = risk.value_and_gradient(scores)
        step = 1e-7
        up = risk.value_and_gradient(scores + step * direction)[0]
        down = risk.value_and_gradient(scores - step * direction)[0]
        assert (up - down) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-6)
        assert value >= risk.lower_bound


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CONVEX_RISKS)
def test_gradient_is_a_subgradient_with_ties(name, weighted):
    rng = np.random.default_rng(2)
    risk = risks(random_labels(rng, weighted=weighted))[name]
    for _ in range(50):
        scores = rng.integers(3, size=30) / 2.0
        value, gradient = risk.value_and_gradient(scores)
        other = scores + rng.normal(size=30) * rng.choice([0.01, 0.3, 3.0])
        assert risk.value_and_gradient(other)[0] >= value + gradient @ (other - scores) - 1e-10


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RISK_NAMES)
def test_shift_and_row_order_do_not_matter(name, weighted):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, weighted=weighted)
    order = np.concatenate([2 * rng.permutation(15), 2 * rng.permutation(15) + 1])
    # Even rows stay even, so that the two queries keep their rows.
    order = np.stack([order[:15], order[15:]], axis=1).ravel()
    weight = None if labels.weight is None else labels.weight[order]
    scores = rng.integers(4, size=30) / 2.0
    value, gradient = risks(labels)[name].value_and_gradient(scores)
    shifted = (value, gradient)
    if name not in LEVEL_RISKS:
        shifted = risks(labels)[name].value_and_gradient(scores + 5.0)
    assert shifted[0] == pytest.approx(value)
    np.testing.assert_allclose(shifted[1], gradient, atol=1e-12)
    if "tilted" in name:
        return
    permuted = risks(Sample(labels.positive[order], weight))[name].value_and_gradient(scores[order])
    assert permuted[0] == pytest.approx(value)
    np.testing.assert_allclose(permuted[1], gradient[order], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", all_but(LEVEL_RISKS))
def test_gradient_sums_to_zero(name, weighted):
    rng = np.random.default_rng(4)
    risk = risks(random_labels(rng, weighted=weighted))[name]
    assert risk.value_and_gradient(rng.normal(size=30))[1].sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", all_but(ROW_RISKS))
def test_whole_weights_are_repeated_rows(name):
    rng = np.random.default_rng(5)
    for _ in range(20):
        positive = random_labels(rng).positive
        weight = rng.integers(1, 4, size=30)
        rows = np.repeat(np.arange(30), weight)
        scores = rng.integers(8, size=30) / 3.0
        value, gradient = risks(Sample(positive, weight.astype(float)))[name].value_and_gradient(
            scores
        )
        repeated = risks(Sample(positive[rows]))[name].value_and_gradient(scores[rows])
        assert value == pytest.approx(repeated[0], rel=1e-10)
        np.testing.assert_allclose(gradient, np.bincount(rows, repeated[1]), atol=1e-10)


@pytest.mark.parametrize("risk_name", CONVEX_RISKS)
@pytest.mark.parametrize("design_name", DESIGN_NAMES)
@pytest.mark.parametrize("solver", CONVEX_SOLVERS)
def test_convex_solver_certifies_its_solution(solver, design_name, risk_name):
    rng = np.random.default_rng(6)
    design, risk = make_design(design_name, rng), risks(random_labels(rng))[risk_name]
    solution = solver(C=3.0, tol=1e-3).solve(design, risk)
    assert solution.status in (Status.CONVERGED, Status.ZERO_AS_GOOD)
    assert solution.gap <= 1e-3
    value = risk.value_and_gradient(design.scores(solution.coef))[0]
    objective = design.inner(solution.coef, solution.coef) / 2 + 3.0 * value
    assert solution.objective == pytest.approx(objective, rel=1e-5)
    assert solution.lower_bound <= solution.objective
    for _ in range(50):
        other = solution.coef + rng.normal(size=solution.coef.size) * rng.choice([0.01, 0.3])
        value = risk.value_and_gradient(design.scores(other))[0]
        assert design.inner(other, other) / 2 + 3.0 * value >= solution.lower_bound - 1e-6


@pytest.mark.parametrize("risk_name", SMOOTH_RISKS)
@pytest.mark.parametrize("design_name", DESIGN_NAMES)
def test_descent_keeps_its_best_model(design_name, risk_name):
    rng = np.random.default_rng(8)
    design, risk = make_design(design_name, rng), risks(random_labels(rng))[risk_name]
    start = 0.1 * rng.normal(size=design.zeros().size)
    solution = LBFGSSolver(max_iter=20).solve(design, risk, start=start)
    assert solution.status in (Status.CONVERGED, Status.ITERATION_LIMIT)
    assert np.isnan(solution.gap)
    assert solution.objective == pytest.approx(
        risk.value_and_gradient(design.scores(solution.coef))[0]
    )
    assert solution.objective < risk.value_and_gradient(design.scores(start))[0]


@pytest.mark.parametrize("risk_name", DIFFERENCES)
@pytest.mark.parametrize("design_name", DESIGN_NAMES)
def test_difference_of_convex_risks_ends_at_a_stationary_point(design_name, risk_name):
    rng = np.random.default_rng(9)
    design, risk = make_design(design_name, rng), risks(random_labels(rng))[risk_name]

    def objective(model):
        value = risk.value_and_gradient(design.scores(model))[0]
        return design.inner(model, model) / 2 + 3.0 * value

    start = rng.normal(size=design.zeros().size)
    solution = DCSolver(C=3.0).solve(design, risk, start=start)
    assert solution.status is Status.CONVERGED
    assert np.isnan(solution.gap)
    assert solution.objective == pytest.approx(objective(solution.coef))
    assert solution.objective < objective(start)
    # Another round gains no more than the tolerance.
    again = DCSolver(C=3.0).solve(design, risk, start=solution.coef)
    assert solution.objective - again.objective <= 3.0 * 1e-3


@pytest.mark.parametrize("name", DESIGN_NAMES)
def test_descent_on_aum_keeps_the_iterate_of_best_auc(name):
    rng = np.random.default_rng(10)
    design, labels = make_design(name, rng), random_labels(rng)
    data = LabelledData(design, ErrorFunctions.from_sample(labels))
    start = data.upright(rng.normal(size=design.zeros().size))
    solution = AUMDescent(max_iter=10).solve(data, start)
    curves = data.curves(design.scores(solution.coef))
    assert solution.objective == pytest.approx(curves.aum)
    assert design.inner(solution.coef, solution.coef) == pytest.approx(1.0)
    assert solution.history[-1]["aum"] < solution.start["aum"]
    best = max(row["auc"] for row in [solution.start, *solution.history])
    assert curves.auc == pytest.approx(best)
    assert best > solution.start["auc"]
