"""Rankings for pairs that attract and pairs that repel."""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_edges, check_signed_couplings
from aucuba.structured._masses import ranking_mass
from aucuba.structured._measures import Measure, as_measure
from aucuba.structured._total_variation import tv_scores

# Each step raises the score of a ranking, of which there are finitely many; 2 to 4 are usual.
_MAX_STEPS = 50


def mixed_sign_scores(
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    measure: str | Measure = "auc",
    backend: str = "scipy",
) -> FloatArray:
    r"""Score items for a good ranking when couplings have both signs, by repeated linearisation.

    A repelling pair costs :math:`\lvert c_{ij} \rvert \min(m_i, m_j)`. At the current ranking it is
    replaced by a cost of the lower-ranked item alone (halves when tied), an upper bound that is
    exact there; what is left is attractive and solved exactly, and the score never falls. The best
    of four starts is returned: unary scores, attractive pairs only, and repulsion split between
    the ends or doubled.

    Parameters
    ----------
    unary, edges, coupling, backend
        As in `tv_scores`; couplings may be negative.
    measure : {"auc", "unnested"} or Measure, default="auc"
        Weights of the positions.

    Returns
    -------
    array of shape (n_nodes,)
        With non-negative couplings exactly ``tv_scores(unary, edges, coupling)``. Otherwise a local
        optimum; `ranking_lp` bounds how much better another ranking could be.

    Examples
    --------
    >>> from aucuba.structured import mixed_sign_scores
    >>> mixed_sign_scores([1.0, 0.9, 0.0], [[0, 1]], [-2.0])
    array([ 1. , -1.1,  0. ])
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    couplings = check_signed_couplings(coupling, pairs)
    attract, repel = couplings > 0, couplings < 0
    if not repel.any():
        return tv_scores(scores, pairs, couplings, backend=backend)
    weight = as_measure(measure).rows(scores.size).position_weight()
    ends, cost = pairs[repel], couplings[repel]

    def solve(linear: FloatArray) -> FloatArray:
        return tv_scores(linear, pairs[attract], couplings[attract], backend=backend)

    def masses(score: FloatArray) -> FloatArray:
        return ranking_mass(score, np.zeros(score.size, dtype=np.intp), weight)

    def value(mass: FloatArray) -> float:
        return float(mass @ scores + couplings @ mass[pairs].min(axis=1))

    halves = np.bincount(ends.ravel(), np.repeat(cost / 2, 2), minlength=scores.size)
    starts = [scores, solve(scores), solve(scores + halves), solve(scores + 2 * halves)]
    best_value, best = -np.inf, scores
    for start in starts:
        score, current = start, value(masses(start))
        for _ in range(_MAX_STEPS):
            trial = solve(scores + _lower_end(masses(score), ends, cost))
            gained = value(masses(trial))
            if gained <= current + 1e-12 * max(1.0, abs(current)):
                break
            score, current = trial, gained
        if current > best_value:
            best_value, best = current, score
    return best


def _lower_end(mass: FloatArray, ends: IntArray, cost: FloatArray) -> FloatArray:
    """Put the cost of each pair on its lower-ranked item."""
    first, second = mass[ends[:, 0]], mass[ends[:, 1]]
    part = np.where(first < second, 1.0, np.where(first > second, 0.0, 0.5))
    onto: FloatArray = np.bincount(ends[:, 0], part * cost, minlength=mass.size).astype(np.float64)
    onto += np.bincount(ends[:, 1], (1 - part) * cost, minlength=mass.size)
    return onto
