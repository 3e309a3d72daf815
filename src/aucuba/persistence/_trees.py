"""Trees from a file: compiled loops follow their node numbers without bounds checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray
from aucuba.persistence._errors import demand
from aucuba.persistence._names import full_name

# Number of 32-bit words in a set of categories.
_BITSET_WORDS = 8


def check_tree(tree: Any, n_features: int, n_outputs: int = 1) -> None:
    """Refuse a tree of a forest whose nodes lead anywhere but down, or read missing columns."""
    # Compiled code casts the object to a tree without checking its type.
    name = full_name(type(tree))
    demand(name == "sklearn.tree._tree.Tree", "something else in the place of a tree")
    # Views of the nodes have the length that the tree claims, not the length that was allocated.
    demand(1 <= tree.node_count == tree.capacity, "a tree of another size than it says")
    columns = tree.n_outputs, tree.n_features
    demand(columns == (n_outputs, n_features), "a tree for other columns")
    inner = tree.children_left != -1
    depth = _check_nodes(tree.children_left, tree.children_right, inner)
    demand(tree.max_depth == depth, "a tree of another depth than it says")
    check_range(tree.feature[inner], n_features)


def check_forest(forest: Any, n_features: int) -> None:
    """Check every tree of a forest against the number of columns of the forest."""
    for member in forest.estimators_:
        demand(member.n_features_in_ == n_features, "a tree for other columns")
        check_tree(member.tree_, n_features, forest.n_outputs_)


def check_stages(model: Any, n_features: int) -> None:
    """Check the trees of gradient boosting; each stage must have one tree per score of a row."""
    n_classes = len(model.classes_)
    n_scores = 1 if n_classes == 2 else n_classes
    stages, start = model.estimators_, model.init_
    same = stages.ndim == 2 and stages.shape[1] == model.n_trees_per_iteration_ == n_scores
    demand(same, "stages of another number of trees")
    multiclass = bool(model._loss.is_multiclass)
    demand(multiclass == (n_classes > 2), "a loss of another number of classes")
    if not isinstance(start, str):
        same = start.n_classes_ == n_classes and start.class_prior_.shape == (n_classes,)
        demand(same, "a start of another number of classes")
    for member in stages.ravel():
        check_tree(member.tree_, n_features)


def check_predictors(model: Any, n_features: int) -> None:
    """Check the trees of histogram boosting, and the preprocessing of its input."""
    # With this attribute, prediction would take its input for bins and not check it.
    demand("_in_fit" not in vars(model), "a model that is still being fitted")
    mapper = model._bin_mapper
    sizes = mapper.is_categorical_.shape, len(mapper.bin_thresholds_)
    demand(sizes == ((n_features,), n_features), "bins of other columns")
    if model._preprocessor is not None:
        _check_preprocessor(model._preprocessor, n_features)
    for predictor in (one for stage in model._predictors for one in stage):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        _check_nodes(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
        check_range(nodes["feature_idx"][inner], n_features)
        split = inner & (nodes["is_categorical"] != 0)
        for bits in (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets):
            size = bits.ndim == 2 and bits.shape[1] == _BITSET_WORDS
            demand(size, "sets of categories of another size")
            check_range(nodes["bitset_idx"][split], len(bits))


def check_range(numbers: AnyArray, size: int) -> None:
    """Refuse numbers that are not indices of ``size`` entries."""
    if numbers.size > 0:
        inside = numbers.dtype.kind in "iu" and numbers.min() >= 0 and numbers.max() < size
        demand(inside, "an index out of range")


def _check_nodes(left: AnyArray, right: AnyArray, inner: AnyArray) -> int:
    """Expect each node but the first to be the child of one earlier node, and return the depth."""
    demand(inner.ndim == 1 and inner.size > 0, "a tree without nodes")
    parents = np.flatnonzero(inner)
    children = np.concatenate([left[inner], right[inner]])
    check_range(children, inner.size)
    demand(np.all(children > np.concatenate([parents, parents])), "a tree that runs in circles")
    counts = np.bincount(children, minlength=inner.size)[1:]
    demand(np.all(counts == 1), "a tree with loose branches")
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while level.size:
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth


def _check_preprocessor(encoder: Any, n_features: int) -> None:
    """Expect every column to reach the trees once, coded or checked."""
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
