"""Scores of a fitted classifier that grow towards its positive class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucuba._base._typing import AnyArray
from aucuba._base._validation import check_choice

# decision_function comes first: probabilities round to 0 and 1, and such ties cost true positives.
_RESPONSE_METHODS = ("decision_function", "predict_proba")


def response_of(estimator: Any, response_method: str = "auto") -> str:
    """Return the method that gives the scores: the one named, or the first that exists."""
    check_choice(response_method, "response_method", ("auto", *_RESPONSE_METHODS))
    methods = _RESPONSE_METHODS if response_method == "auto" else (response_method,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}; a classifier that gives scores is "
        "needed."
    )


def scores_and_label(estimator: Any, X: Any, pos_label: Any = None) -> tuple[AnyArray, Any]:
    """Score rows by a fitted classifier of two classes, and name the class that scores grow towards.

    ``pos_label`` is one of its ``classes_``, by default the second.
    """
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        raise ValueError(
            f"{type(estimator).__name__} must be a fitted classifier with two classes, its classes_ "
            f"are {classes!r}."
        )
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not one of the classes {list(classes)!r}.")
    return positive_scores(estimator, X, int(pos_label == classes[1]))[0], pos_label


def positive_scores(
    estimator: Any, X: Any, positive_index: int = 1, response_method: str = "auto"
) -> tuple[AnyArray, bool]:
    """Score rows towards the class ``classes_[positive_index]``, in the estimator's own precision.

    Returns
    -------
    scores : ndarray of shape (n_rows,)
    are_probabilities : bool
    """
    method = response_of(estimator, response_method)
    response = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba" and response.ndim == 2:
        return response[:, positive_index], True
    # One value per row is a raw score, also from ``predict_proba`` of a booster with an objective of
    # the user's.
    return response if positive_index else -response, False
