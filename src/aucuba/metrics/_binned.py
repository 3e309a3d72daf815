"""AUC of a ranking that is only read in bins (Rosenfeld et al., AISTATS 2014, Section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_k
from aucuba._roc._curve import RocCurve, of_unit_size, roc_curve
from aucuba._roc._queries import mean_over_queries
from aucuba._rows._sample import RankingSample


def binned_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    bin_sizes: int | Sequence[float],
    in_bin_credit: float = 0.5,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the AUC of a ranking that is read in bins, such as pages of results.

    .. math::
        P N \,\mathrm{AUC} = \sum_{k=1}^{K} n_k \Big( \sum_{l<k} p_l + \gamma\, p_k \Big)

    where the ranking is cut into bins of sizes :math:`b_1, \dots, b_K` from the top, bin ``k`` holds
    :math:`p_k` positives and :math:`n_k` negatives, and :math:`\gamma` is ``in_bin_credit``: a pair in
    two bins counts 1 or 0, a pair inside one bin counts :math:`\gamma`. Equal scores stand for all
    orders of their rows, each as likely as any other.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    bin_sizes : int or sequence of numbers
        Sizes of the bins, best bin first; they must sum to the number of rows (with
        ``sample_weight``, to the total weight). A single integer means bins of that size, the last
        one smaller, and is the form that fits queries of different length.
    in_bin_credit : float, default=0.5
        Credit for a pair inside one bin. With 0.5 chance is 1/2, the measure is the area under the
        ROC curve drawn through the ends of the bins, and it is linear in the sets of top-ranked rows
        (:math:`\sum_k \omega_k P_k - P^2/2` with :math:`\omega_k = (b_k + b_{k+1})/2`,
        :math:`b_{K+1} = 0` and :math:`P_k` positives in the first ``k`` bins), which
        `aucuba.structured.BinnedAUC` trains for. With 1.0 it is the measure of the paper: only pairs
        swapped between bins count against a ranking.

    Returns
    -------
    float
        Between 0 and 1. Bins of size 1 give the AUC, a single bin gives ``in_bin_credit``.

    Examples
    --------
    >>> from aucuba.metrics import binned_auc_score
    >>> y, score = [1, 0, 1, 0], [4, 3, 2, 1]
    >>> binned_auc_score(y, score, bin_sizes=[1, 1, 1, 1])
    0.75
    >>> binned_auc_score(y, score, bin_sizes=2)
    0.5
    >>> binned_auc_score(y, score, bin_sizes=2, in_bin_credit=1.0)
    0.75
    """
    credit = _check_credit(in_bin_credit)
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label)

    def binned(query: RankingSample) -> float:
        curve = roc_curve(query)
        return _binned_area(query, curve, _Bins.from_sizes(bin_sizes, curve), credit)

    return mean_over_queries(sample, binned)


