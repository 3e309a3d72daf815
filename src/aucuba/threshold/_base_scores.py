"""Scores of a base classifier that grow towards the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._core._typing import AnyArray
from aucuba._core._validation import check_choice

# decision_function comes first: probabilities round to 0 and 1, and such ties cost true positives.
_RESPONSE_METHODS = ("decision_function", "predict_proba")


def response_of(estimator: Any, response_method: str) -> str:
    """The method that gives the scores: the one named, or the first that the estimator has."""
    check_choice(response_method, "response_method", ("auto", *_RESPONSE_METHODS))
    methods = _RESPONSE_METHODS if response_method == "auto" else (response_method,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"The base estimator {type(estimator).__name__} has no {' or '.join(methods)}; a "
        "threshold needs a classifier that gives scores."
    )


def positive_scores(estimator: Any, X: Any, response_method: str, positive_index: int) -> AnyArray:
    """Scores towards the class of the given place, in the base estimator's precision."""
    if response_of(estimator, response_method) == "predict_proba":
        return np.asarray(estimator.predict_proba(X))[:, positive_index]
    scores = np.asarray(estimator.decision_function(X))
    return scores if positive_index else -scores
