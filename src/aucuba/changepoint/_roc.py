"""ROC curve of predicted penalties against labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_choice, check_length, finite_scores
from aucuba.changepoint._label_errors import (
    ErrorTotals,
    LabelErrors,
    error_functions,
    widest_minimum,
)


@dataclass(frozen=True)
class PenaltyROC:
    """Label errors of predicted log penalties, and of all their common shifts.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve; it may loop if errors are not monotone in the penalty.
    shift : ndarray of shape (n_points - 1,)
        Constants, added to minus the log penalties, at which the point changes; increasing.
    auc : float
        Trapezoidal area under the curve; loops can carry it outside [0, 1].
    aum : float
        Area under the minimum of the numbers of false positives and false negatives.
    fp, fn : float
        Errors at the predictions themselves.
    best_fp, best_fn : float
        Errors at the best common shift.
    best_shift : (float, float)
        The widest interval of shifts with the fewest errors.
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


def penalty_roc(
    errors: Sequence[LabelErrors], log_penalty: ArrayLike, *, normalize: str = "reached"
) -> PenaltyROC:
    r"""Compute the ROC curve of predicted log penalties.

    .. math::
        \mathrm{FP}(c) = \sum_i \mathrm{FP}_i(-\log\lambda_i + c), \qquad
        \mathrm{FN}(c) = \sum_i \mathrm{FN}_i(-\log\lambda_i + c)

    Each constant c, added to all predictions of :math:`f = -\log\lambda`, gives one point.

    Parameters
    ----------
    errors : list of LabelErrors
    log_penalty : array-like of shape (n_sequences,)
    normalize : {"reached", "possible"}, default="reached"
        Divisor of the errors. "reached": the false positives at the smallest penalties and the false
        negatives at the largest, minus those that no penalty removes, so the curve runs from (0, 0) to
        (1, 1). "possible": the largest numbers that the labels allow, as in the R package
        penaltyLearning; false negatives that no penalty removes count, and the area is that of the
        polygon closed through (1, 1) and (1, 0).

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

    check_choice(normalize, "normalize", ("reached", "possible"))
    prediction = finite_scores(log_penalty, "log_penalty")
    check_length(prediction, len(errors), "log_penalty", "sequences")
    area = aum(error_functions(errors, rate=False), -prediction)
    here = [table.at(value) for table, value in zip(errors, prediction, strict=True)]
    shift, total_fp, total_fn = ErrorTotals.from_tables(errors).along(-prediction)
    low, high, row = widest_minimum(shift, total_fp + total_fn)
    curve: dict[str, Any] = {
        "fpr": area.fpr,
        "tpr": area.tpr,
        "shift": area.threshold,
        "auc": area.auc,
    }
    if normalize == "possible":
        possible_fp = sum(table.possible_fp for table in errors)
        possible_fn = sum(table.possible_fn for table in errors)
        fpr, tpr = total_fp / possible_fp, 1.0 - total_fn / possible_fn
        curve = {"fpr": fpr, "tpr": tpr, "shift": shift, "auc": _closed_area(fpr, tpr)}
    return PenaltyROC(
        **curve,
        aum=area.aum,
        fp=sum(fp for fp, _ in here),
        fn=sum(fn for _, fn in here),
        best_fp=float(total_fp[row]),
        best_fn=float(total_fn[row]),
        best_shift=(low, high),
        n_labels=float(sum(table.n_labels for table in errors)),
    )


def _closed_area(fpr: FloatArray, tpr: FloatArray) -> float:
    """Compute the area of the polygon through the points, (1, 1), (1, 0) and (0, 0)."""
    x, y = np.r_[0.0, fpr, 1.0, 1.0], np.r_[0.0, tpr, 1.0, 0.0]
    return float(np.sum((np.roll(x, -1) - x) * (np.roll(y, -1) + y)) / 2)
