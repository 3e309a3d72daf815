"""Weights of the rows around the thresholds of a region, and the pair of models they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._arrays import mean_and_scale
from aucuba._base._typing import FloatArray
from aucuba._roc._region import Region
from aucuba._roc._threshold import first_beyond
from aucuba._rows._sample import Sample
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._table import TrainingTable

# Widths of the bumps, in standard deviations of the scores.
_NEGATIVE_WIDTH = 0.1
_POSITIVE_WIDTH = 0.5


def region_weights(
    scores: FloatArray, sample: Sample, region: Region, strength: float
) -> FloatArray:
    r"""Weight the rows around the thresholds of a region.

    For the upper limit b of the false positive rates and the lowest true positive rate r:

    .. math::
        v_j = 1 + (k - 1)\, \sigma\bigl((s_j - t_{2b}) / (0.1\, \mathrm{sd}(s))\bigr)
        \ \text{(negatives)}, \qquad
        v_i = 1 + (k - 1) \exp\bigl(-\tfrac12 ((s_i - e) / (0.5\, \mathrm{sd}(s)))^2\bigr)
        \ \text{(positives)}

    with :math:`t_u` the score of the first negative below the false positive rate u and
    :math:`e = t_b`, the end of the region. Negatives that can enter the region count more, and so do
    positives near its end, which may fall on either side of the threshold; each class is rescaled to
    mean 1, which keeps the class priors. The lower limit of the range and the weights of the rates
    inside it are not used: the lower limit changes the weights little, and ignoring it was at least as
    good.

    With r > 0 only the positives below the top fraction r count, the highest of which has the score
    :math:`q`: then :math:`e = \min(t_b, q)`, and the bump of the positives is multiplied by
    :math:`\sigma((q - s_i) / (0.1\, \mathrm{sd}(s)))`, which fades it out above q.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of rows by models that have not seen them.
    sample : Sample
        Class and weight of the rows; a row of weight k counts as k rows.
    region : Region
    strength : float
        ``k``, the largest weight before rescaling; 1 leaves all rows equal.

    Returns
    -------
    ndarray of shape (n_rows,)
        Factors, to be multiplied with the weights of the rows.
    """
    positive, weight = sample.positive, sample.weights
    if np.all(scores == scores[0]):
        return np.ones(scores.size)
    sd = mean_and_scale(scores, weight)[1]
    p, q = scores[positive], scores[~positive]
    end, _ = first_beyond(q, weight[~positive], region.upper_limit)
    twice, _ = first_beyond(q, weight[~positive], 2.0 * region.upper_limit)
    highest = np.inf
    if region.min_tpr > 0:
        highest, _ = first_beyond(p, weight[positive], region.min_tpr)
    bump = np.empty(scores.size)
    bump[~positive] = _step((q - twice) / (_NEGATIVE_WIDTH * sd))
    bump[positive] = np.exp(-0.5 * ((p - min(end, highest)) / (_POSITIVE_WIDTH * sd)) ** 2)
    bump[positive] *= _step((highest - p) / (_NEGATIVE_WIDTH * sd))
    factors = 1.0 + (strength - 1.0) * bump
    for rows in (positive, ~positive):
        factors[rows] /= np.average(factors[rows], weights=weight[rows])
    return factors


def _step(x: FloatArray) -> FloatArray:
    """Compute the logistic function; tanh does not overflow."""
    return 0.5 + 0.5 * np.tanh(x / 2)


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
