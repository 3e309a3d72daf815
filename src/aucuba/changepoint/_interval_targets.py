"""Interval targets: checks, losses and the ROC curve of interval predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils import assert_all_finite, column_or_1d

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray


def check_intervals(y: Any, n_rows: int) -> FloatArray:
    """Limits of shape (n_rows, 2): ``lower <= upper``, -inf and inf allowed; 1-D y gives width 0."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    limits = np.asarray(y)
    if limits.ndim == 2 and limits.shape[1] == 2:
        limits = limits.astype(np.float64)
        if np.isnan(limits).any():
            raise ValueError("Input y contains NaN; write -inf or inf for a limit that is unknown.")
        bad = ~(limits[:, 0] <= limits[:, 1]) | (limits[:, 0] == np.inf) | (limits[:, 1] == -np.inf)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"Every interval in y needs lower <= upper, got {limits[row].tolist()} in row {row}."
            )
    else:
        value = column_or_1d(y, warn=True)
        if value.dtype.kind not in "fiub":
            value = value.astype(np.float64)
        assert_all_finite(value, input_name="y")
        limits = np.column_stack([value, value]).astype(np.float64)
    if limits.shape[0] != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(limits)]}."
        )
    return limits


def informative(limits: FloatArray) -> BoolArray:
    """Rows with at least one finite limit; the others say nothing."""
    return np.asarray(np.isfinite(limits).any(axis=1))


def squared_hinge(
    prediction: FloatArray, limits: FloatArray, margin: float
) -> tuple[FloatArray, FloatArray]:
    """Violations ``(margin - (p - lower))_+`` and ``(margin - (upper - p))_+`` of each row."""
    below = np.maximum(margin - (prediction - limits[:, 0]), 0.0)
    above = np.maximum(margin - (limits[:, 1] - prediction), 0.0)
    return below, above


def interval_loss(
    prediction: FloatArray,
    limits: FloatArray,
    margin: float = 1.0,
    weight: FloatArray | None = None,
) -> float:
    """Weighted mean of the squared hinge losses of both limits."""
    below, above = squared_hinge(prediction, limits, margin)
    return float(np.average(below**2 + above**2, weights=weight))


def interval_auc(
    prediction: ArrayLike, limits: FloatArray, weight: FloatArray | None = None
) -> float:
    """Area under the ROC curve of predicted log penalties against target intervals.

    Adding a constant to all predictions, a row is a false positive (too many changes) below its lower
    limit and a false negative above its upper one. So the area is the probability that a random lower
    limit is passed before a random upper one: ``P(lower_i - p_i < upper_j - p_j)``, ties half. NaN
    where one kind of limit is missing.
    """
    margin = limits - np.asarray(prediction, dtype=np.float64)[:, None]
    lower, upper = np.isfinite(margin[:, 0]), np.isfinite(margin[:, 1])
    if not lower.any() or not upper.any():
        return np.nan
    score = np.concatenate([margin[lower, 0], margin[upper, 1]])
    is_upper = np.repeat([0, 1], [lower.sum(), upper.sum()])
    if weight is not None:
        weight = np.concatenate([weight[lower], weight[upper]])
    return float(roc_auc_score(is_upper, score, sample_weight=weight))


def distance_score(
    prediction: FloatArray, limits: FloatArray, weight: FloatArray | None = None
) -> float:
    r"""Coefficient of determination with distances to intervals as residuals.

    .. math::
        1 - \sum_i w_i d(p_i, I_i)^2 \Big/ \min_c \sum_i w_i d(c, I_i)^2

    R² for intervals of width 0. Where one constant satisfies all rows it is 1 for predictions that
    do so too, and 0 otherwise.
    """
    mass = np.ones(len(limits)) if weight is None else weight
    residual = interval_loss(prediction, limits, 0.0, mass)
    constant = best_constant(limits, 0.0, mass)
    spread = interval_loss(np.full(len(limits), constant), limits, 0.0, mass)
    if spread <= np.finfo(np.float64).eps ** 2:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / spread


def best_constant(limits: FloatArray, margin: float, weight: FloatArray) -> float:
    """The minimiser of the mean hinge loss over constants; the middle of a flat minimum.

    Half the derivative, ``sum_upper w (c - upper + margin)_+ - sum_lower w (lower + margin - c)_+``, is
    increasing, piecewise linear, at most 0 at its first break and at least 0 at its last.
    """
    finite = np.isfinite(limits)
    knot = np.concatenate([limits[finite[:, 0], 0] + margin, limits[finite[:, 1], 1] - margin])
    if knot.size == 0:
        return 0.0
    mass = np.concatenate([weight[finite[:, 0]], weight[finite[:, 1]]])
    is_lower = np.repeat([True, False], finite.sum(axis=0))
    order = np.argsort(knot, kind="stable")
    origin = knot[order[0]]
    # Relative to the first knot, so that a common shift of all limits costs no digits.
    knot, mass, is_lower = knot[order] - origin, mass[order], is_lower[order]
    pull, push = np.where(is_lower, mass, 0.0), np.where(is_lower, 0.0, mass)
    beyond = pull.sum() - np.cumsum(pull)
    beyond_sum = (pull * knot).sum() - np.cumsum(pull * knot)
    derivative = np.cumsum(push) * knot - np.cumsum(push * knot) - (beyond_sum - beyond * knot)
    rounding = 1e-13 * mass.sum() * knot[-1]
    negative = np.flatnonzero(derivative < -rounding)
    positive = np.flatnonzero(derivative > rounding)
    low = _crossing(knot, derivative, int(negative[-1])) if negative.size else knot[0]
    high = _crossing(knot, derivative, int(positive[0]) - 1) if positive.size else knot[-1]
    return float(origin + (low + high) / 2)


def _crossing(knot: FloatArray, derivative: FloatArray, k: int) -> float:
    """Zero of the piecewise linear derivative between knots k and k + 1."""
    rise = derivative[k + 1] - derivative[k]
    return float(knot[k] - (knot[k + 1] - knot[k]) * derivative[k] / rise)
