"""The report of a structured ranker: graphs as rankings, with pairs as arcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._base._tables import html_table
from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_length
from aucuba.metrics import partial_auc_score
from aucuba.report._models import training_section
from aucuba.report._page import Page, Section, facts, figures, paragraph
from aucuba.report._svg import Axes
from aucuba.structured import RankingGraph, StructuredRanker, as_graphs, as_labels

_MOST_NODES = 150
_MOST_EDGES = 600
# Height of the items above the bottom of a picture, of which the arcs take the rest.
_BASE = 0.06


def ranking_report(
    ranker: StructuredRanker,
    graphs: Any,
    labels: Any,
    *,
    title: str = "Ranked graphs",
    node_names: Sequence[str] | None = None,
    edge_names: Sequence[str] | None = None,
    graph_names: Sequence[str] | None = None,
    n_graphs: int = 6,
) -> Page:
    """Build the page of a fitted ranker on labelled graphs, lowest AUC first.

    Parameters
    ----------
    ranker : StructuredRanker
        A fitted ranker.
    graphs : list of RankingGraph
    labels : list of arrays
        Binary labels of the nodes of each graph.
    title : str
        Heading of the page.
    node_names, edge_names : sequence of str, default=None
        Names of the node and edge features.
    graph_names : sequence of str, default=None
        Names of the graphs; their numbers by default.
    n_graphs : int, default=6
        How many graphs to draw.

    Returns
    -------
    Page

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.report import ranking_report
    >>> from aucuba.structured import RankingGraph, StructuredRanker
    >>> rng = np.random.default_rng(0)
    >>> labels = [np.arange(12) < 4] * 6
    >>> path = [[i, i + 1] for i in range(11)]
    >>> graphs = [RankingGraph(y + rng.normal(size=12), path) for y in labels]
    >>> ranker = StructuredRanker(C=10).fit(graphs, labels)
    >>> page = ranking_report(ranker, graphs, labels)
    >>> [section.title for section in page.sections]
    ['Graphs', 'Rankings', 'Coefficients', 'Training']
    """
    listed = as_graphs(graphs)
    positive = as_labels(labels, listed)
    scores = ranker.decision_function(listed)
    orders = ranker.rank(listed)
    aucs = np.array([_auc(y, s) for y, s in zip(positive, scores, strict=True)])
    known = np.isfinite(aucs)
    if not known.any():
        raise ValueError("No graph has nodes of both classes, so no ranking can be measured.")
    worst = [int(k) for k in np.argsort(aucs) if known[k]][:n_graphs]
    sections = [
        _graph_section(listed, positive, aucs),
        _ranking_section(listed, positive, orders, aucs, worst, graph_names),
        _coefficient_section(ranker, node_names, edge_names),
        training_section(ranker),
    ]
    lead = f"Mean AUC {aucs[known].mean():.4f} over {int(known.sum())} graphs."
    return Page(title, lead, sections)


def _auc(positive: BoolArray, score: FloatArray) -> float:
    if positive.all() or not positive.any():
        return float("nan")
    return partial_auc_score(positive, score)


def _graph_section(
    graphs: Sequence[RankingGraph], positive: Sequence[BoolArray], aucs: FloatArray
) -> Section:
    known = aucs[np.isfinite(aucs)]
    entries = {
        "graphs": len(graphs),
        "nodes": f"{sum(graph.n_nodes for graph in graphs):,}",
        "edges": f"{sum(graph.n_edges for graph in graphs):,}",
        "positive nodes": f"{sum(int(labels.sum()) for labels in positive):,}",
        "graphs with one class": len(graphs) - known.size,
    }
    low, middle, high = np.quantile(known, [0.1, 0.5, 0.9])
    rows = [["AUC", f"{known.mean():.4f}", f"{low:.4f}", f"{middle:.4f}", f"{high:.4f}"]]
    header = ["over graphs", "mean", "10 %", "median", "90 %"]
    return Section("graphs", "Graphs", facts(entries) + html_table(header, rows))


def _ranking_section(
    graphs: Sequence[RankingGraph],
    positive: Sequence[BoolArray],
    orders: Sequence[IntArray],
    aucs: FloatArray,
    chosen: Sequence[int],
    names: Sequence[str] | None,
) -> Section:
    if names is not None:
        check_length(names, len(graphs), "graph_names", "graphs")
    pictures = []
    for k in chosen:
        name = f"Graph {k}" if names is None else names[k]
        caption = f"{name}: {graphs[k].n_nodes} nodes, AUC {aucs[k]:.4f}"
        pictures.append((_arcs(graphs[k], positive[k], orders[k], name), caption))
    text = (
        "Items from best (left) to worst; blue ones are positive. Arcs join pairs that belong "
        f"together. At most {_MOST_NODES} items and {_MOST_EDGES} arcs are drawn."
    )
    return Section("rankings", "Rankings", paragraph(text, "fine") + figures(*pictures))


def _arcs(graph: RankingGraph, positive: BoolArray, order: IntArray, name: str) -> str:
    shown = min(graph.n_nodes, _MOST_NODES)
    place = np.empty(graph.n_nodes)
    place[order] = np.arange(1, graph.n_nodes + 1)
    axes = Axes((0.2, shown + 0.8), (0.0, 1.0), height=200)
    base = float(axes.row(_BASE))
    pairs = np.sort(place[graph.edges], axis=1)
    pairs = pairs[pairs[:, 1] <= shown][:_MOST_EDGES]
    inside = ""
    for left, right in zip(axes.column(pairs[:, 0]), axes.column(pairs[:, 1]), strict=True):
        width = (right - left) / 2
        rise = min(width, 0.9 * (base - 10))
        inside += (
            f'<path class="edge" d="M{left:.1f} {base:.1f}A{width:.1f} {rise:.1f} 0 0 1 '
            f'{right:.1f} {base:.1f}"/>'
        )
    radius = float(np.clip(140 / shown, 1.5, 6))
    for node in order[:shown]:
        css = "node positive" if positive[node] else "node negative"
        inside += axes.dots(place[node], _BASE, css, radius)
    about = f"Ranking: {name}"
    return axes.picture("rank", "", inside, about, y_ticks=[], x_ticks=_rank_ticks(shown))


def _rank_ticks(shown: int) -> list[float]:
    step = max(1, -(-shown // 6))
    return [1.0, *(float(rank) for rank in range(step, shown + 1, step) if rank > 1)]


def _coefficient_section(
    ranker: StructuredRanker, node_names: Sequence[str] | None, edge_names: Sequence[str] | None
) -> Section:
    rows = []
    kinds = [
        ("node", ranker.coef_, node_names),
        ("edge", ranker.edge_coef_, edge_names),
        ("term", ranker.term_coef_, None),
    ]
    text = "A larger edge coefficient pulls the two items of a pair closer together."
    if ranker.pair_score == "states":
        states = zip(("both", "neither", "one"), ranker.state_coef_, strict=True)
        kinds[2:2] = [(f"edge, {state}", coef, edge_names) for state, coef in states]
        text += (
            " It is computed from the weights of a pair by how many of its items a top-ranked set "
            "contains: both + neither - 2 one."
        )
    for kind, coef, names in kinds:
        rows += _largest(kind, coef, names)
    body = html_table(["feature", "of", "coefficient"], rows)
    return Section("coefficients", "Coefficients", body + paragraph(text, "fine"))


def _largest(kind: str, coef: FloatArray, names: Sequence[str] | None) -> list[list[str]]:
    """List the 20 largest coefficients, one row each."""
    word = kind.split(",")[0]
    named = names or [f"{word} feature {k}" for k in range(coef.size)]
    check_length(named, coef.size, f"{word}_names", "features")
    order = np.argsort(-np.abs(coef), kind="stable")[:20]
    return [[named[k], kind, f"{coef[k]:+.4g}"] for k in order]
