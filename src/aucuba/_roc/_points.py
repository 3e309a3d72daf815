"""Points of a ROC curve, and what a threshold there flags: one function per question.

All functions take the curve of one query, or of many resamples of it along leading axes, and return a
value per curve. Rows at or above a threshold are flagged. A block of equal scores is a straight piece
of the curve; where a cut falls inside it, its rows are spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, at_vertex, tpr_at
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


def vertex_within_fpr(curve: RocCurve, fpr: float, n_rows: int) -> Any:
    """Return the last vertex whose false positive rate is at or below a limit."""
    return count_within(curve.fpr, fpr, n_rows) - 1


def vertex_reaching_tpr(curve: RocCurve, tpr: float, n_rows: int) -> Any:
    """Return the first vertex whose true positive rate is at or above a limit."""
    slack = (n_rows + 8) * np.finfo(np.float64).eps
    return np.count_nonzero(1.0 - curve.tpr > 1.0 - tpr + slack, axis=-1)


def tpr_within_fpr(curve: RocCurve, fpr: float, n_rows: int, attainable: bool) -> FloatArray:
    """Return the highest TPR at a false positive rate, on the curve or at one of its vertices."""
    if not attainable:
        return tpr_at(curve, fpr, n_rows)
    return at_vertex(curve.tpr, vertex_within_fpr(curve, fpr, n_rows))


def fpr_reaching_tpr(curve: RocCurve, tpr: float, n_rows: int, attainable: bool) -> FloatArray:
    """Return the lowest FPR at a true positive rate, on the curve or at one of its vertices."""
    x, y = curve.fpr, curve.tpr
    first = vertex_reaching_tpr(curve, tpr, n_rows)
    if attainable:
        return at_vertex(x, first)
    before = np.maximum(first - 1, 0)
    x0, y0, x1, y1 = (at_vertex(z, i) for i in (before, first) for z in (x, y))
    along = np.clip((tpr - y0) / np.where(y1 > y0, y1 - y0, 1.0), 0.0, 1.0)
    return x0 + along * (x1 - x0)


def equal_error_rate(curve: RocCurve) -> FloatArray:
    """Find where the curve meets ``FPR = 1 - TPR``."""
    x, reached = curve.fpr, curve.fpr + curve.tpr
    last = np.count_nonzero(reached < 1.0, axis=-1)
    before, after = at_vertex(reached, last - 1), at_vertex(reached, last)
    x0, x1 = at_vertex(x, last - 1), at_vertex(x, last)
    return x0 + (1.0 - before) / (after - before) * (x1 - x0)


def best_precision(curve: RocCurve, recall: float, n_rows: int) -> FloatArray:
    """Return the highest precision of a threshold whose recall is at or above a limit."""
    first = np.asarray(vertex_reaching_tpr(curve, recall, n_rows))[..., np.newaxis]
    # Where nothing is flagged there is no precision.
    counts = (np.arange(curve.tpr.shape[-1]) >= first) & (n_ranked(curve) > 0)
    return np.asarray(np.max(np.where(counts, precision_of(curve), 0.0), axis=-1))


def vertex_of_precision(curve: RocCurve, precision: float, n_rows: int) -> Any:
    """Return the last vertex whose precision is at or above a limit; 0 if there is none."""
    slack = (n_rows + 8) * np.finfo(np.float64).eps
    precise = precision_of(curve) >= precision * (1 - slack)
    last = precise.shape[-1] - 1 - np.argmax(precise[..., ::-1], axis=-1)
    return np.where(precise.any(axis=-1), last, 0)


def precision_on_curve(curve: RocCurve, recall: float, n_rows: int) -> FloatArray:
    """Return the precision at a recall, on the straight pieces of the curve too."""
    hits = recall * curve.true_positive[..., -1]
    alarms = fpr_reaching_tpr(curve, recall, n_rows, False) * curve.false_positive[..., -1]
    return np.asarray(hits / (hits + alarms))


def recall_on_curve(curve: RocCurve, precision: float, n_rows: int) -> FloatArray:
    """Return the highest recall at a precision, on the straight pieces of the curve too."""
    tp, fp = curve.true_positive, curve.false_positive
    last = vertex_of_precision(curve, precision, n_rows)
    after = np.minimum(last + 1, tp.shape[-1] - 1)
    tp0, fp0, tp1, fp1 = (at_vertex(z, i) for i in (last, after) for z in (tp, fp))
    # Hits beyond those that the precision asks for: positive at the last vertex, then negative.
    spare, loss = (1 - precision) * tp0 - precision * fp0, precision * (fp1 - fp0)
    loss -= (1 - precision) * (tp1 - tp0)
    along = np.clip(spare / np.where(loss > 0, loss, np.inf), 0.0, 1.0)
    return np.asarray((tp0 + along * (tp1 - tp0)) / tp[..., -1])


def vertex_flagging(curve: RocCurve, weight: float, n_rows: int) -> Any:
    """Return the last vertex at which no more than a weight of rows is flagged."""
    flagged = n_ranked(curve)
    return count_within(flagged / flagged[..., -1:], weight / flagged[..., -1], n_rows) - 1


def vertex_of_threshold(curve: RocCurve, threshold: float) -> Any:
    """Return the vertex at which the rows with a score at or above a threshold are flagged."""
    return np.count_nonzero(curve.threshold >= threshold, axis=-1)


def _rate_of(flagged: str, among: str) -> Callable[[RocCurve, Any], tuple[Any, Any]]:
    """Return a rate at a vertex as (rows that count, rows in all)."""

    def counts(curve: RocCurve, vertex: Any) -> tuple[Any, Any]:
        tp, fp = (at_vertex(one, vertex) for one in (curve.true_positive, curve.false_positive))
        p, n = curve.true_positive[..., -1], curve.false_positive[..., -1]
        known = {"tp": tp, "fp": fp, "fn": p - tp, "tn": n - fp}
        return sum(known[k] for k in flagged.split()), sum(known[k] for k in among.split())

    return counts


# Rates at a threshold, by the names of `Rates`: the rows that count, and the rows in all.
COUNTED_IN_RATES = {
    "tpr": ("tp", "tp fn"),
    "fpr": ("fp", "fp tn"),
    "specificity": ("tn", "fp tn"),
    "precision": ("tp", "tp fp"),
    "npv": ("tn", "tn fn"),
    "alert_rate": ("tp fp", "tp fp tn fn"),
}
RATES = {name: _rate_of(*counted) for name, counted in COUNTED_IN_RATES.items()}


def hits_in_top(curve: RocCurve, weight: float | FloatArray) -> FloatArray:
    """Return the weight of the positives among the highest rows of a total weight."""
    ranked, hits = n_ranked(curve), curve.true_positive
    within = np.count_nonzero(ranked <= np.asarray(weight)[..., np.newaxis], axis=-1)
    right = np.minimum(within, ranked.shape[-1] - 1)
    x0, y0, x1, y1 = (at_vertex(z, i) for i in (right - 1, right) for z in (ranked, hits))
    along = np.clip((weight - x0) / np.where(x1 > x0, x1 - x0, 1.0), 0.0, 1.0)
    return y0 + along * (y1 - y0)


def enrichment(curve: RocCurve, fraction: float) -> FloatArray:
    """Rate of positives in the top fraction of all rows, relative to that of all rows."""
    total = n_ranked(curve)[..., -1]
    return hits_in_top(curve, fraction * total) / (fraction * curve.true_positive[..., -1])
