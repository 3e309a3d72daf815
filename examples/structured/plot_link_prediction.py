"""
Who will write with whom?
=========================

For one author, rank those at distance two in the co-author network by the chance of a joint paper.
Candidates who have written together tend to join together, so they are tied by edges.
"""

# %%
# A network of ten years. Authors belong to groups, write inside their group, and now and then a group
# opens to a guest. Each paper is a year and its authors.

import matplotlib.pyplot as plt
import numpy as np

from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker

N_GROUPS, SIZE = 150, 9
N_AUTHORS = N_GROUPS * SIZE
rng = np.random.default_rng(0)
papers = []
for number in range(4 * N_GROUPS):
    group = rng.integers(N_GROUPS)
    authors = group * SIZE + rng.choice(SIZE, size=rng.integers(2, 5), replace=False)
    if rng.random() < 0.45:
        guest = (group + rng.integers(1, 4)) % N_GROUPS
        authors = np.append(authors, guest * SIZE + rng.integers(SIZE))
    papers.append((2000 + number * 10 // (4 * N_GROUPS), authors))


def network(first, last):
    """Who has written with whom in some years, and the number of papers of each author."""
    linked = np.zeros((N_AUTHORS, N_AUTHORS), dtype=bool)
    count = np.zeros(N_AUTHORS)
    for year, authors in papers:
        if first <= year <= last:
            linked[np.ix_(authors, authors)] = True
            count[authors] += 1
    np.fill_diagonal(linked, False)
    return linked, count


# %%
# One graph per focal author. A candidate has two features: the Adamic-Adar score (common neighbours,
# those with few links count more) and its number of papers. A pair of candidates who have written
# together has one, 1 / sqrt(degree x degree), so that a candidate of many ties is not averaged away.


def problems(first, last, start, end):
    """Graphs and labels of all authors who win some but not all of their candidates."""
    linked, count = network(first, last)
    future, _ = network(start, end)
    weight = 1 / np.log(np.maximum(linked.sum(axis=1), 2))
    graphs, labels = [], []
    for author in np.flatnonzero(linked.any(axis=1)):
        near = np.flatnonzero(linked[author])
        reached = linked[near].any(axis=0) & ~linked[author]
        reached[author] = False
        candidates = np.flatnonzero(reached)
        positive = future[author, candidates]
        if not positive.any() or positive.all():
            continue
        adamic_adar = linked[np.ix_(candidates, near)] @ weight[near]
        nodes = np.column_stack([adamic_adar, np.log1p(count[candidates])])
        edges = np.argwhere(np.triu(linked[np.ix_(candidates, candidates)]))
        degree = np.bincount(edges.ravel(), minlength=candidates.size)
        graphs.append(RankingGraph(nodes, edges, 1 / np.sqrt(degree[edges].prod(axis=1))))
        labels.append(positive)
    return graphs, labels


train, train_y = problems(2000, 2003, 2004, 2006)
test, test_y = problems(2003, 2006, 2007, 2009)
print(f"{len(train)} focal authors for training, {len(test)} for testing")

# %%
# Train without pairs, with pairs that gain by standing on the same side of the cut ("agree") and with
# pairs that gain by standing above it together.


def aucs(scores):
    return [binned_auc_score(y, s, bin_sizes=1) for y, s in zip(test_y, scores, strict=True)]


results = {"Adamic-Adar alone": aucs([graph.node_features[:, 0] for graph in test])}
ranker = StructuredRanker(C=10, tol=1e-3, max_iter=60)
ranker.fit([RankingGraph(graph.node_features) for graph in train], train_y)
results["without pairs"] = aucs(
    ranker.decision_function([RankingGraph(graph.node_features) for graph in test])
)
for pair_score in ("agree", "together"):
    ranker = StructuredRanker(C=10, pair_score=pair_score, tol=1e-3, max_iter=60)
    results[pair_score] = aucs(ranker.fit(train, train_y).decision_function(test))

# %%
# Mean AUC with one standard error. On a network of this size the errors are wide: read the committed
# tables of two real networks (``reproductions/results``) before believing in a difference.

means = [np.mean(values) for values in results.values()]
errors = [np.std(values) / len(values) ** 0.5 for values in results.values()]
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.barh(list(results), means, xerr=errors, color="#0072b2")
axis.axvline(0.5, color="grey", linestyle=":")
axis.set(xlabel="mean AUC over focal authors", xlim=(0.4, None))
plt.show()
