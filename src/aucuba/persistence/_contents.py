"""Rules by class for what the shapes of arrays do not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._typing import AnyArray
from aucuba.persistence._errors import demand
from aucuba.persistence._networks import check_network
from aucuba.persistence._trees import (
    check_forest,
    check_predictors,
    check_range,
    check_stages,
    check_tree,
)


def check_content(part: Any, name: str, n_features: int | None) -> None:
    """Check a fitted object by the rule of its class; ``name`` as in model files."""
    mark, rule = _RULES.get(name, (None, None))
    if rule is not None and (mark is None or mark in vars(part)):
        # Pass -1 so that every index check fails if the number of features is unknown.
        rule(part, -1 if n_features is None else n_features)


def _check_svc(part: Any, n_features: int) -> None:
    """Expect one weight per feature or, with a kernel, per kernel row."""
    rows = vars(part).get("kernel_rows_")
    if rows is None:
        mapped = vars(part).get("feature_map_")
        n_mapped = n_features if mapped is None else mapped.components_.shape[0]
        demand(part.coef_.shape == (1, n_mapped))
        return
    demand(rows.ndim == 1 or rows.shape[1] == n_features)
    demand(rows.shape[0] == part.dual_coef_.size)
    if part.kernel == "precomputed":
        check_range(rows, n_features)


def _check_stack(part: Any, n_features: int) -> None:
    demand(len(part.members_) == part.coef_.size, "another number of members")


def _check_label_ranker(part: Any, n_features: int) -> None:
    check_range(part.label_pairs_, part.classes_.size)


def _check_measure(part: Any, n_features: int) -> None:
    # skops builds it without its constructor, so run the checks of the constructor now.
    type(part)(**vars(part))


def _check_splines(part: Any, n_features: int) -> None:
    demand(len(part.bsplines_) == n_features)


def _check_indicator(part: Any, n_features: int) -> None:
    check_range(np.asarray(part.features_), n_features)


def _check_linear(part: Any, n_features: int) -> None:
    n_classes = len(part.classes_)
    demand(len(part.coef_) == (1 if n_classes == 2 else n_classes))


def _check_decision_tree(part: Any, n_features: int) -> None:
    check_tree(part.tree_, n_features, part.n_outputs_)


def _check_one_hot(part: Any, n_features: int) -> None:
    """Check the columns of the indicators: compiled code writes wherever the encoder says."""
    categories, widths = part.categories_, part._n_features_outs
    dropped = part._drop_idx_after_grouping
    demand(len(categories) == len(widths) == n_features)
    for place, (known, width) in enumerate(zip(categories, widths, strict=True)):
        _check_categories(known)
        n_codes = len(known)
        if part._infrequent_enabled:
            n_codes = _check_grouping(part, place, n_codes)
        if dropped is not None and dropped[place] is not None:
            check_range(np.array([dropped[place]]), n_codes)
            n_codes -= 1
        demand(width == n_codes, "another number of categories")


def _check_ordinal(part: Any, n_features: int) -> None:
    demand(len(part.categories_) == n_features)
    for known in part.categories_:
        _check_categories(known)


def _check_categories(known: AnyArray) -> None:
    """Expect sorted numbers or text, since categories are found by bisection."""
    demand(known.ndim == 1)
    if known.dtype != object:
        ordered = known[known == known]  # without NaN, which comes last
        demand(np.all(ordered[:-1] < ordered[1:]), "categories out of order")


def _check_grouping(part: Any, place: int, n_codes: int) -> int:
    """Check the codes of grouped rare categories, and return their number."""
    codes, rare = part._default_to_infrequent_mappings[place], part._infrequent_indices[place]
    demand((codes is None) == (rare is None), "groups without categories")
    if codes is None:
        return n_codes
    check_range(rare, n_codes)
    n_groups = n_codes - int(rare.size) + 1
    check_range(codes, n_groups)
    demand(codes.shape == (n_codes,) and rare.size > 0, "groups without categories")
    return n_groups


def _check_support_vectors(part: Any, n_features: int) -> None:
    """Compare counts and coefficients with the number of support vectors, for libsvm."""
    n_classes, n_vectors = len(part.classes_), len(part.support_)
    n_pairs = n_classes * (n_classes - 1) // 2
    precomputed = part.kernel == "precomputed"
    demand(part.support_vectors_.shape == ((0, 0) if precomputed else (n_vectors, n_features)))
    demand(not precomputed or part.shape_fit_[0] == n_features)
    check_range(part.support_, part.shape_fit_[0])
    for coef in (part._dual_coef_, part.dual_coef_):
        # Compiled code expects all entries of a sparse matrix to be stored, zeros included.
        stored = coef.data.size if sparse.issparse(coef) else coef.size
        demand(coef.shape == (n_classes - 1, n_vectors) and stored == (n_classes - 1) * n_vectors)
    demand(part._n_support.shape == (n_classes,) and part._n_support.min() >= 0)
    demand(part._n_support.sum() == n_vectors and part._intercept_.shape == (n_pairs,))
    demand(all(array.size in (0, n_pairs) for array in (part._probA, part._probB)))


Rule = Callable[[Any, int], None]
# The attribute that only a fitted object has, and its rule.
_FOREST: tuple[str, Rule] = ("estimators_", check_forest)
_TREE: tuple[str, Rule] = ("tree_", _check_decision_tree)
_RULES: dict[str, tuple[str | None, Rule]] = {
    "aucuba.PartialAUCSVC": ("intercept_", _check_svc),
    "aucuba.RegionStack": ("members_", _check_stack),
    "aucuba.structured.AUC": (None, _check_measure),
    "aucuba.structured.AUCAtK": (None, _check_measure),
    "aucuba.structured.BinnedAUC": (None, _check_measure),
    "aucuba.structured.StructuredLabelRanker": ("label_pairs_", _check_label_ranker),
    "aucuba.structured.UnnestedAUC": (None, _check_measure),
    "aucuba.helper.portable_splines": ("bsplines_", _check_splines),
    "sklearn.ensemble._forest.ExtraTreesClassifier": _FOREST,
    "sklearn.ensemble._forest.RandomForestClassifier": _FOREST,
    "sklearn.ensemble._gb.GradientBoostingClassifier": ("estimators_", check_stages),
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier": (
        "_predictors",
        check_predictors,
    ),
    "sklearn.impute._base.MissingIndicator": ("features_", _check_indicator),
    "sklearn.linear_model._logistic.LogisticRegression": ("coef_", _check_linear),
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier": (None, check_network),
    "sklearn.preprocessing._encoders.OneHotEncoder": ("categories_", _check_one_hot),
    "sklearn.preprocessing._encoders.OrdinalEncoder": ("categories_", _check_ordinal),
    "sklearn.svm._classes.SVC": ("support_vectors_", _check_support_vectors),
    "sklearn.tree._classes.DecisionTreeClassifier": _TREE,
    "sklearn.tree._classes.DecisionTreeRegressor": _TREE,
    "sklearn.tree._classes.ExtraTreeClassifier": _TREE,
    "sklearn.tree._classes.ExtraTreeRegressor": _TREE,
}
