"""The procedure of re-weighting: score out of fold, weight the region's rows, refit and score."""

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
    scores : ndarray of shape (n_scored,)
        Out-of-fold scores of the plain model.
    mean_scores : ndarray of shape (n_scored,)
        Mean of the out-of-fold scores of both models. The factors come from scores of all rows, so a
        held-out row has influenced the weights, but not the labels, that its fold is trained with.
    factors : ndarray of shape (n_rows,)
        The region's factor for the weight of every row; 1 for a row that is not scored.
    """

    plain: Any
    weighted: Any
    scores: FloatArray
    mean_scores: FloatArray
    factors: FloatArray


def fit_reweighted(
    base: Any, runner: Runner, region: Region, strength: float, scores: FloatArray | None = None
) -> ReweightedPair:
    """Fit both models on the rows of a runner; out-of-fold ``scores`` are computed if not given."""
    if scores is None:
        scores = runner.scores(base)
    factors = runner.folds.among_rows(region_weights(scores, runner.scored, region, strength), 1.0)
    reweighted = runner.table.reweighted(factors)
    plain, weighted = runner.fit(base, [runner.table, reweighted])
    mean_scores = (scores + runner.scores(base, reweighted)) / 2
    return ReweightedPair(plain, weighted, scores, mean_scores, factors)
