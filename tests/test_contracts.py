"""What every Design, Risk and Solver must keep, over the lists of `tests.contract_cases`."""

import numpy as np
import pytest

from aucuba.risks import Sample
from aucuba.solvers import Status
from tests.contract_cases import (
    CONVEX_SOLVERS,
    DESIGN_NAMES,
    RISK_NAMES,
    designs,
    random_labels,
    risks,
)

# Risks that refer to fixed scores, and so change when all scores are shifted or rows repeated.
DEPEND_ON_LEVEL = {"anchored"}
REFER_TO_ROWS = {name for name in RISK_NAMES if "queries" in name or "tilted" in name}


@pytest.mark.parametrize("name", DESIGN_NAMES)
def test_design_is_a_linear_map_with_its_adjoint(name):
    rng = np.random.default_rng(0)
    design = designs(rng)[name]
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
    stacked = design.inner(np.stack([a, b]), a)
    np.testing.assert_allclose(stacked, [design.inner(a, a), design.inner(b, a)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RISK_NAMES)
class TestRisk:
    def test_gradient_is_a_finite_difference_where_smooth(self, name, weighted):
        rng = np.random.default_rng(1)
        risk = risks(random_labels(rng, weighted=weighted))[name]
        for _ in range(5):
            scores, direction = rng.normal(size=(2, 30))
            value, gradient = risk.value_and_gradient(scores)
            step = 1e-7
            up = risk.value_and_gradient(scores + step * direction)[0]
            down = risk.value_and_gradient(scores - step * direction)[0]
            assert (up - down) / (2 * step) == pytest.approx(
                gradient @ direction, rel=1e-4, abs=1e-6
            )
            assert value >= risk.lower_bound

    def test_gradient_is_a_subgradient_with_ties(self, name, weighted):
        rng = np.random.default_rng(2)
        risk = risks(random_labels(rng, weighted=weighted))[name]
        if not risk.is_convex:
            pytest.skip("only for convex risks")
        for _ in range(50):
            scores = rng.integers(3, size=30) / 2.0
            value, gradient = risk.value_and_gradient(scores)
            other = scores + rng.normal(size=30) * rng.choice([0.01, 0.3, 3.0])
            assert risk.value_and_gradient(other)[0] >= value + gradient @ (other - scores) - 1e-10

    def test_shift_and_row_order_do_not_matter(self, name, weighted):
        rng = np.random.default_rng(3)
        labels = random_labels(rng, weighted=weighted)
        order = np.concatenate([2 * rng.permutation(15), 2 * rng.permutation(15) + 1])
        # Even rows stay even, so that the two queries keep their rows.
        order = np.stack([order[:15], order[15:]], axis=1).ravel()
        weight = None if labels.weight is None else labels.weight[order]
        scores = rng.integers(4, size=30) / 2.0
        value, gradient = risks(labels)[name].value_and_gradient(scores)
        shifted = (value, gradient)
        if name not in DEPEND_ON_LEVEL:
            shifted = risks(labels)[name].value_and_gradient(scores + 5.0)
        assert shifted[0] == pytest.approx(value)
        np.testing.assert_allclose(shifted[1], gradient, atol=1e-12)
        if "tilted" in name:
            return
        permuted = risks(Sample(labels.positive[order], weight))[name].value_and_gradient(
            scores[order]
        )
        assert permuted[0] == pytest.approx(value)
        np.testing.assert_allclose(permuted[1], gradient[order], atol=1e-12)

    def test_gradient_sums_to_zero(self, name, weighted):
        rng = np.random.default_rng(4)
        risk = risks(random_labels(rng, weighted=weighted))[name]
        if name in DEPEND_ON_LEVEL:
            pytest.skip("this risk is tied to given scores")
        assert risk.value_and_gradient(rng.normal(size=30))[1].sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in RISK_NAMES if name not in REFER_TO_ROWS])
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


@pytest.mark.parametrize("risk_name", RISK_NAMES)
@pytest.mark.parametrize("design_name", DESIGN_NAMES)
@pytest.mark.parametrize("solver", CONVEX_SOLVERS)
def test_convex_solver_certifies_its_solution(solver, design_name, risk_name):
    rng = np.random.default_rng(6)
    design, risk = designs(rng)[design_name], risks(random_labels(rng))[risk_name]
    if not risk.is_convex:
        pytest.skip("only for convex risks")
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
