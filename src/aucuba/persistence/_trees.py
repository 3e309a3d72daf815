"""Trees as arrays: all trees of one kind in one block, checked before any of them is built.

The checks matter because compiled loops follow node numbers without bounds checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray
from aucuba.persistence._archive import demand

Block = dict[str, AnyArray]
TREE = "sklearn.tree._tree.Tree"
PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
_SETS = ("binned_left_cat_bitsets", "raw_left_cat_bitsets")
# Number of 32-bit words in a set of categories.
_SET_WORDS = 8


def tree_block(trees: Sequence[Any]) -> Block:
    """Put trees of scikit-learn's forests into one block; all have the same columns and classes."""
    states = [tree.__getstate__() for tree in trees]
    values = np.concatenate([state["values"] for state in states])
    return {**_fields([state["nodes"] for state in states]), "values": values}


def predictor_block(predictors: Sequence[Any]) -> Block:
    """Put trees of histogram boosting into one block, with their sets of categories."""
    sets = {name: np.concatenate([getattr(one, name) for one in predictors]) for name in _SETS}
    counts = np.array([len(one.raw_left_cat_bitsets) for one in predictors], dtype=np.int64)
    return {**_fields([one.nodes for one in predictors]), **sets, "set_counts": counts}


def trees_of(n_features: Any, n_classes: Any, block: Block) -> list[Any]:
    """Build the trees of a block whose nodes all lead down and read only existing columns."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    numbers = [n_features, *n_classes]
    demand(
        all(type(one) is int and 0 < one < 2**31 for one in numbers), "an invalid number of classes"
    )
    nodes, starts = _nodes(block, NODE_DTYPE)
    values = block["values"]
    shape = len(nodes), len(n_classes), max(n_classes)
    demand(values.shape == shape and values.dtype == np.float64, "values of other nodes")
    inner = nodes["left_child"] != -1
    demand(np.all(nodes["right_child"][~inner] == -1), "a leaf with a child")
    depths = _check_nodes(nodes["left_child"], nodes["right_child"], inner, starts)
    check_range(nodes["feature"][inner], n_features)
    trees = []
    for first, last, depth in zip(starts[:-1], starts[1:], depths, strict=True):
        tree = Tree(n_features, np.array(n_classes, dtype=np.intp), len(n_classes))
        state = {"nodes": nodes[first:last], "values": values[first:last]}
        tree.__setstate__({**state, "node_count": int(last - first), "max_depth": int(depth)})
        trees.append(tree)
    return trees


def predictors_of(block: Block) -> list[Any]:
    """Build the trees of histogram boosting; `_rules` compares them with the columns of the model."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    nodes, starts = _nodes(block, PREDICTOR_RECORD_DTYPE)
    inner = nodes["is_leaf"] == 0
    left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
    _check_nodes(left, right, inner, starts)
    counts, sets = block["set_counts"], [block[name] for name in _SETS]
    demand(counts.shape == (starts.size - 1,), "sets of other trees")
    set_starts = _starts(counts, 0)
    for bits in sets:
        same = bits.dtype == np.uint32 and bits.shape == (set_starts[-1], _SET_WORDS)
        demand(same, "sets of categories of another size")
    split = inner & (nodes["is_categorical"] != 0)
    last_set = np.repeat(counts, np.diff(starts))[split]
    demand(np.all(nodes["bitset_idx"][split] < last_set), "an index out of range")
    return [
        TreePredictor(nodes[a:b].copy(), *(bits[c:d].copy() for bits in sets))
        for a, b, c, d in zip(starts[:-1], starts[1:], set_starts[:-1], set_starts[1:], strict=True)
    ]


def check_range(numbers: AnyArray, size: int) -> None:
    """Refuse numbers that are not indices of ``size`` entries."""
    whole = numbers.dtype.kind in "iu" or numbers.size == 0
    demand(whole and np.all((numbers >= 0) & (numbers < size)), "an index out of range")


def _fields(nodes: Sequence[AnyArray]) -> Block:
    """Split the nodes of all trees into one array per field."""
    joined = np.concatenate(nodes)
    counts = np.array([len(one) for one in nodes], dtype=np.int64)
    return {name: joined[name] for name in joined.dtype.names or ()} | {"counts": counts}


def _nodes(block: Block, dtype: np.dtype[Any]) -> tuple[AnyArray, AnyArray]:
    """Assemble the nodes from their fields, and return where each tree starts."""
    starts = _starts(block["counts"], 1)
    size = starts[-1]
    fields: dict[str, Any] = dict(dtype.fields or {})
    for name, (kind, *_) in fields.items():
        same = block[name].shape == (size,) and block[name].dtype == kind
        demand(same, f"nodes whose {name} has another size or type")
    nodes = np.zeros(size, dtype)
    for name in fields:
        nodes[name] = block[name]
    return nodes, starts


def _starts(counts: AnyArray, least: int) -> AnyArray:
    """Convert the sizes of parts to the indices where they start, and where the last one ends."""
    whole = counts.ndim == 1 and counts.dtype == np.int64 and counts.size > 0
    demand(whole, "sizes of an unknown type")
    demand(np.all((counts >= least) & (counts < 2**31)), "a tree without nodes")
    return np.concatenate([[0], np.cumsum(counts)])


def _check_nodes(left: AnyArray, right: AnyArray, inner: AnyArray, starts: AnyArray) -> AnyArray:
    """Expect each node but the first of its tree to be the child of one earlier node of that tree.

    Returns
    -------
    ndarray of shape (n_trees,)
        Depth of each tree.
    """
    counts = np.diff(starts)
    first, size = np.repeat(starts[:-1], counts), np.repeat(counts, counts)
    parents = np.concatenate([np.flatnonzero(inner)] * 2)
    children = np.concatenate([left[inner], right[inner]])
    inside = np.all((children >= 0) & (children < size[parents]))
    demand(inside, "an index out of range")
    children = children + first[parents]
    demand(np.all(children > parents), "a tree that runs in circles")
    seen = np.bincount(children, minlength=inner.size)
    seen[starts[:-1]] += 1
    demand(np.all(seen == 1), "a tree with loose branches")
    # Pointer doubling: a chain of a million nodes takes twenty rounds.
    above = np.arange(inner.size)
    above[children] = parents
    depth = (above != np.arange(inner.size)).astype(np.int64)
    while np.any(above != above[above]):
        depth += depth[above]
        above = above[above]
    deepest: AnyArray = np.maximum.reduceat(depth, starts[:-1])
    return deepest
