"""The small quadratic program of the bundle method, by an active set."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgesv

from aucuba._base._typing import FloatArray, IntArray

# Planes may be linearly dependent. This ridge, relative to the largest diagonal entry, keeps every
# linear system solvable; it moves the solution by no more than rounding, and any feasible point gives
# a valid lower bound.
_RIDGE = 1e-12
_FLAT = 1e-6
_OPTIMAL = 1e-10
_TINY = float(np.finfo(np.float64).tiny)
# Entries whose multipliers are violated by this fraction of the worst violation join the support.
_TOGETHER = 0.5


def solve_simplex_qp(
    gram: FloatArray,
    linear: FloatArray,
    total: float,
    start: FloatArray,
    max_steps: int = 1000,
    tol: float = 0.0,
) -> FloatArray:
    r"""Minimise ``1/2 a' G a - b' a`` over ``a >= 0, sum(a) = total``.

    A primal active-set method: solve on the support with the constraint that the sum stays, step
    until an entry would turn negative and drop it, add the entries whose multipliers are violated
    most. Started near its solution, as in a bundle method where one plane was added, it needs a
    handful of steps, each a solve of the size of the support.

    Parameters
    ----------
    gram : ndarray of shape (k, k)
        Positive semidefinite.
    linear : ndarray of shape (k,)
        ``b``.
    total : float
        The sum of the entries.
    start : ndarray of shape (k,)
        A feasible point.
    max_steps : int, default=1000
        Limit that is reached only if rounding errors make the method cycle.
    tol : float, default=0.0
        Distance from the minimum at which to stop, beside rounding.

    Returns
    -------
    ndarray of shape (k,)
        The minimiser to within ``tol``; always feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.solvers import solve_simplex_qp
    >>> solve_simplex_qp(np.eye(2), np.array([1.0, 0.0]), 2.0, np.array([2.0, 0.0]))
    array([1.5, 0.5])
    """
    size = linear.size
    # argmax takes less time than max on a dozen numbers, and the method consists of many such calls.
    largest = max(float(linear[linear.argmax()]), -float(linear[linear.argmin()]))
    # Even if all planes are flat, the ridge must be a number that can be divided by.
    least = max(_FLAT * largest / total, _TINY / _RIDGE)
    diagonal = gram.diagonal()
    ridge = _RIDGE * max(float(diagonal[diagonal.argmax()]), least)
    # Row and column 0 carry the constraint, so that the multiplier is entry 0 of every solution.
    system = np.ones((size + 1, size + 1))
    system[1:, 1:] = gram
    system.ravel()[:: size + 2] += ridge
    system[0, 0] = 0.0
    right = np.concatenate(((total,), linear))
    support = start.nonzero()[0]
    value = start[support]
    active = np.concatenate(((0,), support + 1))
    for _ in range(max_steps):
        rows = system[active]
        # The system is symmetric, so its transpose is the matrix as LAPACK stores it.
        solution = dgesv(rows.take(active, 1).T, right[active], 1, 1)[2]
        target = solution[1:]
        if target[target.argmin()] <= 0:
            active, value = _step_to_boundary(active, value, target)
            if active.size == 1:
                # Everything was dropped by rounding: restart from the best single plane.
                best = int((total * linear - total**2 * diagonal / 2).argmax())
                active, value = np.array([0, best + 1]), np.array([total])
            continue
        value = target
        violation = solution @ rows
        violation -= right
        violation[active] = 0.0
        worst = float(violation[violation.argmin()])
        if -worst <= max(_OPTIMAL * (abs(float(solution[0])) + largest), tol / total):
            break
        entering = (violation <= _TOGETHER * worst).nonzero()[0]
        active = np.concatenate((active, entering))
        value = np.concatenate((value, np.zeros(entering.size)))
    point = np.zeros(size)
    point[active[1:] - 1] = value * (total / float(value.sum()))
    return point


def _step_to_boundary(
    active: IntArray, value: FloatArray, target: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Move towards the target until entries turn zero, and return the rest."""
    blocked = (target <= 0).nonzero()[0]
    current = value[blocked]
    room = current / (current - target[blocked] + _TINY)
    step = float(room[room.argmin()])
    value = np.maximum(value + step * (target - value), 0.0)
    kept = np.ones(active.size, dtype=bool)
    kept[blocked[room <= step] + 1] = False
    return active[kept], value[kept[1:]]
