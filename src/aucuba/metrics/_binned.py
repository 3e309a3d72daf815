"""AUC of a ranking that is only read in bins: pages of results, or the top k."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._roc._curve import RocCurve, of_unit_size, roc_curve
from aucuba._roc._queries import mean_over_queries
from aucuba._roc._sample import RankingSample


def binned_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    bin_sizes: int | Sequence[float],
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""AUC when only the order of bins counts: pairs inside one bin count one half.

    .. math::
        P N \,\mathrm{AUC} = \sum_{k=1}^{K} \omega_k P_k - \tfrac12 P^2, \qquad
        \omega_k = \tfrac12 (b_k + b_{k+1}), \quad b_{K+1} = 0

    where the ranking is cut into bins of sizes :math:`b_1, \dots, b_K` from the top and :math:`P_k` is
    the number of positives in the first ``k`` bins. It is the area under the ROC curve drawn through
    the ends of the bins. Equal scores across the end of a bin are shared in proportion.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    bin_sizes : int or sequence of numbers
        Sizes of the bins, best bin first; they must sum to the number of rows (with
        ``sample_weight``, to the total weight). A single integer means bins of that size, the last
        one smaller, and is the form that fits queries of different length.

    Returns
    -------
    float
        Between 0 and 1. Bins of size 1 give the AUC, a single bin gives 1/2.

    Examples
    --------
    >>> from aucuba.metrics import binned_auc_score
    >>> y, score = [1, 0, 1, 0], [4, 3, 2, 1]
    >>> binned_auc_score(y, score, bin_sizes=[1, 1, 1, 1])
    0.75
    >>> binned_auc_score(y, score, bin_sizes=2)
    0.5
    """
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label)

    def binned(query: RankingSample) -> float:
        curve = roc_curve(query)
        return _area_through(curve, _bin_ends(bin_sizes, curve))

    return mean_over_queries(sample, binned)


def auc_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""AUC in which only the order of the top k rows counts.

    Pairs whose two rows both rank below ``k`` are not judged: they count one half, like a tie. It is
    `binned_auc_score` with ``k`` bins of one row and one bin with the rest,

    .. math::
        P N \,\mathrm{AUC@}k = \sum_{r < k} P_r + \tfrac12 (1 + n - k)\, P_k + c,

    with :math:`P_r` the number of positives in the top ``r``. One half is the only credit for which
    the measure is linear in the sets of top-ranked rows, which training for it needs.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    k : int
        Number of rows from the top, at least 1. With ``k`` at or above the number of rows (of a
        query) the result is the AUC. With ``sample_weight``, ``k`` is a weight and the bins have
        weight 1: rows lighter than that share a bin, and pairs inside it count one half.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import auc_at_k_score
    >>> y, score = [1, 0, 1, 0], [4, 3, 2, 1]
    >>> auc_at_k_score(y, score, k=4)
    0.75
    >>> auc_at_k_score(y, score, k=2)
    0.625
    """
    k = check_k(k)
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label)

    def top(query: RankingSample) -> float:
        curve = roc_curve(query)
        total = _ranked(curve)[-1]
        return _area_through(curve, np.append(_equal_bin_ends(curve, 1.0, min(k, total)), total))

    return mean_over_queries(sample, top)


def check_k(k: Any) -> int:
    """A number of rows from the top."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
    return int(k)


def _ranked(curve: RocCurve) -> FloatArray:
    """Numbers of rows ranked at or above each block of equal score."""
    ranked: FloatArray = curve.false_positive + curve.true_positive
    return ranked


def _equal_bin_ends(curve: RocCurve, size: float, stop: float) -> FloatArray:
    """Ends of bins of one size down to ``stop``, which is the last.

    Inside a block of equal score the ROC curve is straight, so only the bins that hold the end of a
    block matter, and rows of any weight cost alike.
    """
    crossed = _ranked(curve) / size
    ends = size * np.unique(np.concatenate([np.floor(crossed), np.ceil(crossed)]))
    return np.append(ends[(ends > 0) & (ends < stop)], stop)


def _bin_ends(bin_sizes: int | Sequence[float], curve: RocCurve) -> FloatArray:
    """Cumulated sizes, checked against the number of rows."""
    total = _ranked(curve)[-1]
    if isinstance(bin_sizes, Integral) and not isinstance(bin_sizes, bool):
        if bin_sizes < 1:
            raise ValueError(f"bin_sizes must be at least 1, got {bin_sizes!r}.")
        return _equal_bin_ends(curve, float(bin_sizes), total)
    sizes = np.asarray(bin_sizes, dtype=object)
    try:
        sizes = sizes.astype(np.float64)
    except (TypeError, ValueError):
        sizes = np.full(1, np.nan)
    if sizes.ndim != 1 or sizes.size == 0 or not np.all(np.isfinite(sizes)) or sizes.min() <= 0:
        raise ValueError(
            f"bin_sizes must be a whole number or a list of sizes above 0, got {bin_sizes!r}."
        )
    ends: FloatArray = np.cumsum(sizes)
    if not np.isclose(ends[-1], total, rtol=1e-9, atol=0.0):
        raise ValueError(
            f"bin_sizes sum to {ends[-1]:g} but there are {total:g} rows to place. Give sizes that "
            "sum to the number of rows, or one integer for bins of equal size."
        )
    return ends


def _area_through(curve: RocCurve, ends: FloatArray) -> float:
    """Area under the ROC curve drawn through the given numbers of top-ranked rows."""
    ends, ranked = np.append(0.0, ends), _ranked(curve)
    positives = np.interp(ends, ranked, of_unit_size(curve.true_positive))
    negatives = np.interp(ends, ranked, of_unit_size(curve.false_positive))
    area = np.diff(negatives) @ (positives[1:] + positives[:-1]) / 2
    return float(area / (positives[-1] * negatives[-1]))
