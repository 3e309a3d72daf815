"""Lists of graphs and labels: checks, and joining them into one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._validation import identifiers, row_weights
from aucuba._base._warnings import warn_user
from aucuba.structured._checks import check_size_of_features
from aucuba.structured._graph import RankingGraph
from aucuba.structured._inference import RankingBatch
from aucuba.structured._measures import Measure
from aucuba.structured._terms import FeatureTerms


@dataclass(frozen=True)
class GraphData:
    """Graphs laid end to end, with the features of their nodes, edges and terms."""

    batch: RankingBatch
    terms: FeatureTerms


def as_graphs(graphs: Any) -> list[RankingGraph]:
    """Return a list of graphs after checking the numbers and sizes of their features."""
    listed = [graphs] if isinstance(graphs, RankingGraph) else list(graphs)
    if not listed:
        raise ValueError("graphs is empty: give at least one RankingGraph.")
    for index, graph in enumerate(listed):
        if not isinstance(graph, RankingGraph):
            raise ValueError(
                f"graphs[{index}] is a {type(graph).__name__}; convert it to a RankingGraph."
            )
        check_size_of_features(graph.node_features, f"graphs[{index}].node_features")
        check_size_of_features(graph.edge_features, f"graphs[{index}].edge_features")
        check_size_of_features(graph.term_features, f"graphs[{index}].term_features")
    _same_width([graph.node_features for graph in listed], "node_features")
    _same_width([graph.edge_features for graph in listed if graph.n_edges], "edge_features")
    _same_width([graph.term_features for graph in listed if graph.terms], "term_features")
    return listed


def check_nonnegative_edges(graphs: Sequence[RankingGraph]) -> None:
    """Refuse negative edge features, which could make a pair repel despite non-negative weights."""
    for index, graph in enumerate(graphs):
        if graph.edge_features.min(initial=0.0) < 0:
            row, column = np.argwhere(graph.edge_features < 0)[0]
            raise ValueError(
                f"graphs[{index}].edge_features[{row}, {column}] is "
                f"{graph.edge_features[row, column]:g}. With edge_weights='nonnegative' edge features "
                "must be at least 0: shift or negate the column, or use edge_weights='free'."
            )


def join(
    graphs: Sequence[RankingGraph], measure: Measure, known: Sequence[RankingGraph] = ()
) -> GraphData:
    """Lay graphs end to end as one block-diagonal graph.

    The graphs ``known`` give the numbers of edge and term features if ``graphs`` have none.
    """
    number = np.arange(len(graphs))
    n_nodes = np.array([graph.n_nodes for graph in graphs])
    offsets = np.cumsum(n_nodes) - n_nodes
    shifted = [graph.edges + offset for graph, offset in zip(graphs, offsets, strict=True)]
    batch = RankingBatch(
        edges=np.concatenate(shifted),
        node_graph=np.repeat(number, n_nodes),
        edge_graph=np.repeat(number, [graph.n_edges for graph in graphs]),
        n_graphs=len(graphs),
        measure=measure,
        terms=tuple(term for graph in graphs for term in graph.terms),
        term_graph=np.repeat(number, [len(graph.terms) for graph in graphs]),
    )
    terms = FeatureTerms(
        np.concatenate([graph.node_features for graph in graphs]),
        _stacked(graphs, known, "edge_features", "edges"),
        _stacked(graphs, known, "term_features", "terms"),
    )
    return GraphData(batch, terms)


def as_labels(labels: Any, graphs: Sequence[RankingGraph]) -> list[BoolArray]:
    """Return one boolean array per graph; the larger of the data set's two labels is positive."""
    listed = list(labels)
    if len(graphs) == 1 and _is_flat(listed):
        listed = [listed]
    if len(listed) != len(graphs):
        raise ValueError(
            f"There are {len(graphs)} graphs but {len(listed)} arrays of labels; give one per graph."
        )
    columns = [
        identifiers(values, f"labels[{index}]", graph.n_nodes, unit="nodes")
        for index, (values, graph) in enumerate(zip(listed, graphs, strict=True))
    ]
    distinct = np.unique(np.concatenate(columns))
    if distinct.size != 2:
        shown = ", ".join(str(label) for label in distinct[:5])
        raise ValueError(
            f"labels must have two values over the whole data set, got {distinct.size}: {shown}. "
            "Compare one value with the rest, for example [y > 0 for y in labels]."
        )
    return [np.asarray(values == distinct[1]) for values in columns]


def with_both_classes(positive: Sequence[BoolArray]) -> list[int]:
    """Return the numbers of the graphs with both classes; warn about the others."""
    kept = [index for index, labels in enumerate(positive) if labels.any() and not labels.all()]
    if not kept:
        raise ValueError("No graph has both a positive and a negative node; add one that has.")
    if len(kept) < len(positive):
        warn_user(
            f"{len(positive) - len(kept)} of {len(positive)} graphs have only one class and are "
            "skipped.",
        )
    return kept


def graph_weights(sample_weight: Any, kept: Sequence[int], n_graphs: int) -> FloatArray:
    """Return the weights of the kept graphs in the mean."""
    checked = row_weights(sample_weight, n_graphs, "graphs")
    if checked is None:
        return np.full(len(kept), 1.0 / len(kept))
    weight: FloatArray = checked[kept]
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every graph that has both classes; give one a positive weight."
        )
    share: FloatArray = weight / weight.sum()
    return share


def _stacked(
    graphs: Sequence[RankingGraph], known: Sequence[RankingGraph], features: str, kind: str
) -> FloatArray:
    """Stack features; ignore the placeholder column of graphs without edges or terms."""
    matrices = [getattr(graph, features) for graph in graphs if len(getattr(graph, kind))]
    others = [getattr(graph, features)[:0] for graph in known if len(getattr(graph, kind))]
    return np.concatenate([*matrices, *others]) if matrices or others else np.zeros((0, 0))


def _same_width(matrices: Sequence[FloatArray], name: str) -> None:
    widths = sorted({matrix.shape[1] for matrix in matrices})
    if len(widths) > 1:
        raise ValueError(f"All graphs must have the same number of {name}, got {widths}.")


def _is_flat(labels: list[Any]) -> bool:
    """Return whether labels belong to one graph rather than being one array per graph."""
    return not labels or np.ndim(labels[0]) == 0
