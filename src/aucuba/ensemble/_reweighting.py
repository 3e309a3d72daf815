"""The procedure of re-weighting: score out of fold, weight the region's rows, refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aucuba._core._typing import FloatArray
from aucuba._roc._region import Region
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._weights import region_weights


@dataclass(frozen=True)
class ReweightedPair:
    """A plain and a re-weighted model on all rows, and what the weights come from.

    Parameters
    ----------
    plain, weighted : classifier
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores of the plain model.
    factors : ndarray of shape (n_rows,)
        The region's factor for the weight of every row.
    """

    plain: Any
    weighted: Any
    scores: FloatArray
    factors: FloatArray


def fit_reweighted(
    base: Any, runner: Runner, region: Region, strength: float, scores: FloatArray | None = None
) -> ReweightedPair:
    """Fit both models on the rows of a runner; out-of-fold ``scores`` are computed if not given."""
    if scores is None:
        scores = runner.scores(base)
    factors = region_weights(scores, runner.table.sample, region, strength)
    plain, weighted = runner.fit(base, [runner.table, runner.table.reweighted(factors)])
    return ReweightedPair(plain, weighted, scores, factors)
