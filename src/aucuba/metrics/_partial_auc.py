"""Areas: partial AUC one-way, two-way and on a logarithmic axis, and AUM."""

from __future__ import annotations

from typing import Any

from aucuba._base._arrays import is_tensor, on_host
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import (
    binary_target,
    check_fpr_range,
    check_positive_number,
    finite_scores,
)
from aucuba._roc._curve import counted_range_average
from aucuba._roc._region import FprWeight
from aucuba.metrics._measures import evaluate


def partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    min_tpr: float = 0.0,
    fpr_weight: FprWeight = None,
    standardized: bool = False,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the mean true positive rate over a range of false positive rates.

    .. math::
        \mathrm{pAUC}(\alpha, \beta)
        = \frac{1}{\beta - \alpha} \int_\alpha^\beta \mathrm{TPR}(u)\, du
        = \frac{1}{Z} \sum_{i=1}^{m} \sum_{j=1}^{n}
          c_j \, [p_i > q_j] + t_j \, [p_i = q_j]

    with positives :math:`p_i`, negatives :math:`q_1 \ge \dots \ge q_n`, rank weights
    :math:`c_j = |(j-1, j] \cap [n\alpha, n\beta]|` and :math:`Z = m n (\beta - \alpha)`. The value
    lies in [0, 1]: 1 is perfect, and scores without information give :math:`(\alpha + \beta)/2`.

    **Not McClish-scaled** unless ``standardized=True``: ``roc_auc_score(max_fpr=b)`` rescales its area
    so that chance is 1/2; this function returns the plain mean height of the curve. Also known as OPAUC
    (one-way partial AUC); with ``min_tpr`` TPAUC (two-way).

    **Ties.** The ROC curve is a straight segment through rows of equal score. A block of tied
    negatives shares its rank weights evenly, and a tied pair counts ``t_j``, the mean of
    ``(u - a)/(b - a)`` over the part of the block's FPR interval ``[a, b]`` that lies in the range,
    times the share: one half where the range covers the whole block, so that ``(0, 1)`` gives
    ``roc_auc_score``, and less where only the block's beginning is covered. (Counting one half there
    too would give constant scores a partial AUC of 1/2 in every range.)

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_score : array-like of shape (n_samples,)
        Scores; larger means more positive.
    fpr_range : (float, float), default=(0.0, 1.0)
        Limits of the false positive rate, fractions with ``0 <= alpha < beta <= 1``. Ranges narrower
        than one negative are fine. See `froc_to_fpr_range` for limits in false positives per image.
    min_tpr : float, default=0.0
        Lowest true positive rate of interest, in [0, 1) (two-way partial AUC, TPAUC): only the height
        above it counts, :math:`\max(\mathrm{TPR} - a, 0) / (1 - a)`.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        How much the rates u inside ``fpr_range`` count: a non-negative function of u, 1/u (the range
        must start above 0), exp(-alpha u), or all alike. The result is the weighted mean height.
    standardized : bool, default=False
        Return McClish's form :math:`\frac12 (1 + (v - c)/(1 - c))` with v the mean height and
        :math:`c = (\alpha + \beta)/2` its chance level: 1/2 is chance in every range, and ``(0, b)``
        gives ``roc_auc_score(max_fpr=b)``. Not with ``min_tpr`` or ``fpr_weight``.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight k counts as k equal rows.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. The result is the mean over queries that have both classes.
    pos_label : label, default=None
        The positive class, against all others. By default 1 of {0, 1} or {-1, 1}, True, or the larger
        of two numbers; text labels and more than two classes need it.

    Returns
    -------
    float
        The partial AUC, in [0, 1].

    Examples
    --------
    >>> from aucuba.metrics import partial_auc_score
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> score = [9.1, 6.8, 6.1, 5.7, 8.5, 8.1, 4.2, 3.6, 2.3]
    >>> partial_auc_score(y, score)
    0.7
    >>> partial_auc_score(y, score, fpr_range=(0.1, 0.2))
    0.25
    """
    rows_alike = sample_weight is None and qid is None
    both = is_tensor(y_true) and is_tensor(y_score)
    if both and rows_alike and not (min_tpr or fpr_weight or standardized):
        return _of_tensors(y_true, y_score, check_fpr_range(fpr_range), pos_label)
    params = {
        "fpr_range": fpr_range,
        "min_tpr": min_tpr,
        "fpr_weight": fpr_weight,
        "standardized": standardized,
    }
    return evaluate("partial_auc", y_true, y_score, sample_weight, qid, pos_label, **params)


def _of_tensors(y_true: Any, y_score: Any, fpr_range: tuple[float, float], pos_label: Any) -> float:
    """Compute the mean TPR over a range of rates from labels and scores on one device."""
    from aucuba._base._torch_arrays import distinct_labels

    if y_true.device != y_score.device:
        raise ValueError(
            f"y_score lives on {y_score.device} and y_true on {y_true.device}; move both to one "
            "device."
        )
    if not y_score.is_floating_point():
        # Reuse the array check: it refuses complex numbers, and integers that doubles cannot hold.
        finite_scores(on_host(y_score).reshape(-1))
    labels, score = y_true.detach().reshape(-1), y_score.detach().reshape(-1).double()
    if len(labels) != len(score):
        raise ValueError(f"{len(score)} scores for {len(labels)} labels.")
    if not _are_finite(score):
        n_bad = int((~score.isfinite()).sum())
        raise ValueError(f"y_score contains {n_bad} NaN or infinite values. Scores must be finite.")
    distinct = distinct_labels(labels)
    # Reuse the array check: it chooses the positive class and words the errors.
    positive = binary_target(distinct.cpu().numpy(), pos_label)
    return counted_range_average(labels == distinct[int(positive.argmax())], score, *fpr_range)


def _are_finite(score: Any) -> bool:
    """Tell whether all scores are finite by one pass over them; NaN is both extremes."""
    return len(score) == 0 or all(bool(one.isfinite()) for one in score.aminmax())


def two_way_partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    min_tpr: float,
    max_fpr: float,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the area under the ROC curve inside the corner FPR <= b, TPR >= a, as a part of it.

    .. math::
        \frac{1}{(1-a)\, b} \int_0^b \max\bigl(\mathrm{TPR}(u) - a, 0\bigr)\, du

    Short for ``partial_auc_score(fpr_range=(0, max_fpr), min_tpr=min_tpr)``.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    min_tpr : float
        Lowest true positive rate of interest, in [0, 1).
    max_fpr : float
        Highest false positive rate of interest, in (0, 1].

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import two_way_partial_auc_score
    >>> two_way_partial_auc_score([0, 0, 1, 1], [1, 3, 2, 4], min_tpr=0.5, max_fpr=1.0)
    0.5
    """
    params = {"min_tpr": min_tpr, "max_fpr": max_fpr}
    return evaluate("two_way_partial_auc", y_true, y_score, sample_weight, qid, pos_label, **params)


