"""A starting point for the full AUC of few rows, by an interior point method on the pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotrs

from aucuba._base._typing import FloatArray
from aucuba.design import RowDesign
from aucuba.risks import PairwiseHinge, Sample
from aucuba.solvers._planes import Planes, Tangent

# A step takes a few passes over the pairs and one linear system of the size of the model: with more of
# either, the bundle method is faster.
_MOST_PAIRS = 4000
_MOST_COLUMNS = 60
# Below this value of C |difference of the class means|^2, one or two planes solve the problem.
_WORTH_IT = 1.0
_MOST_STEPS = 50
# Fraction of the way to the boundary of the dual box that a step may go.
_INSIDE = 0.99
# Close the gap a little further than asked for, to allow for rounding.
_CLOSER = 0.9


class Start(NamedTuple):
    """A model, and planes whose minimum is close to its objective; both None if pairs are many."""

    model: FloatArray | None = None
    planes: Planes | None = None


def start_on_pairs(
    design: RowDesign, sample: Sample, C: float, slack: Callable[[float], float]
) -> Start:
    r"""Minimise `PairwiseHinge` over the pairs of a small table, by Mehrotra's predictor and corrector.

    .. math:: \min_w \ \tfrac12 |w|^2 + \sum_{ij} u_{ij} (1 - d_{ij} \cdot w)_+,
        \qquad d_{ij} = x_i^+ - x_j^-, \quad u_{ij} = C b_i v_j

    Every dual point ``0 <= a <= u`` gives a plane of the risk, of slope ``-sum a_ij d_ij / C`` and
    offset ``sum a_ij / C``. That plane certifies ``w = sum a_ij d_ij``, a relation that the method
    maintains. The bundle method started here checks the certificate, and continues if it falls short.

    Parameters
    ----------
    design : RowDesign
    sample : Sample
        Class and weight of every row, without queries. With too many pairs the start is empty.
    C : float
        Weight of the risk.
    slack : callable
        The distance from the lower bound that is asked for, from the objective.

    Returns
    -------
    Start
    """
    n_pairs = sample.n_positives * (sample.n_rows - sample.n_positives)
    if n_pairs > _MOST_PAIRS or design.zeros().size > _MOST_COLUMNS or not design.is_exact:
        return Start()
    arrays, risk = design.arrays, PairwiseHinge(sample)
    rows = design.some_rows(design.n_rows)
    table = rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)
    positive, negative = arrays.host(risk.positive), arrays.host(risk.negative)
    b, v = arrays.host(risk.positive_weight), arrays.host(risk.negative_weight)
    pairs = _Pairs.from_rows(table[positive], table[negative], np.outer(C * b, v))
    longest = pairs.combine(pairs.most)
    steepness = float(longest @ longest) / C
    if steepness < _WORTH_IT:
        return Start()
    model, dual = _interior(pairs, steepness, slack)
    by_positive, by_negative = pairs.sums(dual)
    gradient = np.zeros(design.n_rows)
    gradient[positive], gradient[negative] = -by_positive / C, by_negative / C
    offset = float(dual.sum()) / C
    at_zero = Tangent.at(risk, arrays.zeros(design.n_rows))
    planes = Planes.started(design, risk, C, at_zero)
    planes.add(design, [Tangent(offset, arrays.vector(gradient), offset, 2 * offset)])
    return Start(model, planes)


class _Pairs(NamedTuple):
    """Rows of both classes, the largest dual value ``u`` of every pair, and ones to sum by."""

    positives: FloatArray
    negatives: FloatArray
    most: FloatArray
    one_each: tuple[FloatArray, FloatArray]

    @classmethod
    def from_rows(cls, positives: FloatArray, negatives: FloatArray, most: FloatArray) -> _Pairs:
        return cls(positives, negatives, most, (np.ones(len(positives)), np.ones(len(negatives))))

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum over the pairs of every positive, and of every negative."""
        of_positives, of_negatives = self.one_each
        return values @ of_negatives, of_positives @ values

    def margins(self, model: FloatArray) -> FloatArray:
        """Compute ``d_ij . w``."""
        margins: FloatArray = (self.positives @ model)[:, np.newaxis] - self.negatives @ model
        return margins

    def combine(self, dual: FloatArray) -> FloatArray:
        """Compute ``sum a_ij d_ij``."""
        by_positive, by_negative = self.sums(dual)
        combined: FloatArray = by_positive @ self.positives - by_negative @ self.negatives
        return combined

    def curvature(self, weight: FloatArray) -> FloatArray:
        """Compute ``I + sum t_ij d_ij d_ij'``."""
        p, n = self.positives, self.negatives
        by_positive, by_negative = self.sums(weight)
        cross = p.T @ (weight @ n)
        total = (p.T * by_positive) @ p + (n.T * by_negative) @ n - cross - cross.T
        total.ravel()[:: len(total) + 1] += 1.0
        return total


