"""Trees that come from a file: compiled loops follow their node numbers without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray
from aucuba.persistence._errors import DamagedFileError
from aucuba.persistence._names import full_name

# Words of a set of categories.
_BITSET_WORDS = 8


def check_tree(tree: Any, n_features: int, n_outputs: int = 1) -> None:
    """Refuse a tree of a forest whose nodes lead anywhere but down, or ask for missing columns."""
    # Compiled code takes the object for a tree without asking.
    if full_name(type(tree)) != "sklearn.tree._tree.Tree":
        raise DamagedFileError("something else in the place of a tree")
    # Views of the nodes are as long as the tree says, not as long as they are.
    if not 1 <= tree.node_count == tree.capacity:
        raise DamagedFileError("a tree of another size than it says")
    if tree.n_outputs != n_outputs or tree.n_features != n_features:
        raise DamagedFileError("a tree for other columns")
    inner = tree.children_left != -1
    depth = _check_nodes(tree.children_left, tree.children_right, inner)
    if tree.max_depth != depth:
        raise DamagedFileError("a tree of another depth than it says")
    check_range(tree.feature[inner], n_features)


def check_forest(forest: Any, n_features: int) -> None:
    """Check every tree of a forest against the columns of the forest, which are those of its input."""
    for member in forest.estimators_:
        if member.n_features_in_ != n_features:
            raise DamagedFileError("a tree for other columns")
        check_tree(member.tree_, n_features, forest.n_outputs_)


def check_stages(model: Any, n_features: int) -> None:
    """Check the regression trees of gradient boosting, and that each stage fills one row of scores."""
    n_classes = len(model.classes_)
    n_scores = 1 if n_classes == 2 else n_classes
    stages, start = model.estimators_, model.init_
    if stages.ndim != 2 or not stages.shape[1] == model.n_trees_per_iteration_ == n_scores:
        raise DamagedFileError("stages of another number of trees")
    if bool(model._loss.is_multiclass) != (n_classes > 2):
        raise DamagedFileError("a loss of another number of classes")
    if not isinstance(start, str) and not (
        start.n_classes_ == n_classes and start.class_prior_.shape == (n_classes,)
    ):
        raise DamagedFileError("a start of another number of classes")
    for member in stages.ravel():
        check_tree(member.tree_, n_features)


def check_predictors(model: Any, n_features: int) -> None:
    """Check the trees of histogram boosting, and what turns its input into their columns."""
    if "_in_fit" in vars(model) or model._n_features != n_features:
        raise DamagedFileError("a model that is still being fitted")
    mapper = model._bin_mapper
    if mapper.is_categorical_.shape != (n_features,) or len(mapper.bin_thresholds_) != n_features:
        raise DamagedFileError("bins of other columns")
    if model._preprocessor is not None:
        _check_preprocessor(model._preprocessor, n_features)
    for predictor in (one for stage in model._predictors for one in stage):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        _check_nodes(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
        check_range(nodes["feature_idx"][inner], n_features)
        split = inner & (nodes["is_categorical"] != 0)
        for bits in (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets):
            if bits.ndim != 2 or bits.shape[1] != _BITSET_WORDS:
                raise DamagedFileError("sets of categories of another size")
            check_range(nodes["bitset_idx"][split], len(bits))


def check_range(numbers: AnyArray, size: int) -> None:
    """Refuse numbers that are no places among ``size``."""
    if numbers.size == 0:
        return
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= size:
        raise DamagedFileError("a number points outside of what it counts")


def _check_nodes(left: AnyArray, right: AnyArray, inner: AnyArray) -> int:
    """Expect each node but the first to be the child of one earlier node, and return the depth."""
    if inner.ndim != 1 or inner.size == 0:
        raise DamagedFileError("a tree without nodes")
    parents = np.flatnonzero(inner)
    children = np.concatenate([left[inner], right[inner]])
    check_range(children, inner.size)
    if np.any(children <= np.concatenate([parents, parents])):
        raise DamagedFileError("a tree that runs in circles")
    if np.any(np.bincount(children, minlength=inner.size)[1:] != 1):
        raise DamagedFileError("a tree with loose branches")
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while level.size:
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth


def _check_preprocessor(encoder: Any, n_features: int) -> None:
    """Expect that all columns go into the trees, coded or checked, none lost and none added."""
    kinds = {"encoder": "OrdinalEncoder", "numerical": "FunctionTransformer"}
    seen = np.zeros(n_features, dtype=int)
    for name, step, columns in encoder.transformers_:
        own = np.asarray(columns)
        if own.dtype != bool or own.shape != (n_features,):
            raise DamagedFileError("columns of other places")
        if not own.any():
            continue
        places = encoder._transformer_to_input_indices[name]
        if type(step).__name__ != kinds.get(name) or list(places) != np.flatnonzero(own).tolist():
            raise DamagedFileError("columns that are lost on the way")
        seen += own
    if encoder.n_features_in_ != n_features or np.any(seen != 1):
        raise DamagedFileError("columns that are lost on the way")
