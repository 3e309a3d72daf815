"""Measures of the top of a ranking: daily alerts, screening hits, early recognition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import evaluate


def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the fraction of positives among the k highest rows.

    The mean over all queries: a query (a day of alerts) without positives counts 0. A query of fewer
    rows is judged by those it has. With ``sample_weight``, ``k`` is a weight.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    k : int
        Number of rows from the top.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import precision_at_k_score
    >>> precision_at_k_score([0, 1, 0, 1], [1, 2, 3, 4], k=2)
    0.5
    """
    params = {"k": k, "target_prevalence": target_prevalence}
    return evaluate("precision_at_k", y_true, y_score, sample_weight, qid, pos_label, **params)


def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the fraction of all positives that are among the k highest rows.

    The mean over the queries that have a positive. With ``sample_weight``, ``k`` is a weight.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    k : int
        Number of rows from the top.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import recall_at_k_score
    >>> recall_at_k_score([0, 1, 0, 1], [1, 2, 3, 4], k=3)
    1.0
    """
    params = {"k": k, "target_prevalence": target_prevalence}
    return evaluate("recall_at_k", y_true, y_score, sample_weight, qid, pos_label, **params)


def enrichment_factor_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fraction: float,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute how much denser positives are in the top fraction than overall.

    .. math:: \mathrm{EF}_x = \frac{\text{positives in the top } x W}{x P}

    with W rows in all, of which P are positive. The cut is at exactly ``fraction * W`` rows.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    fraction : float
        Fraction of all rows, in (0, 1].
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        1 is chance, ``1/fraction`` is perfect where the positives fit.

    Examples
    --------
    >>> from aucuba.metrics import enrichment_factor_score
    >>> enrichment_factor_score([0, 1, 0, 1], [1, 2, 3, 4], fraction=0.25)
    2.0
    """
    params = {"fraction": fraction, "target_prevalence": target_prevalence}
    return evaluate("enrichment_factor", y_true, y_score, sample_weight, qid, pos_label, **params)


def rie_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the robust initial enhancement of a ranking.

    .. math::
        \mathrm{RIE} = \frac{W}{P} \sum_b \frac{p_b}{m_b}
        \frac{e^{-\alpha a_b / W} - e^{-\alpha (a_b + m_b) / W}}{1 - e^{-\alpha}}

    over the blocks b of equal score, with :math:`a_b` the rows above a block, :math:`m_b` its rows and
    :math:`p_b` its positives, out of W rows and P positives; without ties, the mean of
    :math:`e^{-\alpha r / W}` over the positives' ranks, relative to random order.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    alpha : float, default=20.0
        How early positives must come: the first ``1/alpha`` of all rows carries most of the weight.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        1 is chance.

    Examples
    --------
    >>> from aucuba.metrics import rie_score
    >>> print(f"{rie_score([0, 0, 0, 1], [1, 2, 3, 4], alpha=20.0):.3f}")
    3.973
    """
    params = {"alpha": alpha, "target_prevalence": target_prevalence}
    return evaluate("rie", y_true, y_score, sample_weight, qid, pos_label, **params)


def bedroc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the Boltzmann-enhanced discrimination of the ROC curve (BEDROC).

    .. math::
        \mathrm{BEDROC} = \frac{\mathrm{RIE} - \mathrm{RIE}_{\min}}
        {\mathrm{RIE}_{\max} - \mathrm{RIE}_{\min}}

    with the limits that `rie_score` has when all positives come last, or first. It depends on the
    fraction of positives; compare values at equal fractions only.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    alpha : float, default=20.0
        How early positives must come.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import bedroc_score
    >>> print(f"{bedroc_score([0, 1, 0, 1], [1, 2, 3, 4]):.3f}")
    0.993
    """
    params = {"alpha": alpha, "target_prevalence": target_prevalence}
    return evaluate("bedroc", y_true, y_score, sample_weight, qid, pos_label, **params)


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
    params = {"bin_sizes": bin_sizes, "in_bin_credit": in_bin_credit}
    return evaluate("binned_auc", y_true, y_score, sample_weight, qid, pos_label, **params)


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
        :math:`[1 - k/N, 1]`, so that small values of ``k`` hardly separate rankings.

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
    return evaluate(
        "auc_at_k", y_true, y_score, sample_weight, qid, pos_label, k=k, in_bin_credit=in_bin_credit
    )
