"""Rules by class: which attributes must match, so that no prediction reads out of bounds.

Given an array of the wrong shape, Python code fails with an error, but compiled code reads or writes
out of bounds, and a count that no array confirms can ask for any amount of memory. All of this is
refused here. Names of classes are those in model files.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from aucuba.persistence._archive import demand
from aucuba.persistence._names import full_name
from aucuba.persistence._trees import TREE, check_range

# The dimensions of attributes: a number, "f" for the number of features, or any other word, which
# stands for the same number wherever the object has it; a list has one dimension, its length. Entries
# of arrays are numbers unless the name of the attribute ends in "?", and indices of f entries if it
# ends in "<f".
_LINEAR = "coef_ 1 f, intercept_ 1, classes_? 2"
SHAPES: dict[str, str] = {
    "aucuba.AUMClassifier": _LINEAR,
    "aucuba.AlertBudgetClassifier": "classes_? 2",
    "aucuba.FalseDiscoverySelector": "classes_? 2, calibration_scores_? rows",
    "aucuba.FixedFPRClassifier": "classes_? 2",
    "aucuba.FixedPrecisionClassifier": "classes_? 2",
    "aucuba.FixedTPRClassifier": "classes_? 2",
    "aucuba.PartialAUCClassifier": f"{_LINEAR}, anchor_coef_ 1 f",
    "aucuba.PartialAUCClassifierCV": (
        f"{_LINEAR}, logistic_coef_ 1 f, region_coef_ 1 f, calibration_ 2"
    ),
    "aucuba.PartialAUCSVC": "coef_ 1 mapped, intercept_ 1, classes_? 2, dual_coef_ rows",
    "aucuba.RegionReweighted": "classes_? 2, calibration_ 2",
    "aucuba.RegionScorecard": "classes_? 2, calibration_ 2, kinds_ f",
    "aucuba.RegionStack": (
        "members_ members, coef_ members, mean_ members, scale_ members, "
        "oof_scores_ rows members, classes_? 2"
    ),
    "aucuba.TriageClassifier": "classes_? 2, level_shares_ 3",
    "aucuba.changepoint.IntervalRegression": "coef_ f",
    "aucuba.changepoint.IntervalRegressionCV": "coef_ f, feature_range_ 2 f",
    "aucuba.changepoint.SupervisedChangepointDetector": (
        "coef_ f, used_features_ f, feature_range_ 2 f, feature_median_ f"
    ),
    "aucuba.helper.plain_columns": "empty_ columns",
    "aucuba.helper.portable_splines": "bsplines_ f",
    "aucuba.structured.StructuredLabelRanker": (
        "coef_ labels f, intercept_ labels, classes_? labels, "
        "label_pairs_<labels pairs 2, pair_coef_ pairs"
    ),
    "aucuba.structured.StructuredRanker": (
        "coef_ nodes, edge_coef_ edges, state_coef_ 3 edges, term_coef_ terms"
    ),
    "sklearn.impute.MissingIndicator": "features_<f chosen",
    "sklearn.impute.SimpleImputer": "statistics_? f",
    "sklearn.kernel_approximation.Nystroem": (
        "components_ kept f, component_indices_ kept, normalization_ kept kept"
    ),
    "sklearn.linear_model.LogisticRegression": (
        "coef_ scores f, intercept_ scores, classes_? classes"
    ),
    "sklearn.preprocessing.MaxAbsScaler": "max_abs_ f, scale_ f",
    "sklearn.preprocessing.StandardScaler": "mean_ f, var_ f, scale_ f",
}


# Compiled losses, which the settings determine, and training state that no prediction needs.
_BOOSTING = (
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble._gb.GradientBoostingClassifier",
)
_NETWORK = "sklearn.neural_network.MLPClassifier"
LEFT_OUT: dict[str, frozenset[str]] = {
    **dict.fromkeys(_BOOSTING, frozenset({"_loss"})),
    _NETWORK: frozenset(
        {
            *("_best_coefs", "_best_intercepts", "_coef_indptr", "_intercept_indptr"),
            *("_no_improvement_count", "_optimizer", "_random_state"),
        }
    ),
}


def check_object(part: Any, name: str) -> None:
    """Complete and check one object of a model, whose parts have been checked."""
    for attribute in vars(part):
        hidden = attribute.startswith("__") or callable(getattr(type(part), attribute, None))
        demand(not hidden, f"an attribute in place of {attribute}")
    _complete(part, name)
    n_features = _number_of_features(part)
    dimensions = {} if n_features is None else {"f": n_features}
    for entry in SHAPES[name].split(", ") if name in SHAPES else ():
        declared, *words = entry.split()
        attribute, _, limit = declared.partition("<")
        value = vars(part).get(attribute.rstrip("?"))
        if value is None:
            continue
        _check_shape(value, words, dimensions)
        if isinstance(value, np.ndarray) and attribute[-1] != "?":
            demand(value.dtype.kind in "biuf", "an array of another type")
        if limit:
            check_range(value, dimensions.get(limit, -1))
    mark, rule = _RULES.get(name, ("", None))
    if rule is not None and mark in vars(part):
        # Pass -1 so that every index check fails if the number of features is unknown.
        rule(part, -1 if n_features is None else n_features)


def _complete(part: Any, name: str) -> None:
    """Add what the file leaves out or an older scikit-learn did not write, in place.

    Parameters that a later release of scikit-learn added get their defaults.
    """
    state = vars(part)
    if isinstance(part, BaseEstimator):
        for parameter in inspect.signature(type(part)).parameters.values():
            if parameter.default is not parameter.empty:
                state.setdefault(parameter.name, parameter.default)
    if "_fit_dtype" in state:
        # scikit-learn 1.8 stores the type of the filled values beside that of the training values.
        state.setdefault("_fill_dtype", state["_fit_dtype"])
    if name == _NETWORK and "coefs_" in state:
        # Further training starts from the stored weights as the best so far.
        state["_best_coefs"], state["_best_intercepts"] = state["coefs_"], state.get("intercepts_")
        state["_no_improvement_count"] = 0
    if name in _BOOSTING and "n_trees_per_iteration_" in state:
        state["_loss"] = part._get_loss(sample_weight=None)


def _number_of_features(part: Any) -> int | None:
    given, names = vars(part).get("n_features_in_"), vars(part).get("feature_names_in_")
    if given is None:
        return None
    demand(_is_count(given), "an invalid number of features")
    demand(names is None or np.shape(names) == (given,), "names of other features")
    return int(given)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _check_shape(value: Any, words: list[str], dimensions: dict[str, int]) -> None:
    array = isinstance(value, np.ndarray | list) or sparse.issparse(value)
    demand(array, "another object in place of an array")
    shape = (len(value),) if isinstance(value, list) else value.shape
    demand(len(shape) == len(words))
    for size, word in zip(shape, words, strict=True):
        demand(size == (int(word) if word.isdigit() else dimensions.setdefault(word, size)))


def _check_label_pairs(part: Any, n_features: int) -> None:
    """Expect pairs of different labels; with a label paired with itself the search never ends."""
    pairs = part.label_pairs_
    demand(np.all(pairs[:, 0] != pairs[:, 1]), "a label in a pair with itself")


def _check_svc(part: Any, n_features: int) -> None:
    """Expect one weight per feature or, with a kernel, per kernel row."""
    rows = vars(part).get("kernel_rows_")
    if rows is None:
        mapped = vars(part).get("feature_map_")
        n_mapped = n_features if mapped is None else len(mapped.components_)
        demand(part.coef_.shape == (1, n_mapped))
        return
    demand(rows.ndim == 1 or rows.shape[1] == n_features)
    demand(rows.shape[0] == part.dual_coef_.size)
    if part.kernel == "precomputed":
        check_range(rows, n_features)


def _check_splines(part: Any, n_features: int) -> None:
    widths = {np.shape(spline.c)[1] for spline in part.bsplines_}
    n_out = sum(widths) * n_features - (0 if part.include_bias else n_features)
    demand(len(widths) == 1 and part.n_features_out_ == n_out, "splines of other columns")


def _check_tree(part: Any, n_features: int) -> None:
    # Compiled code casts the object to a tree without checking its type.
    demand(full_name(type(part.tree_)) == TREE, "another object in place of a tree")
    columns = part.tree_.n_features, part.tree_.n_outputs
    demand(columns == (n_features, part.n_outputs_), "a tree for other columns")
    n_classes = getattr(part, "n_classes_", [1] * part.n_outputs_)
    demand(np.array_equal(np.atleast_1d(n_classes), part.tree_.n_classes), "other classes")


def _check_members(model: Any, n_features: int) -> None:
    """Compare the columns and the classes of a forest or of gradient boosting with its trees."""
    members = model.estimators_
    if isinstance(members, np.ndarray):
        _check_stages(model, len(model.classes_))
        expected = n_features, 1, [1]
    else:
        expected = n_features, model.n_outputs_, np.atleast_1d(model.n_classes_).tolist()
    for member in np.ravel(members):
        tree = member.tree_
        same = member.n_features_in_ == n_features
        own = tree.n_features, tree.n_outputs, tree.n_classes.tolist()
        demand(same and own == expected, "a tree for other columns")


def _check_isolation(model: Any, n_features: int) -> None:
    """Compare the trees of an isolation forest with their columns and the lengths of their paths."""
    members, columns = model.estimators_, model.estimators_features_
    lengths = model._decision_path_lengths, model._average_path_length_per_tree
    demand(all(len(one) == len(members) for one in (columns, *lengths)), "other trees")
    for member, own, *paths in zip(members, columns, *lengths, strict=True):
        tree = member.tree_
        check_range(own, n_features)
        # Without subsampling every tree gets all columns.
        same = own.shape == (model._max_features,) == (tree.n_features,)
        demand(same and tree.n_outputs == 1, "a tree for other columns")
        demand(all(one.shape == (tree.node_count,) for one in paths), "paths of another tree")


def _check_stages(model: Any, n_classes: int) -> None:
    """Expect one tree per stage and score of a row, and a start for the same classes."""
    n_scores, start = 1 if n_classes == 2 else n_classes, model.init_
    stages = model.estimators_
    same = stages.ndim == 2 and stages.shape[1] == model.n_trees_per_iteration_ == n_scores
    demand(same and model.n_classes_ == n_classes, "stages of another number of trees")
    if not isinstance(start, str):
        same = start.n_classes_ == n_classes and start.class_prior_.shape == (n_classes,)
        demand(same, "a start of another number of classes")


def _check_predictors(model: Any, n_features: int) -> None:
    """Check the trees of histogram boosting, and the preprocessing of its input."""
    # With this attribute, prediction would take its input for bins and not check it.
    demand("_in_fit" not in vars(model), "a model that is still being fitted")
    mapper, n_classes = model._bin_mapper, len(model.classes_)
    sizes = mapper.is_categorical_.shape, len(mapper.bin_thresholds_)
    demand(sizes == ((n_features,), n_features), "bins of other columns")
    if model._preprocessor is not None:
        _check_preprocessor(model._preprocessor, n_features)
    n_trees = 1 if n_classes == 2 else n_classes
    for stage in model._predictors:
        demand(len(stage) == model.n_trees_per_iteration_ == n_trees, "another number of trees")
        for predictor in stage:
            check_range(predictor.nodes["feature_idx"], n_features)


def _check_preprocessor(encoder: Any, n_features: int) -> None:
    """Expect every column to reach the trees exactly once, either encoded or checked."""
    kinds = {"encoder": "OrdinalEncoder", "numerical": "FunctionTransformer"}
    seen = np.zeros(n_features, dtype=int)
    for name, step, columns in encoder.transformers_:
        own = np.asarray(columns)
        demand(own.dtype == bool and own.shape == (n_features,), "columns of other places")
        if own.any():
            # Columns of arrays are taken by the mask, those of DataFrames by these indices.
            places = list(encoder._transformer_to_input_indices[name])
            same = type(step).__name__ == kinds.get(name) and places == np.flatnonzero(own).tolist()
            demand(same, "columns that are lost on the way")
            seen += own
    complete = encoder.n_features_in_ == n_features and np.all(seen == 1)
    demand(complete, "columns that are lost on the way")


def _check_one_hot(part: Any, n_features: int) -> None:
    """Check the columns of the indicators: compiled code writes wherever the encoder says."""
    categories, widths = part.categories_, part._n_features_outs
    dropped = part._drop_idx_after_grouping
    _check_categories(part, n_features)
    demand(len(widths) == n_features)
    for place, (known, width) in enumerate(zip(categories, widths, strict=True)):
        n_codes = len(known)
        if part._infrequent_enabled:
            n_codes = _check_grouping(part, place, n_codes)
        if dropped is not None and dropped[place] is not None:
            check_range(np.array([dropped[place]]), n_codes)
            n_codes -= 1
        demand(width == n_codes, "another number of categories")


def _check_categories(part: Any, n_features: int) -> None:
    """Expect sorted numbers or text in each column, since categories are found by bisection."""
    demand(len(part.categories_) == n_features)
    for known in part.categories_:
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


def _check_network(network: Any, n_features: int) -> None:
    """Check a fitted network from its columns to its labels.

    With widths :math:`d_0, \\ldots, d_L` the weights of layer :math:`k` are
    :math:`d_{k-1} \\times d_k` numbers and its intercepts :math:`d_k`, :math:`d_0` is the number of
    features and :math:`d_L` that of outputs.
    """
    for name in ("n_iter_", "n_layers_", "n_outputs_", "t_"):
        demand(_is_count(vars(network).get(name)), f"an invalid {name}")
    known = network.activation in ("identity", "logistic", "relu", "tanh")
    demand(known, "an unknown activation")
    weights, intercepts = network.coefs_, network.intercepts_
    demand(type(weights) is list and type(intercepts) is list, "a network without layers")
    n_layers = network.n_layers_ - 1
    demand(1 <= n_layers == len(weights) == len(intercepts), "a network of other layers")
    width, kinds = n_features, {np.dtype(np.float32), np.dtype(np.float64)}
    for coef, intercept in zip(weights, intercepts, strict=True):
        layer = type(coef) is type(intercept) is np.ndarray
        demand(layer, "a layer that is not an array")
        same = coef.dtype == intercept.dtype == weights[0].dtype and coef.dtype in kinds
        demand(same, "a layer of another type")
        demand(intercept.ndim == 1 and coef.shape == (width, intercept.size))
        width = intercept.size
    demand(width == network.n_outputs_, "a network of another number of outputs")
    _check_labels(network)
    for name in ("loss_curve_", "validation_scores_"):
        values = vars(network).get(name) or []
        numbers = type(values) is list and all(isinstance(one, Real) for one in values)
        demand(numbers, "a training history that is not a list of numbers")


# The last activation of a network by the kind of its labels.
_ACTIVATIONS = {"binary": "logistic", "multiclass": "softmax", "multilabel-indicator": "logistic"}


def _check_labels(network: Any) -> None:
    """Expect the binarizer that a network creates for its classes."""
    binarizer, classes = network._label_binarizer, network.classes_
    named = type(binarizer).__name__ == "LabelBinarizer"
    demand(named, "another object in place of the labels")
    settings = binarizer.neg_label, binarizer.pos_label, binarizer.sparse_output
    demand(settings == (0, 1, False), "labels of other settings")
    array = type(classes) is np.ndarray and classes.ndim == 1
    demand(array and np.array_equal(classes, binarizer.classes_), "labels of another network")
    kind = binarizer.y_type_
    demand(kind in _ACTIVATIONS, "labels of an unknown kind")
    n_outputs = {1: 1, 2: 1}.get(classes.size) if kind == "binary" else classes.size
    demand(network.n_outputs_ == n_outputs, "another number of labels")
    demand(network.out_activation_ == _ACTIVATIONS[kind], "an output of another kind")


Rule = Callable[[Any, int], None]
# The attribute that only a fitted object has, and its rule. Classes that a file may hold only where
# the user trusts them go by their full names.
_MEMBERS: tuple[str, Rule] = ("estimators_", _check_members)
_TREE: tuple[str, Rule] = ("tree_", _check_tree)
_RULES: dict[str, tuple[str, Rule]] = {
    "aucuba.PartialAUCSVC": ("intercept_", _check_svc),
    "aucuba.helper.portable_splines": ("bsplines_", _check_splines),
    "aucuba.structured.StructuredLabelRanker": ("label_pairs_", _check_label_pairs),
    "sklearn.ensemble.ExtraTreesClassifier": _MEMBERS,
    "sklearn.ensemble.HistGradientBoostingClassifier": ("_predictors", _check_predictors),
    "sklearn.ensemble.IsolationForest": ("estimators_", _check_isolation),
    "sklearn.ensemble.RandomForestClassifier": _MEMBERS,
    "sklearn.ensemble._gb.GradientBoostingClassifier": _MEMBERS,
    "sklearn.neural_network.MLPClassifier": ("coefs_", _check_network),
    "sklearn.preprocessing.OneHotEncoder": ("categories_", _check_one_hot),
    "sklearn.preprocessing.OrdinalEncoder": ("categories_", _check_categories),
    "sklearn.svm._classes.SVC": ("support_vectors_", _check_support_vectors),
    "sklearn.tree.DecisionTreeClassifier": _TREE,
    "sklearn.tree.ExtraTreeClassifier": _TREE,
    "sklearn.tree.ExtraTreeRegressor": _TREE,
    "sklearn.tree._classes.DecisionTreeRegressor": _TREE,
}
