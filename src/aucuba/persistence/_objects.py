"""The objects inside a model, whose arrays are compared with its number of features before use.

Python code that meets an array of a wrong shape fails with an error; compiled code reads or writes
out of bounds. Both are refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from numbers import Integral
from types import FunctionType
from typing import Any

import numpy as np
from scipy import sparse

from aucuba.persistence._contents import check_content
from aucuba.persistence._errors import demand
from aucuba.persistence._trees import check_range

# Nothing of the file is inside these.
_PLAIN = (str, bytes, int, float, type(None), type, FunctionType, np.generic, np.dtype, np.ufunc)
# The dimensions of attributes: a number, "f" for the number of features, or any other word, which
# stands for the same number wherever the object has it. Names as in model files.
_LINEAR = "coef_ 1 f, intercept_ 1, classes_ 2"
SHAPES: dict[str, str] = {
    "aucuba.AUMClassifier": _LINEAR,
    "aucuba.AlertBudgetClassifier": "classes_ 2",
    "aucuba.FixedFPRClassifier": "classes_ 2",
    "aucuba.FixedPrecisionClassifier": "classes_ 2",
    "aucuba.FixedTPRClassifier": "classes_ 2",
    "aucuba.PartialAUCClassifier": f"{_LINEAR}, anchor_coef_ 1 f",
    "aucuba.PartialAUCClassifierCV": (
        f"{_LINEAR}, logistic_coef_ 1 f, region_coef_ 1 f, calibration_ 2"
    ),
    "aucuba.PartialAUCSVC": "coef_ 1 mapped, intercept_ 1, classes_ 2, dual_coef_ rows",
    "aucuba.RegionReweighted": "classes_ 2, calibration_ 2",
    "aucuba.RegionStack": (
        "coef_ members, mean_ members, scale_ members, oof_scores_ rows members, classes_ 2"
    ),
    "aucuba.changepoint.IntervalRegression": "coef_ f",
    "aucuba.changepoint.IntervalRegressionCV": "coef_ f, feature_range_ 2 f",
    "aucuba.changepoint.SupervisedChangepointDetector": (
        "coef_ f, used_features_ f, feature_range_ 2 f, feature_median_ f"
    ),
    "aucuba.helper.plain_columns": "empty_ columns",
    "aucuba.structured.StructuredLabelRanker": (
        "coef_ labels f, intercept_ labels, classes_ labels, label_pairs_ pairs 2, pair_coef_ pairs"
    ),
    "aucuba.structured.StructuredRanker": (
        "coef_ nodes, edge_coef_ edges, state_coef_ 3 edges, term_coef_ terms"
    ),
    "sklearn.impute._base.MissingIndicator": "features_ chosen",
    "sklearn.impute._base.SimpleImputer": "statistics_ f",
    "sklearn.kernel_approximation.Nystroem": (
        "components_ kept f, component_indices_ kept, normalization_ kept kept"
    ),
    "sklearn.linear_model._logistic.LogisticRegression": (
        "coef_ scores f, intercept_ scores, classes_ classes"
    ),
    "sklearn.preprocessing._data.MaxAbsScaler": "max_abs_ f, scale_ f",
    "sklearn.preprocessing._data.StandardScaler": "mean_ f, var_ f, scale_ f",
}


def parts_of(model: Any) -> Iterator[Any]:
    """Yield the model and everything inside it, outer objects first, each once."""
    waiting: list[Any] = [model]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, _PLAIN):
            continue
        seen.add(id(part))
        yield part
        waiting.extend(_inside(part))


def _inside(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if isinstance(part, np.ndarray):
        return list(part.ravel()) if part.dtype == object else []
    if isinstance(part, partial):
        return [part.args, part.keywords, vars(part)]
    return list(getattr(part, "__dict__", {}).values())


def check_part(part: Any, name: str) -> None:
    """Check one object of a model; ``name`` as in model files."""
    if isinstance(part, np.random.RandomState):
        state: Any = part.get_state(legacy=False)
        check_range(np.array([state["state"]["pos"]]), state["state"]["key"].size + 1)
    elif sparse.issparse(part):
        part.check_format(full_check=True)
    elif name.startswith(("aucuba.", "sklearn.")) and hasattr(part, "__dict__"):
        _check_attributes(part)
        n_features = _number_of_features(part)
        dimensions = {} if n_features is None else {"f": n_features}
        for entry in SHAPES[name].split(", ") if name in SHAPES else ():
            attribute, *words = entry.split()
            value = vars(part).get(attribute)
            if value is not None:
                _check_shape(value, words, dimensions)
        check_content(part, name, n_features)


def _check_attributes(part: Any) -> None:
    """Refuse attributes that would hide a method of the class or a special name of Python."""
    for name in vars(part):
        hidden = name.startswith("__") or callable(getattr(type(part), name, None))
        demand(not hidden, f"an attribute in the place of {name}")


def _number_of_features(part: Any) -> int | None:
    given, names = vars(part).get("n_features_in_"), vars(part).get("feature_names_in_")
    if given is None:
        return None
    counts = isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 0
    demand(counts, "no number of features")
    demand(names is None or np.shape(names) == (given,), "names of other features")
    return int(given)


def _check_shape(value: Any, words: list[str], dimensions: dict[str, int]) -> None:
    array = isinstance(value, np.ndarray) or sparse.issparse(value)
    demand(array, "something else in the place of an array")
    demand(len(value.shape) == len(words))
    for size, word in zip(value.shape, words, strict=True):
        demand(size == (int(word) if word.isdigit() else dimensions.setdefault(word, size)))
