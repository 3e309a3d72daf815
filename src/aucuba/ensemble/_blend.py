"""The last layer of a stack, and the value of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._logistic import logistic_regression, mean_and_scale
from aucuba._core._resampling import Split
from aucuba._core._threads import one_blas_thread
from aucuba._core._typing import FloatArray, IntArray
from aucuba._roc._comparison import region_placements
from aucuba._roc._region import Region
from aucuba._roc._sample import Sample
from aucuba._roc._standard_error import WeightMeaning, standard_error

_C = 1.0


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


def blend_scores(scores: FloatArray, sample: Sample) -> Blend:
    """Fit logistic regression to standardised out-of-fold scores, shape (n_rows, n_members)."""
    mean, scale = mean_and_scale(scores, sample.weight)
    with one_blas_thread():
        model = logistic_regression((scores - mean) / scale, sample.positive, sample.weight, _C)
    return Blend(model.coef_[0], float(model.intercept_[0]), mean, scale)


def cross_fitted(scores: FloatArray, sample: Sample, folds: list[Split]) -> FloatArray:
    """Blend the out-of-fold scores of every row by a blend that was fitted to the other folds."""
    stacked = np.empty(sample.n_rows)
    for train, test in folds:
        stacked[test] = blend_scores(scores[train], sample.take(train)).log_odds(scores[test])
    return stacked


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
