"""The experiments' own code, on small pieces."""

import numpy as np
import pytest

from aucuba.structured import StructuredRanker
from reproductions.experiments import (
    letters,
    link_prediction,
    link_prediction_published,
    measures,
    multilabel,
    ohsumed,
)


def test_letters_are_drawn_and_pairs_help():
    rng = np.random.default_rng(0)
    train = letters.make_images("A", 17, 4, rng)
    test = letters.make_images("AUC", 15, 3, rng)
    assert train.truth.shape == (20, 17)
    assert test.truth.shape == (20, 45)
    assert 0.2 < test.truth.mean() < 0.5
    assert np.mean(test.seen[0] != test.truth) == pytest.approx(0.15, abs=0.04)
    scores = {}
    for pairs in (False, True):
        ranker = StructuredRanker(C=100.0, tol=1e-2).fit(train.graphs(pairs=pairs), train.labels())
        scores[pairs] = ranker.score(test.graphs(pairs=pairs), test.labels())
    assert scores[True] > scores[False] + 0.05


def test_link_samples_have_the_papers_features_first(needs):
    needs("nips_coauthor")
    data = link_prediction.load_coauthors("nips")
    samples = link_prediction.load_samples(data, *link_prediction.WINDOWS["nips"][0])
    assert tuple(samples.node_names[:4]) == link_prediction.BASIC
    graphs = samples.graphs([0, 1], samples.scale())
    stacked = np.concatenate([graph.node_features for graph in graphs])
    np.testing.assert_allclose(stacked.mean(axis=0), 0, atol=1e-9)
    assert min(graph.edge_features.min(initial=0) for graph in graphs) >= 0
    ranks = link_prediction.aucs(samples.positive, [node[:, 0] for node in samples.nodes])
    assert ranks.mean() == pytest.approx(0.5602, abs=1e-3)


def test_documents_are_joined_by_similarity(needs):
    needs("ohsumed")
    graphs, labels = ohsumed.document_graphs(ohsumed.ohsumed_split(1)[2])
    assert len(graphs) == len(labels)
    assert all(graph.n_edges <= ohsumed.N_PAIRS for graph in graphs)
    assert min(graph.edge_features.min() for graph in graphs) >= 0


def test_sample_aucs_skip_samples_without_order():
    Y = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 1]])
    scores = np.array([[3.0, 2, 1], [1, 2, 3], [1, 2, 3], [1, 1, 2]])
    np.testing.assert_allclose(multilabel.sample_aucs(Y, scores), [1.0, 0.75])


def test_published_pair_features(needs):
    needs("nips_coauthor")
    windows = link_prediction_published.load("before the window")
    assert [len(window.positive) for window in windows] == [27, 43, 92]
    graphs = windows[0].graphs(windows[0].scale())
    features = np.concatenate([graph.edge_features for graph in graphs])
    assert features.shape[1] == 5
    np.testing.assert_array_equal(features[:, 0], 1.0)
    np.testing.assert_allclose(features.max(axis=0), 1.0)
    assert features.min() >= 0
    # Linked candidates: Katz counts their link, so it is never zero.
    assert features[:, 2].min() > 0


def test_published_pairs_of_documents(needs):
    needs("ohsumed")
    train = ohsumed.ohsumed_split(1)[0]
    columns = ohsumed.varying_columns(train)
    assert columns.size == np.unique(columns).size == ohsumed.N_SIMILARITIES
    graph = ohsumed.document_graphs(train, 1, columns)[0][0]
    assert graph.edge_features.shape == (ohsumed.N_PAIRS, 21)
    one, other = graph.edges[5]
    expected = np.minimum(graph.node_features[one], graph.node_features[other])[columns]
    np.testing.assert_array_equal(graph.edge_features[5, 1:], expected)


def test_measures_agree_where_bins_do_not_matter():
    task = measures.Task(([], []), ([], []), ([], []), 1, 3, (1.0,))
    y, s = np.array([True, False, True]), np.array([3.0, 2.0, 1.0])
    assert {name: score(y, s) for name, score in task.scores_by().items()} == pytest.approx(
        dict.fromkeys(task.scores_by(), 0.5)
    )
