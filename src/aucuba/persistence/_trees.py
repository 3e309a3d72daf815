"""Trees that come from a file: their prediction loops follow node numbers without looking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from aucuba._core._typing import AnyArray


class BrokenTreeError(ValueError):
    """A tree that must not be used."""


def check_trees(model: Any) -> None:
    """Refuse trees whose nodes point backwards, outside the tree or at columns that do not exist.

    Compiled loops of scikit-learn would read whatever lies there, or never end.
    """
    for part in _parts(model, set()):
        if hasattr(part, "tree_"):
            tree = part.tree_
            inner = tree.children_left != -1
            _check_nodes(tree.children_left, tree.children_right, inner)
            _check_range(tree.feature[inner], part.n_features_in_)
        for predictor in (one for stage in getattr(part, "_predictors", ()) for one in stage):
            nodes = predictor.nodes
            inner = nodes["is_leaf"] == 0
            _check_nodes(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
            _check_range(nodes["feature_idx"][inner], part.n_features_in_)
            split = inner & (nodes["is_categorical"] != 0)
            for bits in (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets):
                _check_range(nodes["bitset_idx"][split], len(bits))


def _check_nodes(left: AnyArray, right: AnyArray, inner: AnyArray) -> None:
    own = np.arange(inner.size)[inner]
    for child in (left[inner], right[inner]):
        if np.any(child <= own):
            raise BrokenTreeError("A tree in the file runs in circles.")
        _check_range(child, inner.size)


def _check_range(numbers: AnyArray, size: int) -> None:
    if numbers.size and (numbers.min() < 0 or numbers.max() >= size):
        raise BrokenTreeError("A tree in the file points outside itself or its columns.")


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """The model and everything of scikit-learn or of this library inside it."""
    if id(value) in seen:
        return
    seen.add(id(value))
    inside: Any = ()
    if isinstance(value, Mapping):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inside = value.ravel()
    elif type(value).__module__.split(".")[0] in ("sklearn", "aucuba"):
        yield value
        inside = getattr(value, "__dict__", {}).values()
    for one in inside:
        yield from _parts(one, seen)
