"""Rates at a point of the ROC curve, and the threshold of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_fraction, check_k
from aucuba._roc._curve import RocCurve, curve_at_threshold
from aucuba._roc._points import (
    n_ranked,
    precision_of,
    vertex_flagging,
    vertex_of_precision,
    vertex_reaching_tpr,
    vertex_within_fpr,
)
from aucuba._rows._sample import RankingSample
from aucuba.metrics._measures import bind, evaluate


def tpr_at_fpr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: float,
    attainable: bool = False,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the true positive rate (sensitivity, recall) at one false positive rate.

    Where the curve is vertical at ``fpr`` the upper end counts: the fraction of positives that a
    threshold finds while its false positive rate stays at or below ``fpr``. With scores of a biometric
    match, ``1 - tpr_at_fpr_score(fpr=1e-4)`` is the FNMR at FMR 1e-4.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    fpr : float
        False positive rate in [0, 1].
    attainable : bool, default=False
        Only points that a threshold reaches; the default moves along the straight segments through rows
        of equal score.

    Returns
    -------
    float
        True positive rate, in [0, 1].

    Examples
    --------
    >>> from aucuba.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([0, 0, 1, 1], [1, 3, 2, 4], fpr=0.25)
    0.5
    >>> tpr_at_fpr_score([0, 0, 1, 1], [1, 3, 3, 4], fpr=0.25)
    0.75
    >>> tpr_at_fpr_score([0, 0, 1, 1], [1, 3, 3, 4], fpr=0.25, attainable=True)
    0.5
    """
    return evaluate(
        "tpr_at_fpr", y_true, y_score, sample_weight, qid, pos_label, fpr=fpr, attainable=attainable
    )


def fpr_at_tpr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    tpr: float,
    attainable: bool = False,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the false positive rate (false alarms) at one true positive rate.

    The lowest false positive rate at which the curve reaches ``tpr``, such as FPR95 for ``tpr=0.95``.
    Smaller is better.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    tpr : float
        True positive rate (sensitivity, recall) in [0, 1].
    attainable : bool, default=False
        Only points that a threshold reaches; the default moves along the straight segments through rows
        of equal score.

    Returns
    -------
    float
        False positive rate, in [0, 1].

    Examples
    --------
    >>> from aucuba.metrics import fpr_at_tpr_score
    >>> fpr_at_tpr_score([0, 0, 1, 1], [1, 3, 2, 4], tpr=0.95)
    0.5
    """
    return evaluate(
        "fpr_at_tpr", y_true, y_score, sample_weight, qid, pos_label, tpr=tpr, attainable=attainable
    )


def equal_error_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the rate at which false alarms and misses are equally frequent.

    The false positive rate where the ROC curve, drawn with straight segments, meets
    :math:`\mathrm{FPR} = 1 - \mathrm{TPR}`. Smaller is better.

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
    >>> from aucuba.metrics import equal_error_rate_score
    >>> equal_error_rate_score([0, 0, 1, 1], [1, 3, 2, 4])
    0.5
    """
    return evaluate("equal_error_rate", y_true, y_score, sample_weight, qid, pos_label)


def precision_at_recall_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    recall: float,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the highest precision of a threshold that finds enough positives.

    .. math:: \max \{ \mathrm{precision}(c) : \mathrm{recall}(c) \ge r \}

    over the thresholds c that exist: a block of equal scores is flagged whole or not at all.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    recall : float
        The lowest recall (sensitivity, TPR) allowed, in [0, 1].
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import precision_at_recall_score
    >>> precision_at_recall_score([0, 1, 0, 1], [1, 2, 3, 4], recall=1.0)
    0.6666666666666666
    """
    params = {"recall": recall, "target_prevalence": target_prevalence}
    return evaluate("precision_at_recall", y_true, y_score, sample_weight, qid, pos_label, **params)


def recall_at_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    precision: float,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the highest recall of a threshold that is precise enough.

    .. math:: \max \{ \mathrm{recall}(c) : \mathrm{precision}(c) \ge p \}

    over the thresholds c that exist, and 0 if none is precise enough.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    precision : float
        The lowest precision allowed, in (0, 1].
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`; of an interval the less favourable end counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import recall_at_precision_score
    >>> recall_at_precision_score([0, 1, 0, 1], [1, 2, 3, 4], precision=0.9)
    0.5
    """
    params = {"precision": precision, "target_prevalence": target_prevalence}
    return evaluate("recall_at_precision", y_true, y_score, sample_weight, qid, pos_label, **params)


