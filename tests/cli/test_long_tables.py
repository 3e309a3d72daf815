"""Reports of models saved from Python: signals and graphs in long tables."""

import numpy as np
import pandas as pd
import pytest

from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.persistence import save_model
from aucuba.structured import RankingGraph, StructuredRanker


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """A ranker, and its graphs as tables of nodes and edges."""
    folder = tmp_path_factory.mktemp("graphs")
    rng = np.random.default_rng(0)
    labels = [np.arange(8) % 3 == 0, np.arange(8) < 3]
    features = [y[:, None] + rng.normal(size=(8, 2)) for y in labels]
    path = np.column_stack([np.arange(7), np.arange(1, 8)])
    graphs = [RankingGraph(table, path) for table in features]
    save_model(StructuredRanker(C=10).fit(graphs, labels), folder / "ranker.aucuba")
    nodes = pd.concat(
        pd.DataFrame({"graph": name, "node": np.arange(8), "label": y.astype(int)}).join(
            pd.DataFrame(table, columns=["height", "width"])
        )
        for name, y, table in zip(["A & B", "C"], labels, features, strict=True)
    )
    edges = pd.concat(
        pd.DataFrame({"graph": name, "source": path[:, 0], "target": path[:, 1]})
        for name in ("A & B", "C")
    )
    # Rows of a graph need not stand together.
    nodes.sort_values("node").to_csv(folder / "nodes.csv", index=False)
    edges.sample(frac=1, random_state=0).to_csv(folder / "edges.csv", index=False)
    return folder, nodes, edges, StructuredRanker(C=10).fit(graphs, labels), graphs, labels


def test_graphs_from_two_tables(run, ranked, tmp_path):
    folder, _, _, ranker, graphs, labels = ranked
    out = tmp_path / "r.html"
    done = run(
        *("report", folder / "ranker.aucuba", folder / "nodes.csv"),
        *("--edges", folder / "edges.csv", "--out", out),
    )
    assert done.code == 0, done.err
    page = out.read_text()
    assert f"Mean AUC {ranker.score(graphs, labels):.4f} over 2 graphs" in page
    assert "A &amp; B: 8 nodes" in page
    assert "height" in page


def test_one_graph_needs_no_name(run, ranked, tmp_path):
    folder, nodes, edges, *_ = ranked
    nodes[nodes["graph"] == "C"].drop(columns="graph").rename(columns={"label": "hit"}).to_csv(
        tmp_path / "n.csv", index=False
    )
    edges[edges["graph"] == "C"].drop(columns="graph").to_csv(tmp_path / "e.csv", index=False)
    done = run(
        *("report", folder / "ranker.aucuba", tmp_path / "n.csv", "--edges", tmp_path / "e.csv"),
        *("--target", "hit", "--out", tmp_path / "r.html"),
    )
    assert done.code == 0, done.err
    assert "over 1 graphs" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n, e: (n.drop(columns="node"), e), "no column 'node' for the items"),
        (lambda n, e: (n.drop(columns="label"), e), "no column 'label' for the labels"),
        (lambda n, e: (n.drop(columns="graph"), e), "must be in both tables"),
        (lambda n, e: (n, e.drop(columns="source")), "no column 'source'"),
        (lambda n, e: (n, e.assign(source=99)), "items that are not in nodes"),
        (lambda n, e: (n, e.assign(graph="Z")), "has edges of the graph 'Z', which has no nodes"),
        (lambda n, e: (n.assign(height="tall"), e), "'height' holds text"),
        (lambda n, e: (n.assign(height=np.nan), e), "'height' has missing"),
        (lambda n, e: (n.assign(depth=1.0), e), "3 node features"),
        (lambda n, e: (n.assign(node=1), e), "is repeated"),
        (lambda n, e: (n.assign(label=1 * (n["graph"] == "C")), e), "No graph has nodes of both"),
        (lambda n, e: (n.assign(label=7), e), "two values"),
    ],
)
def test_broken_tables_of_graphs(run, ranked, tmp_path, change, message):
    folder, nodes, edges, *_ = ranked
    for name, table in zip(("n", "e"), change(nodes, edges), strict=True):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    done = run(
        *("report", folder / "ranker.aucuba", tmp_path / "n.csv"),
        *("--edges", tmp_path / "e.csv", "--out", tmp_path / "r.html"),
    )
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "r.html").exists()


def test_a_ranker_asks_for_edges(run, ranked, tmp_path):
    folder = ranked[0]
    words = ("report", folder / "ranker.aucuba", folder / "nodes.csv", "--out", tmp_path / "r.html")
    done = run(*words)
    assert done.code == 2
    assert "--edges" in done.err


@pytest.fixture(scope="module")
def detected(tmp_path_factory):
    """A detector, and its signals and labels as tables."""
    folder = tmp_path_factory.mktemp("signals")
    rng = np.random.default_rng(0)
    signals = [np.repeat([0, 5 * (k % 2)], 20) + rng.normal(size=40) for k in range(12)]
    kinds = ["one" if k % 2 else "none" for k in range(12)]
    detector = SupervisedChangepointDetector(5, cv=2, random_state=0)
    detector.fit(signals, [[Label(10, 30, kind)] for kind in kinds])
    save_model(detector, folder / "detector.aucuba")
    names = [f"s{k}" for k in range(12)]
    pd.concat(
        pd.DataFrame({"sequence": name, "value": y}) for name, y in zip(names, signals, strict=True)
    ).to_csv(folder / "signals.csv", index=False)
    pd.DataFrame({"sequence": names, "start": 10, "end": 30, "kind": kinds}).to_csv(
        folder / "labels.csv", index=False
    )
    return folder


def test_signals_and_labels_from_two_tables(run, detected, tmp_path):
    out = tmp_path / "r.html"
    done = run(
        *("report", detected / "detector.aucuba", detected / "signals.csv"),
        *("--labels", detected / "labels.csv", "--out", out),
    )
    assert done.code == 0, done.err
    assert "s1" in out.read_text()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("value", "high", "'value' holds text"), ("value", "", "'value' has missing")],
)
def test_broken_signals(run, detected, tmp_path, column, value, message):
    rows = pd.read_csv(detected / "signals.csv", dtype=str)
    rows.loc[3, column] = value
    rows.to_csv(tmp_path / "s.csv", index=False)
    done = run(
        *("report", detected / "detector.aucuba", tmp_path / "s.csv"),
        *("--labels", detected / "labels.csv", "--out", tmp_path / "r.html"),
    )
    assert done.code == 2
    assert message in done.err


def test_an_unknown_kind_names_its_sequence(run, detected, tmp_path):
    marks = pd.read_csv(detected / "labels.csv")
    marks.loc[2, "kind"] = "many"
    marks.to_csv(tmp_path / "l.csv", index=False)
    done = run(
        *("report", detected / "detector.aucuba", detected / "signals.csv"),
        *("--labels", tmp_path / "l.csv", "--out", tmp_path / "r.html"),
    )
    assert done.code == 2
    assert "row 3, of the sequence 's2', has the kind 'many'" in done.err
