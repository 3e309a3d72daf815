"""Private parts of scikit-learn that model files depend on: a new release shows here what it moved."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
)
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import aucuba.persistence
from aucuba.persistence._names import CHECK, STORED_NAMES, full_name, located
from aucuba.persistence._rules import LEFT_OUT
from aucuba.persistence._trees import PREDICTOR, TREE
from tests.ensemble.data import numbers

X, Y = numbers(80)
CODES = np.abs(np.round(X[:, :2])).astype(int)
# What compiled code reads without bounds checks, or what a file leaves out and loading restores.
PRIVATE = {
    ColumnTransformer: {"_transformer_to_input_indices"},
    GradientBoostingClassifier: {"_loss"},
    HistGradientBoostingClassifier: {"_bin_mapper", "_loss", "_predictors", "_preprocessor"},
    IsolationForest: {"_average_path_length_per_tree", "_decision_path_lengths", "_max_features"},
    MLPClassifier: {
        *("_best_coefs", "_best_intercepts", "_label_binarizer", "_no_improvement_count"),
        *("_optimizer", "_random_state"),
    },
    OneHotEncoder: {
        *("_default_to_infrequent_mappings", "_drop_idx_after_grouping", "_infrequent_enabled"),
        *("_infrequent_indices", "_n_features_outs"),
    },
    SVC: {"_dual_coef_", "_intercept_", "_n_support", "_probA", "_probB"},
    SimpleImputer: {"_fit_dtype"},
}
METHODS = {"_get_loss"}
# Fields of nodes, by the place of their type.
NODES = {
    "sklearn.tree._tree.NODE_DTYPE": {"left_child", "right_child", "feature"},
    "sklearn.ensemble._hist_gradient_boosting.common.PREDICTOR_RECORD_DTYPE": {
        *("bitset_idx", "feature_idx", "is_categorical", "is_leaf", "left", "right"),
    },
}
# Attributes that only some fits or releases have.
SOMETIMES = {
    *("_in_fit", "_fill_dtype"),  # while histogram boosting is fitted; from scikit-learn 1.8 on
    *("_coef_indptr", "_intercept_indptr"),  # networks trained by L-BFGS
}


def fitted(kind):
    if kind is OneHotEncoder:
        return OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist").fit(CODES)
    if kind is ColumnTransformer:
        return ColumnTransformer([("a", "passthrough", [0])]).fit(X)
    if kind is MLPClassifier:
        return MLPClassifier((2,), max_iter=2, random_state=0).fit(X, Y)
    return kind().fit(X, Y)


def private_names(path):
    """Names with one underscore that a source file reads as attributes or texts, less its own."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | {"_build_"}
    own |= {
        one.attr
        for one in nodes
        if isinstance(getattr(one, "ctx", None), ast.Store) and hasattr(one, "attr")
    }
    for node in nodes:
        name = getattr(node, "attr", getattr(node, "value", None))
        if isinstance(name, str) and name.isidentifier() and re.match("_[^_]", name):
            yield from {name} - own


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", PRIVATE)
def test_fitted_estimators_have_the_private_attributes(kind):
    missing = PRIVATE[kind] - vars(fitted(kind)).keys()
    assert not missing, f"scikit-learn has moved {sorted(missing)} of {kind.__name__}"


def test_no_other_private_attribute_is_read():
    folder = Path(aucuba.persistence.__file__).parent
    read = {name for path in folder.glob("*.py") for name in private_names(path)}
    assert read == SOMETIMES.union(METHODS, *PRIVATE.values())


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_losses_follow_from_the_settings(kind):
    model = fitted(kind)
    assert type(model._get_loss(sample_weight=None)) is type(model._loss)


def test_what_networks_leave_out_is_private():
    assert LEFT_OUT["sklearn.neural_network.MLPClassifier"] <= PRIVATE[MLPClassifier] | SOMETIMES


@pytest.mark.parametrize("name", [TREE, PREDICTOR, CHECK])
def test_classes_are_where_files_say(name):
    assert full_name(located(name)) == name


@pytest.mark.parametrize("stored", STORED_NAMES)
def test_stored_names_lead_to_classes(stored):
    assert isinstance(located(STORED_NAMES[stored]), type)


@pytest.mark.parametrize(("dtype", "fields"), NODES.items())
def test_nodes_of_trees_have_the_fields_that_are_checked(dtype, fields):
    assert set(fields) <= set(located(dtype).names)
