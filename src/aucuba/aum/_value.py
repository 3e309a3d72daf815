"""Area under the minimum of the errors, its directional derivatives and the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.aum._error_functions import ErrorFunctions


@dataclass(frozen=True)
class AreaUnderMin:
    """AUM at one vector of predictions, with everything that one sort of the thresholds gives.

    Attributes
    ----------
    aum : float
        Area under min(FP, FN).
    left, right : ndarray of shape (n_examples,)
        Directional derivatives of AUM in each prediction: ``right[i]`` is the rate of change as
        prediction ``i`` grows, ``-left[i]`` as it shrinks. They differ only where thresholds tie.
    fpr, tpr : ndarray of shape (n_points,)
        The ROC points, from (0, 0) to (1, 1), one between each two neighbouring thresholds.
    threshold : ndarray of shape (n_points - 1,)
        Constants added to the predictions at which the ROC point changes, increasing.
    auc : float
        Area under the ROC curve, ties as diagonals. Outside [0, 1] when the errors are not monotone
        and the curve has loops.
    """

    aum: float
    left: FloatArray
    right: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    threshold: FloatArray
    auc: float

    @property
    def gradient(self) -> FloatArray:
        """Mean of the left and right derivatives: the descent direction is its negative."""
        mean: FloatArray = (self.left + self.right) / 2
        return mean


@dataclass(frozen=True)
class ErrorCurves:
    """Total FP and FN before and after each block of equal thresholds, by one sort."""

    threshold: FloatArray
    fp: FloatArray
    fn: FloatArray
    block: IntArray

    @classmethod
    def from_thresholds(
        cls, threshold: FloatArray, fp_diff: FloatArray, fn_diff: FloatArray, reach: float = 0.0
    ) -> ErrorCurves:
        """Sort the thresholds; neighbours closer than ``reach`` are tied."""
        order = np.argsort(threshold)
        ranked = threshold[order]
        new = np.r_[True, np.diff(ranked) > reach]
        start = np.flatnonzero(new)
        fp = np.cumsum(np.add.reduceat(fp_diff[order], start))
        fn_gone = np.cumsum(np.add.reduceat(fn_diff[order], start))
        block = np.empty(order.size, dtype=np.intp)
        block[order] = np.cumsum(new) - 1
        fn = fn_gone - fn_gone[-1]
        return cls(ranked[start], np.r_[0.0, fp], np.r_[-fn_gone[-1], fn], block)

    @property
    def aum(self) -> float:
        return float(np.diff(self.threshold) @ np.minimum(self.fp, self.fn)[1:-1])

    @property
    def auc(self) -> float:
        """Trapezoids under (FP, TP), in units of the totals."""
        height = 1.0 - (self.fn[:-1] + self.fn[1:]) / (2 * self.fn[0])
        return float(np.diff(self.fp) @ height / self.fp[-1])


def aum(errors: ErrorFunctions, predictions: ArrayLike) -> AreaUnderMin:
    r"""Compute the area under the minimum of false positives and false negatives.

    .. math::
        \mathrm{AUM}(\hat y) = \int_{-\infty}^\infty \min\Big\{\sum_i \mathrm{FP}_i(\hat y_i + c),\;
        \sum_i \mathrm{FN}_i(\hat y_i + c)\Big\}\, dc

    One sort of the thresholds ``v_b - prediction``, O(B log B). AUM is piecewise linear; where
    thresholds tie its left and right derivatives differ, and both are given. Moving prediction
    ``i`` up by ``h`` moves its breakpoints down by ``h``: between them and the rest of their tie
    the errors are those before the tie plus the steps of ``i`` alone.

    Parameters
    ----------
    errors : ErrorFunctions
    predictions : array-like of shape (n_examples,)

    Returns
    -------
    AreaUnderMin

    Examples
    --------
    >>> from aucuba.aum import ErrorFunctions, aum
    >>> errors = ErrorFunctions.from_labels([0, 1])
    >>> result = aum(errors, [3.0, 1.0])
    >>> result.aum, result.auc
    (2.0, 0.0)
    >>> result.gradient
    array([ 1., -1.])
    """
    return area_under_min(errors, errors.check_predictions(predictions))


def area_under_min(errors: ErrorFunctions, values: FloatArray) -> AreaUnderMin:
    """Compute `aum` of predictions that are already validated."""
    curves = ErrorCurves.from_thresholds(errors.thresholds(values), errors.fp_diff, errors.fn_diff)
    minimum = np.minimum(curves.fp, curves.fn)
    before, after = curves.block, curves.block + 1
    alone_first = np.minimum(curves.fp[before] + errors.fp_diff, curves.fn[before] + errors.fn_diff)
    alone_last = np.minimum(curves.fp[after] - errors.fp_diff, curves.fn[after] - errors.fn_diff)
    return AreaUnderMin(
        aum=curves.aum,
        left=_sum_by_example(errors, minimum[after] - alone_last),
        right=_sum_by_example(errors, alone_first - minimum[before]),
        fpr=curves.fp / curves.fp[-1],
        tpr=1.0 - curves.fn / curves.fn[0],
        threshold=curves.threshold,
        auc=curves.auc,
    )


def _sum_by_example(errors: ErrorFunctions, amount: FloatArray) -> FloatArray:
    total = np.zeros(errors.n_examples)
    np.add.at(total, errors.example, amount)
    return total


def balanced_subgradient(
    errors: ErrorFunctions, predictions: FloatArray, reach: float = 0.0
) -> FloatArray:
    r"""Compute a subgradient of AUM in the predictions that treats tied examples alike.

    For monotone errors, with ``t`` the threshold where FP overtakes FN, negatives below ``t`` get
    :math:`\Delta\mathrm{FP}`, positives above it :math:`\Delta\mathrm{FN}`, and those within
    ``reach`` of it the mix :math:`\theta\Delta\mathrm{FP} + (1 - \theta)\Delta\mathrm{FN}`
    that makes the sum zero, because AUM does not change when all predictions shift. If more than two
    examples tie, the mean of the left and right derivatives has neither property: it is not a
    subgradient, and copies of a row would not count like its weight. Errors that are not monotone
    have no subgradient and get that mean.

    Parameters
    ----------
    errors : ErrorFunctions
    predictions : ndarray of shape (n_examples,)
    reach : float, default=0.0
        Thresholds this close to ``t`` are tied with it.
    """
    if not errors.is_monotone:
        return area_under_min(errors, predictions).gradient
    threshold = errors.thresholds(predictions)
    order = np.argsort(threshold)
    passed = np.cumsum((errors.fp_diff - errors.fn_diff)[order])
    middle = threshold[order[np.searchsorted(passed, errors.total_fn * (1 - 1e-12))]]
    below, above = threshold < middle - reach, threshold > middle + reach
    tied = ~(below | above)
    fp_tied, fn_tied = errors.fp_diff[tied].sum(), -errors.fn_diff[tied].sum()
    lacking = fn_tied - errors.fn_diff[above].sum() - errors.fp_diff[below].sum()
    mix = np.clip(lacking / (fp_tied + fn_tied), 0.0, 1.0)
    amount = np.where(below, errors.fp_diff, np.where(above, errors.fn_diff, 0.0))
    amount[tied] = mix * errors.fp_diff[tied] + (1 - mix) * errors.fn_diff[tied]
    return _sum_by_example(errors, amount)
