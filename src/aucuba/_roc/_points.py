"""Points of a ROC curve, and what a threshold there flags: one function per question.

All functions take the curve of one query. Rows at or above a threshold are flagged. A block of equal
scores is a straight piece of the curve; where a cut falls inside it, its rows are spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._roc._curve import RocCurve, tpr_at
from aucuba._roc._threshold import count_within


def n_ranked(curve: RocCurve) -> FloatArray:
    """Return the weight of the rows ranked at or above each vertex, from 0 to the total."""
    ranked: FloatArray = curve.false_positive + curve.true_positive
    return ranked


def precision_of(curve: RocCurve) -> FloatArray:
    """Precision at every vertex; nan at the first, where nothing is flagged."""
    flagged = n_ranked(curve)
    precision = curve.true_positive / np.where(flagged > 0, flagged, 1.0)
    return np.where(flagged > 0, precision, np.nan)


def vertex_within_fpr(curve: RocCurve, fpr: float, n_rows: int) -> int:
    """Return the last vertex whose false positive rate is at or below a limit."""
    return count_within(curve.fpr, fpr, n_rows) - 1


def vertex_reaching_tpr(curve: RocCurve, tpr: float, n_rows: int) -> int:
    """Return the first vertex whose true positive rate is at or above a limit."""
    missed = (1.0 - curve.tpr)[::-1]
    slack = (n_rows + 8) * np.finfo(np.float64).eps
    return int(missed.size - np.searchsorted(missed, 1.0 - tpr + slack, side="right"))


def tpr_within_fpr(curve: RocCurve, fpr: float, n_rows: int, attainable: bool) -> float:
    """Return the highest TPR at a false positive rate, on the curve or at one of its vertices."""
    if not attainable:
        return tpr_at(curve, fpr, n_rows)
    return float(curve.tpr[vertex_within_fpr(curve, fpr, n_rows)])


def fpr_reaching_tpr(curve: RocCurve, tpr: float, n_rows: int, attainable: bool) -> float:
    """Return the lowest FPR at a true positive rate, on the curve or at one of its vertices."""
    x, y = curve.fpr, curve.tpr
    first = vertex_reaching_tpr(curve, tpr, n_rows)
    if attainable or first == 0:
        return float(x[first])
    along = min(1.0, max(0.0, (tpr - y[first - 1]) / (y[first] - y[first - 1])))
    return float(x[first - 1] + along * (x[first] - x[first - 1]))


def equal_error_rate(curve: RocCurve) -> float:
    """Find where the curve meets ``FPR = 1 - TPR``."""
    x, y = curve.fpr, curve.tpr
    last = int(np.searchsorted(x + y, 1.0, side="left"))
    before, after = x[last - 1] + y[last - 1], x[last] + y[last]
    along = (1.0 - before) / (after - before)
    return float(x[last - 1] + along * (x[last] - x[last - 1]))


def best_precision(curve: RocCurve, recall: float, n_rows: int) -> float:
    """Return the highest precision of a threshold whose recall is at or above a limit."""
    first = max(1, vertex_reaching_tpr(curve, recall, n_rows))
    return float(precision_of(curve)[first:].max())


def vertex_of_precision(curve: RocCurve, precision: float, n_rows: int) -> int:
    """Return the last vertex whose precision is at or above a limit; 0 if there is none."""
    slack = (n_rows + 8) * np.finfo(np.float64).eps
    precise = np.flatnonzero(precision_of(curve)[1:] >= precision * (1 - slack))
    return int(precise[-1]) + 1 if precise.size else 0


def vertex_flagging(curve: RocCurve, weight: float, n_rows: int) -> int:
    """Return the last vertex at which no more than a weight of rows is flagged."""
    flagged = n_ranked(curve)
    return count_within(flagged / flagged[-1], weight / flagged[-1], n_rows) - 1


def vertex_of_threshold(curve: RocCurve, threshold: float) -> int:
    """Return the vertex at which the rows with a score at or above a threshold are flagged."""
    return int(np.searchsorted(-curve.threshold, -threshold, side="right"))


def _rate_of(flagged: str, among: str) -> Callable[[RocCurve, int], tuple[float, float]]:
    """Return a rate at a vertex as (rows that count, rows in all)."""

    def counts(curve: RocCurve, vertex: int) -> tuple[float, float]:
        tp, fp = float(curve.true_positive[vertex]), float(curve.false_positive[vertex])
        p, n = float(curve.true_positive[-1]), float(curve.false_positive[-1])
        known = {"tp": tp, "fp": fp, "fn": p - tp, "tn": n - fp}
        return sum(known[k] for k in flagged.split()), sum(known[k] for k in among.split())

    return counts


# Rates at a threshold, by the names of `Rates`.
RATES = {
    "tpr": _rate_of("tp", "tp fn"),
    "fpr": _rate_of("fp", "fp tn"),
    "specificity": _rate_of("tn", "fp tn"),
    "precision": _rate_of("tp", "tp fp"),
    "npv": _rate_of("tn", "tn fn"),
    "alert_rate": _rate_of("tp fp", "tp fp tn fn"),
}


def hits_in_top(curve: RocCurve, weight: float) -> float:
    """Return the weight of the positives among the highest rows of a total weight."""
    return float(np.interp(weight, n_ranked(curve), curve.true_positive))


def enrichment(curve: RocCurve, fraction: float) -> float:
    """Rate of positives in the top fraction of all rows, relative to that of all rows."""
    total = n_ranked(curve)[-1]
    return hits_in_top(curve, fraction * total) / float(fraction * curve.true_positive[-1])


def initial_enhancement(curve: RocCurve, alpha: float) -> float:
    """Robust initial enhancement: mean of ``exp(-alpha u)`` over the positives, relative to chance."""
    place = n_ranked(curve) / n_ranked(curve)[-1]
    decay = -np.diff(np.exp(-alpha * place))
    mass = np.diff(place)
    of_block = np.diff(curve.true_positive) / curve.true_positive[-1]
    mean_decay = decay / np.where(mass > 0, mass, 1.0)
    return float(of_block @ mean_decay / -np.expm1(-alpha))


def enhancement_limits(prevalence: float, alpha: float) -> tuple[float, float]:
    """Least and greatest robust initial enhancement at a prevalence: positives last, or first."""
    norm = prevalence * -np.expm1(-alpha)
    most = -np.expm1(-alpha * prevalence) / norm
    least = np.exp(-alpha * (1 - prevalence)) * -np.expm1(-alpha * prevalence) / norm
    return float(least), float(most)


def bedroc(curve: RocCurve, alpha: float) -> float:
    """Robust initial enhancement on a scale from 0 (positives last) to 1 (positives first)."""
    prevalence = float(curve.true_positive[-1] / n_ranked(curve)[-1])
    least, most = enhancement_limits(prevalence, alpha)
    value = (initial_enhancement(curve, alpha) - least) / (most - least)
    return float(np.clip(value, 0.0, 1.0))
