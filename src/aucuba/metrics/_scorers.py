"""Scorers for ``cross_val_score``, ``GridSearchCV`` and metadata routing.

Each maker returns a scikit-learn scorer. With metadata routing, ask for what the metric takes:
``make_partial_auc_scorer((0, 0.1)).set_score_request(sample_weight=True, qid=True)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.metrics import make_scorer

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_fraction, check_k
from aucuba._roc._rank_weights import FprWeight
from aucuba._roc._region import Region
from aucuba.metrics._binned import auc_at_k_score
from aucuba.metrics._measures import bind, evaluate
from aucuba.metrics._operating_points import tpr_at_fpr_score
from aucuba.metrics._partial_auc import partial_auc_score, two_way_partial_auc_score

_RESPONSE = ("decision_function", "predict_proba")


def make_partial_auc_scorer(
    fpr_range: tuple[float, float] = (0.0, 0.05),
    *,
    min_tpr: float = 0.0,
    fpr_weight: FprWeight = None,
    pos_label: Any = None,
) -> Callable[..., float]:
    """Make a scorer of `partial_auc_score` for one region.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucuba.metrics import make_partial_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> scorer = make_partial_auc_scorer((0.0, 0.05))
    >>> print(f"{cross_val_score(model, X, y, scoring=scorer).mean():.2f}")
    0.91
    """
    Region.from_params(fpr_range, fpr_weight, min_tpr)
    region = {"fpr_range": fpr_range, "min_tpr": min_tpr, "fpr_weight": fpr_weight}
    return _maker(partial_auc_score, pos_label, **region)


def make_two_way_partial_auc_scorer(
    *, min_tpr: float, max_fpr: float, pos_label: Any = None
) -> Callable[..., float]:
    """Make a scorer of `two_way_partial_auc_score`."""
    check_fraction(min_tpr, "min_tpr", high_open=True)
    check_fraction(max_fpr, "max_fpr", low_open=True)
    return _maker(two_way_partial_auc_score, pos_label, min_tpr=min_tpr, max_fpr=max_fpr)


def make_tpr_at_fpr_scorer(fpr: float, *, pos_label: Any = None) -> Callable[..., float]:
    """Make a scorer of `tpr_at_fpr_score`."""
    check_fraction(fpr, "fpr")
    return _maker(tpr_at_fpr_score, pos_label, fpr=fpr)


def make_auc_at_k_scorer(k: int, *, pos_label: Any = None) -> Callable[..., float]:
    """Make a scorer of `auc_at_k_score`."""
    return _maker(auc_at_k_score, pos_label, k=check_k(k))


def make_metric_scorer(
    metric: str, *, pos_label: Any = None, **metric_params: Any
) -> Callable[..., float]:
    """Make a scorer of any measure by its name.

    Parameters
    ----------
    metric : str
        Name of a measure without ``_score``, such as ``"recall_at_precision"``. Measures where smaller
        is better are negated, as scikit-learn does.
    pos_label : label, default=None
        The positive class.
    **metric_params
        Parameters of the measure.

    Returns
    -------
    callable
        For ``cross_val_score``, ``GridSearchCV`` and other users of ``scoring=``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucuba.metrics import make_metric_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> scorer = make_metric_scorer("precision_at_recall", recall=0.9)
    >>> print(f"{cross_val_score(model, X, y, scoring=scorer).mean():.2f}")
    0.99
    """
    measure = bind(metric, metric_params)
    if measure.is_rate:
        raise ValueError(
            "A rate at a fixed threshold is no scorer, since refitted models differ in scale; use "
            "tpr_at_fpr, precision_at_recall or another measure that finds its own threshold."
        )
    function = partial(_by_name, metric)
    return _maker(
        function, pos_label, greater_is_better=not measure.smaller_is_better, **metric_params
    )


def _by_name(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    **metric_params: Any,
) -> float:
    return evaluate(metric, metric_params, y_true, y_score, sample_weight, qid, pos_label)


def _maker(metric: Callable[..., float], pos_label: Any, **params: Any) -> Callable[..., float]:
    # pos_label is passed on only when set: scikit-learn then also picks the column of
    # predict_proba (or the sign of decision_function) that belongs to it.
    if pos_label is not None:
        params["pos_label"] = pos_label
    scorer: Callable[..., float] = make_scorer(metric, response_method=_RESPONSE, **params)
    return scorer
