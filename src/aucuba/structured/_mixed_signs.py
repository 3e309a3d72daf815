"""Rankings with repelling pairs: linear program (9) of Rosenfeld et al. (2014), and local search.

Only with attractive pairs are the best rows of all sizes always nested (`tv_scores`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, eye_array, kron

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_edges, check_signed_couplings
from aucuba.structured._measures import Measure, Rows, as_measure, ranking_mass
from aucuba.structured._total_variation import tv_scores

# Every step raises the score, and there are finitely many rankings; usually 2 to 4 steps suffice.
_MAX_STEPS = 50


@dataclass(frozen=True)
class RelaxedRows:
    """A fractional ranking matrix: ``rows[k, i]`` is the fraction of item i in row k."""

    rows: FloatArray
    pair_rows: FloatArray
    value: float


def ranking_lp(
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    measure: str | Measure = "auc",
) -> RelaxedRows:
    r"""Find the best fractional ranking by linear programming, Eq. (9) of the structured AUC paper.

    .. math::
        \max_{\mu} \sum_k \omega_k \Big( \sum_i u_i \mu_{ki} + \sum_{ij} c_{ij} \mu_{k,ij} \Big)
        \quad \text{s.t.} \quad \sum_i \mu_{ki} = \kappa_k, \;\; \mu_{ki} \le \mu_{k+1,i}

    with the pair marginals :math:`\mu_{k,ij} = \mu_{k,ij}(1, 1)` in the local polytope,
    :math:`\max(0, \mu_{ki} + \mu_{kj} - 1) \le \mu_{k,ij} \le \min(\mu_{ki}, \mu_{kj})`. It has
    rows x (items + edges) variables: use `tv_scores` if all couplings are non-negative, and bins if the
    graph is large.

    Parameters
    ----------
    unary, edges, coupling
        As in `tv_scores`; couplings may be negative.
    measure : {"auc", "unnested"} or Measure, default="auc"
        Sizes and weights of the rows; `UnnestedAUC` drops the constraint between rows.

    Returns
    -------
    RelaxedRows

    Examples
    --------
    >>> from aucuba.structured import ranking_lp
    >>> best = ranking_lp([1.0, 0.9, 0.0], [[0, 1]], [-2.0])
    >>> abs(best.rows).round(2).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    couplings = check_signed_couplings(coupling, pairs)
    chosen = as_measure(measure)
    return solve_rows(scores, pairs, couplings, chosen.rows(scores.size), nested=chosen.nested)


def solve_rows(
    unary: FloatArray, edges: IntArray, coupling: FloatArray, rows: Rows, *, nested: bool
) -> RelaxedRows:
    """Solve `ranking_lp` on checked input and for rows of any sizes between 0 and n."""
    n_rows, n_items, n_edges = rows.weight.size, unary.size, len(edges)
    cost = np.append(np.outer(rows.weight, unary).ravel(), np.outer(rows.weight, coupling).ravel())
    full = kron(eye_array(n_rows), np.ones((1, n_items)), format="csr")
    equal = block_array([[full, csr_array((n_rows, n_rows * n_edges))]], format="csr")
    upper, limit = _pair_constraints(n_rows, n_items, edges, coupling)
    if nested and n_rows > 1:
        step = eye_array(n_rows - 1, n_rows) - eye_array(n_rows - 1, n_rows, k=1)
        chain = kron(step, eye_array(n_items), format="csr")
        zeros = csr_array((chain.shape[0], n_rows * n_edges))
        upper = block_array([[upper], [block_array([[chain, zeros]])]], format="csr")
        limit = np.append(limit, np.zeros(chain.shape[0]))
    # The dual simplex ends at a vertex; interior-point solutions have needlessly fractional rows.
    result = linprog(
        -cost,
        A_ub=upper if upper.shape[0] else None,
        b_ub=limit if upper.shape[0] else None,
        A_eq=equal,
        b_eq=rows.cardinality,
        bounds=(0, 1),
        method="highs-ds",
    )
    if result.status != 0:
        raise RuntimeError(f"HiGHS could not solve the ranking problem: {result.message}")
    best = np.clip(result.x[: n_rows * n_items].reshape(n_rows, n_items), 0.0, 1.0)
    return RelaxedRows(best, _pair_marginals(best, edges, coupling), float(-result.fun))


