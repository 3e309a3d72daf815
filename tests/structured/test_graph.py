"""Graphs, builders, metrics of sets, and what bad input says."""

import numpy as np
import pytest
from sklearn.base import clone

from aucuba.metrics import binned_auc_score
from aucuba.structured import (
    AUCAtK,
    BinnedAUC,
    CliqueTerm,
    RankingGraph,
    StructuredRanker,
    ranking_lp,
    tv_scores,
    unnested_auc_score,
)
from aucuba.structured._rounding import rank_order

NODES = [[0.0], [1.0], [2.0]]


def two_graphs():
    graph = RankingGraph(NODES, [[0, 1]])
    return [graph, graph], [[0, 1, 1], [0, 0, 1]]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 3]], r"edges\[0\] is \(0, 3\), but the graph has 3 nodes"),
        ([[-1, 0]], "numbered 0 to 2"),
        ([[0, 1], [2, 2]], r"edges\[1\] joins node 2 to itself"),
        ([[0, 1], [1, 2], [1, 0]], r"edges\[0\] and edges\[2\] are the same pair"),
        ([0, 1], "shape"),
        ([[0.5, 1]], "node numbers"),
    ],
)
def test_bad_edges(edges, message):
    with pytest.raises(ValueError, match=message):
        RankingGraph(NODES, edges)
    with pytest.raises(ValueError, match=message):
        tv_scores([0.0, 1.0, 2.0], edges, np.ones(len(edges)))


def test_bad_features():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="the first in row 1, column 0"):
        RankingGraph([[0.0], [np.nan]])
    with pytest.raises(ValueError, match="edge_features has 2 rows for 1 edges"):
        RankingGraph(NODES, [[0, 1]], [[1.0], [2.0]])
    with pytest.raises(ValueError, match="numeric"):
        RankingGraph([["a"], ["b"]])
    with pytest.raises(ValueError, match=r"numeric, got dtype object \(could not convert.*'x'"):
        RankingGraph(pd.DataFrame({"size": [1, 2], "name": ["x", "y"]}))


def test_bad_couplings():
    with pytest.raises(ValueError, match=r"coupling\[1\] is -1"):
        tv_scores([0, 1, 2], [[0, 1], [1, 2]], [1, -1])
    with pytest.raises(ValueError, match="3 entries for 1 edges"):
        tv_scores([0, 1, 2], [[0, 1]], [1, 1, 1])
    with pytest.raises(ValueError, match="no coupling"):
        ranking_lp([0, 1, 2], [[0, 1]])
    with pytest.raises(ValueError, match="NaN or infinite"):
        tv_scores([0, np.inf, 2])


@pytest.mark.parametrize(
    ("mass", "message"),
    [
        ([1], "mass has 1 entries for 3 nodes"),
        ([1, 1, -1], r"mass\[2\] is -1; give 1 to an item and 0 to an auxiliary node"),
        ([1, 0.5, 1], r"mass\[1\] is 0.5"),
    ],
)
def test_bad_masses(mass, message):
    with pytest.raises(ValueError, match=message):
        tv_scores([0, 1, 2], [[0, 1]], [1.0], mass=mass)