def auc_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    in_bin_credit: float = 0.5,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the AUC in which only the order of the top k rows counts.

    It is `binned_auc_score` with ``k`` bins of one row and one bin with the rest: pairs whose two rows
    both rank below ``k`` are not judged and count ``in_bin_credit``.

    .. math::
        P N \,\mathrm{AUC@}k = \sum_{r \le k,\; r \text{ negative}} P_r + (N - N_k) \big( P_k + \gamma\,
        (P - P_k) \big)

    with :math:`P_r` and :math:`N_r` the numbers of positives and negatives in the top ``r`` and
    :math:`\gamma` the credit.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    k : int
        Number of rows from the top, at least 1. With ``k`` at or above the number of rows (of a
        query) the result is the AUC. With ``sample_weight``, ``k`` is a weight and the bins have
        weight 1: rows lighter than that are in one bin together.
    in_bin_credit : float, default=0.5
        Credit for a pair below ``k``. With 0.5 they count like ties, the only credit for which the
        measure is linear in the sets of top-ranked rows, which training for it needs
        (`aucuba.structured.AUCAtK`). With 1.0 it is the measure of the paper, which discards swapped
        pairs below ``k``; where all positives fit below the cut it then lies in
        :math:`[1 - k/N, 1]`, so that small values of ``k`` leave little to tell rankings apart by.

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
    >>> auc_at_k_score([1, 0, 0, 1], score, k=2, in_bin_credit=1.0)
    0.75
    """
    k, credit = check_k(k), _check_credit(in_bin_credit)
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label)

    def top(query: RankingSample) -> float:
        curve = roc_curve(query)
        return _binned_area(query, curve, _Bins.top(k, curve), credit)

    return mean_over_queries(sample, top)


def _check_credit(credit: Any) -> float:
    if isinstance(credit, bool) or not isinstance(credit, Real) or not 0 <= float(credit) <= 1:
        raise ValueError(
            f"in_bin_credit must be a number between 0 and 1, got {credit!r}: 0.5 counts pairs inside "
            "a bin like ties, 1.0 counts only pairs swapped between bins."
        )
    return float(credit)


@dataclass(frozen=True)
class _Bins:
    """Ends of bins as numbers of top-ranked rows, and the size of the bins up to each end.

    Inside a block of equal score the ROC curve is straight, so bins of one size that lie within a
    block need no end of their own, and rows of any weight cost alike.
    """

    ends: FloatArray
    size: FloatArray

    @classmethod
    def from_sizes(cls, bin_sizes: int | Sequence[float], curve: RocCurve) -> _Bins:
        """Check the sizes against the number of rows."""
        total = _ranked(curve)[-1]
        if isinstance(bin_sizes, Integral) and not isinstance(bin_sizes, bool):
            if bin_sizes < 1:
                raise ValueError(f"bin_sizes must be at least 1, got {bin_sizes!r}.")
            return cls.equal(float(bin_sizes), curve, total)
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
                f"bin_sizes sum to {ends[-1]:g} but there are {total:g} rows to place. Give sizes "
                "that sum to the number of rows, or one integer for bins of equal size."
            )
        return cls(ends, sizes)

    @classmethod
    def equal(cls, size: float, curve: RocCurve, stop: float) -> _Bins:
        """Cut into bins of one size down to ``stop``, which is the last end."""
        crossed = _ranked(curve) / size
        ends = size * np.unique(np.concatenate([np.floor(crossed), np.ceil(crossed)]))
        ends = np.append(ends[(ends > 0) & (ends < stop)], stop)
        return cls(ends, np.full(ends.size, size))

    @classmethod
    def top(cls, k: int, curve: RocCurve) -> _Bins:
        """Cut into k bins of one row and one bin with the rest."""
        total = _ranked(curve)[-1]
        first = cls.equal(1.0, curve, min(k, total))
        return cls(np.append(first.ends, total), np.append(first.size, max(total - k, 1.0)))


def _ranked(curve: RocCurve) -> FloatArray:
    """Return the numbers of rows ranked at or above each block of equal score."""
    ranked: FloatArray = curve.false_positive + curve.true_positive
    return ranked


def _binned_area(sample: RankingSample, curve: RocCurve, bins: _Bins, credit: float) -> float:
    """Return the area under the curve drawn through the bins, moved to another credit."""
    ends, ranked = np.append(0.0, bins.ends), _ranked(curve)
    positives = np.interp(ends, ranked, of_unit_size(curve.true_positive))
    negatives = np.interp(ends, ranked, of_unit_size(curve.false_positive))
    area = np.diff(negatives) @ (positives[1:] + positives[:-1]) / 2
    value = float(area / (positives[-1] * negatives[-1]))
    if credit == 0.5:
        return value
    return value + (credit - 0.5) * _pairs_in_one_bin(sample, curve, bins)


def _pairs_in_one_bin(sample: RankingSample, curve: RocCurve, bins: _Bins) -> float:
    r"""Return the fraction of pairs that are in one bin, on average over the orders of equal scores.

    Rows of two blocks fall into the bins independently. Of a block of ``n`` rows with ``s`` places in
    a bin, two given rows are both in the bin with probability :math:`s(s-1) / (n(n-1))`.
    """
    ranked = _ranked(curve)
    total = ranked[-1]
    ends = np.append(0.0, np.minimum(bins.ends, total))
    ends[-1] = total
    points = np.unique(np.append(ends, ranked))
    middle = (points[1:] + points[:-1]) / 2
    block = np.searchsorted(ranked, middle) - 1
    group = np.searchsorted(ends, middle) - 1
    n_bins = np.maximum(np.rint(np.diff(ends) / bins.size), 1.0)
    rows = np.diff(ranked)[block]
    part = np.diff(points) / n_bins[group] / rows
    positives = np.diff(of_unit_size(curve.true_positive))[block]
    negatives = np.diff(of_unit_size(curve.false_positive))[block]
    in_bin = [
        np.bincount(group, part * one, minlength=n_bins.size) for one in (positives, negatives)
    ]
    # So far rows of one block are independent as well, as if each were many small ones.
    unit = _row_weight(sample)[block]
    other = np.divide(
        np.maximum(part * rows - unit, 0.0), rows - unit, out=part.copy(), where=rows > unit
    )
    tied = n_bins[group] * part * (other - part) * positives * negatives
    pairs = in_bin[0] @ (n_bins * in_bin[1]) + tied.sum()
    scale = of_unit_size(curve.true_positive)[-1] * of_unit_size(curve.false_positive)[-1]
    return float(pairs / scale)


def _row_weight(sample: RankingSample) -> FloatArray:
    """Return the weight of one row of every block: rows of weight 3 are three rows of weight 1."""
    rows = sample.ranked
    starts = np.append(0, rows.block_end[:-1] + 1)
    lightest = np.minimum.reduceat(sample.weights[rows.order], starts)
    return np.minimum(lightest, 1.0)
