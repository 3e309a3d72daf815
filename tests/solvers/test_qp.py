import numpy as np
import pytest
from scipy.optimize import minimize

from aucuba.solvers._qp import solve_simplex_qp


def objective(gram, linear, point):
    return point @ gram @ point / 2 - linear @ point


def random_problem(rng, rank=None):
    size = int(rng.integers(1, 25))
    factor = rng.normal(size=(size, rank or size))
    return factor @ factor.T, rng.normal(size=size), float(rng.choice([0.01, 1.0, 100.0]))


@pytest.mark.parametrize("rank", [None, 1, 3])
def test_optimality_conditions(rank):
    rng = np.random.default_rng(0)
    for _ in range(200):
        gram, linear, total = random_problem(rng, rank)
        start = np.zeros(linear.size)
        start[0] = total
        point = solve_simplex_qp(gram, linear, total, start)
        assert point.min() >= 0
        assert point.sum() == pytest.approx(total)
        # Frank-Wolfe gap: how much any vertex of the simplex promises to gain.
        slope = gram @ point - linear
        gap = slope @ point - total * slope.min()
        assert gap <= 1e-7 * (1 + abs(objective(gram, linear, point)))


def test_agrees_with_a_general_solver():
    rng = np.random.default_rng(1)
    for _ in range(20):
        gram, linear, total = random_problem(rng)
        start = np.full(linear.size, total / linear.size)
        point = solve_simplex_qp(gram, linear, total, start)
        other = minimize(
            lambda a, g=gram, b=linear, t=total: objective(g, b, a) / t,
            start,
            jac=lambda a, g=gram, b=linear, t=total: (g @ a - b) / t,
            bounds=[(0, None)] * linear.size,
            constraints={"type": "eq", "fun": lambda a, t=total: a.sum() / t - 1},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        feasible = np.maximum(other.x, 0) * (total / np.maximum(other.x, 0).sum())
        assert objective(gram, linear, point) <= objective(gram, linear, feasible) + 1e-9 * total


def test_duplicated_and_zero_planes():
    gram = np.zeros((3, 3))
    gram[1:, 1:] = 2.0
    point = solve_simplex_qp(gram, np.array([0.0, 1.0, 1.0]), 10.0, np.array([10.0, 0, 0]))
    assert point[1:].sum() == pytest.approx(0.5)
