"""Trees of scikit-learn as one ``TreeEnsemble`` node of doubles, which sums their leaves.

Entries of the table take the same way as in scikit-learn, which compares them with thresholds of double
precision too: forests in single precision, whatever the rows, boosting in that of the rows. Where
entries are results of arithmetic, rounding may lead to another leaf, and there is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from aucuba._base._typing import AnyArray
from aucuba.export._graph import Graph, NotConvertible, Value

_LESS_OR_EQUAL, _SUM = 0, 1


@dataclass
class _Forest:
    """Nodes and leaves of all trees, numbered through."""

    features: list[AnyArray] = field(default_factory=list)
    splits: list[AnyArray] = field(default_factory=list)
    missing: list[AnyArray] = field(default_factory=list)
    children: list[list[AnyArray]] = field(default_factory=lambda: [[], []])
    leaves: list[list[AnyArray]] = field(default_factory=lambda: [[], []])
    weights: list[AnyArray] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    largest: float = 0.0
    _n_nodes: int = 0
    _n_leaves: int = 0

    def add(
        self,
        sides: tuple[AnyArray, AnyArray],
        is_leaf: AnyArray,
        feature: AnyArray,
        split: AnyArray,
        missing_left: AnyArray,
        value: AnyArray,
    ) -> None:
        """Add a tree: inner nodes and leaves of one numbering become two numberings."""
        self.roots.append(self._n_nodes)
        self.weights.append(value[is_leaf])
        self.largest += float(np.abs(value[is_leaf]).max())
        if is_leaf[0]:
            # A node whose ways both lead to the only leaf.
            sides, feature, split = (np.zeros(1, int),) * 2, np.zeros(1, int), np.zeros(1)
            inner = np.array([True])
        else:
            inner = ~is_leaf
        number = np.where(is_leaf, np.cumsum(is_leaf) - 1 + self._n_leaves, 0)
        number = np.where(is_leaf, number, np.cumsum(~is_leaf) - 1 + self._n_nodes)
        for side, nodes in enumerate(sides):
            targets = nodes[inner]
            self.children[side].append(number[targets])
            self.leaves[side].append(is_leaf[targets])
        self.features.append(feature[inner])
        self.splits.append(split[inner])
        self.missing.append(missing_left[inner])
        self._n_nodes += int(inner.sum())
        self._n_leaves += int(is_leaf.sum())

    def written(self, graph: Graph, value: Value) -> Value:
        """Add the node, whose result is the sum over trees of one leaf each."""

        def numbers(parts: list[AnyArray]) -> Any:
            return np.concatenate(parts).astype(np.int64).tolist()

        n_leaves, n_trees = self._n_leaves, len(self.roots)
        name = graph.op(
            "TreeEnsemble",
            value.name,
            domain="ai.onnx.ml",
            n_targets=1,
            aggregate_function=_SUM,
            post_transform=0,
            tree_roots=self.roots,
            nodes_featureids=numbers(self.features),
            nodes_splits=numpy_helper.from_array(np.concatenate(self.splits).astype(np.float64)),
            nodes_modes=numpy_helper.from_array(
                np.full(self._n_nodes, _LESS_OR_EQUAL, dtype=np.uint8)
            ),
            nodes_missing_value_tracks_true=numbers(self.missing),
            nodes_truenodeids=numbers(self.children[0]),
            nodes_trueleafs=numbers(self.leaves[0]),
            nodes_falsenodeids=numbers(self.children[1]),
            nodes_falseleafs=numbers(self.leaves[1]),
            leaf_targetids=[0] * n_leaves,
            leaf_weights=numpy_helper.from_array(np.concatenate(self.weights).astype(np.float64)),
        )
        if not value.is_given:
            return Value(name)
        # No row has a larger sum of absolute leaves.
        zeros = graph.op("Mul", name, graph.constant(0.0))
        return Value(name, graph.op("Add", zeros, graph.constant(self.largest)), n_trees + 1)


def forest_probability(graph: Graph, value: Value, trees: list[Any]) -> Value:
    """Average the fractions of the second class over decision trees of two classes."""
    forest = _Forest()
    for one in trees:
        tree = one.tree_
        left, right = tree.children_left, tree.children_right
        counts = tree.value[:, 0, :]
        fraction = counts[:, 1] / counts.sum(axis=1)
        missing = tree.missing_go_to_left
        forest.add((left, right), left == -1, tree.feature, tree.threshold, missing, fraction)
    singles = graph.cast(graph.cast(value.name, TensorProto.FLOAT), TensorProto.DOUBLE)
    total = forest.written(graph, replace(value, name=singles))
    return graph.scaled(total, float(len(trees)), divided=True)


def boosted_log_odds(graph: Graph, value: Value, model: Any) -> Value:
    """Sum the leaves of histogram boosting of two classes."""
    forest, sets = _Forest(), _Sets(model)
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        sides = nodes["left"].astype(int), nodes["right"].astype(int)
        is_leaf, asks_set = nodes["is_leaf"] != 0, nodes["is_categorical"] != 0
        feature, split = sets.places[nodes["feature_idx"]], nodes["num_threshold"].copy()
        for k in np.flatnonzero(asks_set & ~is_leaf):
            bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][k]]
            feature[k] = sets.column(feature[k], bits, bool(nodes["missing_go_to_left"][k]))
            split[k] = 0.5
        missing = nodes["missing_go_to_left"]
        forest.add(sides, is_leaf, feature, split, missing, nodes["value"])
    total = forest.written(graph, sets.added(graph, value))
    if not value.is_single:
        total = Value(total.name)
    return graph.shifted(total, float(model._baseline_prediction.item()))


class _Sets:
    """Questions whether a category belongs to a set, as columns of 0 for the left side and 1.

    Histogram boosting moves categorical columns to the front and numbers their categories.
    """

    def __init__(self, model: Any) -> None:
        self.width = model.n_features_in_
        self.places = np.arange(self.width)
        self.categories: dict[int, AnyArray] = {}
        # By place, missing side and bits, the number of the column.
        self._columns: dict[tuple[int, bool, bytes], int] = {}
        if model._preprocessor is not None:
            named = model._preprocessor.named_transformers_["encoder"]
            moved = np.flatnonzero(model.is_categorical_)
            self.places = np.concatenate([moved, np.flatnonzero(~model.is_categorical_)])
            self.categories = dict(zip(moved.tolist(), named.categories_, strict=True))
            if any(names.dtype.kind not in "biuf" for names in named.categories_):
                raise NotConvertible("HistGradientBoostingClassifier with categories of text")

    def column(self, place: int, bits: AnyArray, missing_left: bool) -> int:
        """Return the column of a question."""
        key = int(place), missing_left, bits.tobytes()
        return self._columns.setdefault(key, self.width + len(self._columns))

    def added(self, graph: Graph, value: Value) -> Value:
        """Add the columns to the table."""
        parts = [value]
        for place, missing_left, content in self._columns:
            names = self.categories[place]
            known = names[~np.isnan(names)]
            number = np.arange(known.size)
            bits = np.frombuffer(content, dtype=np.uint32)
            left = known[(bits[number // 32] >> (number % 32).astype(np.uint32)) & 1 == 1]
            column = graph.columns(value, [place]).name
            others = known[~np.isin(known, left)] if missing_left else left
            ones = graph.constant([1], np.int64)
            found = graph.cast(
                graph.op("Equal", column, graph.constant(others)), TensorProto.DOUBLE
            )
            mark = graph.op("ReduceSum", found, ones, keepdims=1)
            if not missing_left:
                mark = graph.op("Sub", graph.constant(1.0), mark)
            parts.append(Value(mark, mark, is_single=value.is_single))
        return graph.joined(parts)
