"""The last layer of a stack, and the value of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._logistic import logistic_regression, mean_and_scale
from aucuba._base._threads import one_blas_thread
from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._roc._comparison import RegionComparison, region_placements
from aucuba._roc._region import Region
from aucuba._roc._standard_error import WeightMeaning, standard_error
from aucuba._rows._sample import Sample
from aucuba._rows._splits import Split

_C = 1.0
# Larger values of lambda also pass the gate below, but cost partial AUC where one member is far ahead.
_SHRINKAGE = 1.0


@dataclass(frozen=True)
class Blend:
    """``intercept + coef @ (scores - mean) / scale``, a log-odds."""

    coef: FloatArray
    intercept: float
    mean: FloatArray
    scale: FloatArray

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """Blend the scores of the members, shape (n_rows, n_members)."""
        return np.asarray((scores - self.mean) / self.scale @ self.coef + self.intercept)


@dataclass(frozen=True)
class Blender:
    r"""Logistic regression on standardised out-of-fold scores, its weights drawn towards each other.

    The log-loss has the penalty

    .. math:: \tfrac12 \sum_k c_k^2 + \tfrac{\lambda}{2} \sum_k (c_k - \bar c)^2.

    Where positives are few, members of equal weight beat weights that follow noise. In the coordinates
    :math:`A^{-1} c`, with A the projection on equal weights plus :math:`1 / \sqrt{1 + \lambda}` times
    that on their differences, this is the common penalty.
    """

    shrinkage: float

    @classmethod
    def from_scores(cls, scores: FloatArray, sample: Sample, splits: list[Split]) -> Blender:
        """Choose 1 if its cross-fitted log-loss is within one standard error of that of 0, else 0."""
        plain, drawn = cls(0.0), cls(_SHRINKAGE)
        loss, plain_loss = (
            _losses(cross_fitted(blender, scores, sample, splits), sample)
            for blender in (drawn, plain)
        )
        mean, sd = mean_and_scale(loss - plain_loss, sample.weight)
        return drawn if mean <= sd / np.sqrt(sample.weights.sum()) else plain

    def fit(self, scores: FloatArray, sample: Sample) -> Blend:
        """Fit the weights of the members to scores of shape (n_rows, n_members)."""
        mean, scale = mean_and_scale(scores, sample.weight)
        n_members = scores.shape[1]
        equal = np.full((n_members, n_members), 1.0 / n_members)
        coordinates = equal + (np.eye(n_members) - equal) / np.sqrt(1.0 + self.shrinkage)
        with one_blas_thread():
            standardised = (scores - mean) / scale @ coordinates
            model = logistic_regression(standardised, sample.positive, sample.weight, _C)
        return Blend(coordinates @ model.coef_[0], float(model.intercept_[0]), mean, scale)


@dataclass(frozen=True)
class GatedBlender:
    r"""A blend between that of the members trained by log-loss alone and that of all members.

    On the log-odds scale, the second has the weight

    .. math::
        w = \min\Bigl(1, \max\Bigl(0, \frac{1 + z}{2}\Bigr)\Bigr), \qquad
        z = \frac{A_{\mathrm{all}} - A_{\mathrm{plain}}}{\mathrm{se}}

    with their cross-fitted partial AUC and the paired standard error. Members trained for the region
    gain on most tables and lose on some, above all where positives are few; a difference within its
    error moves the blend a part of the way, so that no single row decides.
    """

    blender: Blender
    plain: IntArray
    region_weight: float

    @classmethod
    def from_scores(
        cls,
        scores: FloatArray,
        sample: Sample,
        splits: list[Split],
        for_region: BoolArray,
        region: Region,
        group: IntArray | None,
    ) -> GatedBlender:
        """Weigh the two blends by their cross-fitted scores, whose error counts groups as units."""
        blender = Blender.from_scores(scores, sample, splits)
        plain = np.flatnonzero(~for_region)
        if plain.size in (0, for_region.size):
            return cls(blender, plain, 1.0)
        rivals = np.array(
            [
                cross_fitted(blender, scores, sample, splits),
                cross_fitted(blender, scores[:, plain], sample, splits),
            ]
        )
        z = RegionComparison(sample, rivals, region, group).lead_in_errors(0, 1)
        return cls(blender, plain, float(np.clip((1.0 + z) / 2.0, 0.0, 1.0)))

    def fit(self, scores: FloatArray, sample: Sample) -> Blend:
        """Fit both blends to scores of shape (n_rows, n_members), and merge them."""
        every = self.blender.fit(scores, sample)
        if self.region_weight == 1.0:
            return every
        plain = self.blender.fit(scores[:, self.plain], sample)
        coef, rest = self.region_weight * every.coef, 1.0 - self.region_weight
        coef[self.plain] += rest * plain.coef
        intercept = self.region_weight * every.intercept + rest * plain.intercept
        return Blend(coef, intercept, every.mean, every.scale)


def cross_fitted(
    blender: Blender | GatedBlender, scores: FloatArray, sample: Sample, splits: list[Split]
) -> FloatArray:
    """Blend the out-of-fold scores of every row by a blend that was fitted to the other folds."""
    stacked = np.empty(sample.n_rows)
    for train, test in splits:
        stacked[test] = blender.fit(scores[train], sample.take(train)).log_odds(scores[test])
    return stacked


def _losses(log_odds: FloatArray, sample: Sample) -> FloatArray:
    return np.logaddexp(0.0, np.where(sample.positive, -log_odds, log_odds))


def member_report(
    names: list[str],
    scores: FloatArray,
    stacked: FloatArray,
    blend: Blend,
    sample: Sample,
    region: Region,
    group: IntArray | None,
) -> list[dict[str, Any]]:
    """Report the out-of-fold partial AUC with standard error of every member and of the stack.

    Where rows come in groups, these are the independent units of the error.
    """
    rows = []
    meaning: WeightMeaning = "replication" if group is None else "sampling"
    columns = zip([*names, "stack"], [*scores.T, stacked], [*blend.coef, 1.0], strict=True)
    for name, column, coef in columns:
        placed = region_placements(sample, column, region)
        rows.append(
            {
                "member": name,
                "partial_auc": placed.value,
                "standard_error": standard_error(
                    sample, placed.influence, meaning=meaning, cluster=group
                ),
                "coef": float(coef),
            }
        )
    return rows
