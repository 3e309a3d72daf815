"""Report pages of models that rank graphs or segment signals, from long tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._errors import TableError
from aucuba.cli._signals import SignalTable
from aucuba.cli._table import finite_numbers
from aucuba.cli._tables import TableFile
from aucuba.report import Page, changepoint_report, ranking_report
from aucuba.structured import RankingGraph, StructuredRanker


def page_of_long_tables(
    model: Any, data: TableFile, *, labels: Path | None, edges: Path | None, target: str | None
) -> Page | None:
    """Write the page of a changepoint detector or a ranker of graphs; None for other models."""
    if isinstance(model, StructuredRanker):
        return _ranking_page(model, data, edges, target)
    if isinstance(model, SupervisedChangepointDetector):
        return _changepoint_page(model, data, labels)
    return None


def _changepoint_page(
    detector: SupervisedChangepointDetector, file: TableFile, labels: Path | None
) -> Page:
    """Read signals from sequence, value and perhaps position or time; labels from their own table."""
    signals = SignalTable.read(file)
    title = f"Changes in {file.path.name}"
    return changepoint_report(detector, signals.frame, signals.labels(labels), title=title)


def _ranking_page(
    ranker: StructuredRanker, nodes: TableFile, edges: Path | None, target: str | None
) -> Page:
    """Read nodes from node, labels and features; edges from source, target and features.

    A column ``graph`` in both tables tells several graphs apart.
    """
    if edges is None:
        raise ValueError(
            "A ranker of graphs needs --edges, a table of source, target and edge features (and "
            "graph, where there are several)."
        )
    label = target or "label"
    edge_file = TableFile.from_options(edges)
    items, pairs = nodes.read(), edge_file.read()
    names = items.column("node", "the items")
    positive = finite_numbers(items.column(label, "the labels").to_frame(), nodes.path)[label]
    features = finite_numbers(
        items.frame.drop(columns=["node", label, "graph"], errors="ignore"), nodes.path
    )
    ends = [pairs.column(name, "the ends of the edges") for name in ("source", "target")]
    weights = finite_numbers(
        pairs.frame.drop(columns=["source", "target", "graph"], errors="ignore"), edges
    )
    several = "graph" in items.frame
    if several != ("graph" in pairs.frame):
        raise TableError("The column 'graph' must be in both tables, or in neither.")
    node_graph = items.frame["graph"] if several else pd.Series("graph", index=items.frame.index)
    edge_graph = pairs.frame["graph"] if several else pd.Series("graph", index=pairs.frame.index)
    unknown = ~edge_graph.isin(node_graph)
    if unknown.any():
        raise TableError(f"{edges}: no nodes of the graph {edge_graph[unknown].iloc[0]!r}.")
    links = pd.concat([*ends, weights], axis=1)
    graphs, labels = [], []
    for name in node_graph.unique():
        here = node_graph == name
        table = features[here].set_index(names[here])
        graphs.append(RankingGraph.from_pandas(table, links[edge_graph == name]))
        labels.append(positive[here].to_numpy())
    return ranking_report(
        ranker,
        graphs,
        labels,
        title=f"Ranked graphs of {nodes.path.name}",
        node_names=list(features.columns),
        edge_names=list(weights.columns) or None,
        graph_names=[str(name) for name in node_graph.unique()] if several else None,
    )
