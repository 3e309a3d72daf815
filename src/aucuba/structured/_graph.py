"""One ranking problem: items with features, and pairs of items with features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.structured._checks import check_edges, check_matrix
from aucuba.structured._high_order import CliqueTerm


@dataclass(frozen=True, eq=False)
class RankingGraph:
    r"""Items to rank, :math:`\phi_i`, and pairs that belong together, :math:`\phi_{ij}`.

    A data set is a list of graphs; each graph is ranked separately, all by one model.

    Parameters
    ----------
    node_features : array of shape (n_nodes, n_node_features)
        One row per item; a 1-D array is one feature.
    edges : array of shape (n_edges, 2), optional
        Pairs of node numbers, each pair once, in either direction.
    edge_features : array of shape (n_edges, n_edge_features), optional
        One row per pair. By default every edge has the single feature 1. A model with non-negative
        edge weights needs non-negative features.
    terms : sequence of CliqueTerm, optional
        Scores of sets of items beyond pairs.
    term_features : array of shape (n_terms, n_term_features), optional
        One non-negative row per term; a learned non-negative combination of the features is the
        strength of the term. By default every term has the single feature 1.

    Examples
    --------
    >>> from aucuba.structured import RankingGraph
    >>> graph = RankingGraph([[0.2], [1.0], [0.4]], edges=[[0, 1], [1, 2]])
    >>> graph.n_nodes, graph.n_edges
    (3, 2)
    """

    node_features: FloatArray
    edges: IntArray
    edge_features: FloatArray
    terms: tuple[CliqueTerm, ...]
    term_features: FloatArray

    def __init__(
        self,
        node_features: ArrayLike,
        edges: ArrayLike | None = None,
        edge_features: ArrayLike | None = None,
        terms: Sequence[CliqueTerm] = (),
        term_features: ArrayLike | None = None,
    ) -> None:
        nodes = check_matrix(node_features, None, "node_features", "nodes")
        pairs = check_edges(edges, len(nodes))
        listed = tuple(terms)
        for term in listed:
            term.check_members(len(nodes))
        object.__setattr__(self, "node_features", nodes)
        object.__setattr__(self, "edges", pairs)
        object.__setattr__(self, "edge_features", _features(edge_features, len(pairs), "edge"))
        object.__setattr__(self, "terms", listed)
        strengths = _features(term_features, len(listed), "term")
        if strengths.min(initial=0.0) < 0:
            row, column = np.argwhere(strengths < 0)[0]
            raise ValueError(
                f"term_features[{row}, {column}] is {strengths[row, column]:g}. Only terms of "
                "non-negative strength are ranked exactly, so term_features must be at least 0."
            )
        object.__setattr__(self, "term_features", strengths)

    @property
    def n_nodes(self) -> int:
        """Number of items."""
        return len(self.node_features)

    @property
    def n_edges(self) -> int:
        """Number of pairs."""
        return len(self.edges)

    @classmethod
    def from_pandas(
        cls,
        nodes: Any,
        edges: Any,
        *,
        source: str = "source",
        target: str = "target",
    ) -> RankingGraph:
        """Make a graph from two tables.

        Parameters
        ----------
        nodes : pandas.DataFrame
            The index identifies the items; the columns are their features.
        edges : pandas.DataFrame
            Columns ``source`` and ``target`` hold names of items; the other columns are edge
            features (without any, every edge has the feature 1).
        source, target : str
            Names of the two columns.
        """
        if not nodes.index.is_unique:
            name = nodes.index[nodes.index.duplicated()][0]
            raise ValueError(f"The index of nodes must name every item once; {name!r} is repeated.")
        for column in (source, target):
            if column not in edges.columns:
                raise ValueError(
                    f"edges has no column {column!r}; its columns are {list(edges.columns)}."
                )
            unknown = ~edges[column].isin(nodes.index)
            if unknown.any():
                raise ValueError(
                    f"edges[{column!r}] names {int(unknown.sum())} items that are not in nodes, "
                    f"the first is {edges[column][unknown].iloc[0]!r}."
                )
        ends = [nodes.index.get_indexer(edges[column]) for column in (source, target)]
        features = edges.drop(columns=[source, target])
        return cls(
            nodes.to_numpy(),
            np.stack(ends, axis=1),
            features.to_numpy() if features.shape[1] else None,
        )

    @classmethod
    def from_networkx(
        cls, graph: Any, node_attributes: Sequence[str], edge_attributes: Sequence[str] = ()
    ) -> RankingGraph:
        """Make a graph from a networkx graph; items keep the order of ``graph.nodes``.

        Parameters
        ----------
        graph : networkx.Graph
            Undirected and simple.
        node_attributes, edge_attributes : sequences of str
            Names of the attributes that are features; without ``edge_attributes`` every edge has
            the feature 1.
        """
        if graph.is_directed() or graph.is_multigraph():
            raise ValueError(
                "The networkx graph must be undirected and simple: use nx.Graph(graph)."
            )
        number = {node: index for index, node in enumerate(graph.nodes)}
        nodes = _attributes(graph.nodes(data=True), node_attributes, "Node")
        ends = [(number[one], number[other]) for one, other in graph.edges]
        pairs = (((one, other), data) for one, other, data in graph.edges(data=True))
        features = _attributes(pairs, edge_attributes, "Edge") if edge_attributes else None
        return cls(nodes, ends, features)

    @classmethod
    def from_image(cls, image: ArrayLike, edge_features: ArrayLike | None = None) -> RankingGraph:
        """Make a graph of the pixels of an image, each joined to its neighbours to the right and below.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, n_features)
            Features of the pixels; nodes are numbered row by row.
        edge_features : array of shape (n_edges, n_edge_features), optional
            Horizontal edges first, then vertical ones; see `grid_edges`.
        """
        pixels = np.asarray(image, dtype=float)
        if pixels.ndim not in (2, 3):
            raise ValueError(f"image must have 2 or 3 dimensions, got {pixels.ndim}.")
        height, width = pixels.shape[:2]
        return cls(pixels.reshape(height * width, -1), grid_edges(height, width), edge_features)


def grid_edges(height: int, width: int) -> IntArray:
    """Return the edges of a grid of pixels numbered row by row, horizontal ones first.

    Examples
    --------
    >>> from aucuba.structured import grid_edges
    >>> grid_edges(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    pixel = np.arange(height * width).reshape(height, width)
    across = np.stack([pixel[:, :-1].ravel(), pixel[:, 1:].ravel()], axis=1)
    down = np.stack([pixel[:-1].ravel(), pixel[1:].ravel()], axis=1)
    return np.concatenate([across, down])


def _features(values: ArrayLike | None, n_rows: int, kind: str) -> FloatArray:
    """Return checked features of pairs or terms, a column of ones by default."""
    if values is None:
        return np.ones((n_rows, 1))
    return check_matrix(values, n_rows, f"{kind}_features", f"{kind}s")


def _attributes(items: Any, names: Sequence[str], kind: str) -> FloatArray:
    """Return the values of the named attributes, one row per item."""
    rows = []
    for item, data in items:
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f"{kind} {item!r} has no attribute {missing[0]!r}.")
        rows.append([float(data[name]) for name in names])
    return np.asarray(rows, dtype=float).reshape(len(rows), len(names))
