"""ROC curve of predicted penalties against labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._core._validation import finite_scores
from aucuba.changepoint._label_errors import LabelErrors, error_functions


@dataclass(frozen=True)
class PenaltyROC:
    """Label errors of predicted log penalties, and of all their common shifts.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve; it may loop where errors are not monotone in the penalty.
    shift : ndarray of shape (n_points - 1,)
        Constants, added to minus the log penalties, at which the point changes; increasing.
    auc : float
        Trapezoids under the curve; loops can carry it outside [0, 1].
    aum : float
        Area under the minimum of the numbers of false positives and false negatives.
    fp, fn : float
        Errors at the predictions themselves.
    best_fp, best_fn : float
        Errors at the best common shift.
    best_shift : (float, float)
        Interval of shifts with the fewest errors, the widest one.
    n_labels : float
        Weight of all labels.
    """

    fpr: FloatArray
    tpr: FloatArray
    shift: FloatArray
    auc: float
    aum: float
    fp: float
    fn: float
    best_fp: float
    best_fn: float
    best_shift: tuple[float, float]
    n_labels: float

    @property
    def errors(self) -> float:
        """Label errors of the predictions."""
        return self.fp + self.fn


def penalty_roc(errors: Sequence[LabelErrors], log_penalty: ArrayLike) -> PenaltyROC:
    r"""ROC curve of predicted log penalties.

    .. math::
        \mathrm{FP}(c) = \sum_i \mathrm{FP}_i(-\log\lambda_i + c), \qquad
        \mathrm{FN}(c) = \sum_i \mathrm{FN}_i(-\log\lambda_i + c)

    Each constant c, added to all predictions of :math:`f = -\log\lambda`, gives one point.

    Parameters
    ----------
    errors : list of LabelErrors
    log_penalty : array-like of shape (n_sequences,)

    Returns
    -------
    PenaltyROC

    Examples
    --------
    >>> from aucuba.changepoint import Label, label_errors, penalty_roc, segment
    >>> flat = label_errors(segment([0, 1, 0, 1, 0, 1], 4), [Label(0, 5, "none")])
    >>> step = label_errors(segment([0, 0, 0, 9, 9, 9], 4), [Label(1, 4, "one")])
    >>> roc = penalty_roc([flat, step], [2.0, 2.0])
    >>> roc.auc, roc.errors
    (1.0, 0.0)
    """
    from aucuba.aum import aum

    prediction = finite_scores(log_penalty, "log_penalty")
    if prediction.size != len(errors):
        raise ValueError(f"log_penalty has {prediction.size} entries for {len(errors)} sequences.")
    area = aum(error_functions(errors, rate=False), -prediction)
    here = [table.at(value) for table, value in zip(errors, prediction, strict=True)]
    shift, total_fp, total_fn = total_errors(errors, -prediction)
    low, high, row = _widest_minimum(shift, total_fp + total_fn)
    return PenaltyROC(
        fpr=area.fpr,
        tpr=area.tpr,
        shift=area.threshold,
        auc=area.auc,
        aum=area.aum,
        fp=sum(fp for fp, _ in here),
        fn=sum(fn for _, fn in here),
        best_fp=float(total_fp[row]),
        best_fn=float(total_fn[row]),
        best_shift=(low, high),
        n_labels=float(sum(table.n_labels for table in errors)),
    )


def total_errors(
    errors: Sequence[LabelErrors], f: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """True label errors of all sequences between the shifts at which they change.

    Returns the increasing shifts, and the totals before, between and after them (one entry more).
    """
    at = np.concatenate(
        [-table.max_log_penalty[:-1] - value for table, value in zip(errors, f, strict=True)]
    )
    jumps = [
        -np.concatenate([np.diff(getattr(table, kind)) for table in errors])
        for kind in ("fp", "fn")
    ]
    moves = np.flatnonzero((jumps[0] != 0) | (jumps[1] != 0))
    order = moves[np.argsort(at[moves], kind="stable")]
    shift, start = np.unique(at[order], return_index=True)
    totals = []
    for kind, jump in zip(("fp", "fn"), jumps, strict=True):
        first = sum(float(getattr(table, kind)[-1]) for table in errors)
        steps = np.add.reduceat(jump[order], start) if shift.size else np.empty(0)
        totals.append(first + np.concatenate([[0.0], np.cumsum(steps)]))
    return shift, totals[0], totals[1]


def best_shift(errors: Sequence[LabelErrors], f: FloatArray) -> float:
    """The constant that makes the fewest label errors: the middle of the widest such interval.

    An interval that is unbounded on one side gives a point one unit inside its end.
    """
    shift, fp, fn = total_errors(errors, f)
    low, high, _ = _widest_minimum(shift, fp + fn)
    if np.isfinite(low) and np.isfinite(high):
        return (low + high) / 2
    if np.isfinite(low):
        return low + 1.0
    return high - 1.0 if np.isfinite(high) else 0.0


def _widest_minimum(shift: FloatArray, total: FloatArray) -> tuple[float, float, int]:
    edges = np.concatenate([[-np.inf], shift, [np.inf]])
    # Weighted labels add up with rounding.
    best = total <= total.min() + 1e-9 * max(1.0, float(total.max()))
    change = np.diff(np.concatenate([[False], best, [False]]).astype(np.int8))
    first, end = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    widest = int(np.argmax(edges[end] - edges[first]))
    return float(edges[first[widest]]), float(edges[end[widest]]), int(first[widest])
