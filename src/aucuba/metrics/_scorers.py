"""Scorers for ``cross_val_score``, ``GridSearchCV`` and metadata routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import make_scorer

from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import bind, evaluate


def make_metric_scorer(
    metric: str, *, pos_label: Any = None, **metric_params: Any
) -> Callable[..., float]:
    """Make a scikit-learn scorer of any measure from its name.

    With metadata routing, request what the measure takes:
    ``make_metric_scorer("equal_error_rate").set_score_request(sample_weight=True, qid=True)``.

    Parameters
    ----------
    metric : str
        Name of a measure without ``_score``, such as ``"partial_auc"``. Measures where smaller is
        better are negated, as in scikit-learn. ``"rate_at_threshold"`` is refused, since the scores of
        refitted models differ in scale; ``"aum"`` needs ``same_scale=True`` for the same reason.
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
    >>> scorer = make_metric_scorer("partial_auc", fpr_range=(0.0, 0.05))
    >>> print(f"{cross_val_score(model, X, y, scoring=scorer).mean():.2f}")
    0.91
    """
    measure = bind(metric, metric_params)
    if measure.is_rate:
        raise ValueError(
            f"{metric!r} cannot be a scorer, since the scores of refitted models differ in scale; use "
            "tpr_at_fpr, precision_at_recall or another measure that finds its own threshold."
        )
    measure.check_comparable()
    params = dict(metric_params)
    if pos_label is not None:
        # Passed on only when set: scikit-learn then picks the column of predict_proba, or the sign of
        # decision_function, that belongs to it.
        params["pos_label"] = pos_label
    scorer: Callable[..., float] = make_scorer(
        _by_name,
        response_method=("decision_function", "predict_proba"),
        greater_is_better=not measure.smaller_is_better,
        metric=metric,
        **params,
    )
    return scorer


def _by_name(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: str,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    **metric_params: Any,
) -> float:
    return evaluate(metric, y_true, y_score, sample_weight, qid, pos_label, **metric_params)
