"""The small quadratic program of the bundle method, by an active set."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgesv

from aucuba._core._typing import FloatArray, IntArray

# Planes may be linearly dependent; this ridge, relative to the largest diagonal entry, keeps every
# linear system solvable. It moves the solution by rounding only, and any feasible point gives a
# valid lower bound.
_RIDGE = 1e-12
_FLAT = 1e-6
_OPTIMAL = 1e-10


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
    until an entry would turn negative and drop it, add the entry whose multiplier is most violated.
    Started near its solution, as in a bundle method where one plane was added, it needs a handful of
    steps, each a solve of the size of the support.

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
        A bound that is only reached when rounding errors make the method cycle.
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
    point = start.copy()
    largest = float(np.abs(linear).max())
    # Where all planes are flat the ridge must still be a number that can be divided by.
    least = max(_FLAT * largest / total, float(np.finfo(float).tiny) / _RIDGE)
    ridge = _RIDGE * max(float(gram.diagonal().max()), least)
    index = np.flatnonzero(point)
    for _ in range(max_steps):
        target = _solve_on(gram, ridge, linear, total, index)
        if target.min() <= 0:
            index = _step_to_boundary(point, index, target)
            if not index.size:
                # Everything was dropped by rounding: restart from the best single plane.
                best = np.argmax(total * linear - total**2 * gram.diagonal() / 2)
                index = np.array([best])
            continue
        point[index] = target
        slope = target @ gram[index] - linear
        level = float((slope[index] + ridge * target) @ target) / total
        slope[index] = level
        entering = int(slope.argmin())
        if level - slope[entering] <= max(_OPTIMAL * (abs(level) + largest), tol / total):
            break
        index = np.append(index, entering)
    return point * (total / point.sum())


def _solve_on(
    gram: FloatArray, ridge: float, linear: FloatArray, total: float, index: IntArray
) -> FloatArray:
    """Minimise on the support with the sum fixed and the signs free."""
    size = index.size
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = gram[index[:, np.newaxis], index]
    system.flat[:: size + 2] += ridge
    system[size, size] = 0.0
    right = np.append(linear[index], total)
    # The system is symmetric, so its transpose is the matrix as LAPACK stores it.
    solution: FloatArray = dgesv(system.T, right, overwrite_a=True, overwrite_b=True)[2]
    return solution[:size]


def _step_to_boundary(point: FloatArray, index: IntArray, target: FloatArray) -> IntArray:
    """Move towards the target until entries turn zero, and return the support without them."""
    current = point[index]
    blocked = np.flatnonzero(target <= 0)
    room = current[blocked] / (current[blocked] - target[blocked])
    step = float(room.min())
    moved = np.maximum(current + step * (target - current), 0.0)
    moved[blocked[room <= step]] = 0.0
    point[index] = moved
    kept = np.ones(index.size, dtype=bool)
    kept[blocked[room <= step]] = False
    return index[kept]
