"""The contract of a Risk, and ranks shared by all risks."""

from __future__ import annotations

from typing import Protocol

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import FloatArray
from aucuba._roc._region import RankWeights


class Risk(Protocol):
    """R(s), a function of the n scores alone, with ``R(s) >= lower_bound`` everywhere.

    A Risk knows the classes, weights and queries of the rows and the ROC region, but neither features
    nor models. For a convex Risk the returned gradient is a subgradient,

        ``R(t) >= value + gradient @ (t - scores)`` for all t,

    which is all that a cutting plane needs. Risks do not change when all scores are shifted by one
    constant, and do not depend on the order of the rows: rows of equal label, weight and score get
    equal gradients.
    """

    @property
    def is_convex(self) -> bool:
        """Whether the gradient is a subgradient of a convex function."""
        ...

    @property
    def lower_bound(self) -> float:
        """A number that the risk never falls below."""
        ...

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        """Compute R(s) and its (sub)gradient with respect to the scores."""
        ...


def top(scores: Vector, count: float, weight: Vector | None) -> Vector:
    """Return the rows in decreasing order of score, down to ``count`` of them and all ties of the last.

    With weights, which rows matter is known only after the sort, so all are returned.
    """
    arrays = arrays_of(scores)
    keep = int(-(-count // 1))
    if weight is not None or keep >= len(scores):
        return arrays.flip(arrays.order(scores))
    rows = arrays.places(scores >= arrays.kth_largest(scores, keep))
    return rows[arrays.flip(arrays.order(scores[rows]))]


def sum_of_first(values: Vector, counts: Vector) -> Vector:
    """Return the sums of the first ``count`` values, one for each count."""
    return arrays_of(values).running_sum(values)[counts]


def tied_rank_weights(ranked: Vector, weight: Vector, weights: RankWeights) -> Vector:
    """Compute the rank weight of every row; rows of equal score divide theirs by weight.

    ``ranked`` may be the top of a longer list; ``weight`` is then that of the rows shown, followed by
    one entry for the rest.
    """
    arrays, size = arrays_of(ranked), len(ranked)
    edges = arrays.running_sum(weight)
    rank_mass = weights.between(edges[: size + 1], float(edges[-1]))
    mass = weight[:size]
    return mass * arrays.mean_over_ties(ranked, mass, rank_mass / mass)


def counted_unit(weight: Vector) -> float:
    """Return the weight that stands for one row: 1 for whole-number weights, else their mean."""
    return 1.0 if bool((weight % 1.0 == 0.0).all()) else float(weight.mean())


def split_at(weight: Vector, cuts: FloatArray) -> tuple[Vector, Vector, Vector]:
    """Cut weighted rows in a line at the given places: (row of a piece, its mass, its middle)."""
    arrays = arrays_of(weight)
    ends = arrays.running_sum(weight)[1:]
    n = float(ends[-1])
    inside = arrays.vector(cuts[(cuts > 0) & (cuts < n)])
    edges = arrays.unique(arrays.join([ends, inside]))
    pieces = edges - arrays.join([arrays.zeros(1), edges[:-1]])
    # Edges that differ only by rounding leave a sliver that may go to either neighbour.
    kept = pieces > 1e-12 * n
    edges, pieces = edges[kept], pieces[kept]
    middle = edges - pieces / 2
    return arrays.search(ends, middle).clip(max=len(weight) - 1), pieces, middle