def test_rankings_need_one_score_per_item():
    with pytest.raises(ValueError, match="score has 2 entries and unary 3; both need one entry"):
        rank_order([1.0, 2.0], [1.0, 2.0, 3.0])
    assert rank_order([], []).tolist() == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number above 0"),
        ({"solver": "sgd"}, "solver must be one of"),
        ({"objective": "hinge"}, "objective must be one of"),
        ({"edge_weights": "signed"}, "edge_weights must be one of"),
        ({"pair_score": "potts"}, "pair_score must be one of"),
        ({"measure": "f1"}, "measure must be one of"),
        ({"measure": 3}, r"a Measure such as BinnedAUC\(20\)"),
        ({"max_iter": 2.5}, "max_iter must be a whole number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        StructuredRanker(**parameters).fit(*two_graphs())


def test_bad_data_sets():
    graphs, labels = two_graphs()
    ranker = StructuredRanker()
    with pytest.raises(ValueError, match="2 graphs but 1 arrays"):
        ranker.fit(graphs, labels[:1])
    with pytest.raises(ValueError, match=r"labels\[1\] has 2 entries for 3 nodes"):
        ranker.fit(graphs, [labels[0], [0, 1]])
    with pytest.raises(ValueError, match="two values over the whole data set, got 3"):
        ranker.fit(graphs, [[0, 1, 2], [0, 1, 1]])
    with pytest.raises(ValueError, match="convert it to a RankingGraph"):
        ranker.fit([NODES], [[0, 1, 1]])
    with pytest.raises(ValueError, match="same number of node_features"):
        ranker.fit([graphs[0], RankingGraph(np.ones((3, 2)))], labels)
    with pytest.raises(ValueError, match="graphs is empty"):
        ranker.fit([], [])
    negative = RankingGraph(NODES, [[0, 1]], [[-0.5]])
    with pytest.raises(ValueError, match=r"graphs\[1\].edge_features\[0, 0\] is -0.5"):
        ranker.fit([graphs[0], negative], labels)
    with pytest.raises(ValueError, match="No graph has both"):
        ranker.fit(graphs, [[0, 0, 0], [1, 1, 1]])
    with pytest.raises(ValueError, match="sample_weight has 3 entries for 2 graphs"):
        ranker.fit(graphs, labels, sample_weight=[1, 1, 1])
    ranker.fit(graphs, labels)
    with pytest.raises(ValueError, match="2 node features, but the model was fitted with 1"):
        ranker.decision_function(RankingGraph(np.ones((3, 2))))
    with pytest.raises(ValueError, match="2 edge features, but the model was fitted with 1"):
        ranker.decision_function(RankingGraph(NODES, [[0, 1]], [[1.0, 2.0]]))


def test_features_too_large_to_multiply():
    graphs, labels = two_graphs()
    large = RankingGraph([[0.0], [1.0], [-1e200]], [[0, 1]])
    message = r"graphs\[1\].node_features\[2, 0\] is -1e\+200, too large .* Scale the features"
    with pytest.raises(ValueError, match=message):
        StructuredRanker().fit([graphs[0], large], labels)
    with pytest.raises(ValueError, match=message):
        StructuredRanker().fit(graphs, labels).decision_function([graphs[0], large])
    strong = RankingGraph(NODES, [[0, 1]], [[1e200]])
    with pytest.raises(ValueError, match=r"graphs\[0\].edge_features\[0, 0\] is 1e\+200"):
        StructuredRanker().fit(strong, labels[0])


def test_graphs_of_one_class_are_skipped_and_counted():
    graphs, labels = two_graphs()
    with pytest.warns(UserWarning, match="1 of 3 graphs have only one class"):
        ranker = StructuredRanker().fit([*graphs, graphs[0]], [*labels, [1, 1, 1]])
    assert ranker.n_skipped_ == 1
    np.testing.assert_allclose(ranker.coef_, StructuredRanker().fit(graphs, labels).coef_)


def test_graphs_without_edges_may_join_a_data_set():
    graphs, labels = two_graphs()
    ranker = StructuredRanker().fit([graphs[0], RankingGraph(NODES)], labels)
    scores = ranker.decision_function([RankingGraph(NODES), graphs[0]])
    np.testing.assert_allclose(scores[0], np.ravel(NODES) * ranker.coef_[0])


def test_one_graph_and_a_list_of_one_give_the_same():
    graphs, labels = two_graphs()
    ranker = StructuredRanker().fit(graphs[0], labels[0])
    one, listed = ranker.decision_function(graphs[0]), ranker.decision_function(graphs[:1])
    np.testing.assert_array_equal(one, listed[0])
    np.testing.assert_array_equal(ranker.rank(graphs[0]), ranker.rank(graphs[:1])[0])


def test_labels_of_one_graph_in_any_container():
    pd = pytest.importorskip("pandas")
    graph, labels = RankingGraph([[0.0], [1.0], [2.0], [0.5]], [[0, 1]]), [0, 1, 1, 0]
    expected = StructuredRanker().fit([graph], [labels]).coef_
    for given in (labels, np.array(labels), pd.Series(labels, index=[5, 6, 7, 8])):
        np.testing.assert_array_equal(StructuredRanker().fit(graph, given).coef_, expected)
    with pytest.raises(ValueError, match=r"labels\[0\] has 0 entries for 4 nodes"):
        StructuredRanker().fit(graph, [])


def test_estimator_survives_clone_and_skops():
    skops = pytest.importorskip("skops.io")
    graphs, labels = two_graphs()
    ranker = StructuredRanker(C=2.0).fit(graphs, labels)
    assert clone(ranker).get_params() == ranker.get_params()
    dumped = skops.dumps(ranker)
    loaded = skops.loads(dumped, trusted=skops.get_untrusted_types(data=dumped))
    np.testing.assert_array_equal(
        loaded.decision_function(graphs[0]), ranker.decision_function(graphs[0])
    )


def test_from_pandas():
    pd = pytest.importorskip("pandas")
    nodes = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    edges = pd.DataFrame({"source": ["a", "c"], "target": ["b", "a"], "weight": [0.5, 2.0]})
    graph = RankingGraph.from_pandas(nodes, edges)
    assert graph.edges.tolist() == [[0, 1], [2, 0]]
    assert graph.edge_features.tolist() == [[0.5], [2.0]]
    plain = RankingGraph.from_pandas(nodes, edges[["source", "target"]])
    assert plain.edge_features.tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="names 1 items that are not in nodes, the first is 'z'"):
        RankingGraph.from_pandas(nodes, edges.replace("c", "z"))
    with pytest.raises(ValueError, match="no column 'from'"):
        RankingGraph.from_pandas(nodes, edges, source="from")
    with pytest.raises(ValueError, match="'a' is repeated"):
        RankingGraph.from_pandas(nodes.rename({"b": "a"}), edges)