class _Step(NamedTuple):
    """Changes of model, margins, dual values, excesses and slacks, and how far they may go."""

    model: FloatArray
    margins: FloatArray
    dual: FloatArray
    excess: FloatArray
    slack: FloatArray
    room: float


def _interior(
    pairs: _Pairs, steepness: float, slack_of: Callable[[float], float]
) -> tuple[FloatArray, FloatArray]:
    """Return a model and the dual values that it is a combination of.

    With excess ``e >= (1 - d . w)_+`` and slack ``s = e - 1 + d . w``, the method solves ``a s = mu``
    and ``(u - a) e = mu`` for a falling mu, in proportion to u, so that a weight of k is k rows.
    """
    most = pairs.most
    dual = most * min(0.5, 1.0 / steepness)
    model = pairs.combine(dual)
    margins = pairs.margins(model)
    loss = np.maximum(1.0 - margins, 0.0)
    excess = loss + 0.5 * float(np.vdot(most, loss)) / float(most.sum())
    for _ in range(_MOST_STEPS):
        norm2 = float(model @ model)
        objective = norm2 / 2 + float(np.vdot(most, np.maximum(1.0 - margins, 0.0)))
        gap = objective + norm2 / 2 - float(dual.sum())
        if not gap > _CLOSER * slack_of(objective):
            break
        newton = _Newton(pairs, dual, excess, excess - 1.0 + margins)
        if newton.is_singular:
            break
        step = newton.step()
        length = min(1.0, _INSIDE * step.room)
        model, margins = model + length * step.model, margins + length * step.margins
        dual, excess = dual + length * step.dual, excess + length * step.excess
    return model, dual


class _Newton:
    """The linear system of one step, solved for two right-hand sides."""

    def __init__(
        self, pairs: _Pairs, dual: FloatArray, excess: FloatArray, slack: FloatArray
    ) -> None:
        self.pairs, self.dual, self.excess, self.slack = pairs, dual, excess, slack
        self.rest = pairs.most - dual
        self.products = dual * slack, self.rest * excess
        self.scale = self.rest * slack + dual * excess
        self.weight = dual * self.rest / self.scale
        self.factor, info = dpotrf(pairs.curvature(self.weight))
        self.is_singular = info != 0

    def step(self) -> _Step:
        """Aim at mu = 0, see how far that goes, and aim again at the mu that it suggests."""
        on_dual, on_rest = self.products
        first = self._solve(-on_dual, -on_rest)
        length = min(1.0, first.room)
        gap = float(on_dual.sum() + on_rest.sum())
        reached = float(
            np.vdot(self.dual + length * first.dual, self.slack + length * first.slack)
            + np.vdot(self.rest - length * first.dual, self.excess + length * first.excess)
        )
        most = self.pairs.most
        mu = (reached / gap) ** 3 * gap / (2 * float(most.sum())) * most
        return self._solve(
            mu - on_dual - first.dual * first.slack, mu - on_rest + first.dual * first.excess
        )

    def _solve(self, on_dual: FloatArray, on_rest: FloatArray) -> _Step:
        free = (self.rest * on_dual - self.dual * on_rest) / self.scale
        model = dpotrs(self.factor, self.pairs.combine(free))[0]
        margins = self.pairs.margins(model)
        dual = free - self.weight * margins
        excess = (on_rest + self.excess * dual) / self.rest
        slack = excess + margins
        steepest = min(
            float((dual / self.dual).min()),
            -float((dual / self.rest).max()),
            float((excess / self.excess).min()),
            float((slack / self.slack).min()),
        )
        room = -1.0 / steepest if steepest < 0 else np.inf
        return _Step(model, margins, dual, excess, slack, room)
