"""
Who will write with whom?
=========================

For one author, rank those at distance two in the co-author network by the chance of a joint paper.
Candidates who have written together tend to join together, so they are tied by edges. With real data
(``AUCUBA_DATA``) this uses the NIPS network, otherwise one that is drawn here.
"""

# %%
# The network, and new links that come later. In the generated network authors belong to groups, write
# inside their group, and now and then a group opens to an outsider.

import matplotlib.pyplot as plt
import numpy as np

from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker
from reproductions.baselines import adamic_adar
from reproductions.data import data_home
from reproductions.data.coauthors import (
    Authorships,
    coauthor_network,
    focal_authors,
    load_coauthors,
)


def generated(rng, n_groups=150, size=9):
    rows = []
    for paper in range(4 * n_groups):
        group = rng.integers(n_groups)
        who = group * size + rng.choice(size, size=int(rng.integers(2, 5)), replace=False)
        if rng.random() < 0.45:
            guest = (group + rng.integers(1, 4)) % n_groups
            who = np.append(who, guest * size + rng.integers(size))
        year = 2000 + paper * 10 // (4 * n_groups)
        rows += [(year, paper, author) for author in who]
    return Authorships(*np.array(rows).T)


if (data_home() / "nips_coauthor").exists():
    data, windows = load_coauthors("nips"), [(2003, 2007, 2008, 2012), (2008, 2012, 2013, 2017)]
else:
    data, windows = (
        generated(np.random.default_rng(0)),
        [(2000, 2003, 2004, 2006), (2003, 2006, 2007, 2009)],
    )

# %%
# One graph a focal author: two features of a candidate, and one of a pair of candidates.


def graphs_of(first, last, start, end):
    network = coauthor_network(data.window(first, last), data.n_authors)
    future = coauthor_network(data.window(start, end), data.n_authors)
    problems = focal_authors(network, future)
    graphs = []
    for problem in problems:
        pairs = np.stack(
            [np.full(problem.candidates.size, problem.author), problem.candidates], axis=1
        )
        papers = network.papers.sum(axis=1)[problem.candidates]
        nodes = np.stack([adamic_adar(network.adjacency, pairs), np.log1p(papers)], axis=1)
        degree = np.bincount(problem.edges.ravel(), minlength=len(nodes))
        balance = 1 / np.sqrt(degree[problem.edges].prod(axis=1))
        graphs.append(RankingGraph(nodes, problem.edges, balance))
    return graphs, [problem.positive for problem in problems]


(train, train_y), (test, test_y) = (graphs_of(*window) for window in windows)
print(f"{len(train)} focal authors for training, {len(test)} for testing")

# %%
# Without and with pairs.

results = {}
for name in ("without pairs", "agree", "together"):
    parts = (train, test)
    if name == "without pairs":
        parts = tuple([RankingGraph(graph.node_features) for graph in part] for part in parts)
    options = {} if name == "without pairs" else {"pair_score": name}
    ranker = StructuredRanker(C=10, tol=1e-3, max_iter=60, **options).fit(parts[0], train_y)
    scores = ranker.decision_function(parts[1])
    results[name] = [
        binned_auc_score(y, score, bin_sizes=1) for y, score in zip(test_y, scores, strict=True)
    ]
results["Adamic-Adar alone"] = [
    binned_auc_score(y, graph.node_features[:, 0], bin_sizes=1)
    for y, graph in zip(test_y, test, strict=True)
]

# %%
# Mean AUC with one standard error. On a network of this size the errors are wide: read the committed
# tables of the larger ACL network before believing in a difference.

names = list(results)
means = [np.mean(results[name]) for name in names]
errors = [np.std(results[name]) / len(results[name]) ** 0.5 for name in names]
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.barh(names, means, xerr=errors, color="#0072b2")
axis.axvline(0.5, color="grey", linestyle=":")
axis.set(xlabel="mean AUC over focal authors", xlim=(0.4, None))
plt.show()
