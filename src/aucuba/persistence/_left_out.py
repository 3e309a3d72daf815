"""Attributes that a model file leaves out or that an older scikit-learn did not write."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import BaseEstimator

_IMPUTER = "sklearn.impute._base.SimpleImputer"
_NETWORK = "sklearn.neural_network._multilayer_perceptron.MLPClassifier"
# Training state that no prediction needs; `complete` starts it anew.
LEFT_OUT: dict[str, frozenset[str]] = {
    _NETWORK: frozenset(
        {
            *("_best_coefs", "_best_intercepts", "_coef_indptr", "_intercept_indptr"),
            *("_no_improvement_count", "_optimizer", "_random_state"),
        }
    ),
}


def complete(part: Any, name: str) -> None:
    """Add the attributes that an object from a file lacks, in place.

    Parameters that a later release of scikit-learn added get their defaults.

    Parameters
    ----------
    part : object
    name : str
        Name of its class in model files.
    """
    if isinstance(part, BaseEstimator):
        for parameter in inspect.signature(type(part)).parameters.values():
            if parameter.default is not inspect.Parameter.empty:
                vars(part).setdefault(parameter.name, parameter.default)
    if name == _IMPUTER and "_fit_dtype" in vars(part):
        # scikit-learn 1.8 stores the type of the filled values beside that of the training values.
        vars(part).setdefault("_fill_dtype", vars(part)["_fit_dtype"])
    if name == _NETWORK and "coefs_" in vars(part):
        # Further training starts from the stored weights as the best so far.
        state = vars(part)
        state["_best_coefs"], state["_best_intercepts"] = state["coefs_"], state.get("intercepts_")
        state["_no_improvement_count"] = 0