def test_tables_of_mixed_columns():
    pd = pytest.importorskip("pandas")
    nodes = pd.DataFrame({"size": [1, 2], "known": [True, False]})
    edges = pd.DataFrame({"source": [0], "target": [1], "joint": [3], "recent": [True]})
    assert RankingGraph(nodes).node_features.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    graph = RankingGraph.from_pandas(nodes, edges)
    assert graph.node_features.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert graph.edge_features.tolist() == [[3.0, 1.0]]
    with pytest.raises(ValueError, match="1 NaN or infinite values, the first in row 1, column 0"):
        RankingGraph(pd.DataFrame({"size": [1, None], "known": [True, False]}))


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    network = networkx.Graph()
    network.add_node("a", size=1.0)
    network.add_node("b", size=2.0)
    network.add_edge("a", "b", weight=0.5)
    graph = RankingGraph.from_networkx(network, ["size"], ["weight"])
    assert graph.node_features.tolist() == [[1.0], [2.0]]
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.edge_features.tolist() == [[0.5]]
    with pytest.raises(ValueError, match="has no attribute 'age'"):
        RankingGraph.from_networkx(network, ["age"])
    with pytest.raises(ValueError, match="undirected and simple"):
        RankingGraph.from_networkx(networkx.DiGraph(network), ["size"])


def test_from_image():
    graph = RankingGraph.from_image(np.arange(6.0).reshape(2, 3))
    assert graph.node_features.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert sorted(map(tuple, graph.edges.tolist())) == [
        (0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5),
    ]  # fmt: skip
    assert RankingGraph.from_image(np.ones((2, 3, 4))).node_features.shape == (6, 4)
    with pytest.raises(ValueError, match="2 or 3 dimensions"):
        RankingGraph.from_image(np.ones(4))


def test_unnested_auc_of_top_sets_is_the_auc():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n_items = int(rng.integers(2, 9))
        positive = rng.random(n_items) < 0.5
        positive[:2] = [True, False]
        score = rng.permutation(n_items)
        order = np.argsort(-score)
        ends = np.unique(np.append(rng.integers(1, n_items + 1, size=3), n_items))
        sets = [order[:end] for end in ends]
        expected = binned_auc_score(positive, score, bin_sizes=np.diff(ends, prepend=0).tolist())
        assert unnested_auc_score(positive, sets) == pytest.approx(expected)
        indicator = np.array([np.isin(np.arange(n_items), chosen) for chosen in sets])
        assert unnested_auc_score(positive, indicator.astype(float)) == pytest.approx(expected)
        assert unnested_auc_score(positive, sets[:-1] or sets) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0], [1]], "sizes of sets must grow, but set 1"),
        ([[0, 0]], "lists an item twice"),
        ([[7]], "numbered 0 to 2"),
        (np.ones((1, 5)), "5 columns for 3 items"),
        (np.full((1, 3), 2.0), r"indicators in \[0, 1\]"),
    ],
)
def test_bad_sets(sets, message):
    with pytest.raises(ValueError, match=message):
        unnested_auc_score([0, 1, 1], sets)


def test_bad_measures_and_cliques():
    with pytest.raises(ValueError, match="a bin size must be"):
        BinnedAUC([2, 0])
    with pytest.raises(ValueError, match="sizes is empty"):
        BinnedAUC([])
    with pytest.raises(ValueError, match="k must be a whole number"):
        AUCAtK(0)
    with pytest.raises(ValueError, match=r"bends down at f\(1\)"):
        CliqueTerm([0, 1], [0, 2, 3])
    with pytest.raises(ValueError, match="3 numbers; got 2"):
        CliqueTerm([0, 1], [0, 2])
    with pytest.raises(ValueError, match="distinct item numbers"):
        CliqueTerm([0, 0], [0, 1, 2])
