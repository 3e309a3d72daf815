"""The numbers of a report: curve with intervals, metrics of the region, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._typing import AnyArray, FloatArray, IntArray
from aucuba._validation import ranking_sample
from aucuba.metrics import (
    ScoreComparison,
    ScoreInterval,
    compare_partial_auc,
    partial_auc_interval,
)
from aucuba.metrics._roc import RocCurve, roc_curve

# 97.5 % quantile of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True)
class ScoredSample:
    """Labels in {0, 1} with the scores of a model, and those of a baseline on the same rows."""

    y: IntArray
    score: FloatArray
    baseline: FloatArray | None = None
    weight: FloatArray | None = None
    group: IntArray | None = None

    def curve(self, score: FloatArray | None = None) -> RocCurve:
        """The ROC curve of all rows together."""
        score = self.score if score is None else score
        return roc_curve(ranking_sample(self.y, score, self.weight, None, 1))

    def class_weight(self, label: int) -> FloatArray:
        """Weights of the rows of one class."""
        rows = self.y == label
        return np.ones(int(rows.sum())) if self.weight is None else self.weight[rows]


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
            "qid": sample.group,
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
    >>> from aucuba.report.measures import wilson_interval
    >>> low, high = wilson_interval(np.array([0.5]), np.ones(100))
    >>> print(f"{low[0]:.3f} {high[0]:.3f}")
    0.404 0.596
    """
    n = float(weight.sum() ** 2 / np.sum(weight**2))
    p = np.asarray(rate, dtype=float)
    middle = p + _Z**2 / (2 * n)
    half = _Z * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    size = 1 + _Z**2 / n
    return np.clip((middle - half) / size, 0, 1), np.clip((middle + half) / size, 0, 1)


def operating_point(sample: ScoredSample, curve: RocCurve, fpr: float) -> Operating:
    """The lowest threshold whose false positive rate stays at or below ``fpr``."""
    vertex = int(np.searchsorted(curve.fpr, fpr * (1 + 1e-12), side="right")) - 1
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
