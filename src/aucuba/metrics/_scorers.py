"""Scorers for ``cross_val_score``, ``GridSearchCV`` and metadata routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, make_scorer

from aucuba._base._estimator import positive_of, response_of
from aucuba._base._typing import ArrayLike
from aucuba.metrics._measures import bind, evaluate

# scikit-learn's own class of scorers, with its metadata routing, has no public name.
_SklearnScorer: Any = type(make_scorer(accuracy_score))
_RESPONSES = ("decision_function", "predict_proba")


class MetricScorer(_SklearnScorer):
    """A scorer that finds the positive class of the estimator that it scores."""

    @property
    def _needs_any(self) -> bool:
        """Whether any scores will do, or probabilities are needed."""
        return bool(self._response_method != ("predict_proba",))

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: ArrayLike, **kwargs: Any
    ) -> float:
        if not hasattr(estimator, "classes_"):
            return float(super()._score(method_caller, estimator, X, y_true, **kwargs))
        index, pos_label = positive_of(estimator, self._kwargs.get("pos_label"))
        # scikit-learn picks the column or sign of two classes, and keeps responses for other scorers.
        method = response_of(estimator, "auto" if self._needs_any else "predict_proba")
        response = method_caller(estimator, method, X, pos_label=pos_label)
        score = np.asarray(response)
        score = score[:, index] if score.ndim == 2 else score
        options = {**self._kwargs, **kwargs, "pos_label": pos_label}
        return float(self._sign * self._score_func(y_true, score, **options))


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
        The positive class; with more than two classes, the one to judge against the rest. By default
        the estimator's ``pos_label_`` if it has one, else 1 of {0, 1} or {-1, 1}, or True; of text
        labels none is positive by default.
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

    Text labels need a name for the positive class:

    >>> kind = ["benign" if one else "malignant" for one in y]
    >>> scorer = make_metric_scorer("auc", pos_label="malignant")
    >>> print(f"{cross_val_score(model, X, kind, scoring=scorer, error_score='raise').mean():.2f}")
    1.00
    """
    measure = bind(metric, metric_params)
    if measure.cuts and not measure.of_probabilities:
        raise ValueError(
            f"{metric!r} at a fixed threshold cannot be a scorer, since the scores of refitted models "
            "differ in scale; use tpr_at_fpr, precision_at_recall or another measure that finds its "
            "own threshold."
        )
    measure.check_comparable()
    params = dict(metric_params)
    if pos_label is not None:
        params["pos_label"] = pos_label
    sign = -1 if measure.smaller_is_better else 1
    options = {"metric": metric, **params}
    methods = ("predict_proba",) if measure.of_probabilities else _RESPONSES
    return MetricScorer(_by_name, sign, options, methods)


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
