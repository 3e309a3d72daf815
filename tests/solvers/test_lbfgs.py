"""The descent of smooth functions of a model."""

import numpy as np
import pytest

from aucuba.solvers import Status, minimize_lbfgs


def parabola(centre):
    def objective(model):
        return float(np.sum((model - centre) ** 2)), 2 * (model - centre)

    return objective


def test_entries_that_must_not_be_negative_stop_at_zero():
    rng = np.random.default_rng(0)
    for _ in range(20):
        centre, signed = rng.normal(size=5), rng.random(5) < 0.5
        found = minimize_lbfgs(parabola(centre), np.zeros(5), nonnegative=signed)
        want = np.where(signed, np.maximum(centre, 0), centre)
        np.testing.assert_allclose(found.coef, want, atol=1e-5)
        assert found.status is Status.CONVERGED


def test_the_best_model_is_kept_when_the_descent_is_interrupted():
    centre, calls = np.ones(3), []

    def objective(model):
        calls.append(model.copy())
        if len(calls) == 3:
            raise KeyboardInterrupt
        return float(np.sum((model - centre) ** 4)), 4 * (model - centre) ** 3

    found = minimize_lbfgs(objective, np.zeros(3))
    assert found.status is Status.INTERRUPTED
    values = [np.sum((model - centre) ** 4) for model in calls[:2]]
    assert found.objective == pytest.approx(min(values))


def test_a_looser_objective_tolerance_ends_sooner():
    def valley(model):
        value = (1 - model[0]) ** 2 + 100 * (model[1] - model[0] ** 2) ** 2
        lift = model[1] - model[0] ** 2
        return value, np.array([-2 * (1 - model[0]) - 400 * model[0] * lift, 200 * lift])

    start = np.array([-1.2, 1.0])
    loose = minimize_lbfgs(valley, start, objective_tol=1e-1)
    assert loose.n_iter < minimize_lbfgs(valley, start).n_iter


def test_the_iterate_of_highest_merit_is_kept_and_followed():
    centre = np.array([3.0, -2.0])
    seen = minimize_lbfgs(parabola(centre), np.zeros(2), merit=lambda model: -abs(model[0] - 1.0))
    assert all("merit" in row for row in seen.history)
    assert -abs(seen.coef[0] - 1.0) >= max(row["merit"] for row in seen.history)
    assert seen.objective == pytest.approx(parabola(centre)(seen.coef)[0])
    # The start counts too, and the last of equals is taken.
    at_start = minimize_lbfgs(
        parabola(centre), np.zeros(2), merit=lambda model: -np.abs(model).sum()
    )
    np.testing.assert_array_equal(at_start.coef, 0.0)
    indifferent = minimize_lbfgs(parabola(centre), np.zeros(2), merit=lambda model: 0.0)
    np.testing.assert_allclose(indifferent.coef, centre, atol=1e-5)


def test_evaluations_are_limited_on_their_own():
    calls = []

    def kinked(model):
        calls.append(model)
        return float(np.abs(model - [1.0, 2.0]) @ [1.0, 30.0]), np.sign(model - [1.0, 2.0]) * [
            1,
            30,
        ]

    minimize_lbfgs(kinked, np.zeros(2), max_evaluations=4)
    few = len(calls)
    minimize_lbfgs(kinked, np.zeros(2))
    assert few < len(calls) - few
