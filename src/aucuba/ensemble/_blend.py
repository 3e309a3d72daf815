"""The last layer of a stack, and a report on its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._arrays import mean_and_scale
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._roc._comparison import RegionComparison, region_placements
from aucuba._roc._logistic import logistic_regression
from aucuba._roc._region import Region
from aucuba._roc._standard_error import WeightMeaning, standard_error
from aucuba._rows._lead import Lead
from aucuba._rows._sample import Sample
from aucuba._rows._splits import Split

_C = 1.0
# Larger values of lambda also pass the test below, but cost partial AUC where one member is far ahead.
_SHRINKAGE = 1.0


@dataclass(frozen=True)
class Blend:
    """``intercept + coef @ (scores - mean) / scale``, a log-odds."""

    coef: FloatArray
    intercept: float
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def from_scores(cls, scores: FloatArray, sample: Sample, shrinkage: float) -> Blend:
        r"""Fit logistic regression on standardised scores, with weights shrunk towards each other.

        The log-loss has the penalty

        .. math:: \tfrac12 \sum_k c_k^2 + \tfrac{\lambda}{2} \sum_k (c_k - \bar c)^2

        with the shrinkage :math:`\lambda`. With few positives, equal weights do better than weights
        fitted to noise. In the coordinates :math:`A^{-1} c`, with A the projection on equal
        weights plus :math:`1 / \sqrt{1 + \lambda}` times the projection on their differences, this is
        the usual penalty.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_members)
        sample : Sample
        shrinkage : float
        """
        mean, scale = mean_and_scale(scores, sample.weight)
        n_members = scores.shape[1]
        equal = np.full((n_members, n_members), 1.0 / n_members)
        coordinates = equal + (np.eye(n_members) - equal) / np.sqrt(1.0 + shrinkage)
        with one_blas_thread():
            standardised = (scores - mean) / scale @ coordinates
            model = logistic_regression(standardised, sample.positive, sample.weight, _C)
        return cls(coordinates @ model.coef_[0], float(model.intercept_[0]), mean, scale)

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """Blend the scores of the members, shape (n_rows, n_members)."""
        return np.asarray((scores - self.mean) / self.scale @ self.coef + self.intercept)

    def merged(self, other: Blend, members: IntArray, weight: float) -> Blend:
        """Average with a blend of a subset of the members, on the log-odds scale."""
        coef, rest = weight * self.coef, 1.0 - weight
        coef[members] += rest * other.coef
        intercept = weight * self.intercept + rest * other.intercept
        return Blend(coef, intercept, self.mean, self.scale)


@dataclass(frozen=True)
class CrossFittedBlend:
    """One blend per fold, fitted to the scores of the other folds; no ``members`` means all."""

    blends: list[Blend]
    members: IntArray | None = None

    @classmethod
    def from_scores(
        cls,
        scores: FloatArray,
        sample: Sample,
        splits: list[Split],
        shrinkage: float,
        members: IntArray | None = None,
    ) -> CrossFittedBlend:
        blends = [
            Blend.from_scores(_columns(scores[train], members), sample.take(train), shrinkage)
            for train, _ in splits
        ]
        return cls(blends, members)

    def log_odds(self, scores: FloatArray, splits: list[Split]) -> FloatArray:
        """Score every row by the blend that has not seen it."""
        stacked = np.empty(len(scores))
        for blend, (_, test) in zip(self.blends, splits, strict=True):
            stacked[test] = blend.log_odds(_columns(scores[test], self.members))
        return stacked


@dataclass(frozen=True)
class StackedBlend:
    r"""Weighted mean of two blends: of the members trained by log-loss alone, and of all members.

    On the log-odds scale, the second blend has the weight

    .. math::
        w = \max\bigl(0,\, 2 \Phi(z) - 1\bigr), \qquad
        z = \frac{A_{\mathrm{all}} - A_{\mathrm{plain}}}{\mathrm{se}}

    with their cross-fitted partial AUC and its paired standard error, over groups if there are any
    (`Lead.weight`). Members trained for the region gain on most tables but lose on some, mostly on
    those with few positives. A difference within its error therefore moves the blend only part of the
    way, and no single row decides.

    Parameters
    ----------
    blend : Blend
        Fitted to all scored rows.
    log_odds : ndarray of shape (n_rows,)
        Cross-fitted blends of the rows.
    shrinkage : float
    region_weight : float
        w above.
    """

    blend: Blend
    log_odds: FloatArray
    shrinkage: float
    region_weight: float

    @classmethod
    def from_scores(
        cls,
        scores: FloatArray,
        sample: Sample,
        splits: list[Split],
        for_region: BoolArray,
        region: Region,
    ) -> StackedBlend:
        """Fit the blend of out-of-fold scores; ``for_region`` marks the members trained for the region.

        Each fold is fitted once per shrinkage and once for the members trained by log-loss.
        """
        shrinkage, folds, log_odds = _chosen_shrinkage(scores, sample, splits)
        blend, weight = Blend.from_scores(scores, sample, shrinkage), 1.0
        plain = np.flatnonzero(~for_region)
        if 0 < plain.size < for_region.size:
            others = CrossFittedBlend.from_scores(scores, sample, splits, shrinkage, plain)
            rivals = np.array([log_odds, others.log_odds(scores, splits)])
            weight = RegionComparison(sample, rivals, region, sample.group).lead(0, 1).weight
            if weight < 1.0:
                pairs = zip(folds.blends, others.blends, strict=True)
                merged = [one.merged(other, plain, weight) for one, other in pairs]
                log_odds = CrossFittedBlend(merged).log_odds(scores, splits)
                alone = Blend.from_scores(scores[:, plain], sample, shrinkage)
                blend = blend.merged(alone, plain, weight)
        return cls(blend, log_odds, shrinkage, weight)

    @classmethod
    def from_one_member(
        cls, scores: FloatArray, sample: Sample, splits: list[Split]
    ) -> StackedBlend:
        """Calibrate the out-of-fold scores of a single member, shape (n_rows, 1)."""
        folds = CrossFittedBlend.from_scores(scores, sample, splits, 0.0)
        blend = Blend.from_scores(scores, sample, 0.0)
        return cls(blend, folds.log_odds(scores, splits), 0.0, 1.0)

    def report(
        self, names: list[str], scores: FloatArray, sample: Sample, region: Region
    ) -> list[dict[str, Any]]:
        """Report the out-of-fold partial AUC, with standard error, of every member and of the stack.

        If there are groups, they are the independent units of the standard error.
        """
        meaning: WeightMeaning = "replication" if sample.group is None else "sampling"
        columns = zip(
            [*names, "stack"],
            [*scores.T, self.log_odds],
            [*self.blend.coef, 1.0],
            strict=True,
        )
        rows = []
        for name, column, coef in columns:
            placed = region_placements(sample, column, region)
            error = standard_error(sample, placed.influence, meaning=meaning, group=sample.group)
            rows.append(
                {
                    "member": name,
                    "partial_auc": placed.value,
                    "standard_error": error,
                    "coef": float(coef),
                }
            )
        return rows


def _chosen_shrinkage(
    scores: FloatArray, sample: Sample, splits: list[Split]
) -> tuple[float, CrossFittedBlend, FloatArray]:
    """Choose 1 if its cross-fitted log-loss is within one standard error of that of 0, else 0."""
    drawn, plain = (
        CrossFittedBlend.from_scores(scores, sample, splits, shrinkage)
        for shrinkage in (_SHRINKAGE, 0.0)
    )
    of_drawn, of_plain = (one.log_odds(scores, splits) for one in (drawn, plain))
    mean, sd = mean_and_scale(_losses(of_drawn, sample) - _losses(of_plain, sample), sample.weight)
    if Lead(float(mean), float(sd / np.sqrt(sample.weights.sum()))).is_clear():
        return 0.0, plain, of_plain
    return _SHRINKAGE, drawn, of_drawn


def _columns(scores: FloatArray, members: IntArray | None) -> FloatArray:
    return scores if members is None else scores[:, members]


def _losses(log_odds: FloatArray, sample: Sample) -> FloatArray:
    return np.logaddexp(0.0, np.where(sample.positive, -log_odds, log_odds))
