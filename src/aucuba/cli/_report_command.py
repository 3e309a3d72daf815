"""The command ``aucuba report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from aucuba._base._files import check_place
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._command_options import ReportOptions
from aucuba.cli._console import TableError, emit, progress_bar
from aucuba.cli._fit_record import fit_record
from aucuba.cli._labelled_rows import ScoredFile, ScoredRows
from aucuba.cli._row_reasons import reasons_of
from aucuba.cli._signal_table import SignalTable, as_floats
from aucuba.cli._table_file import TableFile
from aucuba.ensemble import RowReasons
from aucuba.persistence import SavedModel, load_model
from aucuba.report import (
    Page,
    ScoredSample,
    changepoint_report,
    classifier_report,
    ranking_report,
    write_page,
)
from aucuba.structured import RankingGraph, StructuredRanker
from aucuba.threshold import PromiseLedger

# Top-scoring rows that a page explains, and reasons for each.
_N_EXPLAINED, _N_REASONS = 5, 3


def run(options: ReportOptions) -> None:
    """Write an HTML page about a model on labelled rows."""
    inputs = (options.model, options.data, options.labels, options.edges, options.ledger)
    check_place(options.out, *inputs)
    saved, result = load_model(options.model), {"report": str(options.out)}
    with progress_bar(f"Writing {options.out.name}"):
        if isinstance(saved.model, StructuredRanker):
            page = _ranking_page(saved.model, options.file(), options.edges, options.target)
        elif isinstance(saved.model, SupervisedChangepointDetector):
            signals = SignalTable.read(options.file())
            labels, title = signals.labels(options.labels), f"Changes in {options.data.name}"
            page = changepoint_report(saved.model, signals.frame, labels, title=title)
        else:
            page, result["data"] = _classifier_page(saved, options)
        write_page(page, options.out)
    emit(result, f"Report: {options.out}", as_json=options.json)


def _classifier_page(saved: SavedModel, options: ReportOptions) -> tuple[Page, Any]:
    """Make the page of a classifier; return it with a summary of the rows."""
    record = fit_record(saved, options.model)
    fpr_range = options.chosen_range(record.fpr_range)
    ledger = None
    if options.ledger is not None:
        ledger = PromiseLedger.from_json(options.ledger.read_text(encoding="utf-8"))
    scored = ScoredFile(saved, record, options)
    table = ScoredRows.from_file(scored, keep_features=True)
    prepare = saved.model[:-1]
    page = classifier_report(
        saved.model[-1],
        ScoredSample(table.y, table.score, baseline=table.base, **table.weight_and_query),
        fpr_range=fpr_range,
        X=prepare.transform(table.X),
        feature_names=[str(name) for name in prepare.get_feature_names_out()],
        table=table.X if record.schema.n_features is None else None,
        title=f"{options.model.name} on {options.data.name}",
        labels=(record.labels.negative, record.labels.positive),
        random_state=options.random_state,
        note=scored.far.note(),
        reasons=_top_reasons(saved, table),
        by=table.by,
        target_prevalence=options.prevalence,
        ledger=ledger,
    )
    return page, table.summary


def _top_reasons(saved: SavedModel, table: ScoredRows) -> tuple[list[int], RowReasons]:
    """Explain the rows of the highest scores."""
    rows = np.argsort(-table.score, kind="stable")[:_N_EXPLAINED]
    return rows.tolist(), reasons_of(saved, _safe_indexing(table.X, rows), _N_REASONS)


def _ranking_page(
    ranker: StructuredRanker, nodes: TableFile, edges: Path | None, target: str | None
) -> Page:
    """Read nodes from node, labels and features; edges from source, target and features.

    A column ``graph`` in both tables distinguishes several graphs.
    """
    if edges is None:
        raise ValueError(
            "A ranker of graphs needs --edges, a table of source, target and edge features (and "
            "graph, where there are several)."
        )
    label = target or "label"
    items, pairs = nodes.read(), TableFile.from_options(edges).read()
    names = items.column("node", "the items")
    positive = as_floats(items.column(label, "the labels"), nodes.path)
    features = _features(items.frame, ["node", label, "graph"], nodes.path)
    ends = [pairs.column(name, "the ends of the edges") for name in ("source", "target")]
    weights = _features(pairs.frame, ["source", "target", "graph"], edges)
    several = "graph" in items.frame
    if several != ("graph" in pairs.frame):
        raise TableError("The column 'graph' must be in both tables, or in neither.")
    node_graph = items.frame["graph"] if several else pd.Series("graph", index=items.frame.index)
    edge_graph = pairs.frame["graph"] if several else pd.Series("graph", index=pairs.frame.index)
    unknown = ~edge_graph.isin(node_graph)
    if unknown.any():
        raise TableError(
            f"{edges} has edges of the graph {edge_graph[unknown].iloc[0]!r}, which has no nodes in "
            f"{nodes.path.name}; add its nodes or leave its edges out."
        )
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


def _features(frame: pd.DataFrame, others: list[str], path: Path) -> pd.DataFrame:
    """Convert all columns except ``others`` to numbers."""
    return frame.drop(columns=others, errors="ignore").apply(as_floats, path=path)
