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
class Gadget:
    """A set score written with attractive pairs and auxiliary nodes.

    ``unary`` holds what is added to the items, then the scores of the auxiliary nodes, which are
    numbered from ``n_items`` on.
    """

    unary: FloatArray
    edges: IntArray
    coupling: FloatArray


@dataclass(frozen=True)
class CliqueTerm:
    r"""A convex function of how many members of a clique a row holds.

    .. math:: g(z) = f(\lvert z \cap \text{members} \rvert), \qquad f(t+1) - 2 f(t) + f(t-1) \ge 0

    It rewards rows that hold a clique as a whole: labels of one object, links of one community.

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

    def gadget(self, n_items: int) -> Gadget:
        """Write the term as attractive pairs with auxiliary nodes, for a graph of ``n_items``.

        The auxiliary nodes join the graph, and no row counts them; the best choice of them is worth
        what the term is.
        """
        members = np.asarray(self.members, dtype=np.intp)
        if members.size and (members.min() < 0 or members.max() >= n_items):
            raise ValueError(f"members must lie in 0 to {n_items - 1}, got {self.members!r}.")
        values = np.asarray(self.values, dtype=float)
        bend = np.diff(values, n=2)
        threshold = np.flatnonzero(bend > 0) + 1
        strength = bend[threshold - 1]
        unary = np.zeros(n_items + threshold.size)
        unary[members] += values[1] if members.size else 0.0
        # strength * max(count - threshold, 0): the auxiliary node is worth taking beyond its price.
        unary[n_items:] = -strength * threshold
        auxiliary = n_items + np.arange(threshold.size)
        edges = np.stack(
            [np.repeat(auxiliary, members.size), np.tile(members, threshold.size)], axis=1
        )
        return Gadget(unary, edges, np.repeat(strength, members.size))

    def extension(self, mass: FloatArray) -> float:
        """Evaluate the term on a fractional ranking with the given item masses."""
        ranked = np.sort(mass[np.asarray(self.members, dtype=np.intp)])[::-1]
        return float(np.diff(np.asarray(self.values, dtype=float)) @ ranked)

    def split(self, ahead: BoolArray) -> tuple[CliqueTerm, CliqueTerm]:
        """Return the term of the items ``ahead``, and what the others add once those are all in.

        A ranking with all positives first consists of two problems; these are their terms.
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
    """The gadgets of many terms side by side; all scores are linear in the terms' strengths.

    Attributes
    ----------
    n_nodes : int
        Items of all graphs; auxiliary nodes are numbered from here on.
    unary, auxiliary, edges, coupling : lists of arrays
        One entry per gadget: what it adds to the items of its graph, the scores of its auxiliary
        nodes, and its pairs, with node numbers that count through all graphs.
    first, number : lists of int
        The first node of the graph of each gadget, and the term to which it belongs.
    """

    n_nodes: int
    unary: list[FloatArray]
    auxiliary: list[FloatArray]
    edges: list[IntArray]
    coupling: list[FloatArray]
    first: list[int]
    number: list[int]

    @classmethod
    def from_terms(
        cls,
        terms: Sequence[CliqueTerm],
        first: Sequence[int],
        sizes: Sequence[int],
        number: Sequence[int],
        n_nodes: int,
    ) -> TermLayout:
        """Place each term at the graph that begins at node ``first`` and has ``sizes`` nodes."""
        gadgets = [term.gadget(size) for term, size in zip(terms, sizes, strict=True)]
        auxiliary = [g.unary[size:] for g, size in zip(gadgets, sizes, strict=True)]
        edges, following = [], n_nodes
        for gadget, start, size, added in zip(gadgets, first, sizes, auxiliary, strict=True):
            shift = np.where(gadget.edges >= size, following - size, start)
            edges.append(gadget.edges + shift)
            following += added.size
        own = [g.unary[:size] for g, size in zip(gadgets, sizes, strict=True)]
        couplings = [gadget.coupling for gadget in gadgets]
        return cls(n_nodes, own, auxiliary, edges, couplings, list(first), list(number))

    def scores(
        self,
        unary: FloatArray,
        edges: IntArray,
        coupling: FloatArray,
        strength: FloatArray,
        backend: str,
    ) -> FloatArray:
        """Solve the total-variation problem of pairs and terms; scores of the items alone."""
        own, weight = unary.copy(), [strength[number] for number in self.number]
        for added, start, factor in zip(self.unary, self.first, weight, strict=True):
            own[start : start + added.size] += factor * added
        auxiliary = [factor * one for factor, one in zip(weight, self.auxiliary, strict=True)]
        bonds = [factor * one for factor, one in zip(weight, self.coupling, strict=True)]
        joined = np.concatenate([own, *auxiliary])
        mass = (np.arange(joined.size) < self.n_nodes).astype(float)
        all_edges = np.concatenate([edges, *self.edges])
        all_bonds = np.concatenate([coupling, *bonds])
        return solve_variation(joined, all_edges, all_bonds, mass, backend)[: self.n_nodes]


def high_order_scores(
    unary: ArrayLike,
    terms: Sequence[CliqueTerm],
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    backend: str = "scipy",
) -> FloatArray:
    r"""Compute the scores of the best fractional ranking with unary, pair and high-order terms.

    The row score is :math:`u \cdot z + \sum c_{ij} z_i z_j + \sum_t g_t(z)`. As in `tv_scores`, the
    sums of the k largest scores are the best values of the relaxed rows of all sizes k.

    Parameters
    ----------
    unary, edges, coupling, backend
        As in `tv_scores`.
    terms : sequence of CliqueTerm

    Returns
    -------
    array of shape (n_items,)
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    couplings = check_couplings(coupling, pairs)
    count = len(terms)
    layout = TermLayout.from_terms(
        terms, [0] * count, [scores.size] * count, range(count), scores.size
    )
    return layout.scores(scores, pairs, couplings, np.ones(count), backend)
