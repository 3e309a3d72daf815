"""How sure is a partial AUC: intervals and paired comparisons, by bootstrap or by placements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state

from aucuba._core._typing import ArrayLike, BoolArray, FloatArray
from aucuba._core._validation import (
    check_choice,
    check_fpr_range,
    check_fraction,
    check_positive_number,
)
from aucuba._roc._curve import (
    SortedRows,
    band_average,
    resampled_roc_curves,
    roc_curve,
)
from aucuba._roc._placements import placements
from aucuba._roc._queries import query_values
from aucuba._roc._rank_weights import RankWeights
from aucuba._roc._sample import RankingSample, Sample
from aucuba._roc._standard_error import standard_error

# Resamples are drawn in chunks of about this many row weights, so that memory stays near 100 MB
# whatever the number of rows; the draws do not depend on the chunk.
_CHUNK_ENTRIES = 2_000_000
# From this many rows on a bootstrap takes many seconds, and with this many of either class in the
# range the estimate is as good as normal.
_ROWS_FOR_NORMAL = 50_000
_FEWEST = 200


@dataclass(frozen=True)
class ScoreInterval:
    """A value with an interval; ``n_resamples`` is 0 where it comes from the normal approximation."""

    value: float
    low: float
    high: float
    confidence: float
    n_resamples: int

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}] ({self.confidence:.0%} interval)"
        )


@dataclass(frozen=True)
class ScoreComparison:
    """Difference of two scorers on the same rows (first minus second), with its uncertainty."""

    difference: float
    low: float
    high: float
    p_value: float
    values: tuple[float, float]
    confidence: float
    n_resamples: int

    def __str__(self) -> str:
        return (
            f"{self.values[0]:.4f} - {self.values[1]:.4f} = {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}] ({self.confidence:.0%} interval), "
            f"p = {self.p_value:.3g}"
        )


def partial_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
    n_resamples: int = 1000,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> ScoreInterval:
    r"""``[F^{-1}((1-c)/2), F^{-1}((1+c)/2)]`` for F the bootstrap distribution of the partial AUC.

    Positives and negatives are resampled apart (stratified), so every resample has both classes in
    their original numbers. With ``qid`` whole queries are resampled instead. On large samples the
    interval is ``value ± z * standard error`` with the error from placement values, DeLong's for the
    full range: one sort in place of a thousand resamples.

    Parameters
    ----------
    y_true, y_score, fpr_range, sample_weight, qid, pos_label
        As in `partial_auc_score`. A resampled row keeps its weight.
    confidence : float, default=0.95
        Coverage of the interval, in (0, 1).
    n_resamples : int, default=1000
        Number of bootstrap samples.
    method : {"auto", "bootstrap", "normal"}, default="auto"
        "auto" takes the normal approximation from 50,000 rows on, if they have 200 positives and 200
        negatives in the range; fewer are too few for it. Queries are always resampled.
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling.

    Returns
    -------
    ScoreInterval
        With ``value``, ``low`` and ``high``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import partial_auc_interval
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [400, 100])
    >>> score = rng.normal(size=500) + y
    >>> interval = partial_auc_interval(y, score, fpr_range=(0, 0.1), random_state=0)
    >>> interval.low < interval.value < interval.high
    True
    """
    alpha, beta = check_fpr_range(fpr_range)
    level = check_fraction(confidence, "confidence", low_open=True, high_open=True)
    n_draws = int(check_positive_number(n_resamples, "n_resamples", integer=True))
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label)
    if _is_normal(method, sample, beta - alpha):
        values, error = _placement_error([sample], alpha, beta)
        reach = float(norm.ppf((1 + level) / 2)) * error
        low, high = max(0.0, values[0] - reach), min(1.0, values[0] + reach)
        return ScoreInterval(values[0], low, high, level, 0)
    value, draws = _bootstrap([sample], alpha, beta, n_draws, random_state)
    low, high = np.quantile(draws[0], [(1 - level) / 2, (1 + level) / 2])
    return ScoreInterval(float(value[0]), float(low), float(high), level, n_draws)


def compare_partial_auc(
    y_true: ArrayLike,
    y_score_a: ArrayLike,
    y_score_b: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
    n_resamples: int = 1000,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> ScoreComparison:
    r"""``pAUC(a) - pAUC(b)`` on one test set, with a paired bootstrap interval and p-value.

    Both scorers see the same resamples, so what the rows have in common cancels. The two-sided
    p-value is ``2 min(P(d* <= 0), P(d* >= 0))``, counted with one extra resample on either side (so it
    is never 0), and 1 when the two scorers rank alike; by the normal approximation it is that of
    ``difference / standard error``.

    Parameters
    ----------
    y_true, fpr_range, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    y_score_a, y_score_b : array-like of shape (n_samples,)
        Scores of the two scorers on the same rows.
    confidence, n_resamples, method, random_state
        As in `partial_auc_interval`.

    Returns
    -------
    ScoreComparison
        With ``difference``, ``low``, ``high``, ``p_value`` and the two ``values``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import compare_partial_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [400, 100])
    >>> good, noise = rng.normal(size=500) + 2 * y, rng.normal(size=500)
    >>> compare_partial_auc(y, good, noise, fpr_range=(0, 0.1), random_state=0).p_value < 0.01
    True
    """
    alpha, beta = check_fpr_range(fpr_range)
    level = check_fraction(confidence, "confidence", low_open=True, high_open=True)
    n_draws = int(check_positive_number(n_resamples, "n_resamples", integer=True))
    samples = [
        RankingSample.from_arrays(y_true, score, sample_weight, qid, pos_label)
        for score in (y_score_a, y_score_b)
    ]
    if _is_normal(method, samples[0], beta - alpha):
        return _normal_comparison(samples, alpha, beta, level)
    value, draws = _bootstrap(samples, alpha, beta, n_draws, random_state)
    difference = draws[0] - draws[1]
    low, high = np.quantile(difference, [(1 - level) / 2, (1 + level) / 2])
    tail = min(np.sum(difference <= 0), np.sum(difference >= 0))
    return ScoreComparison(
        difference=float(value[0] - value[1]),
        low=float(low),
        high=float(high),
        p_value=float(min(1.0, 2 * (tail + 1) / (n_draws + 1))),
        values=(float(value[0]), float(value[1])),
        confidence=level,
        n_resamples=n_draws,
    )


def _normal_comparison(
    samples: list[RankingSample], alpha: float, beta: float, level: float
) -> ScoreComparison:
    values, error = _placement_error(samples, alpha, beta)
    difference = values[0] - values[1]
    reach = float(norm.ppf((1 + level) / 2)) * error
    p_value = 2 * float(norm.sf(abs(difference) / error)) if error > 0 else 1.0
    return ScoreComparison(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p_value=p_value,
        values=(values[0], values[1]),
        confidence=level,
        n_resamples=0,
    )


def _is_normal(method: str, sample: RankingSample, width: float) -> bool:
    """Whether the normal approximation is asked for, or good enough and much faster."""
    check_choice(method, "method", ("auto", "bootstrap", "normal"))
    if sample.query is not None:
        return False
    n_positives = int(sample.positive.sum())
    in_range = (sample.positive.size - n_positives) * width
    is_large = sample.positive.size >= _ROWS_FOR_NORMAL and min(n_positives, in_range) >= _FEWEST
    return method == "normal" or (method == "auto" and is_large)


def _placement_error(
    samples: list[RankingSample], alpha: float, beta: float
) -> tuple[list[float], float]:
    """Values, and the standard error of the first or of the difference of two."""
    ranks = RankWeights.from_range((alpha, beta))
    # Only the relations of weights matter here, since rows are what a resample draws.
    sample = Sample(samples[0].positive, samples[0].weights / samples[0].weights.mean())
    placed = [placements(sample, one.score, ranks) for one in samples]
    influence = placed[0].influence - (placed[1].influence if len(placed) > 1 else 0.0)
    values = [float(band_average(roc_curve(one), alpha, beta)) for one in samples]
    return values, standard_error(sample, influence, meaning="sampling")


def _bootstrap(
    samples: list[RankingSample], alpha: float, beta: float, n_resamples: int, random_state: Any
) -> tuple[FloatArray, FloatArray]:
    """Values of the scorers, and the same for ``n_resamples`` common resamples of the rows."""
    rng = check_random_state(random_state)
    if samples[0].query is not None:
        values = np.stack(
            [
                query_values(one, lambda query: float(band_average(roc_curve(query), alpha, beta)))
                for one in samples
            ]
        )
        chosen = rng.randint(values.shape[1], size=(n_resamples, values.shape[1]))
        return values.mean(axis=1), values[:, chosen].mean(axis=2)
    value = np.array([float(band_average(roc_curve(one), alpha, beta)) for one in samples])
    rows = [SortedRows.from_scores(one.score) for one in samples]
    draws = np.empty((len(samples), n_resamples))
    chunk = max(1, _CHUNK_ENTRIES // samples[0].score.size)
    for start in range(0, n_resamples, chunk):
        size = min(chunk, n_resamples - start)
        weight = _stratified_counts(samples[0].positive, size, rng.randint)
        if samples[0].weight is not None:
            weight *= samples[0].weight
        for index, one in enumerate(samples):
            curves = resampled_roc_curves(one, rows[index], weight)
            draws[index, start : start + size] = band_average(curves, alpha, beta)
    return value, draws


def _stratified_counts(
    positive: BoolArray, n_resamples: int, randint: Callable[..., Any]
) -> FloatArray:
    """How often each row is drawn, ``(n_resamples, n_rows)``, resample after resample."""
    counts = np.empty((n_resamples, positive.size))
    classes = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    for row in counts:
        for members in classes:
            row[members] = np.bincount(
                randint(members.size, size=members.size), minlength=members.size
            )
    return counts
