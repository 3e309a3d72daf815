"""Re-weight: score rows out of fold, weight those of the region, refit and score again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._region import Region
from aucuba._roc._threshold import first_beyond
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import TrainingTable
from aucuba.ensemble._weights import region_weights

# The end of the region in a fold is found among at least this many negatives.
_FEWEST_NEGATIVES = 20


@dataclass(frozen=True)
class ReweightedPair:
    """A plain and a re-weighted model on all rows, and what the weights come from.

    Parameters
    ----------
    plain, weighted : classifier
    scores : ndarray of shape (n_scored,)
        Out-of-fold scores of the plain model.
    mean_scores : ndarray of shape (n_scored,)
        Mean of the out-of-fold scores of both models, or instead those of the plain model, shifted by
        as much as the mean is shifted in one fold. The factors come from scores of all rows, so a
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
    base: Any,
    runner: Runner,
    region: Region | None,
    strength: float,
    scores: FloatArray | None = None,
    *,
    every_fold: bool = True,
) -> ReweightedPair:
    """Fit both models on the rows of a runner; out-of-fold ``scores`` are computed if not given.

    Without a region both are the plain model.

    Without ``every_fold`` the re-weighted model is fitted for one fold only: a blend of several members
    learns the same weight for the mean as for its plain half.
    """
    if scores is None:
        scores = runner.scores(base)
    if region is None:
        (plain,) = runner.fit(base, [runner.table])
        return ReweightedPair(plain, plain, scores, scores, np.ones(runner.folds.n_rows))
    factors = runner.folds.among_rows(region_weights(scores, runner.scored, region, strength), 1.0)
    reweighted = runner.table.reweighted(factors)
    plain, weighted = runner.fit(base, [runner.table, reweighted])
    if every_fold:
        mean_scores = (scores + runner.scores(base, reweighted)) / 2
    else:
        mean_scores = scores + _shift(base, reweighted, runner, region, scores)
    return ReweightedPair(plain, weighted, scores, mean_scores, factors)


def _shift(
    base: Any, reweighted: TrainingTable, runner: Runner, region: Region, scores: FloatArray
) -> float:
    """Measure in one fold how far the mean with a re-weighted model moves the end of the region."""
    _, rows = runner.folds.splits_of_scores()[-1]
    plain, weighted = scores[rows], runner.scores_of_last_fold(base, reweighted)
    negative = ~runner.scored.positive[rows]
    weight = runner.scored.weights[rows][negative]
    rate = min(max(region.upper_limit, _FEWEST_NEGATIVES / weight.size), 1.0)
    ends = [first_beyond(one[negative], weight, rate)[0] for one in (plain, (plain + weighted) / 2)]
    return ends[1] - ends[0]
