"""The small quadratic program of the bundle method, by an active set."""

from __future__ import annotations

import numpy as np

from aucuba._core._typing import FloatArray

# Planes may be linearly dependent; this ridge, relative to the largest diagonal entry, keeps every
# linear system solvable. It moves the solution by rounding only, and any feasible point gives a
# valid lower bound.
_RIDGE = 1e-12
_FLAT = 1e-6


def solve_simplex_qp(
    gram: FloatArray, linear: FloatArray, total: float, start: FloatArray, max_steps: int = 1000
) -> FloatArray:
    r"""``min_a 1/2 a' G a - b' a`` over ``a >= 0, sum(a) = total``.

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

    Returns
    -------
    ndarray of shape (k,)
        The minimiser; always feasible.
    """
    point = start.copy()
    support = point > 0
    # Where all planes are flat the ridge must still be a number that can be divided by.
    least = max(_FLAT * float(np.abs(linear).max()) / total, float(np.finfo(float).tiny) / _RIDGE)
    scale = max(float(gram.diagonal().max(initial=0.0)), least)
    regular = gram + _RIDGE * scale * np.eye(linear.size)
    for _ in range(max_steps):
        index = np.flatnonzero(support)
        target = _solve_on(regular, linear, total, index)
        current = point[index]
        blocked = target <= 0
        if blocked.any():
            room = current[blocked] / (current[blocked] - target[blocked])
            step = float(room.min())
            current = np.maximum(current + step * (target - current), 0.0)
            drop = index[blocked][room <= step]
            point[index] = current
            point[drop] = 0.0
            support[drop] = False
            if support.any():
                continue
            # Everything was dropped by rounding: restart from the best single plane.
            support[int(np.argmax(total * linear - total**2 * gram.diagonal() / 2))] = True
            continue
        point[index] = target
        slope = regular @ point - linear
        level = float(slope[index] @ target) / total
        violation = np.where(support, 0.0, level - slope)
        entering = int(np.argmax(violation))
        if violation[entering] <= 1e-10 * (abs(level) + np.abs(linear).max()):
            break
        support[entering] = True
    return point * (total / point.sum())


def _solve_on(gram: FloatArray, linear: FloatArray, total: float, index: np.ndarray) -> FloatArray:
    """Minimiser on the support with the sum fixed and the signs free."""
    size = index.size
    system = np.empty((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(index, index)]
    system[size, :size] = system[:size, size] = 1.0
    system[size, size] = 0.0
    solution: FloatArray = np.linalg.solve(system, np.append(linear[index], total))[:size]
    return solution
