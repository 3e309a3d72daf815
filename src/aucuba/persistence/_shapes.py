"""Shapes of the arrays inside a model, compared with its number of features before it is used.

Python code that meets an array of a wrong shape fails with an error; compiled code reads or writes
whatever lies there. Both are refused here.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from aucuba.persistence._contents import check_content
from aucuba.persistence._errors import DamagedFileError
from aucuba.persistence._trees import check_range

# By attribute its dimensions: a number, "f" for the number of features, or any other word, which
# stands for the same number wherever the object has it. Names as in model files.
_LINEAR = {"coef_": "1 f", "intercept_": "1", "classes_": "2"}
SHAPES: dict[str, dict[str, str]] = {
    "aucuba.AUMClassifier": _LINEAR,
    "aucuba.PartialAUCClassifierCV": {
        **_LINEAR,
        "logistic_coef_": "1 f",
        "region_coef_": "1 f",
        "calibration_": "2",
    },
    "aucuba.PartialAUCClassifier": {
        "coef_": "1 mapped",
        "anchor_coef_": "1 mapped",
        "intercept_": "1",
        "classes_": "2",
        "dual_coef_": "rows",
    },
    "aucuba.AlertBudgetClassifier": {"classes_": "2"},
    "aucuba.FixedFPRClassifier": {"classes_": "2"},
    "aucuba.FixedPrecisionClassifier": {"classes_": "2"},
    "aucuba.FixedTPRClassifier": {"classes_": "2"},
    "aucuba.RegionReweighted": {"classes_": "2", "calibration_": "2"},
    "aucuba.RegionStack": {
        "coef_": "members",
        "mean_": "members",
        "scale_": "members",
        "oof_scores_": "rows members",
        "classes_": "2",
    },
    "aucuba.changepoint.IntervalRegression": {"coef_": "f"},
    "aucuba.changepoint.IntervalRegressionCV": {"coef_": "f", "feature_range_": "2 f"},
    "aucuba.changepoint.SupervisedChangepointDetector": {
        "coef_": "f",
        "used_features_": "f",
        "feature_range_": "2 f",
        "feature_median_": "f",
    },
    "aucuba.structured.StructuredRanker": {
        "coef_": "nodes",
        "edge_coef_": "edges",
        "state_coef_": "3 edges",
        "term_coef_": "terms",
    },
    "aucuba.structured.StructuredLabelRanker": {
        "coef_": "labels f",
        "intercept_": "labels",
        "classes_": "labels",
        "label_pairs_": "pairs 2",
        "pair_coef_": "pairs",
    },
    "aucuba.helper.column_features": {"columns_": "chosen", "root_": "chosen kept"},
    "aucuba.helper.plain_columns": {"empty_": "columns"},
    "sklearn.impute._base.SimpleImputer": {"statistics_": "f"},
    "sklearn.impute._base.MissingIndicator": {"features_": "chosen"},
    "sklearn.kernel_approximation.Nystroem": {
        "components_": "components f",
        "component_indices_": "components",
        "normalization_": "components components",
    },
    "sklearn.linear_model._logistic.LogisticRegression": {
        "coef_": "scores f",
        "intercept_": "scores",
        "classes_": "classes",
    },
    "sklearn.preprocessing._data.MaxAbsScaler": {"max_abs_": "f", "scale_": "f"},
    "sklearn.preprocessing._data.StandardScaler": {"mean_": "f", "var_": "f", "scale_": "f"},
}


def check_part(part: Any, name: str) -> None:
    """Check one object of a model; ``name`` as in model files."""
    if isinstance(part, np.random.RandomState):
        _check_random_state(part)
    elif sparse.issparse(part):
        part.check_format(full_check=True)
    elif name.startswith(("aucuba.", "sklearn.")) and hasattr(part, "__dict__"):
        _check_attributes(part)
        n_features = _number_of_features(part)
        dimensions = {} if n_features is None else {"f": n_features}
        for attribute, words in SHAPES.get(name, {}).items():
            value = vars(part).get(attribute)
            if value is not None:
                _check_shape(value, words.split(), dimensions)
        check_content(part, name, n_features)


def _check_attributes(part: Any) -> None:
    """No attribute may hide a method of the object's class, or a name of Python's own."""
    for name in vars(part):
        if name.startswith("__") or callable(getattr(type(part), name, None)):
            raise DamagedFileError(f"an attribute in the place of {name}")


def _number_of_features(part: Any) -> int | None:
    given = vars(part).get("n_features_in_")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Integral) or given < 0:
        raise DamagedFileError("no number of features")
    names = vars(part).get("feature_names_in_")
    if names is not None and np.shape(names) != (given,):
        raise DamagedFileError("names of other features")
    return int(given)


def _check_shape(value: Any, words: list[str], dimensions: dict[str, int]) -> None:
    if not isinstance(value, np.ndarray) and not sparse.issparse(value):
        raise DamagedFileError("something else in the place of an array")
    if len(value.shape) != len(words):
        raise DamagedFileError("an array of another shape")
    for size, word in zip(value.shape, words, strict=True):
        expected = int(word) if word.isdigit() else dimensions.setdefault(word, size)
        if size != expected:
            raise DamagedFileError("an array of another shape")


def _check_random_state(state: np.random.RandomState) -> None:
    inner: Any = state.get_state(legacy=False)
    check_range(np.array([inner["state"]["pos"]]), inner["state"]["key"].size + 1)