def _pair_marginals(rows: FloatArray, edges: IntArray, coupling: FloatArray) -> FloatArray:
    """Return the end of the local polytope that each coupling prefers.

    The program constrains only the binding side, and pairs without coupling not at all, so its own
    values may lie outside the polytope.
    """
    first, second = rows[:, edges[:, 0]], rows[:, edges[:, 1]]
    apart = np.maximum(first + second - 1.0, 0.0)
    return np.where(coupling >= 0, np.minimum(first, second), apart)


def _pair_constraints(
    n_rows: int, n_items: int, edges: IntArray, coupling: FloatArray
) -> tuple[csr_array, FloatArray]:
    """Constrain pairs on the binding side: below both ends, or above their sum minus one."""
    n_edges = len(edges)
    attract, repel = np.flatnonzero(coupling > 0), np.flatnonzero(coupling < 0)
    picks, signs, limits = [], [], []
    for end in (0, 1):
        picks.append(_incidence(attract, edges[attract, end], n_items, n_edges, pair=1.0))
        limits.append(np.zeros(attract.size))
        signs.append(-1.0)
    both = [_incidence(repel, edges[repel, end], n_items, n_edges, pair=-0.5) for end in (0, 1)]
    picks.append((both[0][0] + both[1][0], both[0][1] + both[1][1]))
    limits.append(np.ones(repel.size))
    signs.append(1.0)
    levels = eye_array(n_rows)
    blocks = [
        [kron(levels, sign * nodes), kron(levels, pairs)]
        for (nodes, pairs), sign in zip(picks, signs, strict=True)
        if nodes.shape[0]
    ]
    bound = np.concatenate([np.tile(limit, n_rows) for limit in limits])
    if not blocks:
        return csr_array((0, n_rows * (n_items + n_edges))), bound
    return block_array(blocks, format="csr"), bound


def _incidence(
    chosen: IntArray, ends: IntArray, n_items: int, n_edges: int, *, pair: float
) -> tuple[csr_array, csr_array]:
    """Return which item and which pair each constraint of one row concerns."""
    count = np.arange(chosen.size)
    nodes = coo_array((np.ones(chosen.size), (count, ends)), shape=(chosen.size, n_items)).tocsr()
    values = np.full(chosen.size, pair)
    pairs = coo_array((values, (count, chosen)), shape=(chosen.size, n_edges)).tocsr()
    return nodes, pairs


def mixed_sign_scores(
    unary: ArrayLike,
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    measure: str | Measure = "auc",
) -> FloatArray:
    r"""Score items for a good ranking when couplings have both signs, by repeated linearisation.

    A repelling pair costs :math:`\lvert c_{ij} \rvert \min(m_i, m_j)`. Each step replaces it by a cost
    of the lower-ranked item alone (half for each end of a tie), an upper bound that is exact at the
    current ranking. The remaining problem is attractive and is solved exactly, so the score never
    falls. The best of four starts is returned: unary scores, attractive pairs only, and repulsion
    split between the ends, once and doubled.

    Parameters
    ----------
    unary, edges, coupling
        As in `tv_scores`; couplings may be negative.
    measure : {"auc", "unnested"} or Measure, default="auc"
        Weights of the positions.

    Returns
    -------
    array of shape (n_nodes,)
        With non-negative couplings, exactly ``tv_scores(unary, edges, coupling)``; otherwise a local
        optimum. `ranking_lp` bounds how much better another ranking can be.

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
        return tv_scores(scores, pairs, couplings)
    weight = as_measure(measure).rows(scores.size).position_weight()
    ends, cost = pairs[repel], couplings[repel]

    def solve(linear: FloatArray) -> FloatArray:
        return tv_scores(linear, pairs[attract], couplings[attract])

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
