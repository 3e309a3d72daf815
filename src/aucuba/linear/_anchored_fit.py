"""The anchored fit: logistic regression, then one descent on the smooth ramp that stays near it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aucuba._base._arrays import Vector, arrays_of, is_tensor, mean_and_scale
from aucuba._base._typing import FloatArray, Monitor
from aucuba._roc._curve import counted_range_average, region_average, top_of_curve
from aucuba._roc._queries import Queries
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample
from aucuba.design import RowDesign
from aucuba.linear._logistic_fit import LogisticFit, LogisticPath
from aucuba.risks import Risk, Sample, make_risk
from aucuba.solvers import LBFGSSolver, Solution, Status

FALLBACK = "Plain logistic regression"
# Strength of the pull towards the scores of logistic regression; results are flat from .03 to .3.
ANCHOR_STRENGTH = 0.1
# The descent ends where an iteration lowers the objective by less than this fraction of it: further
# gains do not show on new data. Kernel features, which are badly conditioned, need 1e-3: the
# objective would fall on for hundreds of iterations, and test partial AUC with it. Whitened
# coordinates reach far lower objectives and worse models (benchmarks/partial_auc_kernel.py): what
# regularises is the early end in the kernel's own metric.
OBJECTIVE_TOL = 1e-5


class Anchored:
    r"""A risk with a pull towards reference scores ``a``.

    .. math::
        R(s) + \frac{\lambda}{2} \sum_i v_i (s_i - a_i)^2 \Big/ \sum_i v_i

    The pull keeps a bounded loss from fitting the few top negatives of the sample.

    Parameters
    ----------
    risk : Risk
    reference : ndarray
        ``a``.
    strength : float
        ``lambda``.
    weight : ndarray or None
        Row weights ``v``; equal by default.
    """

    def __init__(
        self, risk: Risk, reference: Vector, strength: float, weight: Vector | None = None
    ) -> None:
        self.risk, self.reference, self.strength = risk, reference, strength
        if weight is None:
            weight = arrays_of(reference).ones(len(reference))
        self.row_weight = weight / weight.sum()

    @property
    def is_convex(self) -> bool:
        return self.risk.is_convex

    @property
    def lower_bound(self) -> float:
        return self.risk.lower_bound

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        value, gradient = self.risk.value_and_gradient(scores)
        pull = self.strength * self.row_weight * (scores - self.reference)
        return value + float(pull @ (scores - self.reference)) / 2, gradient + pull


@dataclass(frozen=True)
class AnchoredFit:
    """Coefficients with scores of unit standard deviation, and how they were found.

    ``solution`` is None where no descent was tried; the coefficients are then the anchor's.
    """

    coef: FloatArray
    anchor: FloatArray
    solution: Solution | None


def normalised(coef: FloatArray, design: RowDesign, weight: FloatArray | None) -> FloatArray:
    """Scale coefficients to scores of unit standard deviation; constant scores stay."""
    return coef / score_moments(coef, design, weight)[1]


def score_moments(
    coef: FloatArray, design: RowDesign, weight: Vector | None
) -> tuple[float, float]:
    """Compute mean and standard deviation of the scores of a model, where the scores live."""
    return moments(design.scores(coef), weight)


def moments(scores: Vector, weight: Vector | None) -> tuple[float, float]:
    """Compute mean and standard deviation of scores; the weights may be on the host."""
    if weight is not None:
        weight = arrays_of(scores).vector(weight)
    mean, scale = mean_and_scale(scores, weight)
    return float(mean), float(scale)


def anchor_direction(
    design: RowDesign, sample: Sample, C: float, start: LogisticFit | None = None
) -> tuple[FloatArray, LogisticFit]:
    """Return the normalised coefficients of logistic regression, and its fit."""
    fit = LogisticPath(design, sample, start).fit(C)
    return normalised(fit.coef, design, sample.weight), fit


def anchored_fit(
    design: RowDesign,
    sample: Sample,
    region: Region | None,
    anchor: FloatArray,
    *,
    max_iter: int = 100,
    objective_tol: float = OBJECTIVE_TOL,
    monitor: Monitor | None = None,
) -> AnchoredFit:
    r"""Minimise ``R(Xw) + lambda/2 mean ((Xw - Xu)^2)`` from the anchor u, then normalise.

    The anchor is what makes the bounded loss work: without it the fit chases the few top negatives of
    the sample and loses to logistic regression on new data. Without a region the anchor is returned.

    Of the iterates, the one of highest training partial AUC is kept. Where the last one falls below the
    anchor, the loss was lowered by ties, as happens where most pairs of the region are misordered; the
    descent is then repeated with a loss in which a tie costs what a pair costs at the anchor.
    """
    if region is None or not anchor.any():
        return AnchoredFit(anchor, anchor, None)
    sample = sample.moved_to(design.arrays)
    measure = _training_measure(sample, region)
    reference = design.scores(anchor)
    at_anchor = measure(reference)

    def descend(tie_loss: float) -> Solution:
        risk = make_risk("direct", sample, region, tie_loss=tie_loss)
        pulled = Anchored(risk, reference, ANCHOR_STRENGTH, sample.weight)
        solver = LBFGSSolver(objective_tol=objective_tol, max_iter=max_iter)
        return solver.solve(design, pulled, start=anchor, merit=measure, monitor=monitor)

    solution = descend(0.5)
    reached = solution.history[-1].get("merit", at_anchor)
    may_go_on = solution.status not in (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED)
    if reached < at_anchor < 0.5 and may_go_on:
        solution = descend(1.0 - at_anchor).after(solution.history)
    return AnchoredFit(normalised(solution.coef, design, sample.weight), anchor, solution)


def _training_measure(sample: Sample, region: Region) -> Callable[[Vector], float]:
    """The partial AUC of scores of the training rows, query by query."""
    rows_alike = sample.weight is None and sample.query is None
    if is_tensor(sample.positive) and rows_alike and region.is_plain_range and not region.min_tpr:
        return lambda scores: counted_range_average(sample.positive, scores, *region.fpr_range)
    sample = sample.on_host()
    queries = None if sample.query is None else Queries(sample)

    def measure(scores: Vector) -> float:
        scores = arrays_of(scores).host(scores)
        if queries is not None:
            return float(np.mean(queries.in_region(scores, region)))
        ranking = RankingSample(sample.positive, sample.weight, score=scores)
        return float(region_average(top_of_curve(ranking, region.upper_limit), region))

    return measure
