"""Link scores by counting, and the SVM baseline by brute force."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from reproductions.baselines import (
    adamic_adar,
    common_neighbours,
    jaccard,
    katz,
    resource_allocation,
    svm_rank,
)


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((9, 9)) < 0.35, k=1)
    return (upper | upper.T).astype(float)


def test_link_scores_by_counting(network):
    pairs = np.array([(i, j) for i in range(9) for j in range(9) if i != j])
    graph = csr_array(network)
    found = {
        score.__name__: score(graph, pairs)
        for score in (common_neighbours, jaccard, adamic_adar, resource_allocation)
    }
    neighbours = [set(np.flatnonzero(row)) for row in network]
    for index, (i, j) in enumerate(pairs):
        common, union = neighbours[i] & neighbours[j], neighbours[i] | neighbours[j]
        degrees = [len(neighbours[k]) for k in common]
        assert found["common_neighbours"][index] == len(common)
        assert found["jaccard"][index] == pytest.approx(len(common) / max(len(union), 1))
        assert found["adamic_adar"][index] == pytest.approx(sum(1 / np.log(d) for d in degrees))
        assert found["resource_allocation"][index] == pytest.approx(sum(1 / d for d in degrees))
    powers = sum(0.1**k * np.linalg.matrix_power(network, k) for k in (1, 2, 3))
    values = katz(graph, pairs, beta=0.1, max_length=3)
    np.testing.assert_allclose(values, powers[pairs[:, 0], pairs[:, 1]])


def test_no_pairs_no_scores(network):
    none = np.zeros((0, 2), dtype=int)
    assert adamic_adar(csr_array(network), none).shape == (0,)
    assert katz(csr_array(network), none).shape == (0,)


def test_bad_networks(network):
    with pytest.raises(ValueError, match="square"):
        jaccard(csr_array(np.ones((2, 3))), [[0, 1]])
    with pytest.raises(ValueError, match="nodes 0 to 8"):
        jaccard(csr_array(network), [[0, 9]])


def test_svm_rank_is_certified_and_no_point_nearby_is_better():
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(40, 2)), np.repeat([0, 1, 2, 3], 10)
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)

    def objective(weights):
        hinges = []
        for query in range(4):
            score, label = X[qid == query] @ weights, y[qid == query] == 1
            margin = score[label][:, None] - score[~label][None, :]
            hinges.append(np.maximum(0, 1 - margin).mean())
        return weights @ weights / 2 + 3.0 * np.mean(hinges)

    solution = svm_rank(X, y, qid, C=3.0, tol=1e-5)
    assert solution.objective == pytest.approx(objective(solution.coef))
    for _ in range(30):
        assert objective(solution.coef + 0.2 * rng.normal(size=2)) >= solution.lower_bound
    with pytest.raises(ValueError, match="X has 40 rows for 39 labels"):
        svm_rank(X, y[:-1], qid[:-1])
