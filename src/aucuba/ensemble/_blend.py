"""The last layer of a stack, and what its members are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._threads import one_blas_thread
from aucuba._core._typing import FloatArray
from aucuba._roc._comparison import region_placements
from aucuba._roc._region import Region
from aucuba._roc._standard_error import standard_error
from aucuba.ensemble._table import Split, Table
from aucuba.linear._logistic import logistic_regression
from aucuba.risks import Sample

_C = 1.0


@dataclass(frozen=True)
class Blend:
    """``intercept + coef @ (scores - mean) / scale``, a log-odds."""

    coef: FloatArray
    intercept: float
    mean: FloatArray
    scale: FloatArray

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """One value for each row of member scores."""
        return np.asarray((scores - self.mean) / self.scale @ self.coef + self.intercept)


def blend_scores(scores: FloatArray, table: Table) -> Blend:
    """Logistic regression on standardised out-of-fold scores, shape (n_rows, n_members)."""
    mean = np.average(scores, axis=0, weights=table.weight)
    scale = np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=table.weight))
    scale[scale == 0.0] = 1.0
    with one_blas_thread():
        model = logistic_regression((scores - mean) / scale, table.positive, table.weight, _C)
    return Blend(model.coef_[0], float(model.intercept_[0]), mean, scale)


def member_report(
    names: list[str],
    scores: FloatArray,
    blend: Blend,
    table: Table,
    folds: list[Split],
    fpr_range: tuple[float, float],
) -> list[dict[str, Any]]:
    """Out-of-fold partial AUC with standard error of every member and of the stack."""
    stacked = np.empty(table.y.size)
    for train, test in folds:
        stacked[test] = blend_scores(scores[train], table.rows(train)).log_odds(scores[test])
    region = Region.from_params(fpr_range, None, 0.0)
    sample = Sample(table.positive, table.weight)
    rows = []
    columns = zip([*names, "stack"], [*scores.T, stacked], [*blend.coef, 1.0], strict=True)
    for name, column, coef in columns:
        placed = region_placements(sample, column, region)
        rows.append(
            {
                "member": name,
                "partial_auc": placed.value,
                "standard_error": standard_error(sample, placed.influence, meaning="replication"),
                "coef": float(coef),
            }
        )
    return rows
