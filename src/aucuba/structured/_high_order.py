"""High-order terms (footnote 1 of Rosenfeld et al., AISTATS 2014): set scores beyond pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import finite_scores
from aucuba.structured._checks import check_couplings, check_edges
from aucuba.structured._total_variation import solve_variation


@dataclass(frozen=True)
class CliqueTerm:
    r"""A convex function of how many members of a clique a row holds.

    .. math:: g(z) = f(\lvert z \cap \text{members} \rvert), \qquad f(t+1) - 2 f(t) + f(t-1) \ge 0

    It rewards rows that contain a whole clique, such as the labels of one object or the links of one
    community.

    Parameters
    ----------
    members : sequence of int
        Items of the clique.
    values : sequence of float
        ``f(0), f(1), ..., f(len(members))``, convex; ``f(0)`` must be 0.

    Examples
    --------
    A bonus of 6 for having all three items pulls them together:

    >>> from aucuba.structured import CliqueTerm, high_order_scores
    >>> high_order_scores([3.0, 0.0, 0.0, 2.5], [CliqueTerm([0, 1, 2], [0, 0, 0, 6])])
    array([3. , 3. , 3. , 2.5])
    """

    members: Sequence[int]
    values: Sequence[float]

    def __post_init__(self) -> None:
        values = finite_scores(self.values, "values")
        members = np.asarray(self.members)
        whole = members.dtype.kind in "iu" or not members.size
        if not whole or np.unique(members).size != members.size:
            raise ValueError(f"members must be distinct item numbers, got {self.members!r}.")
        if values.size != members.size + 1:
            raise ValueError(
                f"values must give f(0) to f({members.size}), {members.size + 1} numbers; "
                f"got {values.size}."
            )
        if values[0] != 0:
            raise ValueError(f"values must start with f(0) = 0, got {values[0]:g}.")
        bend = np.diff(values, n=2)
        if bend.min(initial=0.0) < 0:
            at = int(bend.argmin()) + 1
            raise ValueError(
                f"values must be convex, but bends down at f({at}): only supermodular terms, which "
                "reward items for coming together, are solved exactly."
            )

    def check_members(self, n_items: int) -> None:
        """Refuse members that a graph of ``n_items`` does not have."""
        members = np.asarray(self.members)
        if members.size and (members.min() < 0 or members.max() >= n_items):
            raise ValueError(f"members must lie in 0 to {n_items - 1}, got {self.members!r}.")

    def extension(self, mass: FloatArray) -> float:
        """Evaluate the term on a fractional ranking with the given item masses."""
        ranked = np.sort(mass[np.asarray(self.members, dtype=np.intp)])[::-1]
        return float(np.diff(np.asarray(self.values, dtype=float)) @ ranked)

    def split(self, ahead: BoolArray) -> tuple[CliqueTerm, CliqueTerm]:
        """Return the term of the items ``ahead``, and that of the others once all of those are in.

        A ranking with all positives first splits into two problems; these are their terms.
        """
        members, values = np.asarray(self.members, dtype=np.intp), np.asarray(self.values)
        first = ahead[members]
        count = int(first.sum())
        rest = values[count:] - values[count]
        return (
            CliqueTerm(members[first].tolist(), values[: count + 1].tolist()),
            CliqueTerm(members[~first].tolist(), rest.tolist()),
        )


@dataclass(frozen=True)
class TermLayout:
    r"""Many terms, written with attractive pairs and auxiliary nodes that no row counts.

    With bends :math:`s_t = f(t+1) - 2 f(t) + f(t-1)` a convex function of a count is

    .. math:: f(n) = n f(1) + \sum_t s_t \max(n - t, 0) ,

    and each maximum is the best choice of an auxiliary node of score :math:`-t s_t` that is tied to
    every member by :math:`s_t`. All this is linear in the strengths of the terms.

    Attributes
    ----------
    n_nodes : int
        Items of all graphs; auxiliary nodes are numbered from here on.
    item, slope, item_term : arrays of shape (n_members,)
        Members of all terms, ``f(1)`` of their term, and its number.
    auxiliary, auxiliary_term : arrays of shape (n_auxiliary,)
        Scores of the auxiliary nodes, and the numbers of their terms.
    edges, coupling, edge_term : arrays with one row per pair
        Pairs of an auxiliary node and a member.
    """

    n_nodes: int
    item: IntArray
    slope: FloatArray
    item_term: IntArray
    auxiliary: FloatArray
    auxiliary_term: IntArray
    edges: IntArray
    coupling: FloatArray
    edge_term: IntArray

    @classmethod
    def from_terms(
        cls, terms: Sequence[CliqueTerm], first: Sequence[int], number: Sequence[int], n_nodes: int
    ) -> TermLayout:
        """Place terms ``number`` at the graphs that begin at the nodes ``first``."""
        columns: list[tuple[FloatArray | IntArray, ...]] = []
        following = n_nodes
        for term, start, own in zip(terms, first, number, strict=True):
            members = start + np.asarray(term.members, dtype=np.intp)
            values = np.asarray(term.values, dtype=float)
            bend = np.diff(values, n=2)
            threshold = np.flatnonzero(bend > 0) + 1
            strength = bend[threshold - 1]
            auxiliary = np.arange(following, following + threshold.size)
            ties = np.repeat(auxiliary, members.size), np.tile(members, threshold.size)
            columns.append(
                (
                    *(members, np.full(members.size, values[1:2].sum())),
                    *(np.full(members.size, own), -strength * threshold),
                    *(np.full(threshold.size, own), np.stack(ties, axis=1)),
                    *(np.repeat(strength, members.size), np.full(ties[0].size, own)),
                )
            )
            following += threshold.size
        return cls(n_nodes, *(np.concatenate(parts) for parts in zip(*columns, strict=True)))

    def scores(
        self,
        unary: FloatArray,
        edges: IntArray,
        coupling: FloatArray,
        strength: FloatArray,
    ) -> FloatArray:
        """Solve the total-variation problem of pairs and terms; scores of the items alone."""
        own = unary.copy()
        np.add.at(own, self.item, strength[self.item_term] * self.slope)
        joined = np.append(own, strength[self.auxiliary_term] * self.auxiliary)
        mass = (np.arange(joined.size) < self.n_nodes).astype(float)
        bonds = np.append(coupling, strength[self.edge_term] * self.coupling)
        pairs = np.concatenate([edges, self.edges])
        return solve_variation(joined, pairs, bonds, mass)[: self.n_nodes]


def high_order_scores(
    unary: ArrayLike,
    terms: Sequence[CliqueTerm],
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
) -> FloatArray:
    r"""Compute the scores of the best fractional ranking with unary, pair and high-order terms.

    The row score is :math:`u \cdot z + \sum c_{ij} z_i z_j + \sum_t g_t(z)`. As in `tv_scores`, the
    sums of the k largest scores are the best values of the relaxed rows of all sizes k.

    Parameters
    ----------
    unary, edges, coupling
        As in `tv_scores`.
    terms : sequence of CliqueTerm

    Returns
    -------
    array of shape (n_items,)
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    couplings = check_couplings(coupling, pairs)
    for term in terms:
        term.check_members(scores.size)
    count = len(terms)
    if not count:
        return solve_variation(scores, pairs, couplings, np.ones(scores.size))
    layout = TermLayout.from_terms(terms, [0] * count, range(count), scores.size)
    return layout.scores(scores, pairs, couplings, np.ones(count))
