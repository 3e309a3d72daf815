r"""Rates and curves at another prevalence of positives than that of the rows.

The assumption is label shift: within each class scores are distributed as in the rows, and only the
share p of the positives differs. The ROC curve is then the same, and

.. math::
    \mathrm{precision} = \frac{p\,\mathrm{TPR}}{p\,\mathrm{TPR} + (1 - p)\,\mathrm{FPR}}, \qquad
    \mathrm{NPV} = \frac{(1 - p)(1 - \mathrm{FPR})}
    {(1 - p)(1 - \mathrm{FPR}) + p\,(1 - \mathrm{TPR})}.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_fraction
from aucuba._roc._curve import RocCurve
from aucuba._roc._points import COUNTED_IN_RATES
from aucuba._rows._sample import RankingSample


def target_range(target_prevalence: Any) -> tuple[float, float]:
    """Return the ends of a prevalence that is one number, or an interval taken as known."""
    ends = target_prevalence
    if isinstance(ends, Real):
        ends = (ends, ends)
    if isinstance(ends, str) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise ValueError(
            f"target_prevalence must be a number or a pair (low, high), got {target_prevalence!r}."
        )
    low, high = (
        check_fraction(end, "target_prevalence", low_open=True, high_open=True) for end in ends
    )
    if low > high:
        raise ValueError(f"target_prevalence has its ends in falling order: {target_prevalence!r}.")
    return low, high


def curve_at_prevalence(curve: RocCurve, prevalence: float) -> RocCurve:
    """Weight the classes so that a share ``prevalence`` is positive; the total weight stays.

    The weight of single rows, which differs between the classes then, is left out.
    """
    positives, negatives = curve.true_positive[..., -1:], curve.false_positive[..., -1:]
    total = positives + negatives
    return RocCurve(
        curve.false_positive * ((1.0 - prevalence) * total / negatives),
        curve.true_positive * (prevalence * total / positives),
        curve.threshold,
    )


def sample_at_prevalence(sample: RankingSample, prevalence: float) -> RankingSample:
    """Weight the rows of a sample in the same way."""
    weight = sample.weights
    shares = np.where(sample.positive, prevalence, 1.0 - prevalence)
    of_class = [sample.class_weight(positive=one) for one in (False, True)]
    factor = shares * sum(of_class) / np.take(of_class, sample.y)
    return replace(sample, weight=weight * factor)


def curve_through(tpr: Any, fpr: Any, threshold: float) -> RocCurve:
    """Return the curve with one vertex between its ends, or one such curve per pair of rates."""
    middle = np.broadcast_arrays(np.asarray(fpr, float), np.asarray(tpr, float))
    false_positive, true_positive = (
        np.stack([np.zeros_like(one), one, np.ones_like(one)], axis=-1) for one in middle
    )
    return RocCurve(false_positive, true_positive, np.array([threshold, -np.inf]))


def rate_at_prevalence(name: str, tpr: Any, fpr: Any, prevalence: Any) -> FloatArray:
    """Compute a rate at a threshold by its name, such as "npv"; nan where it has no rows."""
    p, tpr, fpr = (np.asarray(one, dtype=np.float64) for one in (prevalence, tpr, fpr))
    cells = {"tp": p * tpr, "fn": p * (1.0 - tpr)}
    cells |= {"fp": (1.0 - p) * fpr, "tn": (1.0 - p) * (1.0 - fpr)}
    hits, rows = (sum(cells[one] for one in part.split()) for part in COUNTED_IN_RATES[name])
    return np.where(rows > 0, hits / np.where(rows > 0, rows, 1.0), np.nan)


def prevalence_text(target: tuple[float, float]) -> str:
    """Write a prevalence, or an interval of them."""
    low, high = target
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def fpr_per_tpr(allowed: float, prevalence: float) -> float:
    """Return the largest FPR per TPR at which at most ``allowed`` of the flagged rows are negative."""
    return prevalence * allowed / ((1.0 - prevalence) * (1.0 - allowed))
