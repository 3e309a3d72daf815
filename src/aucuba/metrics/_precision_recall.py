"""Average precision and the F-measure."""

from __future__ import annotations

from typing import Any

from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import evaluate


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    ties: str = "step",
    recall_range: tuple[float, float] = (0.0, 1.0),
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the average precision, the area under the steps of the precision-recall curve.

    .. math:: \mathrm{AP} = \sum_c (R_c - R_{c'})\, P_c

    over the thresholds c with recall R and precision P, c' the next higher threshold. Scores without
    information have the prevalence as their average precision.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`. With ``qid`` the mean over the queries that have a positive (MAP).
    ties : {"step", "expected"}, default="step"
        Rows of equal score are flagged together, as in scikit-learn; or the mean over all of their
        orders, so that rounding scores gains nothing. "expected" counts rows, weights as copies.
    recall_range : (float, float), default=(0.0, 1.0)
        Limits of the recall: the mean precision between them.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts. Not with
        ``ties="expected"``.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import average_precision_score
    >>> y, score = [0, 1, 0, 1, 1], [1, 2, 3, 4, 3]
    >>> print(f"{average_precision_score(y, score):.4f}")
    0.8056
    >>> print(f"{average_precision_score(y, score, ties='expected'):.4f}")
    0.8611
    """
    params = {"ties": ties, "recall_range": recall_range, "target_prevalence": target_prevalence}
    return evaluate("average_precision", y_true, y_score, sample_weight, qid, pos_label, **params)


def f_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float | None = None,
    beta: float = 1.0,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the F-measure at a threshold, or at the best of all thresholds.

    .. math::
        F_\beta = \frac{(1 + \beta^2)\, \mathrm{TP}}{(1 + \beta^2)\, \mathrm{TP} + \beta^2\,
        \mathrm{FN} + \mathrm{FP}}

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    threshold : float, default=None
        Rows with a score at or above it are flagged. None takes the best threshold; its value on the
        rows that chose it is optimistic, which `score_interval` allows for.
    beta : float, default=1.0
        How much more recall counts than precision.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import f_measure_score
    >>> y, score = [0, 1, 0, 1], [1, 2, 3, 4]
    >>> f_measure_score(y, score, threshold=2.5), f_measure_score(y, score)
    (0.5, 0.8)
    """
    params = {"threshold": threshold, "beta": beta, "target_prevalence": target_prevalence}
    return evaluate("f_measure", y_true, y_score, sample_weight, qid, pos_label, **params)
