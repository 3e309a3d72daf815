"""Net benefit, costs, and the largest gap of two rates."""

from __future__ import annotations

from typing import Any

from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import evaluate


def net_benefit_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float,
    standardized: bool = False,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the net benefit of acting on the rows whose probability is at or above a threshold.

    .. math:: \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n}\, \frac{t}{1 - t}

    (Vickers and Elkin 2006): true positives per row, less the false positives that the threshold t
    counts as equally bad. Acting on nobody has 0.

    Parameters
    ----------
    y_true, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    y_score : array-like of shape (n_samples,)
        Probabilities of the positive class.
    threshold : float
        The probability t in [0, 1) at which acting is worth its harm.
    standardized : bool, default=False
        Divide by the prevalence, so that 1 is the best possible value.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`: that of the population where the rows are those of a case-control
        study. Of an interval the less favourable end counts.

    Returns
    -------
    float
        At most the prevalence, or 1 if standardized; negative where acting does harm.

    Examples
    --------
    >>> from aucuba.metrics import net_benefit_score
    >>> y, risk = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9]
    >>> net_benefit_score(y, risk, threshold=0.2), net_benefit_score(y, risk, threshold=0.5)
    (0.4375, 0.25)
    """
    params = {"threshold": threshold, "standardized": standardized}
    params["target_prevalence"] = target_prevalence
    return evaluate("net_benefit", y_true, y_score, sample_weight, qid, pos_label, **params)


def expected_cost_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float,
    cost_false_positive: float = 1.0,
    cost_false_negative: float = 1.0,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the mean cost of the errors at a threshold.

    .. math:: \frac{C_{\mathrm{FN}}\, \mathrm{FN} + C_{\mathrm{FP}}\, \mathrm{FP}}{n}

    Smaller is better; with unit costs it is the error rate.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    threshold : float
        Rows with a score at or above it are flagged.
    cost_false_positive, cost_false_negative : float, default=1.0
        Cost of each kind of error.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and the larger cost.

    Examples
    --------
    >>> from aucuba.metrics import expected_cost_score
    >>> expected_cost_score([0, 1, 0, 1], [1, 2, 3, 4], threshold=2.5, cost_false_negative=10)
    2.75
    """
    params = {
        "threshold": threshold,
        "cost_false_positive": cost_false_positive,
        "cost_false_negative": cost_false_negative,
        "target_prevalence": target_prevalence,
    }
    return evaluate("expected_cost", y_true, y_score, sample_weight, qid, pos_label, **params)


def detection_cost_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    target_prior: float = 0.01,
    cost_miss: float = 1.0,
    cost_false_alarm: float = 1.0,
    threshold: float | str = "bayes",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the normalised detection cost of a verification system (NIST).

    .. math::
        \frac{p\, C_\mathrm{miss}\, P_\mathrm{miss} + (1 - p)\, C_\mathrm{fa}\, P_\mathrm{fa}}
        {\min\{p\, C_\mathrm{miss},\ (1 - p)\, C_\mathrm{fa}\}}

    Smaller is better; accepting all or none, whichever is better, costs 1.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    target_prior : float, default=0.01
        Prior probability p of a target.
    cost_miss, cost_false_alarm : float, default=1.0
        Cost of each kind of error.
    threshold : "bayes", "best" or float, default="bayes"
        "bayes" is the actual cost of natural log-likelihood ratios, at
        :math:`\log((1-p) C_\mathrm{fa} / (p\, C_\mathrm{miss}))`. "best" is the minimum over all
        thresholds (minDCF), optimistic on the rows that chose it. A number is a threshold.

    Returns
    -------
    float
        Not negative.

    Examples
    --------
    >>> from aucuba.metrics import detection_cost_score
    >>> y, llr = [0, 0, 1, 1], [-3.0, 0.5, 1.0, 4.0]
    >>> detection_cost_score(y, llr, target_prior=0.5), detection_cost_score(y, llr, threshold="best")
    (0.5, 0.0)
    """
    params = {"target_prior": target_prior, "cost_miss": cost_miss, "threshold": threshold}
    params["cost_false_alarm"] = cost_false_alarm
    return evaluate("detection_cost", y_true, y_score, sample_weight, qid, pos_label, **params)


def youden_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute Youden's index, the largest TPR - FPR over all thresholds.

    On the rows that chose the threshold it is optimistic, which `score_interval` allows for.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import youden_score
    >>> youden_score([0, 0, 1, 1], [1, 3, 2, 4])
    0.5
    """
    return evaluate("youden", y_true, y_score, sample_weight, qid, pos_label)


def kolmogorov_smirnov_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the Kolmogorov-Smirnov distance of the two classes, the largest absolute TPR - FPR.

    Like `youden_score`, but also large for scores that grow towards the negatives.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import kolmogorov_smirnov_score, youden_score
    >>> kolmogorov_smirnov_score([0, 0, 1, 1], [4, 3, 2, 1]), youden_score([0, 0, 1, 1], [4, 3, 2, 1])
    (1.0, 0.0)
    """
    return evaluate("kolmogorov_smirnov", y_true, y_score, sample_weight, qid, pos_label)