def log_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.001, 0.1),
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the mean true positive rate over a logarithmic FPR axis (logAUC).

    .. math::
        \frac{1}{\ln(\beta/\alpha)} \int_\alpha^\beta \mathrm{TPR}(u)\, \frac{du}{u}

    Every decade of false positive rates counts alike. Short for
    ``partial_auc_score(fpr_range=fpr_range, fpr_weight="log")``.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in `partial_auc_score`.
    fpr_range : (float, float), default=(0.001, 0.1)
        Limits of the false positive rate; the lower one must be above 0.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import log_auc_score
    >>> log_auc_score([0, 0, 1, 1], [1, 2, 3, 4])
    1.0
    """
    return evaluate("log_auc", y_true, y_score, sample_weight, qid, pos_label, fpr_range=fpr_range)


def aum_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rate: bool = True,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Area under the minimum of the false positive and false negative rates.

    .. math::
        \mathrm{AUM} = \int_{-\infty}^{\infty} \min\{\mathrm{FPR}(c), \mathrm{FNR}(c)\}\, dc

    where ``c`` is a constant added to every score before it is compared with zero. Zero when every
    positive scores above every negative, **smaller is better**, and homogeneous: doubling all scores
    doubles it. `compare_scores` and `make_metric_scorer` therefore take ``"aum"`` only with
    ``same_scale=True``, which confirms that the scores have one scale.

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
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
    return evaluate("aum", y_true, y_score, sample_weight, qid, pos_label, rate=rate)


def froc_to_fpr_range(
    false_positives_per_image: tuple[float, float], *, n_images: int, n_negatives: int
) -> tuple[float, float]:
    r"""Convert free-response limits to limits of the false positive rate.

    ``fpr = false positives per image * images / negatives``.

    The free-response curve counts false positives per image; a ROC curve counts them per negative
    region. KDD Cup 2008 scored 0.2 to 0.3 false positives per image, with 6,848 images and 101,671
    negative regions.

    Parameters
    ----------
    false_positives_per_image : (float, float)
        Lower and upper limit.
    n_images, n_negatives : int
        Number of images and of negative regions in the sample that is scored.

    Returns
    -------
    (float, float)
        A value for ``fpr_range``.

    Examples
    --------
    >>> from aucuba.metrics import froc_to_fpr_range
    >>> low, high = froc_to_fpr_range((0.2, 0.3), n_images=6848, n_negatives=101671)
    >>> print(f"{low:.5f} {high:.5f}")
    0.01347 0.02021
    """
    images = check_positive_number(n_images, "n_images", integer=True)
    negatives = check_positive_number(n_negatives, "n_negatives", integer=True)
    try:
        low, high = (float(limit) * images / negatives for limit in false_positives_per_image)
    except (TypeError, ValueError):
        raise ValueError(
            "false_positives_per_image must be a pair of numbers, got "
            f"{false_positives_per_image!r}."
        ) from None
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"{false_positives_per_image!r} false positives per image over {n_images} images and "
            f"{n_negatives} negatives are FPR limits ({low:.6g}, {high:.6g}), which must satisfy "
            "0 <= low < high <= 1."
        )
    return low, high
