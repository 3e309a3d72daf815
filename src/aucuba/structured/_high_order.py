"""Set scores beyond pairs that keep inference exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._core._typing import ArrayLike, FloatArray, IntArray
from aucuba._core._validation import finite_scores
from aucuba.structured._checks import check_couplings, check_edges
from aucuba.structured._total_variation import tv_scores


@dataclass(frozen=True)
class Gadget:
    """A set score written with attractive pairs and auxiliary nodes.

    ``unary`` holds additions to the items first and the scores of the auxiliary nodes after them;
    auxiliary nodes are numbered from ``n_items`` on.
    """

    unary: FloatArray
    edges: IntArray
    coupling: FloatArray


class HighOrderTerm(ABC):
    r"""A supermodular score ``g`` of the set of items in a row.

    Exact inference asks one thing of a term: attractive pairs with auxiliary nodes ``y`` such that
    :math:`g(z) = \max_{y} [u \cdot z + v \cdot y + \sum c_{ij} \dots]`. The auxiliary nodes then
    join the graph, and no row counts them.
    """

    @abstractmethod
    def gadget(self, n_items: int) -> Gadget:
        """The term as pairs, for a graph of ``n_items``."""

    @abstractmethod
    def extension(self, mass: FloatArray) -> float:
        """Value of the term on a fractional ranking with the given item masses."""


@dataclass(frozen=True)
class CliqueTerm(HighOrderTerm):
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
        if members.dtype.kind not in "iu" or np.unique(members).size != members.size:
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
        ranked = np.sort(mass[np.asarray(self.members, dtype=np.intp)])[::-1]
        return float(np.diff(np.asarray(self.values, dtype=float)) @ ranked)


def high_order_scores(
    unary: ArrayLike,
    terms: Sequence[HighOrderTerm],
    edges: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    *,
    backend: str = "scipy",
) -> FloatArray:
    r"""Scores of the best fractional ranking with unary, pair and high-order terms.

    The row score is :math:`u \cdot z + \sum c_{ij} z_i z_j + \sum_t g_t(z)`. As in `tv_scores`, the
    sums of the k largest scores are the best values of the relaxed rows of all sizes k.

    Parameters
    ----------
    unary, edges, coupling, backend
        As in `tv_scores`.
    terms : sequence of HighOrderTerm

    Returns
    -------
    array of shape (n_items,)
    """
    scores = finite_scores(unary, "unary")
    pairs = check_edges(edges, scores.size)
    gadgets = [term.gadget(scores.size) for term in terms]
    all_edges, all_couplings = [pairs], [check_couplings(coupling, pairs)]
    own, auxiliary = scores.copy(), []
    n_nodes = scores.size
    for gadget in gadgets:
        own += gadget.unary[: scores.size]
        auxiliary.append(gadget.unary[scores.size :])
        # Every gadget counts its auxiliary nodes from the same number.
        shift = np.where(gadget.edges >= scores.size, n_nodes - scores.size, 0)
        all_edges.append(gadget.edges + shift)
        all_couplings.append(gadget.coupling)
        n_nodes += auxiliary[-1].size
    mass = np.append(np.ones(scores.size), np.zeros(n_nodes - scores.size))
    return tv_scores(
        np.concatenate([own, *auxiliary]),
        np.concatenate(all_edges),
        np.concatenate(all_couplings),
        mass=mass,
        backend=backend,
    )[: scores.size]