@dataclass(frozen=True)
class Rates:
    """Rates at a threshold; nan where a rate has no rows."""

    tpr: float
    fpr: float
    precision: float
    npv: float
    alert_rate: float

    @property
    def sensitivity(self) -> float:
        """Synonym of the true positive rate (recall)."""
        return self.tpr

    @property
    def specificity(self) -> float:
        """``1 - fpr``."""
        return 1.0 - self.fpr


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold and what it does: rows at or above it are flagged.

    ``threshold`` is infinite where nothing may be flagged, and ``precision`` is nan there.
    ``n_flagged`` counts by weight.
    """

    threshold: float
    fpr: float
    tpr: float
    precision: float
    n_flagged: float


def rates_at_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float,
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Rates:
    """Compute sensitivity, specificity, precision, NPV and alert rate at a given threshold.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `partial_auc_score`.
    threshold : float
        Rows with a score at or above it are flagged.
    target_prevalence : float or pair of float, default=None
        Share of positives for which precision, NPV and alert rate are computed; None takes that of the
        rows. It assumes label shift: within each class scores are distributed as in these rows. Of an
        interval the less favourable end counts: the lower for the precision, the upper for the NPV.

    Returns
    -------
    Rates
        With ``tpr`` (also ``sensitivity``), ``fpr`` (also ``specificity``), ``precision``, ``npv`` and
        ``alert_rate``, the fraction of all rows that is flagged.

    Examples
    --------
    >>> from aucuba.metrics import rates_at_threshold
    >>> rates = rates_at_threshold([0, 1, 0, 1], [1, 2, 3, 4], threshold=2.5)
    >>> rates.sensitivity, rates.specificity, rates.precision, rates.npv, rates.alert_rate
    (0.5, 0.5, 0.5, 0.5, 0.5)
    >>> rates_at_threshold([0, 1, 0, 1], [1, 2, 3, 4], threshold=2.5, target_prevalence=0.1).precision
    0.1
    """
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
    curve, rates = curve_at_threshold(sample, float(threshold)), {}
    for name in ("tpr", "fpr", "precision", "npv", "alert_rate"):
        params = {"rate": name, "threshold": float(threshold)}
        if name not in ("tpr", "fpr"):
            params["target_prevalence"] = target_prevalence
        measure = bind("rate_at_threshold", params)
        counted = measure.summary(sample) if name == "npv" else curve
        rates[name] = float(measure.of_curve(counted, sample.n_rows))
    return Rates(**rates)


def point_at(curve: RocCurve, vertex: int) -> OperatingPoint:
    """Describe a vertex of a ROC curve."""
    return OperatingPoint(
        threshold=float(curve.threshold[vertex - 1]) if vertex else np.inf,
        fpr=float(curve.fpr[vertex]),
        tpr=float(curve.tpr[vertex]),
        precision=float(precision_of(curve)[vertex]),
        n_flagged=float(n_ranked(curve)[vertex]),
    )


def vertex_keeping(curve: RocCurve, name: str, limit: Any, n_rows: int) -> int:
    """Find the vertex that keeps a limit of a rate, or of the number of flagged rows."""
    if name == "k":
        return int(vertex_flagging(curve, check_k(limit), n_rows))
    rate = check_fraction(limit, name)
    find = {
        "fpr": vertex_within_fpr,
        "tpr": vertex_reaching_tpr,
        "precision": vertex_of_precision,
    }[name]
    return int(find(curve, rate, n_rows))
