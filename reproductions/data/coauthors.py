"""Who will write with whom: co-authorship networks as ranking problems."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_choice
from reproductions.data._home import data_file, reading


@dataclass(frozen=True)
class Authorships:
    """Authorships: the year, paper and author of each, numbered from 0."""

    year: IntArray
    paper: IntArray
    author: IntArray

    @property
    def n_authors(self) -> int:
        """Number of authors of the whole collection."""
        return int(self.author.max()) + 1

    def window(self, first: int, last: int, max_authors: int = 25) -> Authorships:
        """Papers of the years ``first`` to ``last`` with at most ``max_authors`` authors."""
        size = np.bincount(self.paper)[self.paper]
        kept = (self.year >= first) & (self.year <= last) & (size <= max_authors)
        return Authorships(self.year[kept], self.paper[kept], self.author[kept])

    def papers(self, n_authors: int) -> csr_array:
        """Incidence of authors (rows) and papers (columns)."""
        numbers, column = np.unique(self.paper, return_inverse=True)
        ones = np.ones(self.author.size)
        return csr_array((ones, (self.author, column)), shape=(n_authors, numbers.size))


def load_coauthors(name: str) -> Authorships:
    """Load "nips" (1987 to 2017) or "acl" (ACL Anthology to 2021)."""
    check_choice(name, "name", ("nips", "acl"))
    path = data_file(f"{name}_coauthor", "paper_authors.csv.gz")
    with reading(path), gzip.open(path, "rt") as file:
        rows = [(row["year"], row["paper"], row["author"]) for row in csv.DictReader(file)]
        if not rows:
            raise ValueError("no rows")
        year, paper, author = (np.array(column) for column in zip(*rows, strict=True))
        return Authorships(
            year.astype(np.intp),
            np.unique(paper, return_inverse=True)[1].astype(np.intp),
            np.unique(author, return_inverse=True)[1].astype(np.intp),
        )


@dataclass(frozen=True)
class FocalAuthor:
    """One ranking problem: which authors at distance two will the focal author join?

    ``edges`` joins candidates (by their position in ``candidates``) who have written together.
    """

    author: int
    candidates: IntArray
    positive: BoolArray
    edges: IntArray


@dataclass(frozen=True)
class CoauthorNetwork:
    """The network of one time window.

    ``papers`` is the incidence of authors and papers, ``joint`` the number of joint papers of two
    authors, ``adjacency`` its pattern and ``last_year`` the year of an author's last paper.
    """

    papers: csr_array
    joint: csr_array
    adjacency: csr_array
    last_year: FloatArray


def coauthor_network(window: Authorships, n_authors: int) -> CoauthorNetwork:
    """Build the network of who has written with whom."""
    papers = window.papers(n_authors)
    joint = csr_array(papers @ papers.T)
    joint = csr_array(joint - diags_array(joint.diagonal()))
    joint.eliminate_zeros()
    adjacency = joint.copy()
    adjacency.data[:] = 1.0
    last = np.zeros(n_authors)
    np.maximum.at(last, window.author, window.year)
    return CoauthorNetwork(papers, joint, adjacency, last)


def focal_authors(
    network: CoauthorNetwork, future: CoauthorNetwork, min_candidates: int = 2
) -> Sequence[FocalAuthor]:
    """Make the ranking problems of all authors with candidates of both kinds.

    Candidates are the authors at distance two; those who write a paper with the focal author in the
    future window are positive. Authors with fewer than ``min_candidates`` candidates, without a new
    link among them, or with new links to all of them, are left out.
    """
    graph = network.adjacency
    two_steps = csr_array(graph @ graph)
    problems = []
    for author in np.flatnonzero(np.diff(two_steps.indptr)).tolist():
        reached = two_steps.indices[two_steps.indptr[author] : two_steps.indptr[author + 1]]
        near = graph.indices[graph.indptr[author] : graph.indptr[author + 1]]
        candidates = np.setdiff1d(reached, np.append(near, author)).astype(np.intp)
        joined = future.adjacency.indices[
            future.adjacency.indptr[author] : future.adjacency.indptr[author + 1]
        ]
        positive = np.isin(candidates, joined)
        if candidates.size < min_candidates or not positive.any() or positive.all():
            continue
        inside = graph[candidates][:, candidates].tocoo()
        upper = inside.row < inside.col
        edges = np.stack([inside.row[upper], inside.col[upper]], axis=1).astype(np.intp)
        problems.append(FocalAuthor(author, candidates, positive, edges))
    return problems
