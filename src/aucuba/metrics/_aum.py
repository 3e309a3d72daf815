"""Area under the minimum of false positives and false negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike
from aucuba._roc._curve import roc_curve
from aucuba._rows._sample import RankingSample

_LARGE = 1e300


def aum_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rate: bool = True,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Area under the minimum of the false positive and false negative rates.

    .. math::
        \mathrm{AUM} = \int_{-\infty}^{\infty} \min\{\mathrm{FPR}(c), \mathrm{FNR}(c)\}\, dc

    where ``c`` is a constant added to every score before it is compared with zero. Zero when every
    positive scores above every negative, **smaller is better**, and homogeneous: doubling all scores
    doubles it, so compare scorers of equal scale only.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `partial_auc_score`.
    rate : bool, default=True
        Use rates; False uses counts (weights), as in the first AUM paper.

    Returns
    -------
    float
        Non-negative, in units of the score.

    Examples
    --------
    >>> from aucuba.metrics import aum_score
    >>> aum_score([0, 1], [3.0, 1.0])
    2.0
    >>> aum_score([0, 1], [1.0, 3.0])
    0.0
    """
    curve = roc_curve(RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label))
    if rate:
        false_positive, false_negative = curve.fpr, 1.0 - curve.tpr
    else:
        false_positive = curve.false_positive
        false_negative = curve.true_positive[-1] - curve.true_positive
    # Differences of scores near the largest float overflow; a power of two changes no digit.
    unit = 2.0**-4 if np.abs(curve.threshold).max() > _LARGE else 1.0
    # Between the thresholds of two neighbouring blocks the errors are those of the vertex between.
    gap = unit * curve.threshold[:-1] - unit * curve.threshold[1:]
    return float(gap @ np.minimum(false_positive, false_negative)[1:-1]) / unit
