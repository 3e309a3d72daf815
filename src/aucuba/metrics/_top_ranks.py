"""Measures of what comes first: alerts of a day, screening hits, early recognition."""

from __future__ import annotations

from typing import Any

from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import evaluate


def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
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
    params = {"k": k}
    return evaluate("precision_at_k", params, y_true, y_score, sample_weight, qid, pos_label)


def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
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
    params = {"k": k}
    return evaluate("recall_at_k", params, y_true, y_score, sample_weight, qid, pos_label)


def enrichment_factor_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fraction: float,
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
    params = {"fraction": fraction}
    return evaluate("enrichment_factor", params, y_true, y_score, sample_weight, qid, pos_label)


def rie_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
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
    params = {"alpha": alpha}
    return evaluate("rie", params, y_true, y_score, sample_weight, qid, pos_label)


def bedroc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
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
    params = {"alpha": alpha}
    return evaluate("bedroc", params, y_true, y_score, sample_weight, qid, pos_label)
