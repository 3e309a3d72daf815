"""Query sets of the retrieval experiments, split by query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from reproductions.data.letor_sample import load_letor_sample
from reproductions.data.ohsumed import load_ohsumed


@dataclass(frozen=True)
class Documents:
    """Documents with their relevance and query."""

    X: FloatArray
    relevant: BoolArray
    qid: IntArray

    def of(self, queries: IntArray) -> Documents:
        """Select the documents of some queries."""
        rows = np.isin(self.qid, queries)
        return Documents(self.X[rows], self.relevant[rows], self.qid[rows])

    def by_query(self, scores: FloatArray) -> list[tuple[BoolArray, FloatArray]]:
        """Separate relevance and scores by query."""
        return [
            (self.relevant[self.qid == query], scores[self.qid == query])
            for query in np.unique(self.qid)
        ]


@lru_cache(maxsize=1)
def load(name: str) -> Documents:
    """Read OHSUMED (grades 1 and 2 are relevant) or the letor sample (grades 3 and 4).

    Queries without both kinds of documents are left out.
    """
    queries = load_ohsumed() if name == "OHSUMED" else load_letor_sample()
    relevant = queries.grade >= (1 if name == "OHSUMED" else 3)
    both = [
        query
        for query in np.unique(queries.qid)
        if 0 < relevant[queries.qid == query].sum() < (queries.qid == query).sum()
    ]
    return Documents(queries.X, relevant, queries.qid).of(np.array(both))


def random_split(data: Documents, seed: int) -> tuple[Documents, Documents, Documents]:
    """Split the queries at random: 60 % for training, 20 % for validation, the others for testing."""
    order = np.random.default_rng(seed).permutation(np.unique(data.qid))
    first, second = int(0.6 * order.size), int(0.8 * order.size)
    parts = np.split(order, [first, second])
    return data.of(parts[0]), data.of(parts[1]), data.of(parts[2])
