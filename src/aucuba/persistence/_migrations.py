"""Changes of classes since earlier releases, and what files leave out, applied to models from files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def migrate(part: Any, name: str) -> None:
    """Bring an object up to date; parameters that an estimator lacks get their defaults.

    ``name`` is that of the class in model files.
    """
    if name in MIGRATIONS:
        MIGRATIONS[name](vars(part))
    if isinstance(part, BaseEstimator):
        for parameter in inspect.signature(type(part)).parameters.values():
            if parameter.default is not inspect.Parameter.empty:
                vars(part).setdefault(parameter.name, parameter.default)


def _simple_imputer(state: dict[str, Any]) -> None:
    # scikit-learn 1.7 keeps the type of the filled values beside that of the training values.
    if "_fit_dtype" in state:
        state.setdefault("_fill_dtype", state["_fit_dtype"])


def _fixed_fpr(state: dict[str, Any]) -> None:
    # Before there were several rates, segments and clusters, one threshold was all.
    if "n_negatives_" in state:
        state["n_units_"] = state.pop("n_negatives_")
        state["thresholds_"] = np.array([state["threshold_"]])
        state["strata_"] = np.array([])
        state["trivial_"] = False
        if not state["guarantee_"]:
            state["violation_probability_"] = float("nan")
        state["promise_"] = (
            f"False positive rate at most {state['max_fpr']:g}, with confidence "
            f"{state['confidence']:g}, from {state['n_units_']} held-out negatives."
            if state["guarantee_"]
            else "No promise: the threshold comes from pooled folds."
        )


def _linear(state: dict[str, Any]) -> None:
    # Before pos_label the second class was positive, and the threshold was in the intercept alone.
    if "classes_" in state and "pos_label_" not in state:
        state["pos_label_"] = state["classes_"].tolist()[1]
        state["threshold_"] = -float(state["intercept_"][0])
        limit = state.get("fpr_range", (0.0, 1.0))[1]
        state["predict_fpr_"] = float(limit) if limit < 1.0 else float("nan")


def _linear_cv(state: dict[str, Any]) -> None:
    _linear(state)
    if "classes_" in state:
        # Probabilities were not fitted.
        state.setdefault("calibration_", np.full(2, np.nan))


def _ensemble(state: dict[str, Any]) -> None:
    # Before thresholds the class above even odds was predicted, and odds were the scores themselves.
    if "classes_" in state and "pos_label_" not in state:
        state["pos_label_"] = state["classes_"].tolist()[1]
        state["threshold_"], state["predict_fpr_"] = 0.0, float("nan")


def _reweighted(state: dict[str, Any]) -> None:
    _ensemble(state)
    if "classes_" in state:
        state.setdefault("calibration_", np.array([1.0, 0.0]))


def _interval_regression_cv(state: dict[str, Any]) -> None:
    # Features were not cut to their training range.
    if "coef_" in state and "feature_range_" not in state:
        widest = np.full(state["coef_"].size, np.finfo(np.float64).max)
        state["feature_range_"] = np.stack([-widest, widest])
        state["is_constant_"] = not state["coef_"].any()
        state["status_"] = "Chosen by the mean held-out loss."


def _changepoint_detector(state: dict[str, Any]) -> None:
    # Features were neither replaced nor cut.
    if "coef_" in state and "feature_range_" not in state:
        _interval_regression_cv(state)
        del state["is_constant_"]
        state["status_"] = "Interval regression and descent without comparison with a constant."
        state["feature_median_"] = np.zeros(state["coef_"].size)
        state["constant_log_penalty_"] = -state["intercept_"]


def _network(state: dict[str, Any]) -> None:
    # Files hold what predicts; training that goes on begins here, at the best weights so far.
    if "coefs_" in state:
        state["_best_coefs"], state["_best_intercepts"] = state["coefs_"], state.get("intercepts_")
        state["_no_improvement_count"] = 0


# Functions that turn the attributes of an older object into today's, in place. They run on every
# file, so they must leave today's attributes as they are.
MIGRATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "aucuba.AUMClassifier": _linear,
    "aucuba.FixedFPRClassifier": _fixed_fpr,
    "aucuba.PartialAUCClassifier": _linear,
    "aucuba.PartialAUCClassifierCV": _linear_cv,
    "aucuba.RegionReweighted": _reweighted,
    "aucuba.RegionStack": _ensemble,
    "aucuba.changepoint.IntervalRegressionCV": _interval_regression_cv,
    "aucuba.changepoint.SupervisedChangepointDetector": _changepoint_detector,
    "sklearn.impute._base.SimpleImputer": _simple_imputer,
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier": _network,
}
