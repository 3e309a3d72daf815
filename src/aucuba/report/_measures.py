"""The numbers of a report: curve with intervals, metrics of the region, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._core._typing import AnyArray, ArrayLike, FloatArray, IntArray
from aucuba._core._validation import (
    binary_target,
    finite_scores,
    query_index,
    row_weights,
)
from aucuba._roc._curve import RocCurve, roc_curve
from aucuba._roc._sample import RankingSample, Sample
from aucuba._roc._standard_error import effective_rows
from aucuba._roc._threshold import count_within
from aucuba.metrics import (
    ScoreComparison,
    ScoreInterval,
    compare_partial_auc,
    partial_auc_interval,
)

# 97.5 % quantile of the normal distribution.
_Z = 1.959963984540054


class ScoredSample:
    """Labels with the scores of a model, and those of a baseline on the same rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Two labels, of which the larger in sorted order is positive unless ``pos_label`` says otherwise.
    score : array-like of shape (n_rows,)
        Finite scores that grow towards the positive class.
    baseline : array-like of shape (n_rows,), default=None
        Scores of another model.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight k counts as k equal rows.
    qid : array-like of shape (n_rows,), default=None
        Query of each row.
    pos_label : label, default=None
        The positive class.

    Attributes
    ----------
    rows : Sample
        Class, weight and query of every row.
    labels : (str, str)
        The negative and the positive label, as given.

    Examples
    --------
    >>> from aucuba.report import ScoredSample
    >>> sample = ScoredSample(["ill", "well", "ill"], [0.3, 0.9, -1])
    >>> sample.rows.positive, sample.labels
    (array([False,  True, False]), ('ill', 'well'))
    """

    def __init__(
        self,
        y: ArrayLike,
        score: ArrayLike,
        baseline: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        given = _column(y, "y")
        positive, n_rows = binary_target(given, pos_label), given.size
        self.rows = Sample(positive, row_weights(sample_weight, n_rows), query_index(qid, n_rows))
        self.score = _scores(score, "score", n_rows)
        self.baseline = None if baseline is None else _scores(baseline, "baseline", n_rows)
        self.labels = (str(given[~positive][0]), str(given[positive][0]))

    def curve(self, score: FloatArray | None = None) -> RocCurve:
        """Compute the ROC curve of all rows together."""
        score = self.score if score is None else score
        return roc_curve(RankingSample.from_arrays(self.rows.positive, score, self.weight))

    @property
    def y(self) -> IntArray:
        """Labels as 0 and 1."""
        return self.rows.positive.astype(np.intp)

    @property
    def weight(self) -> FloatArray | None:
        return self.rows.weight

    @property
    def query(self) -> IntArray | None:
        return self.rows.query

    def class_weight(self, label: int) -> FloatArray:
        """Weights of the rows of one class."""
        return self.rows.weights[self.rows.positive == bool(label)]


def _column(values: ArrayLike, name: str) -> AnyArray:
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"{name} must have one entry per row, got shape {column.shape}. Of probabilities take the "
            "column of the positive class."
        )
    return column


def _scores(values: ArrayLike, name: str, n_rows: int) -> FloatArray:
    score = finite_scores(_column(values, name), name)
    if score.size != n_rows:
        raise ValueError(f"{name} has {score.size} entries for {n_rows} rows.")
    return score


@dataclass(frozen=True)
class RegionMeasure:
    """One measure with its interval, and the same of the baseline, paired."""

    name: str
    interval: ScoreInterval
    comparison: ScoreComparison | None


@dataclass(frozen=True)
class Operating:
    """What happens at the threshold of a vertex of the curve."""

    threshold: float
    fpr: float
    tpr: float
    fpr_interval: tuple[float, float]
    tpr_interval: tuple[float, float]
    flagged: float
    precision: float


def region_measures(
    sample: ScoredSample, fpr_range: tuple[float, float], random_state: Any
) -> list[RegionMeasure]:
    """Partial AUC in the range and AUC, with bootstrap intervals, against the baseline."""
    measures = []
    named = {f"pAUC[{fpr_range[0]:g}, {fpr_range[1]:g}]": fpr_range, "AUC": (0.0, 1.0)}
    for name, region in named.items():
        options: dict[str, Any] = {
            "fpr_range": region,
            "sample_weight": sample.weight,
            "qid": sample.query,
            "pos_label": 1,
            "random_state": random_state,
        }
        interval = partial_auc_interval(sample.y, sample.score, **options)
        comparison = None
        if sample.baseline is not None:
            comparison = compare_partial_auc(sample.y, sample.score, sample.baseline, **options)
        measures.append(RegionMeasure(name, interval, comparison))
    return measures


def wilson_interval(rate: AnyArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""95 % score interval of a rate.

    .. math::
        \frac{p + z^2/2n \pm z \sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    with n the effective number of rows, ``sum(w)^2 / sum(w^2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.report._measures import wilson_interval
    >>> low, high = wilson_interval(np.array([0.5]), np.ones(100))
    >>> print(f"{low[0]:.3f} {high[0]:.3f}")
    0.404 0.596
    """
    n = effective_rows(weight)
    p = np.asarray(rate, dtype=float)
    middle = p + _Z**2 / (2 * n)
    half = _Z * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    size = 1 + _Z**2 / n
    return np.clip((middle - half) / size, 0, 1), np.clip((middle + half) / size, 0, 1)


def operating_point(sample: ScoredSample, curve: RocCurve, fpr: float) -> Operating:
    """The lowest threshold whose false positive rate stays at or below ``fpr``."""
    vertex = count_within(curve.fpr, fpr, sample.rows.n_rows) - 1
    rates = curve.fpr[vertex], curve.tpr[vertex]
    flagged = float(curve.false_positive[vertex] + curve.true_positive[vertex])
    intervals = [
        tuple(float(edge) for edge in wilson_interval(rate, sample.class_weight(label)))
        for label, rate in enumerate(rates)
    ]
    return Operating(
        threshold=float(curve.threshold[vertex - 1]) if vertex else np.inf,
        fpr=float(rates[0]),
        tpr=float(rates[1]),
        fpr_interval=(intervals[0][0], intervals[0][1]),
        tpr_interval=(intervals[1][0], intervals[1][1]),
        flagged=flagged,
        precision=float(curve.true_positive[vertex]) / flagged if flagged else np.nan,
    )
